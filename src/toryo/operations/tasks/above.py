"""What stands above tasks, and whether an agent there decides about them. Used where people are told what waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from toryo.domain.tasks import Status, Task
from toryo.operations.calls.call import Call


def ancestors(call: Call, tasks: Iterable[Task]) -> dict[str, Task]:
    """Every task above these, and these themselves, by id: one read for each level of the tree."""
    known = {task.id: task for task in tasks}
    wanted = {task.parent_id for task in known.values() if task.parent_id} - set(known)
    while wanted:
        read = call.tx.tasks.find_all(sorted(wanted))
        known |= {task.id: task for task in read}
        wanted = {task.parent_id for task in read if task.parent_id} - set(known)
    return known


def over(task: Task, known: dict[str, Task]) -> Iterator[Task]:
    """What stands above a task, the nearest first."""
    while task.parent_id is not None and task.parent_id in known:
        task = known[task.parent_id]
        yield task


def left_to_agent(task: Task, known: dict[str, Task], human: Callable[[str | None], bool]) -> bool:
    """An agent at work on a task above decides about it. It cannot finish without, so the task does not wait
    indefinitely."""
    return any(
        each.in_progress and each.assignee_id is not None and not human(each.assignee_id) for each in over(task, known)
    )


def unfinished(task: Task, known: dict[str, Task], human: Callable[[str | None], bool]) -> bool:
    """An agent was given a task above that is not completed: this is a part of work that may never be."""
    return any(
        each.status is not Status.COMPLETED and each.assignee_id is not None and not human(each.assignee_id)
        for each in over(task, known)
    )
