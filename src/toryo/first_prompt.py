"""The first prompt of a model: who it is, how to connect, and the loop to follow.

The Coordinator gives it to the programs it starts, and the server as the prompt `agent_start`; so it is independent of
both. The fixed protocol part is always included; a project's own text is added and never replaces it. The role (the
system prompt) comes with the answer of `authenticate`, so that it is changed in one place. The texts here are English;
`translation_catalogues.py` has the other languages.
"""

from __future__ import annotations

from collections.abc import Mapping

from toryo.translation_catalogues import in_language

FIXED = """\
You are the agent {agent_id}. The MCP server "toryo" tells you what to do; {identity}.

1. Call authenticate ({sign_in}).
2. The system_prompt it returns is your role: follow it from then on.
3. Call get_next_action and do what its instruction says, with the tools it names.
4. After each step call get_next_action again, unless the answer has `next`: that is your next action.
5. When the action is exit, logout, wait or wait_for_others, do what its instruction says; then stop: write \
one short sentence and call no more tools.

A refused call is not a failure: read its instruction and do that instead. {people}
Create files in the working directory.
"""
STARTED: Mapping[str, str] = {
    "identity": "this connection already identifies you",
    "sign_in": "no arguments",
    "people": "Do not ask questions in this terminal: no one reads it.",
}
BY_HAND: Mapping[str, str] = {
    "identity": "you say who you are when you sign in",
    "sign_in": 'agent_id="{agent_id}", your passkey, your project_id; pass its session_token to every tool',
    "people": "The person in this terminal gives you the passkey.",
}
REMINDER = """\
You stopped without a report: the task of agent {agent_id} is still in progress and assigned to you.
Call get_next_action now and continue until it says exit. If the work is done, call report_completed(result="success", \
summary=…); if it cannot be done, report_completed(result="blocked", summary=the reason).
Do not call authenticate again.
"""


def first_words(agent_id: str, language: str = "en", project_words: str = "", *, by_hand: bool = False) -> str:
    """The prompt of one start; an unknown language reads English.

    `by_hand`: no Coordinator started it, so the connection does not say who it is.
    """
    parts = BY_HAND if by_hand else STARTED
    how = {name: in_language(text, language, agent_id=agent_id) for name, text in parts.items()}
    fixed = in_language(FIXED, language, agent_id=agent_id, **how)
    return f"{fixed}\n{project_words.strip()}\n" if project_words.strip() else fixed


def reminder(agent_id: str, language: str = "en") -> str:
    """Said once to a program that ended by itself without a report, in the session it had."""
    return in_language(REMINDER, language, agent_id=agent_id)
