"""The first words a model reads: who it is, how to connect, and the one loop it lives by.

Said by the Coordinator to the programs it starts, and by the server as the prompt `agent_start`; so they stand above
both, and know neither. The fixed protocol part is always there; a project's own words are added to it and never
replace it. The role itself (the system prompt) comes with the answer of `authenticate`, so that it is changed in one
place.
"""

from __future__ import annotations

from collections.abc import Mapping

FIXED: Mapping[str, str] = {
    "en": """\
You are the agent {agent_id}. The MCP server "toryo" leads you; {identity}.

1. Call authenticate ({sign_in}).
2. The system_prompt it returns is your role: act in that role from then on.
3. Call get_next_action and do what its instruction says, with the tools it names.
4. After each step call get_next_action again. An answer that carries `next` has already told you.
5. When the action is exit, logout, wait or wait_for_others, do what its instruction says; then end: say one short \
sentence and call nothing more.

A refusal is no failure: read its instruction and do that instead. {people}
Files you make belong into the working directory.
""",
    "ja": """\
あなたはエージェント {agent_id} です。MCP サーバー「toryo」があなたを導きます。{identity}。

1. authenticate を呼び出してください（{sign_in}）。
2. 返された system_prompt があなたの役割です。以後その役割に従って行動してください。
3. get_next_action を呼び出し、instruction の指示どおりに、示されたツールで作業してください。
4. 一つ終えるごとに get_next_action を呼び出してください。応答に `next` があれば、それが次の指示です。
5. action が exit、logout、wait、wait_for_others のときは、instruction の指示に従ってから終了です。短く一言述べ、\
それ以上ツールを呼び出さないでください。

拒否は失敗ではありません。instruction を読み、その通りにしてください。
{people}作成するファイルは作業ディレクトリに置いてください。
""",
}

_STARTED: Mapping[str, Mapping[str, str]] = {
    "en": {
        "identity": "this connection already says who you are",
        "sign_in": "no arguments",
        "people": "Do not ask a person in this terminal: nobody reads it.",
    },
    "ja": {
        "identity": "この接続で身元は確認済みです",
        "sign_in": "引数は不要です",
        "people": "この端末で人に質問しないでください（誰も読みません）。",
    },
}
_BY_HAND: Mapping[str, Mapping[str, str]] = {
    "en": {
        "identity": "you say who you are when you sign in",
        "sign_in": 'agent_id="{agent_id}", your passkey, your project_id; pass its session_token to every tool',
        "people": "The person in this terminal gives you the passkey.",
    },
    "ja": {
        "identity": "サインインの際に身元を示します",
        "sign_in": 'agent_id="{agent_id}"、パスキー、project_id を渡し、返された session_token を以後渡します',
        "people": "パスキーはこの端末の利用者が教えます。",
    },
}


def first_words(agent_id: str, language: str = "en", project_words: str = "", *, by_hand: bool = False) -> str:
    """The prompt of one start; an unknown language reads English.

    `by_hand`: no Coordinator started it, so the connection does not say who it is.
    """
    known = language if language in FIXED else "en"
    how = {name: text.format(agent_id=agent_id) for name, text in (_BY_HAND if by_hand else _STARTED)[known].items()}
    fixed = FIXED[known].format(agent_id=agent_id, **how)
    return f"{fixed}\n{project_words.strip()}\n" if project_words.strip() else fixed


_REMINDERS: Mapping[str, str] = {
    "en": """\
You left without a report: the task of agent {agent_id} is still in progress and still yours.
Call get_next_action now and go on until it says exit. If the work is done, call report_completed(result="success", \
summary=…); if it cannot be done, report_completed(result="blocked", summary=the reason).
Do not call authenticate again.
""",
    "ja": """\
報告せずに終了しました。エージェント {agent_id} のタスクは進行中のまま、まだあなたの担当です。
今すぐ get_next_action を呼び出し、exit と言われるまで続けてください。作業が終わっていれば report_completed\
(result="success", summary=…)、できなければ report_completed(result="blocked", summary=理由) を呼び出してください。
authenticate を再び呼び出す必要はありません。
""",
}


def reminder(agent_id: str, language: str = "en") -> str:
    """Said once to a program that ended by itself without a report, in the session it had."""
    return _REMINDERS[language if language in _REMINDERS else "en"].format(agent_id=agent_id)
