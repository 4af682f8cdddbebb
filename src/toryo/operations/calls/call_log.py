"""The record of each call for the server's log and for observers; contains no text of people or agents."""

from __future__ import annotations

import logging
import time
from typing import Any

import structlog

from toryo.domain.errors import Code
from toryo.domain.events import Event
from toryo.domain.fast_dataclasses import dataclass
from toryo.operations.calls import argument_redaction
from toryo.operations.calls.callers import Caller, Kind
from toryo.operations.calls.catalogue import Operation
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.observers import Observed

calls = structlog.get_logger("toryo.calls")
_STRANGER = {"stranger": True}
"""Marks log lines that callers cause who have proven nothing: anybody could fill the log with them."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A completed call."""

    operation: Operation
    arguments: dict[str, Any]
    caller: Caller | None
    result: dict[str, Any]
    refused: bool
    seconds: float
    given_correlation_id: str | None
    events: tuple[Event, ...]

    @property
    def outcome(self) -> str:
        """`ok`, or the code of the refusal."""
        return str(self.result.get("code", self.result.get("error"))) if self.refused else "ok"

    @property
    def about(self) -> tuple[str | None, str | None, str | None]:
        """Which agent, task and request it belongs to: a session's, or what a queue agent's answer names."""
        caller = self.caller
        if caller is not None and caller.session is not None:
            return caller.session.agent_id, caller.session.task_id, caller.session.correlation_id
        if caller is not None and caller.key is not None:
            return caller.key.agent_id, self.result.get("task_id"), self.result.get("correlation_id")
        agent = caller.agent if caller is not None else None
        return agent.id if agent is not None else None, None, self.given_correlation_id


def silent(operation: Operation) -> bool:
    """Whether no call of it is written."""
    return operation.reads and not calls.is_enabled_for(logging.DEBUG)


def write(call: Finished) -> None:
    """One structured line per tool call; polling and reading at debug, so that an idle hour writes next to nothing."""
    operation, caller = call.operation, call.caller
    polls = operation.grant is Grant.COORDINATOR and (operation.waits or call.result.get("action") == "hold")
    paced = call.refused and call.outcome in (Code.LOCKED, Code.RATE_LIMITED)  # not a line for each try
    idle = operation.reads or paced or (polls and not call.refused)
    if idle and not calls.is_enabled_for(logging.DEBUG):
        return
    line = calls.debug if idle else calls.info
    session = caller.session if caller is not None else None
    agent_id, task_id, correlation_id = call.about
    line(
        "tool_call",
        agent_id=agent_id,
        task_id=task_id,
        correlation_id=correlation_id,
        duration_ms=round(call.seconds * 1000, 2),
        metadata={
            "tool": operation.name,
            "session": session.id if session is not None else None,
            "purpose": session.purpose.value if session is not None else None,
            "project": caller.project_id if caller is not None else None,
            "outcome": call.outcome,
            "arguments": argument_redaction.logged_text(operation.parameters, call.arguments),
        },
        **_STRANGER if caller is None or caller.kind is Kind.NOBODY else {},
    )


def observed(call: Finished) -> Observed:
    session = call.caller.session if call.caller is not None else None
    agent_id, task_id, correlation_id = call.about
    return Observed(
        operation=call.operation.name,
        outcome=call.outcome,
        seconds=call.seconds,
        ended_at=time.time(),
        agent_id=agent_id,
        session_id=session.id if session is not None else None,
        task_id=task_id,
        correlation_id=correlation_id,
        events=call.events,
    )
