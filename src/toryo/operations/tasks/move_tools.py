"""How agents move tasks below their own main task. What comes of a move is in `below_main_task.py`, the rules in
`domain/moves.py`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from toryo.domain.sessions import Choice
from toryo.domain.tasks import Status, status_named
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Later, Parameters, operation
from toryo.operations.calls.fields import GivenStatus, Id, Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN, listed_choices
from toryo.operations.calls.results import MoveResult, Refused
from toryo.operations.tasks import below_main_task, mutations

Reason = Annotated[Lines, Field(min_length=1, max_length=10_000, pattern=r"\S")]


class UpdateStatus(Parameters):
    task_id: Id = Field(description="A task below your main task.", json_schema_extra=PLAIN)
    status: GivenStatus = Field(
        description="The new status.",
        json_schema_extra=listed_choices("todo", "in_progress", "completed", "failed", "blocked"),
    )
    reason: Lines | None = Field(None, max_length=10_000, description="Needed for blocked and failed.")


@operation(
    "update_task_status",
    shown_to=Audience.WORKER | Audience.MANAGER,
    grant=Grant.TASK_SESSION,
    parameters=UpdateStatus,
    waits=True,
    leads=True,
)
def update_task_status(call: Call, wanted: UpdateStatus) -> MoveResult | Refused | Later:
    """Set the status of a subtask. in_progress starts it; todo retries or unblocks."""
    return below_main_task.move(call, wanted.task_id, status_named(wanted.status), wanted.reason)


class CancelTask(Parameters):
    task_id: Id = Field(description="A task below your main task.", json_schema_extra=PLAIN)
    reason: Reason = Field(description="Why.", json_schema_extra=PLAIN)


@operation(
    "cancel_task",
    shown_to=Audience.WORKER | Audience.MANAGER,
    grant=Grant.LEADING,
    parameters=CancelTask,
    leads=True,
)
def cancel_task(call: Call, wanted: CancelTask) -> MoveResult:
    """Cancel a subtask and its open subtasks. This is final."""
    return _move(call, wanted.task_id, Status.CANCELLED, wanted.reason)


@operation("block_task", shown_to=Audience.MANAGER, grant=Grant.LEADING, parameters=CancelTask, leads=True)
def block_task(call: Call, wanted: CancelTask) -> MoveResult:
    """Block a subtask and its open subtasks, until it is set to todo."""
    return _move(call, wanted.task_id, Status.BLOCKED, wanted.reason)


def _move(call: Call, task_id: str, to: Status, reason: str) -> MoveResult:
    tree_state, task = below_main_task.own(call, task_id)
    if task.status is to and task.moved_session == call.session.id and task.moved_from is not None:
        before = task.moved_from
    else:
        before = task.status
        mutations.refuse_restless(call, task)
        mutations.move(call, tree_state, task, to, reason)
        below_main_task.use_up_choice(call, Choice.ADJUST)
    return {
        "success": True,
        "task_id": task.id,
        "previous_status": before.value,
        "new_status": call.task(task.id).status.value,
        "reason": reason,
    }
