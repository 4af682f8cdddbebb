"""Whether a person, or the merge queue, has asked for changes to a completed task's work, and which task makes them.
Decided once, here.

Such a task is an ordinary one: it depends on the task whose work was reviewed (so it starts from that work), its
context names it, and a person or Toryo has created it. The request stands until that task is completed, failed or
cancelled.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from toryo.domain.agents import SYSTEM
from toryo.domain.tasks import CHANGES_TO, Status, Task
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.wire import wire

MERGES = "merges"
"""The key beside it, if it resolves conflicts: its value are the branches that are merged into its worktree."""


def context_for(task: Task, merges: Sequence[str] = ()) -> dict[str, Any]:
    return {CHANGES_TO: task.id, **({MERGES: list(merges)} if merges else {})}


def merged_by(call: Call, task: Task) -> list[str]:
    """The branches that this task has to merge into its worktree. Only Toryo says so: agents write contexts, too."""
    context = call.tx.tasks.details(task.id).context if task.created_by == SYSTEM else None
    found = context.get(MERGES) if isinstance(context, dict) else None
    return list(map(str, found)) if isinstance(found, list) else []


def standing(call: Call, task_ids: Collection[str]) -> dict[str, Task]:
    """For each of these tasks that changes are requested of: the open task that makes them, the newest one."""
    if not task_ids:
        return {}
    asked = call.tx.tasks.asking_changes(task_ids, CHANGES_TO)
    creators = {task.created_by for _, task in asked} - {SYSTEM}
    may = {agent.id for agent in call.tx.agents.find_all(creators) if agent.human} | {SYSTEM} if asked else set()
    return {reviewed: task for reviewed, task in asked if task.created_by in may}


def about(call: Call, task_ids: Iterable[str]) -> set[str]:
    """The reviewed tasks to which these tasks make, or made, changes: what is shown of those depends on these."""
    return call.tx.tasks.reviewed_by(task_ids, CHANGES_TO)


def as_answer(task: Task | None) -> schemas.RequestedChanges | None:
    return None if task is None else _of_task(task)


_of_task = wire(Task, schemas.RequestedChanges, task_id="id", requested_by="created_by")


def of(call: Call, task: Task) -> Task | None:
    """The open task that makes changes to this one."""
    return standing(call, [task.id]).get(task.id) if task.status is Status.COMPLETED else None
