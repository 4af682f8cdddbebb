"""What is written down of each call, for the server's log and for observers; no text of people or agents is in it."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

import structlog

from toryo.domain.errors import Code
from toryo.operations.calls import masking
from toryo.operations.calls.observers import Observed
from toryo.operations.calls.permissions import Grant, Kind

if TYPE_CHECKING:
    from toryo.operations.calls.dispatch import Answered, Request

calls = structlog.get_logger("toryo.calls")
_STRANGER = {"stranger": True}
"""Marks log lines that callers cause who have proven nothing: anybody could fill the log with them."""


def write(asked: Request, done: Answered, seconds: float) -> None:
    """One structured line per tool call; polling and reading at debug, so that an idle hour writes next to nothing."""
    operation, caller, result = asked.operation, done.caller, done.outcome.result or {}
    polls = operation.grant is Grant.COORDINATOR and (operation.waits or result.get("action") == "hold")
    paced = result.get("code", result.get("error")) in (Code.LOCKED, Code.RATE_LIMITED)  # not a line for each try
    idle = operation.reads or paced or (polls and not done.outcome.refused)
    if idle and not calls.is_enabled_for(logging.DEBUG):
        return
    line = calls.debug if idle else calls.info
    session = caller.session if caller is not None else None
    agent_id, task_id, correlation_id = _about(asked, done)
    line(
        "tool_call",
        agent_id=agent_id,
        task_id=task_id,
        correlation_id=correlation_id,
        duration_ms=round(seconds * 1000, 2),
        metadata={
            "tool": operation.name,
            "session": session.id if session is not None else None,
            "purpose": session.purpose.value if session is not None else None,
            "project": caller.project_id if caller is not None else None,
            "outcome": str(result.get("code", result.get("error"))) if done.outcome.refused else "ok",
            "arguments": masking.shown(operation.parameters, asked.arguments),
        },
        **_STRANGER if caller is None or caller.kind is Kind.NOBODY else {},
    )


def _about(asked: Request, done: Answered) -> tuple[str | None, str | None, str | None]:
    """Which agent, task and request a call belongs to: a session's, or what a queue agent's answer names."""
    caller, result = done.caller, done.outcome.result or {}
    if caller is not None and caller.session is not None:
        return caller.session.agent_id, caller.session.task_id, caller.session.correlation_id
    if caller is not None and caller.key is not None:
        return caller.key.agent_id, result.get("task_id"), result.get("correlation_id")
    agent = caller.agent if caller is not None else None
    return agent.id if agent is not None else None, None, asked.credentials.correlation_id


def observed(asked: Request, done: Answered, seconds: float) -> Observed:
    session = done.caller.session if done.caller is not None else None
    agent_id, task_id, correlation_id = _about(asked, done)
    result = done.outcome.result or {}
    return Observed(
        operation=asked.operation.name,
        outcome=str(result.get("code", result.get("error"))) if done.outcome.refused else "ok",
        seconds=seconds,
        ended_at=time.time(),
        agent_id=agent_id,
        session_id=session.id if session is not None else None,
        task_id=task_id,
        correlation_id=correlation_id,
        events=done.events,
    )
