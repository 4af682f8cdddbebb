"""The words of the MCP prompts, in English and Japanese: the same keys in both (a test compares).

What a spawned agent is told stands in `toryo/first_words.py`, which the Coordinator says too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toryo.domain.projects import Language

PROMPTS: Mapping[Language, Mapping[str, str]] = {
    Language.ENGLISH: {
        "task_breakdown": """\
Break this task down into subtasks.

{task}

Who can do the work:
{people}

Make 2 to 5 subtasks (one if it is simple). Each is something that one of them can finish in one go. For each say:
a title; a description of what must exist at the end and how to see that it is done; a priority; who does it; which of
the other subtasks must be completed first. What can be done side by side depends on nothing.
{existing}
{do}
""",
        "task_breakdown.session": """\
Create them with ONE call of create_tasks_batch(parent_task_id="{task_id}", tasks=[…]): its dependencies may name the
local_id of other subtasks in the same call. Then call get_next_action.""",
        "task_breakdown.person": """\
Show the list first. When it is agreed, file each: toryo task add TITLE --project {project_id} --parent {task_id}
--description … --assignee … --depends-on ID""",
        "task_breakdown.existing": "There are subtasks already; add what is missing, repeat nothing:\n{subtasks}\n",
        "status_report": """\
Write a status report about the project {name} for people who have two minutes.

How it stands ({status}; tasks: {counts}):

In progress
{in_progress}

Blocked or failed
{stuck}

Completed last
{completed}

Next
{ready}

Say in this order: what was achieved; what is under way and by whom; what is stuck, why, and who must act; what comes
next. At most 200 words. Name tasks by their titles, and say nothing that does not follow from the above or from what
you look up (list_tasks, get_task).
""",
        "handoff": """\
Hand the following task over{to}.

{task}

Notes so far:
{notes}

Write for somebody who knows nothing of it: a summary (what was done, what is true now, where the files are), the
context they need, and what you would do next and avoid.
{do}
""",
        "handoff.session": """\
Then call create_handoff(task_id="{task_id}"{to_argument}, summary=…, context=…, recommendations=…). It informs; the
assignee stays the same.""",
        "handoff.person": """\
Then put it where the next one reads it: toryo task edit {task_id} --description …""",
        "to": " to {agent_id}",
        "task": "Task {task_id}: {title}\nStatus: {status}; priority: {priority}; assignee: {assignee}\n{description}",
        "nobody": "nobody",
        "none": "- none",
    },
    Language.JAPANESE: {
        "task_breakdown": """\
次のタスクをサブタスクに分解してください。

{task}

担当できるメンバー:
{people}

サブタスクは2〜5個（単純なら1個）にします。それぞれ一人が一度に完了できる大きさにし、次を書いてください:
タイトル、最終的に何が存在し、どう確認できるかの説明、優先度、担当者、先に完了しているべきサブタスク。
並行してできるものには依存関係を付けないでください。
{existing}
{do}
""",
        "task_breakdown.session": """\
create_tasks_batch(parent_task_id="{task_id}", tasks=[…]) を1回だけ呼び出して作成してください。dependencies には同じ呼び出しの
local_id を指定できます。その後 get_next_action を呼び出してください。""",
        "task_breakdown.person": """\
まず一覧を示してください。合意できたら一つずつ登録します: toryo task add TITLE --project {project_id} --parent {task_id}
--description … --assignee … --depends-on ID""",
        "task_breakdown.existing": "既にサブタスクがあります。不足分だけを追加し、重複させないでください:\n{subtasks}\n",
        "status_report": """\
プロジェクト {name} の状況報告を、2分で読めるように書いてください。

現在の状況（{status}、タスク数: {counts}）:

進行中
{in_progress}

ブロックまたは失敗
{stuck}

最近の完了
{completed}

次の予定
{ready}

この順に書いてください: 達成したこと、進行中のことと担当者、停滞していることとその理由および対応すべき人、次に行うこと。
400字以内とします。タスクはタイトルで示し、上の内容または調べた結果（list_tasks、get_task）から言えないことは書かないでください。
""",
        "handoff": """\
次のタスクを{to}引き継いでください。

{task}

これまでのメモ:
{notes}

何も知らない人に向けて書いてください: 要約（行ったこと、現在の状態、ファイルの場所）、必要な背景、次に行うべきことと避けるべきこと。
{do}
""",
        "handoff.session": """\
その後 create_handoff(task_id="{task_id}"{to_argument}, summary=…, context=…, recommendations=…) を呼び出してください。
情報の引き継ぎであり、担当者は変わりません。""",
        "handoff.person": """\
その後、次の担当者が読む場所に記録してください: toryo task edit {task_id} --description …""",
        "to": " {agent_id} に",
        "task": "タスク {task_id}: {title}\n状態: {status}、優先度: {priority}、担当: {assignee}\n{description}",
        "nobody": "なし",
        "none": "- なし",
    },
}


def prompt(key: str, language: Language, **facts: Any) -> str:
    """The words of a key in a language, its facts filled in."""
    return PROMPTS[language][key].format(**facts)
