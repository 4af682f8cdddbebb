"""Dead letters: queue tasks that have failed permanently. People list and requeue them. REST and CLI."""

from __future__ import annotations

from pydantic import Field

from toryo.domain import queue
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.tasks import Status, Task
from toryo.domain.wording import say
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.pagination import Page, Paged, cursor_of, key_of, paged
from toryo.operations.calls.results import Result
from toryo.operations.tasks import mutations, queue_tasks

MOST_DEAD = 500
"""Dead letters of one page, where nobody says how many."""


class ListDeadLetters(Paged):
    project_id: Id = Field(description="The project.")


class DeadLetters(Page):
    tasks: list[schemas.QueueTask]


@operation(
    "list_dead_letters",
    grant=Grant.PERSON,
    parameters=ListDeadLetters,
    route=Route("GET", "/projects/{project_id}/dead-letters"),
    tool=False,
    reads=True,
)
def list_dead_letters(call: Call, wanted: ListDeadLetters) -> DeadLetters:
    """Queue tasks that have failed for good, the newest first."""
    project, limit = call.project(wanted.project_id), wanted.limit or MOST_DEAD
    key = key_of(wanted.cursor, int, str)
    found = call.tx.queues.dead(project.id, limit + 1, (key[0], key[1]) if key is not None else None)
    shown = found[:limit]
    more = cursor_of(shown[-1].completed_at or 0, shown[-1].id) if len(found) > limit else None
    answer: DeadLetters = {"success": True, "tasks": queue_tasks.show_all(call, shown)}
    return paged(answer, more)


class Requeued(Result):
    task_id: str
    task: schemas.QueueTask


class Requeue(Parameters):
    task_id: Id = Field(description="The task.")


@operation(
    "requeue_task",
    grant=Grant.WRITER,
    parameters=Requeue,
    route=Route("POST", "/tasks/{task_id}/requeue"),
    tool=False,
)
def requeue_task(call: Call, wanted: Requeue) -> Requeued:
    """Put a dead letter back into its queue, with a full number of attempts."""
    call.enter(call.task(wanted.task_id).project_id)
    task = call.task(wanted.task_id)
    if not task.for_queue or task.status is not Status.FAILED:
        raise Refusal(
            Code.INVALID_TRANSITION,
            say("Task {task_id} is {status}.", task_id=task.id, status=task.status)
            if task.for_queue
            else say("Task {task_id} is not a queue task.", task_id=task.id),
            "Only queue tasks that have failed can be put back into the queue.",
            task_id=task.id,
        )
    back = mutations.move(call, call.tree_state(task), task, Status.TODO)
    last = back.attempt - 1 + _tries(call, task)
    stored = call.tx.tasks.save(back, replace(back, assignee_id=None, not_before=None, max_attempts=last))
    call.event("task.requeued", task=stored, data={"attempt": stored.attempt})
    return {"success": True, "task_id": stored.id, "task": queue_tasks.show(call, stored)}


def _tries(call: Call, task: Task) -> int:
    """How many attempts it has had each time: its limit counts on from the attempt in which it was last put back."""
    before = call.tx.events.newest_of(task.id, ("task.requeued",))
    first = before.data["attempt"] if before is not None else 1
    return int((task.max_attempts or queue.MAX_ATTEMPTS) - first + 1)
