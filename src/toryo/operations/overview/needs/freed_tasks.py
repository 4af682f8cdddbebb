"""What was unblocked together with something else, could not go on at that moment, and was not started since.

What somebody has unblocked by name, and left to be done, they know of; so do they of a project that rests. What waits
for other tasks or for an approval is told where those are.
"""

from __future__ import annotations

from collections.abc import Iterator

from toryo.deeds import TO_SAY, Blank, Deed, deed
from toryo.domain import moves, task_readiness
from toryo.domain.needs import Kind, Need
from toryo.domain.task_readiness import StartBlocker
from toryo.domain.tasks import Task
from toryo.domain.wording import constant, say, together
from toryo.operations.overview.needs.view import View, left_to_agent
from toryo.operations.tasks import above as above_tasks


def freed_tasks(view: View) -> Iterator[Need]:
    freed = view.here(view.call.tx.needs.freed())
    above = above_tasks.ancestors(view.call, freed)
    for task in freed:
        event = view.call.tx.events.newest_of(task.id, ["task.unblocked"])
        if event is None or "caused_by" not in event.data or left_to_agent(view, task, above):
            continue
        tree_state = view.call.tree_state(task)
        hindrance = next(task_readiness.hindrances(tree_state, task), None)
        if hindrance not in _TOLD_ELSEWHERE:
            hindered = moves.refusal_to_start(tree_state, task, hindrance).message if hindrance is not None else ""
            yield from view.of_task(
                Kind.STUCK,
                task,
                say("Stuck: {title}", title=task.title),
                together((constant(_NOT_STARTED), hindered)),
                *_released(task, hindrance),
                deed("cancel", task_id=task.id, reason=TO_SAY),
                since=task.moved_at,
            )


_NOT_STARTED = "The block was resolved, but the task could not continue at that time, and no one has started it since."
_TOLD_ELSEWHERE = (
    *(StartBlocker.PROJECT_NOT_ACTIVE, StartBlocker.NOT_APPROVED, StartBlocker.DEPENDENCY, StartBlocker.NOT_BEFORE),
)


def _released(task: Task, hindrance: StartBlocker | None) -> Iterator[Deed]:
    """What lets it go on: nothing but that which would not be refused."""
    if hindrance is None:
        yield deed("unblock", task_id=task.id)
    elif hindrance is not StartBlocker.ANCESTOR_CLOSED:
        yield deed("assign", task_id=task.id, assignee_id=Blank("AGENT"))
