"""Seed 3, マネージャー状態遷移 設計書 V2: every example, under the name of its section, in a Japanese project."""

# ruff: noqa: N802, PLC2401 - tests bear the names of the sections they hold the code to

from __future__ import annotations

import pytest

from tests.seeds.examples import like, takes
from tests.stories import Answer, Process, World
from toryo.domain.errors import Code
from toryo.operations.calls.catalogue import catalogue


@pytest.fixture
def ja(world: World) -> World:
    """A Japanese project with a manager and two workers; a main task of the manager is in progress."""
    world.crew(workers=2, language="ja")
    world.task("boss", title="メインタスク", description="家を建てる")
    return world


def aware(world: World, **assigned: str | None) -> tuple[Process, dict[str, str]]:
    """The manager with subtasks of these titles, told to look at the situation."""
    boss = world.start("boss")
    ids = boss.assigned(assigned or {"API実装": "worker-01"})
    assert boss.action() == "situational_awareness"
    return boss, dict(zip(assigned, ids, strict=True))


def says(answer: Answer, text: str) -> None:
    """Every line of the seed's instruction is among the lines that are delivered."""
    missing = [line.strip() for line in text.splitlines() if line.strip() and line.strip() not in answer["instruction"]]
    assert not missing, f"{missing} not in {answer['instruction']}"


# --- 新規ツール設計 ---


def test_select_action_次のアクション選択(ja: World):
    takes(
        "select_action",
        {
            "properties": {
                "action": {"type": "string", "enum": ["start", "adjust", "wait"]},
                "reason": {"type": "string"},
            },
            "required": ["action"],
        },
    )
    boss, _ = aware(ja, 設計="w1")
    answer = boss.call("select_action", action="start", reason="準備ができた")
    example = {
        "success": True,
        "selected_action": "start",
        "message": "アクション 'start' が選択されました。get_next_action を呼び出して詳細指示を取得してください。",
    }
    assert {key: answer[key] for key in example} == example


def test_get_recent_completions_最近の完了タスク確認(ja: World):
    takes(
        "get_recent_completions",
        {
            "properties": {
                "parent_task_id": {"type": "string"},
                "since": {"type": "string"},
                "limit": {"type": "integer"},
            },
            "required": [],
        },
    )
    boss, ids = aware(ja, API実装="w1", 画面="w2")
    boss.begin(ids["API実装"], ids["画面"])
    boss.wait()
    left = ja.sessions()
    assert left == []
    ja.start("w1").report(summary="REST API 5エンドポイント実装完了")
    ja.start("w2").report("failed", summary="画面が表示されない")
    boss = ja.start("boss")
    answer = boss.call("get_recent_completions")
    like(
        {
            "completions": [
                {
                    "task_id": "tsk_001",
                    "title": "API実装",
                    "assignee_id": "worker-01",
                    "completed_at": "2026-02-03T15:30:00Z",
                    "result": "success",
                    "summary": "REST API 5エンドポイント実装完了",
                }
            ],
            "total": 1,
            "since": "2026-02-03T14:00:00Z",
        },
        answer,
    )
    newest, older = answer["completions"]
    assert (newest["title"], newest["result"], newest["summary"]) == ("画面", "failed", "画面が表示されない")
    assert (older["title"], older["result"], older["assignee_id"]) == ("API実装", "success", "w1")
    assert older["summary"] == "REST API 5エンドポイント実装完了"
    assert answer["total"] == 2
    assert boss.call("get_recent_completions", limit=1)["completions"] == [newest]
    assert boss.call("get_recent_completions", limit=1)["total"] == 2
    assert boss.call("get_recent_completions", since=newest["completed_at"])["completions"] == [newest]


def test_get_recent_completions_since_省略時は前回セッション終了以降(ja: World):
    boss, ids = aware(ja, 一="w1", 二="w1")
    boss.call("update_task_dependencies", task_id=ids["二"], add_dependencies=[ids["一"]])
    boss.begin(ids["一"])
    boss.wait()
    ja.start("w1").report(summary="一が済んだ")
    boss = ja.start("boss")
    assert [completion["title"] for completion in boss.call("get_recent_completions")["completions"]] == ["一"]
    boss.begin(ids["二"])
    boss.wait()
    ja.start("w1").report(summary="二が済んだ")
    boss = ja.start("boss")
    assert [completion["title"] for completion in boss.call("get_recent_completions")["completions"]] == ["二"]


def test_update_task_タスク内容の修正(ja: World):
    takes(
        "update_task",
        {
            "properties": {
                "task_id": {"type": "string"},
                "title": {"type": "string"},
                "description": {"type": "string"},
                "priority": {"type": "string", "enum": ["low", "medium", "high", "critical"]},
            },
            "required": ["task_id"],
        },
    )
    boss, ids = aware(ja, 設計="w1")
    answer = boss.call("update_task", task_id=ids["設計"], title="基本設計", priority="critical")
    example = {
        "success": True,
        "task_id": ids["設計"],
        "updated_fields": ["title", "priority"],
        "message": "タスクが更新されました",
    }
    assert {key: answer[key] for key in example} == example
    shown = ja.show(ids["設計"])
    assert (shown["title"], shown["priority"], shown["description"]) == ("基本設計", "critical", "Do 設計.")


def test_cancel_task_タスクのキャンセル(ja: World):
    _takes_task_and_reason("cancel_task")
    boss, ids = aware(ja, 設計="w1")
    answer = boss.call("cancel_task", task_id=ids["設計"], reason="方針変更により不要")
    example = {
        "success": True,
        "task_id": ids["設計"],
        "previous_status": "todo",
        "new_status": "cancelled",
        "reason": "方針変更により不要",
    }
    assert {key: answer[key] for key in example} == example
    assert ja.status(ids["設計"]) == "cancelled"


def test_block_task_タスクのブロック(ja: World):
    _takes_task_and_reason("block_task")
    boss, ids = aware(ja, 設計="w1")
    boss.begin(ids["設計"])
    answer = boss.call("block_task", task_id=ids["設計"], reason="外部APIの仕様変更待ち")
    example = {
        "success": True,
        "task_id": ids["設計"],
        "previous_status": "in_progress",
        "new_status": "blocked",
        "reason": "外部APIの仕様変更待ち",
    }
    assert {key: answer[key] for key in example} == example
    shown = ja.show(ids["設計"])
    assert (shown["status"], shown["blocked_reason"]) == ("blocked", "外部APIの仕様変更待ち")
    assert shown["blocked_by"] == "boss"


def _takes_task_and_reason(name: str) -> None:
    takes(
        name,
        {
            "properties": {"task_id": {"type": "string"}, "reason": {"type": "string"}},
            "required": ["task_id", "reason"],
        },
    )


def test_update_task_dependencies_依存関係の変更(ja: World):
    takes(
        "update_task_dependencies",
        {
            "properties": {
                "task_id": {"type": "string"},
                "add_dependencies": {"type": "array"},
                "remove_dependencies": {"type": "array"},
            },
            "required": ["task_id"],
        },
    )
    boss, ids = aware(ja, 一="w1", 二="w1", 四="w2")
    boss.call("update_task_dependencies", task_id=ids["四"], add_dependencies=[ids["一"]])
    answer = boss.call("update_task_dependencies", task_id=ids["四"], add_dependencies=[ids["二"]])
    example = {
        "success": True,
        "task_id": ids["四"],
        "dependencies": [ids["一"], ids["二"]],
        "added": [ids["二"]],
        "removed": [],
    }
    assert {key: answer[key] for key in example} == example
    removed = boss.call("update_task_dependencies", task_id=ids["四"], remove_dependencies=[ids["一"]])
    assert (removed["dependencies"], removed["removed"]) == ([ids["二"]], [ids["一"]])


# --- 各状態の詳細 ---


def test_状態1_create_subtasks(ja: World):
    boss = ja.start("boss")
    answer = boss.next()
    like(
        {"action": "", "instruction": "", "state": "", "task": {"id": "tsk_main", "title": "", "description": ""}},
        answer,
    )
    assert (answer["action"], answer["state"]) == ("create_subtasks", "needs_subtask_creation")
    assert (answer["task"]["title"], answer["task"]["description"]) == ("メインタスク", "家を建てる")
    says(answer, "タスクを2〜5個のサブタスクに分解してください。")
    assert "create_tasks_batch" in answer["tools"]


def test_状態2_situational_awareness(ja: World):
    boss = ja.start("boss")
    boss.assigned({"設計": "w1"})
    answer = boss.next()
    assert (answer["action"], answer["state"]) == ("situational_awareness", "situational_awareness")
    assert answer["instruction"] == (
        "現在の状況を確認し、次のアクションを選択してください。\n\n■ 状況確認ツール\n"
        "  - list_tasks: サブタスクの全体状況を確認\n"
        "  - get_recent_completions: 最近完了したタスクと成果を確認\n"
        "  - get_task: 特定タスクの詳細を確認\n"
        "  - list_subordinates: ワーカーの状況を確認\n\n"
        "■ 次のアクション選択\n"
        "状況を把握した上で、select_action ツールで次のアクションを選択してください:\n"
        "  - start: タスクを開始する（割当+開始）\n"
        "  - adjust: 調整を行う（振り直し、修正、ブロック対処等）\n"
        "  - wait: ワーカー完了を待機する\n\n"
        "選択後、get_next_action を呼び出して詳細指示を取得してください。"
    )
    for tool in ("list_tasks", "get_recent_completions", "list_subordinates"):
        assert tool in answer["tools"]
        boss.call(tool)


def test_状態3_start(ja: World):
    boss, ids = aware(ja, 設計=None)
    boss.call("select_action", action="start")
    answer = boss.next()
    assert (answer["action"], answer["state"]) == ("start", "start")
    says(
        answer,
        "タスクを開始してください\n■ 手順\n1. list_tasks で開始可能なタスクを確認\n"
        "2. 未割り当ての場合: assign_task で割り当て\n3. update_task_status で in_progress に変更\n"
        "どのタスクを誰に割り当てるかは、内容・優先度・Worker負荷を考慮して判断してください。\n"
        "完了後、get_next_action を呼び出してください。",
    )
    assert ids["設計"] in answer["instruction"]


def test_状態4_adjust(ja: World):
    boss, _ = aware(ja, 設計="w1")
    boss.call("select_action", action="adjust")
    answer = boss.next()
    assert (answer["action"], answer["state"]) == ("adjust", "adjust")
    says(
        answer,
        "必要な調整を行ってください。\n■ 調整用ツール\n- assign_task: 担当者変更・振り直し\n"
        "- update_task: タスク内容の修正（title, description, priority）\n- update_task_status: ステータス変更\n"
        "- update_task_dependencies: 依存関係の変更\n- block_task: タスクをブロック状態にする\n"
        "- cancel_task: タスクをキャンセル\n- create_tasks_batch: 追加タスク作成\n■ 確認用ツール\n"
        "- list_tasks: 全体状況確認\n- get_task: 詳細確認\n調整完了後、get_next_action を呼び出してください。",
    )


def test_状態5_wait(ja: World):
    boss, ids = aware(ja, 設計="w1")
    boss.begin(ids["設計"])
    answer = boss.wait()
    assert (answer["action"], answer["state"]) == ("wait", "waiting_for_workers")
    assert answer["instruction"] == (
        "Worker の完了を待つため、プロセスを終了してください。\nWorker 完了後に自動的に再起動されます。\n"
        "logout を呼び出してください。"
    )
    boss.call("logout")


def test_状態6_needs_completion(ja: World):
    boss, ids = aware(ja, 設計="w1")
    boss.begin(ids["設計"])
    boss.wait()
    ja.start("w1").report()
    answer = ja.start("boss").next()
    assert (answer["action"], answer["state"]) == ("report_completion", "needs_completion")
    like({"task": {"id": "tsk_main", "title": "メインタスク"}}, answer)
    assert answer["task"]["title"] == "メインタスク"
    says(answer, "全てのサブタスクが完了しました。\nreport_completed を呼び出してメインタスクを完了してください。")


def test_状態6_最後のサブタスクの成果が悪ければ_adjust_を選べる(crew: World):
    """The first of the worst instructions: it offered success only, and `adjust` was refused."""
    crew.task("boss")
    boss, ids = aware(crew, Plan="w1")
    boss.begin(ids["Plan"])
    boss.wait()
    crew.start("w1").report(summary="I could not find the API, so I made the data up")
    boss = crew.start("boss")
    told = boss.next()
    assert told["action"] == "report_completion" and 'select_action(action="adjust")' in told["instruction"]
    boss.refused("select_action", Code.NOT_NOW, action="wait")
    assert boss.call("select_action", action="adjust")["next"]["action"] == "adjust"
    assert boss.action() == "adjust"
    boss.call("create_task", title="Use the real API", description="x", assignee_id="w1")
    assert boss.action() == "situational_awareness"


def test_状態6_調整が不要なら報告できる(crew: World):
    crew.task("boss")
    boss, ids = aware(crew, Plan="w1")
    boss.begin(ids["Plan"])
    boss.wait()
    crew.start("w1").report()
    boss = crew.start("boss")
    boss.call("select_action", action="adjust")
    assert "report_completed" in boss.next()["tools"]
    boss.report()


def test_状態3_断られた選択の_next_は_instruction_と同じことを言う(crew: World):
    """The second: `instruction` said select_action("wait"), and `next` get_next_action, which offered `start` again."""
    crew.task("boss")
    boss, ids = aware(crew, Plan="w1")
    refusal = boss.refused("select_action", Code.NOT_NOW, action="wait")
    assert (refusal["next"]["action"], refusal["next"]["instruction"]) == ("select_action", refusal["instruction"])
    assert 'select_action("start")' in refusal["instruction"]
    boss.begin(ids["Plan"])
    refusal = boss.refused("select_action", Code.NOT_NOW, action="start")
    assert (refusal["next"]["action"], refusal["next"]["instruction"]) == ("select_action", refusal["instruction"])
    assert 'select_action("wait")' in refusal["instruction"]


def test_状態3_見る前の_wait_は黙って無効にはならない(crew: World):
    crew.task("boss")
    boss, ids = aware(crew, Plan="w1", Paint="w2")
    boss.begin(ids["Plan"])
    crew.move(ids["Paint"], "blocked", "no paint")
    refusal = boss.refused("select_action", Code.NOT_NOW, action="wait")
    assert refusal["next"]["action"] == "get_next_action" and "get_next_action" in refusal["instruction"]
    assert boss.action() == "situational_awareness"
    boss.call("select_action", action="wait")
    assert boss.action() == "wait"


def test_状態7_review_blocks(ja: World):
    boss, ids = aware(ja, 設計="w1")
    boss.begin(ids["設計"])
    boss.wait()
    ja.start("w1").report("blocked", summary="図面がない")
    answer = ja.start("boss").next()
    assert (answer["action"], answer["state"]) == ("review_and_resolve_blocks", "needs_review")
    says(
        answer,
        "ブロック状態のサブタスクがあります\n対処を検討してください。\n■ 確認\n"
        "- list_tasks でブロック中のタスクを確認\n- get_task で詳細とブロック理由を確認\n■ 対処\n"
        "update_task_status で todo に変更\n"
        "- 対処不可: report_completed で blocked として報告",
    )
    (blocked,) = answer["blocked_subtasks"]
    assert (blocked["task_id"], blocked["blocked_reason"]) == (ids["設計"], "図面がない")
    assert blocked["you_may_resolve"] is True


def test_状態7_review_blocks_解除可能なら_update_task_status_で_todo_に変更(ja: World):
    boss, ids = aware(ja, 設計="w1")
    boss.begin(ids["設計"])
    boss.wait()
    ja.start("w1").report("blocked", summary="図面がない")
    boss = ja.start("boss")
    assert boss.action() == "review_and_resolve_blocks"
    boss.set(ids["設計"], "todo")
    assert boss.action() == "situational_awareness"


def test_状態7_review_blocks_対処不可なら_report_completed_で_blocked_として報告(ja: World):
    boss, ids = aware(ja, 設計="w1")
    boss.begin(ids["設計"])
    boss.wait()
    ja.start("w1").report("blocked", summary="図面がない")
    boss = ja.start("boss")
    boss.next()
    assert boss.report("blocked", summary="図面を待つ")["status"] == "blocked"
    assert ja.coordinator().reason("boss") == "hold blocked_without_in_progress"


# --- 状態一覧, 状態遷移図, ワークフロー例 ---


def test_ワークフロー例(ja: World):
    """The ten steps, one by one, of a manager who returns."""
    boss, ids = aware(ja, 一="w1", 二=None)
    boss.begin(ids["一"])
    boss.wait()
    ja.start("w1").report(summary="済んだ")
    # 1. authenticate
    boss = ja.started("boss")
    boss.sign_in()
    boss.call("report_model", provider="claude", model_id="model-1")
    boss.call("get_my_task")
    # 2. get_next_action → situational_awareness
    assert boss.action() == "situational_awareness"
    # 3. list_tasks（状況確認） 4. get_recent_completions（完了タスク確認）
    assert {task["title"]: task["status"] for task in boss.call("list_tasks")["tasks"]} == {
        "一": "completed",
        "二": "todo",
    }
    assert [completion["summary"] for completion in boss.call("get_recent_completions")["completions"]] == ["済んだ"]
    # 5. select_action(action: "start") 6. get_next_action → start
    boss.call("select_action", action="start")
    assert boss.action() == "start"
    # 7. list_tasks（開始可能タスク確認） 8. assign_task（割り当て） 9. update_task_status(in_progress)
    boss.call("list_tasks", status="todo")
    boss.call("assign_task", task_id=ids["二"], assignee_id="w2")
    boss.set(ids["二"], "in_progress")
    # 10. get_next_action → situational_awareness（または wait）
    assert boss.action() == "situational_awareness"
    boss.call("select_action", action="wait")
    assert boss.action() == "wait"


def test_問題1_どのタスクを開始するかはマネージャーが決める(ja: World):
    boss, ids = aware(ja, 一="w1", 二="w2")
    boss.begin(ids["二"])
    assert [ja.status(ids[each]) for each in ("一", "二")] == ["todo", "in_progress"]


def test_問題2_復帰時に必ず状況把握を経由する(ja: World):
    boss, ids = aware(ja, 一="w1", 二="w2")
    boss.begin(ids["一"])
    boss.begin(ids["二"])
    boss.wait()
    ja.start("w1").report("failed", summary="できない")
    boss = ja.start("boss")
    answer = boss.next()
    assert answer["action"] == "situational_awareness"
    assert answer["since_you_left"]["failed"] == [ids["一"]]


@pytest.mark.parametrize(
    "name",
    [
        "select_action",
        "get_recent_completions",
        "update_task",
        "cancel_task",
        "block_task",
        "update_task_dependencies",
        "list_subordinates",
        "list_tasks",
        "get_task",
        "get_subordinate_profile",
    ],
)
def test_新規ツール(name: str):
    assert catalogue()[name].tool
