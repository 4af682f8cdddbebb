"""Dependencies and parent links form one acyclic graph over the starts and ends of tasks.

A task can start when its dependencies have ended and its parent has started, because the parent's assignee starts the
subtasks. It can end when it has started and its subtasks have ended.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import field
from itertools import groupby

from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.wording import say


@dataclass(frozen=True, slots=True)
class Links:
    """The tasks that one task waits for."""

    dependencies: list[str] = field(default_factory=list)
    children: list[str] = field(default_factory=list)
    parent: str | None = None


Linked = Callable[[list[str]], dict[str, Links]]
"""Returns the links of the given tasks."""

Moment = tuple[str, bool]
"""The start of a task (False), or its end (True)."""


def path_to(target: Moment, starts: Iterable[Moment], linked: Linked) -> list[Moment] | None:
    """The shortest path by which one of `starts` waits for the target; None if there is none. Breadth first."""
    came_from: dict[Moment, Moment | None] = dict.fromkeys(starts)
    known: dict[str, Links] = {}
    frontier = list(came_from)
    while frontier:
        if target in came_from:
            return _walk_back(target, came_from)
        new = sorted({task_id for task_id, _ in frontier} - known.keys())
        known |= linked(new) if new else {}
        following: list[Moment] = []
        for moment in frontier:
            for other in _awaits(moment, known.get(moment[0], Links())):
                if other not in came_from:
                    came_from[other] = moment
                    following.append(other)
        frontier = following
    return None


def _awaits(moment: Moment, links: Links) -> Iterator[Moment]:
    task_id, is_end = moment
    if is_end:
        yield (task_id, False)
        yield from ((child, True) for child in links.children)
    else:
        yield from ((dependency, True) for dependency in links.dependencies)
        if links.parent is not None:
            yield (links.parent, False)


def refuse_cycle(task_id: str, depends_on: Iterable[str], linked: Linked) -> None:
    """Raises Refusal for dependencies through which a task would wait for itself, also by way of its parents or
    subtasks.
    """
    found = path_to((task_id, False), [(dependency, True) for dependency in depends_on], linked)
    if found is not None:
        raise _cycle([task_id, *_named(found)])


def refuse_cycle_below(parent_id: str, depends_on: Collection[str], linked: Linked) -> None:
    """The same for a new task below a parent: the parent ends after it, so none of its dependencies may wait for that
    end.
    """
    found = path_to((parent_id, True), [(dependency, True) for dependency in depends_on], linked)
    if found is not None and parent_id in depends_on:
        raise Refusal(
            Code.DEPENDENCY_CYCLE,
            say("A subtask cannot depend on a task above it ({parent_id}).", parent_id=parent_id),
            "Remove this dependency. A subtask starts after its parent task, and the parent completes after its "
            "subtasks.",
            cycle=[parent_id, parent_id],
        )
    if found is not None:
        raise _cycle([parent_id, *_named(found)])


def _named(path: list[Moment]) -> list[str]:
    return [task_id for task_id, _ in groupby(each for each, _ in path)]


def _cycle(cycle: list[str]) -> Refusal:
    return Refusal(
        Code.DEPENDENCY_CYCLE,
        say("Circular dependency: {cycle}.", cycle=" -> ".join(cycle)),
        "Remove one of these dependencies.",
        cycle=cycle,
    )


def _walk_back(last: Moment, came_from: dict[Moment, Moment | None]) -> list[Moment]:
    path = [last]
    before = came_from[last]
    while before is not None:
        path.append(before)
        before = came_from[before]
    return list(reversed(path))
