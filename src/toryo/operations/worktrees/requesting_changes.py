"""A person, or a manager, sends completed work back: a task for the same agent makes the changes, and starts from that
work. `changes_tasks.py` has how.
"""

from __future__ import annotations

from typing import Any, NotRequired

from pydantic import Field

from toryo.domain.sessions import Choice
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Parameters, Route, operation
from toryo.operations.calls.fields import Id, Text, Title
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN
from toryo.operations.calls.results import Result
from toryo.operations.tasks import below_main_task, requested_changes
from toryo.operations.worktrees import changes_tasks, merge_queue


class RequestTaskChanges(Parameters):
    task_id: Id = Field(description="The completed task whose work was reviewed.")
    text: Text = Field(min_length=1, pattern=r"\S", description="What has to change: the description of the new task.")
    title: Title | None = Field(None, description="The title of the new task; default: Changes to: …")
    context: dict[str, Any] | None = Field(
        None, description="Data for the new task, such as the command of an agent without a model."
    )


class RequestChanges(Parameters):
    task_id: Id = Field(description="A completed task below your main task.", json_schema_extra=PLAIN)
    reason: Text = Field(
        min_length=1,
        pattern=r"\S",
        description="What has to change: the description of the new task.",
        json_schema_extra=PLAIN,
    )


class ChangesRequested(Result):
    """`waits`: why the new task was not started at once."""

    task_id: str
    changes_requested: schemas.RequestedChanges
    waits: NotRequired[str]


@operation(
    "request_task_changes",
    grant=Grant.WRITER,
    parameters=RequestTaskChanges,
    route=Route("POST", "/tasks/{task_id}/worktree/changes", 201),
    tool=False,
)
def request_task_changes(call: Call, wanted: RequestTaskChanges) -> ChangesRequested:
    """Request changes to what a completed task has done. Creates a task for the same agent, and starts it if that is
    possible. Until it ends, the review waits for it."""
    call.enter(call.task(wanted.task_id).project_id)
    return _requested(call, wanted.task_id, wanted.text, wanted.title, wanted.context)


@operation(
    "request_changes",
    shown_to=Audience.MANAGER,
    grant=Grant.MANAGER,
    parameters=RequestChanges,
    leads=True,
)
def request_changes(call: Call, wanted: RequestChanges) -> ChangesRequested:
    """Send completed work back to its author, as a new subtask."""
    tree_state, main = below_main_task.main_task(call)
    below_main_task.below(call, tree_state, main, wanted.task_id)
    answer = _requested(call, wanted.task_id, wanted.reason)
    below_main_task.use_up_choice(call, Choice.ADJUST)
    return answer


def _requested(
    call: Call, task_id: str, text: str, title: str | None = None, context: dict[str, Any] | None = None
) -> ChangesRequested:
    task = call.task(task_id)
    made, waits = changes_tasks.request(call, task, text, title, context or {})
    merge_queue.advance(call, task.project_id)  # what waits there is no longer to be merged without the changes
    shown = requested_changes.as_answer(made)
    assert shown is not None
    answer: ChangesRequested = {"success": True, "task_id": task_id, "changes_requested": shown}
    return answer if waits is None else {**answer, "waits": waits}
