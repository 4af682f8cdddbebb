"""Dependencies are a graph without cycles, over dependencies and parent-waits-for-child taken together."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from toryo.domain.errors import Code, Refusal
from toryo.domain.wording import say

WaitsFor = Callable[[list[str]], dict[str, list[str]]]
"""For some tasks: which others each waits for (its dependencies and its children)."""


def path_to(targets: frozenset[str], starts: Iterable[str], waits_for: WaitsFor) -> list[str] | None:
    """How one of `starts` comes to wait for one of `targets`, as ids; None if it never does. Breadth first."""
    came_from: dict[str, str | None] = dict.fromkeys(starts)
    frontier = list(came_from)
    while frontier:
        hit = next((each for each in frontier if each in targets), None)
        if hit is not None:
            return _walk_back(hit, came_from)
        following: list[str] = []
        for task_id, others in waits_for(frontier).items():
            for other in others:
                if other not in came_from:
                    came_from[other] = task_id
                    following.append(other)
        frontier = following
    return None


def refuse_cycle(task_id: str, depends_on: Iterable[str], waits_for: WaitsFor) -> None:
    """Refuses new dependencies of a task that lead back to it (its ancestors do too); names the cycle."""
    found = path_to(frozenset({task_id}), depends_on, waits_for)
    if found is None:
        return
    cycle = [task_id, *found]
    raise Refusal(
        Code.DEPENDENCY_CYCLE,
        say("These dependencies would wait for each other for ever: {cycle}.", cycle=" -> ".join(cycle)),
        "Leave one of them out.",
        cycle=cycle,
    )


def _walk_back(last: str, came_from: dict[str, str | None]) -> list[str]:
    path = [last]
    before = came_from[last]
    while before is not None:
        path.append(before)
        before = came_from[before]
    return list(reversed(path))
