"""How a task stands that is followed: done, on its way, in need of a person, or failed. The first row of `ROWS` that
applies decides. Pure: what was read from the server comes in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

from toryo.domain.conditions import Condition
from toryo.domain.needs import Kind
from toryo.domain.tasks import Status
from toryo.domain.worktrees import Review

Found = Mapping[str, Any]


class Stand(IntEnum):
    """The greatest of several is how they stand together: as long as one of them moves, they are waited for."""

    DONE = 0
    FAILED = 1
    PERSON = 2
    MOVES = 3


@dataclass(frozen=True)
class Seen:
    """What was read together. `tasks` and `worktrees` by the task's id."""

    tasks: Mapping[str, Found]
    worktrees: Mapping[str, Found] = field(default_factory=dict)
    needs: Collection[Found] = ()
    conditions: Collection[Found] = ()
    working: Collection[str] = ()
    """The tasks on which a process works, or from which it is just leaving."""
    by_hand: Collection[str] = ()
    """The tasks in `todo` that Toryo does not start."""


class _Task(NamedTuple):
    task: Found
    worktree: Found
    needs: frozenset[str]
    """The kinds of what needs a person because of it, of its agent, or of its project."""
    off: frozenset[str]
    """What is off in its project."""
    works: bool
    by_hand: bool
    before: Stand
    """How those stand together that it depends on and that are open."""
    parts: Stand | None
    """How its open parts stand together; None: it has none."""

    @property
    def status(self) -> str:
        return str(self.task["status"])

    @property
    def review(self) -> str | None:
        """How its work stands with those who review it; None: it is settled."""
        found: str | None = self.worktree.get("review")
        return found

    @property
    def settled(self) -> bool:
        return self.status == Status.COMPLETED and self.review is None

    @property
    def stranded(self) -> bool:
        return self.status == Status.TODO and (bool(self.task.get("dependency_failed")) or self.before is Stand.FAILED)

    @property
    def waits(self) -> bool:
        return self.status == Status.TODO and self.before is not Stand.DONE


class Row(NamedTuple):
    what: str
    applies: Callable[[_Task], bool]
    then: Stand | Callable[[_Task], Stand]


_NOT_OF_PEOPLE = frozenset({Kind.MESSAGE, Kind.FAILED, Kind.DEAD_LETTER, Kind.SCHEDULE_STOPPED, Kind.WEBHOOK_STOPPED})
"""Needs that do not hold a task: an agent may go on after a message; of what has failed its status tells."""
_ENDED_BADLY = frozenset({Status.FAILED, Status.CANCELLED, Status.BLOCKED})
_OF_PROJECTS = frozenset({Kind.MERGE_QUEUE, Kind.BUDGET_USED_UP})
"""Needs that concern every task of their project."""
_STOPPED = frozenset({*Condition} - {Condition.QUOTA_USED_UP, Condition.QUOTA_KEPT})
"""Conditions of projects in which nothing is started until a person does something."""
ROWS = (
    Row("It failed, was cancelled or is blocked.", lambda it: it.status in _ENDED_BADLY, Stand.FAILED),
    Row("What it depends on cannot be completed.", lambda it: it.stranded, Stand.FAILED),
    Row("It waits for a person.", lambda it: not it.settled and bool(it.needs - _NOT_OF_PEOPLE), Stand.PERSON),
    Row("A process works on it.", lambda it: it.works, Stand.MOVES),
    Row("It is completed, and its work is settled.", lambda it: it.settled, Stand.DONE),
    Row("Its work is in a pull request.", lambda it: it.review == Review.IN_PULL_REQUEST, Stand.PERSON),
    Row("Its work is on its way.", lambda it: it.status == Status.COMPLETED, Stand.MOVES),
    Row("It is in the backlog.", lambda it: it.status == Status.BACKLOG, Stand.PERSON),
    Row("Nothing is started in its project.", lambda it: bool(it.off & _STOPPED), Stand.PERSON),
    Row("It waits for another task.", lambda it: it.waits, lambda it: it.before),
    Row("A person starts it.", lambda it: it.by_hand, Stand.PERSON),
    Row("It waits for its parts.", lambda it: it.parts is Stand.PERSON, Stand.PERSON),
    Row("It goes on by itself.", lambda _: True, Stand.MOVES),
)


def of(seen: Seen, wanted: Iterable[str]) -> dict[str, Stand]:
    """How each of these tasks stands."""
    parts: dict[str, list[str]] = {}
    for task_id, task in seen.tasks.items():
        parts.setdefault(task["parent_task_id"] or "", []).append(task_id)
    waits_for = {
        task_id: [each for each in (*task["dependencies"], *parts.get(task_id, ())) if each in seen.tasks]
        for task_id, task in seen.tasks.items()
    }
    found: dict[str, Stand] = {}
    for task_id in TopologicalSorter(waits_for).static_order():
        task = seen.tasks[task_id]
        before = [found[each] for each in task["dependencies"] if is_open(seen.tasks.get(each))]
        below = [found[each] for each in parts.get(task_id, ()) if found[each] is not Stand.DONE]
        it = _Task(
            task,
            seen.worktrees.get(task_id, {}),
            frozenset(each["kind"] for each in seen.needs if _concerns(each, task)),
            frozenset(each["kind"] for each in seen.conditions if each["project_id"] == task["project_id"]),
            task_id in seen.working,
            task_id in seen.by_hand,
            # What it waits for holds it, even if something else that it waits for goes on.
            min((each for each in before if each is not Stand.MOVES), default=max(before, default=Stand.DONE)),
            max(below, default=None),
        )
        row = next(row for row in ROWS if row.applies(it))
        found[task_id] = row.then if isinstance(row.then, Stand) else row.then(it)
    return {task_id: found[task_id] for task_id in wanted}


def is_open(task: Found | None) -> bool:
    return task is not None and task["status"] != Status.COMPLETED


def about(need: Found) -> set[str]:
    """The tasks that a need names."""
    return {*filter(None, [need["task_id"]]), *need.get("also", ())}


def _concerns(need: Found, task: Found) -> bool:
    if need["task_id"] is not None:
        return task["task_id"] in about(need)
    if need["agent_id"] is not None:
        return bool(need["agent_id"] == task["assignee_id"])
    return need["kind"] in _OF_PROJECTS and need["project_id"] == task["project_id"]
