"""How agents move tasks below their own main task. What comes of a move is in `below_main_task.py`, the rules in
`domain/moves.py`."""

from __future__ import annotations

from pydantic import Field

from toryo.domain.tasks import status_named
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Later, Parameters, operation
from toryo.operations.calls.fields import GivenStatus, Id, Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import MoveResult, Refused
from toryo.operations.tasks import below_main_task


class UpdateStatus(Parameters):
    task_id: Id = Field(description="A task below your main task.")
    status: GivenStatus = Field(description="The new status.")
    reason: Lines | None = Field(None, max_length=10_000, description="Needed for blocked, failed and cancelled.")


@operation(
    "update_task_status",
    shown_to=Audience.WORKER | Audience.MANAGER,
    grant=Grant.TASK_SESSION,
    parameters=UpdateStatus,
    waits=True,
    leads=True,
)
def update_task_status(call: Call, wanted: UpdateStatus) -> MoveResult | Refused | Later:
    """Move a subtask: start it (in_progress), finish it (completed, failed), block it, or put it back (todo)."""
    return below_main_task.move(call, wanted.task_id, status_named(wanted.status), wanted.reason)
