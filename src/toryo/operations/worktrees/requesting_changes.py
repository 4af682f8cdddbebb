"""A person sends completed work back: a task for the same agent makes the changes, and starts from that work."""

from __future__ import annotations

from typing import Any, NotRequired

from pydantic import Field

from toryo.deeds import Blank, deed
from toryo.domain.errors import Code, Refusal
from toryo.domain.tasks import Status, Task
from toryo.domain.wording import say
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.fields import Id, Text, Title
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.tasks import requested_changes
from toryo.operations.worktrees import changes_tasks


class RequestChanges(Parameters):
    task_id: Id = Field(description="The completed task whose work was reviewed.")
    text: Text = Field(min_length=1, pattern=r"\S", description="What has to change: the description of the new task.")
    title: Title | None = Field(None, description="The title of the new task; default: Changes to: …")
    context: dict[str, Any] | None = Field(
        None, description="Data for the new task, such as the command of an agent without a model."
    )


class ChangesRequested(Result):
    """`waits`: why the new task was not started at once."""

    task_id: str
    changes_requested: schemas.RequestedChanges
    waits: NotRequired[str]


@operation(
    "request_changes",
    grant=Grant.WRITER,
    parameters=RequestChanges,
    route=Route("POST", "/tasks/{task_id}/worktree/changes", 201),
    tool=False,
)
def request_changes(call: Call, wanted: RequestChanges) -> ChangesRequested:
    """Request changes to what a completed task has done. Creates a task for the same agent, and starts it if that is
    possible. Until it ends, the review waits for it."""
    call.enter(call.task(wanted.task_id).project_id)
    task = call.task(wanted.task_id)
    if task.status is not Status.COMPLETED:
        raise Refusal(
            Code.INVALID_TRANSITION,
            say("Task {task_id} is {status}.", task_id=task.id, status=task.status),
            say(
                "Changes are requested of completed tasks. Tell an agent that is still at work{deed:: …|.}",
                deed=deed("tell", task_id=Blank("TASK"), text=Blank("TEXT")),
            ),
            task_id=task.id,
        )
    title = wanted.title or f"Changes to: {task.title}"
    made, waits = changes_tasks.make(call, task, title, wanted.text, context=wanted.context or {})
    answer: ChangesRequested = {"success": True, "task_id": task.id, "changes_requested": _as_answer(made)}
    return answer if waits is None else {**answer, "waits": waits}


def _as_answer(task: Task) -> schemas.RequestedChanges:
    shown = requested_changes.as_answer(task)
    assert shown is not None
    return shown
