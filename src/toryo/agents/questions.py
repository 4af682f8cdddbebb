"""Questions of a task session to people, once for each task; its process leaves until they are answered.

The text comes from the task (`context.ask`). The server remembers what was asked: a restarted session does not ask
twice, and finds the answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from toryo.agents import context_keys
from toryo.agents.agent_loop import Answer, Session, say

ANSWERS, ANSWER = "TORYO_ANSWERS", "TORYO_ANSWER"
_NAMES = ("question", "options", "multiple", "free_text", "default", "deadline_minutes", "to", "ask_again")


class Asking:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._before: list[Answer] = []
        """What a person had answered before in this project, so that nobody was asked."""
        self.waits = False
        """Whether a question that was asked now has no answer yet."""

    def ask(self, wanted: Sequence[Mapping[str, Any]]) -> Answer:
        """Asks what was not asked yet. Returns the refusal, if there was one."""
        if self.waits:  # it was answered before this process had left
            self._session.fetch_task({})
            self.waits = False
        known = {str(each.get("question")) for each in self._all()}
        for each in wanted:
            if each["question"].strip() in known:
                continue
            answer = self._session.try_to("ask_person", **each)
            if not answer.get("success"):
                return answer
            known.add(each["question"].strip())
            if answer.get("question_id") is None:
                self._before.append(answer["answered_before"])
            else:
                self.waits = True
                say(f"asked: {each['question']}")
        return {}

    def _all(self) -> list[Answer]:
        return [*(self._session.task.get("questions") or ()), *self._before]

    def environment(self) -> dict[str, str]:
        """The answers, for a command."""
        known = self._all()
        if not known:
            return {}
        names = ("question_id", "question", "state", "answer", "ended_by")
        shown = [{name: each.get(name) for name in names} for each in known]
        return {ANSWERS: json.dumps(shown, ensure_ascii=False), ANSWER: str(known[0].get("answer") or "")}


def wanted_by(context: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """`ask` of a task's context: one question, or a list. Raises Unfit for what is none."""
    return context_keys.read(context, "ask", _NAMES, required=("question",))
