"""Stores delegations when a chat session takes or finishes them, and notifies the waiting task.

The rules are in `domain/delegations.py`; `housekeeping/stale_talk.py` ends those that have waited too long.
"""

from __future__ import annotations

from typing import Any

from toryo.domain.delegations import Delegation, completed, failed, handed_back, taken
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Purpose
from toryo.operations.calls.call import WORK, Call
from toryo.operations.messaging import mailboxes, notifications
from toryo.operations.translations import words


def hand_back(call: Call, project_id: str, agent_id: str, awaited_id: str) -> None:
    """An agent's delegations that were parked for somebody's answer are handed out again: somebody reports them."""
    for open_delegation in call.tx.chat.open_delegations(project_id, agent_id):
        if open_delegation.parked and open_delegation.target_agent_id == awaited_id:
            call.tx.chat.save_delegation(open_delegation, handed_back(open_delegation))


def save(call: Call, delegation: Delegation, **fields: Any) -> Delegation:
    after = replace(delegation, **fields)
    call.tx.chat.save_delegation(delegation, after)
    return after


def take(call: Call, delegation: Delegation) -> Delegation:
    """Fetched by the calling chat session, whose lease is the delegation's."""
    after = taken(delegation, call.session.id, call.now)
    call.tx.chat.save_delegation(delegation, after)
    record(call, after, "delegation.processing", fact=False)
    return after


def finish(call: Call, delegation: Delegation, result: Any, *, success: bool) -> Delegation:
    """It is over; the task is told, and what waited for it goes on."""
    change = completed if success else failed
    after = change(delegation, result, call.now)
    call.tx.chat.save_delegation(delegation, after)
    tell_end(call, after)
    return after


def tell_end(call: Call, delegation: Delegation) -> None:
    """A delegation is over: the task that waits for it hears what came of it."""
    record(call, delegation, f"delegation.{delegation.status.value}", fact=True)
    mailboxes.touch(call, delegation.project_id, delegation.agent_id)
    call.tx.hint(WORK, f"task:{delegation.root_id}")
    session = call.tx.sessions.live_of(delegation.project_id, delegation.agent_id).get(Purpose.TASK)
    task = call.tx.tasks.find(delegation.task_id)
    if session is not None and task is not None and session.task_id == task.id:
        result = delegation.result if isinstance(delegation.result, str) else str(delegation.result or "")
        told = words(
            "delegation.ended",
            call.project(task.project_id).settings.language,
            delegation_id=delegation.id,
            target=delegation.target_agent_id,
            status=delegation.status.value,
            result=result[:2000],
        )
        notifications.notify(call, task, session.agent_id, session.id, "message", told)


def record(call: Call, delegation: Delegation, kind: str, *, fact: bool) -> None:
    """The event of a change."""
    call.event(
        kind,
        task=call.tx.tasks.find(delegation.task_id),
        agent_id=delegation.agent_id,
        fact=fact,
        data={
            "delegation_id": delegation.id,
            "target": delegation.target_agent_id,
            "attempt": delegation.attempt,
            "await_result": delegation.await_result,
        },
    )
