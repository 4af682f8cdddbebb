"""Delegations: what a task session wants said, handed to its own agent's chat session. Pure.

`operations/messaging/delegations.py` stores them and tells the task that waits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from toryo.domain.talk_limits import TalkLimits
from toryo.domain.times import Millis


class DelegationStatus(StrEnum):
    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Delegation:
    """What a task session wants said, for its own agent's chat session. Bound to the main task, not to a session."""

    id: str
    project_id: str
    agent_id: str
    task_id: str
    root_id: str
    target_agent_id: str
    purpose: str
    context: Any
    await_result: bool
    status: DelegationStatus
    created_at: Millis
    attempt: int = 1
    session_id: str | None = None
    """The chat session that has it in hand; a delegation in processing without one is parked."""
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
    """A chat session has fetched it: its lease is the delegation's."""
    first = delegation.processed_at or now
    return replace(delegation, status=DelegationStatus.PROCESSING, session_id=session_id, processed_at=first)


def parked(delegation: Delegation) -> Delegation:
    """Its session leaves in order while the target's answer is awaited: no attempt, nothing starts before."""
    return replace(delegation, session_id=None)


def handed_back(delegation: Delegation) -> Delegation:
    """What it was parked for has come: it is handed out again."""
    return replace(delegation, status=DelegationStatus.PENDING)


def lost(delegation: Delegation, now: Millis, limits: TalkLimits) -> Delegation:
    """Its session is gone and nothing is awaited: another gets it, up to the attempts there are."""
    if delegation.attempt >= limits.delegation_attempts:
        return failed(delegation, f"no chat session finished it in {delegation.attempt} attempts", now)
    return replace(delegation, status=DelegationStatus.PENDING, session_id=None, attempt=delegation.attempt + 1)


def completed(delegation: Delegation, result: Any, now: Millis) -> Delegation:
    return replace(delegation, status=DelegationStatus.COMPLETED, session_id=None, ended_at=now, result=result)


def failed(delegation: Delegation, why: Any, now: Millis) -> Delegation:
    return replace(delegation, status=DelegationStatus.FAILED, session_id=None, ended_at=now, result=why)
