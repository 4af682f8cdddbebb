"""Delegations: work that a task session hands to a chat session of its own agent. Pure.

`operations/messaging/delegations.py` stores them and notifies the waiting task.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.shape import AgentId, ProjectId, TaskId
from toryo.domain.talk_limits import TalkLimits
from toryo.domain.times import Millis


class DelegationStatus(StrEnum):
    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Delegation:
    """A message that a task session hands to its agent's chat session. Belongs to the main task, not to a session."""

    id: str
    project_id: ProjectId
    agent_id: AgentId
    task_id: TaskId
    root_id: str
    target_agent_id: AgentId
    purpose: str
    context: Any
    await_result: bool
    status: DelegationStatus
    created_at: Millis
    attempt: int = 1
    session_id: str | None = None
    """The chat session that processes it; None while in processing means parked."""
    conversation_id: str | None = None
    processed_at: Millis | None = None
    ended_at: Millis | None = None
    result: Any = None

    @property
    def open(self) -> bool:
        return self.status in (DelegationStatus.PENDING, DelegationStatus.PROCESSING)

    @property
    def parked(self) -> bool:
        return self.status is DelegationStatus.PROCESSING and self.session_id is None


def taken(delegation: Delegation, session_id: str, now: Millis) -> Delegation:
    """The delegation after a chat session has fetched it; it shares that session's lease."""
    first = delegation.processed_at or now
    return replace(delegation, status=DelegationStatus.PROCESSING, session_id=session_id, processed_at=first)


def parked(delegation: Delegation) -> Delegation:
    """Its session ends normally while it waits for the other agent's answer: not counted as an attempt, and no session
    is started until the answer comes.
    """
    return replace(delegation, session_id=None)


def handed_back(delegation: Delegation) -> Delegation:
    """The awaited answer has come: the delegation is handed out again."""
    return replace(delegation, status=DelegationStatus.PENDING)


def lost(delegation: Delegation, now: Millis, limits: TalkLimits) -> Delegation:
    """Its session was lost and nothing is awaited: another session gets it until its attempts are used up."""
    if delegation.attempt >= limits.delegation_attempts:
        return failed(delegation, f"no chat session finished it in {delegation.attempt} attempts", now)
    return replace(delegation, status=DelegationStatus.PENDING, session_id=None, attempt=delegation.attempt + 1)


def completed(delegation: Delegation, result: Any, now: Millis) -> Delegation:
    return replace(delegation, status=DelegationStatus.COMPLETED, session_id=None, ended_at=now, result=result)


def failed(delegation: Delegation, why: Any, now: Millis) -> Delegation:
    return replace(delegation, status=DelegationStatus.FAILED, session_id=None, ended_at=now, result=why)
