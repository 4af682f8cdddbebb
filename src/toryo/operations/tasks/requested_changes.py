"""Whether a person, a manager or the merge queue has asked for changes to a completed task's work, and which task makes
them. Decided once, here.

Such a task is an ordinary one: it depends on the task whose work was reviewed (so it starts from that work), its
context names it, and a person, a manager or Toryo has created it. The request stands until that task is completed,
failed or cancelled. What may be requested is in `domain/requested_changes.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from toryo.domain.agents import SYSTEM
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.requested_changes import CHANGES_TO, may_ask
from toryo.domain.tasks import OPEN, Status, Task
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.wire import wire

MERGES = "merges"
"""The key beside `CHANGES_TO`, if it resolves conflicts: its value are the branches that are merged into its worktree.
"""
_NOT_AGAIN = (MERGES, "command")
_NOT_CANCELLED = frozenset(Status) - {Status.CANCELLED}
_MADE = frozenset(Status) - {Status.CANCELLED, Status.FAILED}


def context_for(
    task: Task, merges: Sequence[str] = (), given: Any = None, more: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """`given`: the context of the reviewed task, of which its agent is told again; but the same command, once more,
    would change nothing, or do everything twice. `more`: what it is told besides."""
    kept = {name: each for name, each in given.items() if name not in _NOT_AGAIN} if isinstance(given, dict) else {}
    return {**kept, **more, CHANGES_TO: task.id, **({MERGES: list(merges)} if merges else {})}


def merged_by(call: Call, task: Task) -> list[str]:
    """The branches that this task has to merge into its worktree. Only Toryo says so: agents write contexts, too."""
    context = call.tx.tasks.details(task.id).context if task.created_by == SYSTEM else None
    found = context.get(MERGES) if isinstance(context, dict) else None
    return list(map(str, found)) if isinstance(found, list) else []


def standing(call: Call, task_ids: Collection[str]) -> dict[str, Task]:
    """For each of these tasks that changes are requested of: the open task that makes them, the newest one."""
    return dict(_asked(call, task_ids, OPEN))


def all_standing(call: Call, task_ids: Collection[str]) -> list[Task]:
    """The open tasks that make changes to these, and after them those that make changes to such changes."""
    return [task for _, task in _all_asked(call, task_ids, OPEN)]


def pass_on(call: Call, waiting: Task, cancelled: Task) -> None:
    """What was to change changes that are cancelled changes what these were to change."""
    if any(task.id == waiting.id for _, task in _asked(call, [cancelled.id], OPEN)):
        for reviewed in about(call, [cancelled.id]):
            context = call.tx.tasks.details(waiting.id).context
            call.tx.tasks.save_details(waiting.id, context={**context, CHANGES_TO: reviewed})


def not_made(call: Call, task_ids: Collection[str]) -> dict[str, Task]:
    """The same, also if that task has failed."""
    return dict(_asked(call, task_ids, OPEN | {Status.FAILED}))


def newest(call: Call, task_ids: Collection[str]) -> list[Task]:
    """What was last asked for, whatever has become of it: of these tasks, and of the changes to them."""
    found: dict[str, Task] = {}
    wanted = set(task_ids)
    while wanted:
        asked = dict(_asked(call, wanted, tuple(Status)))
        wanted = {task.id for task in asked.values()} - found.keys()
        found |= {task.id: task for task in asked.values()}
    return list(found.values())


def _asked(call: Call, task_ids: Collection[str], statuses: Collection[Status]) -> list[tuple[str, Task]]:
    """These tasks, each with one in these statuses that makes, or made, changes to it."""
    asked = call.tx.tasks.asking_changes(task_ids, CHANGES_TO, statuses) if task_ids else []
    creators = {task.created_by for _, task in asked} - {SYSTEM}
    may = {agent.id for agent in call.tx.agents.find_all(creators) if may_ask(agent)} | {SYSTEM} if asked else set()
    return [(reviewed, task) for reviewed, task in asked if task.created_by in may]


def made_to(call: Call, task_ids: Collection[str]) -> dict[str, Task]:
    """The tasks, by their ids, that make or have made changes to these, and changes to such changes."""
    return {task.id: task for _, task in _all_asked(call, task_ids, _MADE)}


def _all_asked(call: Call, task_ids: Collection[str], statuses: Collection[Status]) -> list[tuple[str, Task]]:
    found: dict[str, tuple[str, Task]] = {}
    wanted = set(task_ids)
    while wanted:
        new = [(reviewed, task) for reviewed, task in _asked(call, wanted, statuses) if task.id not in found]
        found |= {task.id: (reviewed, task) for reviewed, task in new}
        wanted = {task.id for _, task in new}
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Work:
    """A piece of work with the changes that were made to it."""

    newest: Task
    """The task that has it as it is now."""
    task_ids: frozenset[str]
    """All that have it, had it before, or change it."""
    sent_back: int
    """How often agents have asked for changes to it."""


def work_of(call: Call, task: Task) -> Work:
    """The work of a task, whether it has done it or changed it."""
    ids = {task.id, *changed_by(call, [task.id])}
    asked = _all_asked(call, ids, _NOT_CANCELLED)
    newest = task
    while after := [each for reviewed, each in asked if reviewed == newest.id and _has_made(call, each)]:
        newest = after[-1]
    creators = {each.created_by for _, each in asked}
    managers = {agent.id for agent in call.tx.agents.find_all(creators) if not agent.human} if asked else set()
    by_agents = sum(each.created_by in managers for _, each in asked)
    return Work(newest, frozenset({*ids, *(each.id for _, each in asked)}), by_agents)


def _has_made(call: Call, changes: Task) -> bool:
    """Whether the changes are made, and nobody has discarded them."""
    own = call.tx.worktrees.find(changes.id) if changes.status is Status.COMPLETED else None
    return changes.status is Status.COMPLETED and (own is None or not own.discarded)


def changed_by(call: Call, task_ids: Collection[str]) -> set[str]:
    """The tasks to which these make, or made, changes; and those to which these made some."""
    found = set(task_ids)
    while named := about(call, found) - found:
        new = {reviewed for reviewed, task in _asked(call, named, tuple(Status)) if task.id in found}
        if not new:
            break
        found |= new
    return found - set(task_ids)


def about(call: Call, task_ids: Iterable[str]) -> set[str]:
    """The reviewed tasks to which these tasks make, or made, changes: what is shown of those depends on these."""
    return call.tx.tasks.reviewed_by(task_ids, CHANGES_TO)


def as_answer(task: Task | None) -> schemas.RequestedChanges | None:
    return None if task is None else _of_task(task)


_of_task = wire(Task, schemas.RequestedChanges, task_id="id", requested_by="created_by")


def of(call: Call, task: Task) -> Task | None:
    """The open task that makes changes to this one."""
    return standing(call, [task.id]).get(task.id) if task.status is Status.COMPLETED else None
