"""Notifications to task sessions. Messages between agents and people are in `mailboxes`."""

from __future__ import annotations

from toryo.domain import ids
from toryo.domain.handover import Notification
from toryo.domain.launches import Purpose
from toryo.domain.tasks import Task
from toryo.operations.calls.call import Call


def notify(
    call: Call, task: Task, agent_id: str, session_id: str, kind: str, message: str, cause: str | None = None
) -> None:
    """Leaves a notification for a running session."""
    call.tx.handovers.notify(
        Notification(
            id=call.new_id(ids.NOTIFICATION),
            project_id=task.project_id,
            agent_id=agent_id,
            purpose=Purpose.TASK,
            session_id=session_id,
            task_id=task.id,
            kind=kind,
            message=message,
            cause=cause,
            created_at=call.now,
        )
    )
