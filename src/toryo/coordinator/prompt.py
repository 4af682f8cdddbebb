"""The first words a model reads: who it is, how to connect, and the one loop it lives by.

The fixed protocol part is always there; a project's own words are added to it and never replace it. The role itself
(the system prompt) comes with the answer of `authenticate`, so that it is changed in one place.
"""

from __future__ import annotations

from collections.abc import Mapping

FIXED: Mapping[str, str] = {
    "en": """\
You are the agent {agent_id}. The MCP server "toryo" leads you; this connection already says who you are.

1. Call authenticate (no arguments).
2. The system_prompt it returns is your role: act in that role from then on.
3. Call get_next_action and do what its instruction says, with the tools it names.
4. After each step call get_next_action again. An answer that carries `next` has already told you.
5. When the action is exit (or logout), end: say one short sentence and call nothing more.

A refusal is no failure: read its instruction and do that instead. Do not ask a person in this terminal: nobody reads
it. Files you make belong into the working directory.
""",
    "ja": """\
あなたはエージェント {agent_id} です。MCP サーバー「toryo」があなたを導きます。この接続で身元は確認済みです。

1. authenticate を呼び出してください（引数は不要です）。
2. 返された system_prompt があなたの役割です。以後その役割に従って行動してください。
3. get_next_action を呼び出し、instruction の指示どおりに、示されたツールで作業してください。
4. 一つ終えるごとに get_next_action を呼び出してください。応答に `next` があれば、それが次の指示です。
5. action が exit（または logout）なら終了です。短く一言述べ、それ以上ツールを呼び出さないでください。

拒否は失敗ではありません。instruction を読み、その通りにしてください。
この端末で人に質問しないでください（誰も読みません）。作成するファイルは作業ディレクトリに置いてください。
""",
}


def first_words(agent_id: str, language: str = "en", project_words: str = "") -> str:
    """The prompt of one start; an unknown language reads English."""
    fixed = FIXED.get(language, FIXED["en"]).format(agent_id=agent_id)
    return f"{fixed}\n{project_words.strip()}\n" if project_words.strip() else fixed
