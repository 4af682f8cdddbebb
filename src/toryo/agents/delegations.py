"""Delegations of a task session to the agent's own chat session, once for each task.

The text comes from the task (`context.delegate`) or from a script. The server remembers what was delegated: a restarted
session does not delegate twice, and finds the results.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toryo.agents import context_keys
from toryo.agents.agent_loop import Answer, Session, say
from toryo.long_waits import LONGEST_WAIT_SECONDS

_NAMES = ("target_agent_id", "purpose", "context", "await_result")
OPEN = frozenset({"pending", "processing"})
RESULTS, RESULT = "TORYO_DELEGATION_RESULTS", "TORYO_DELEGATION_RESULT"


class Delegating:
    def __init__(self, session: Session) -> None:
        self._session = session

    def ask(self, wanted: Sequence[Mapping[str, Any]]) -> Answer:
        """Makes the delegations that are still missing. Returns the refusal, if there was one."""
        known = {_key(each) for each in self.all()}
        for each in wanted:
            if _key(each) not in known:
                arguments = {name: value for name, value in each.items() if value is not None}
                answer = self._session.try_to("delegate_to_chat_session", **arguments)
                if not answer.get("success"):
                    return answer
                known.add(_key(each))
                say(f"delegated: {each['purpose']} ({each['target_agent_id']})")
        return {}

    def all(self) -> list[Answer]:
        return list(self._session.task.get("delegations") or ())

    def awaited(self, wanted: Iterable[Mapping[str, Any]]) -> list[Answer]:
        """Those whose results are awaited, as the task was when it was read last."""
        keys = {_key(each) for each in wanted if each.get("await_result", True)}
        return [each for each in self.all() if _key(each) in keys]

    def failed(self, wanted: Iterable[Mapping[str, Any]]) -> bool:
        """Whether one that is awaited has failed."""
        return any(each.get("status") == "failed" for each in self.awaited(wanted))

    def outstanding(self, wanted: Sequence[Mapping[str, Any]]) -> Answer | None:
        """Waits a while for the awaited results. None: they are there; else the answer that says what else to do."""
        if not any(each.get("await_result", True) for each in wanted):
            return None
        answer = self._session.fetch_task({})
        if any(each.get("status") in OPEN for each in self.awaited(wanted)):
            self._session.try_to("get_task_conversations", timeout_seconds=LONGEST_WAIT_SECONDS)
            answer = self._session.fetch_task({})
        return answer if any(each.get("status") in OPEN for each in self.awaited(wanted)) else None

    def environment(self) -> dict[str, str]:
        """The results, for a command."""
        known = self.all()
        if not known:
            return {}
        names = ("delegation_id", "target_agent_id", "purpose", "status", "result")
        shown = [{name: each.get(name) for name in names} for each in known]
        return {RESULTS: json.dumps(shown, ensure_ascii=False), RESULT: _text(known[0].get("result"))}

    def summary(self, wanted: Iterable[Mapping[str, Any]]) -> str:
        """The awaited results in words."""
        return "\n".join(f"{each.get('target_agent_id')}: {_outcome(each)}" for each in self.awaited(wanted))


def wanted_by(context: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """`delegate` of a task's context: one, or a list. Raises Unfit for what is no delegation."""
    return context_keys.read(context, "delegate", _NAMES, required=("target_agent_id", "purpose"))


def _key(delegation: Mapping[str, Any]) -> tuple[str, str]:
    return str(delegation.get("target_agent_id")), str(delegation.get("purpose"))


def _outcome(delegation: Mapping[str, Any]) -> str:
    result = _text(delegation.get("result"))
    if delegation.get("status") == "completed":
        return result or "done"
    return f"{delegation.get('status')}{': ' if result else ''}{result}"


def _text(result: object) -> str:
    return result if isinstance(result, str) else "" if result is None else json.dumps(result, ensure_ascii=False)
