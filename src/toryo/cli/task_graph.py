"""The graph of a plan's tasks: in how many steps they can be done, how many at once, and which chain is the longest.

A task comes after those that it depends on, and after the start of the one that it is a part of. Pure: what a task is
called and how long it takes is said by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter


@dataclass(frozen=True)
class Graph:
    """`steps`: the tasks that could begin together if all took equally long, one list after the other. `chain`: those
    of the longest path, in order, and `length` its length."""

    steps: list[list[str]]
    chain: list[str]
    length: float

    @property
    def width(self) -> int:
        """The most of one step: how many agents could be at work at once."""
        return max(map(len, self.steps), default=0)


def of(before: Mapping[str, Iterable[str]], takes: Callable[[str], float] = lambda _: 1.0) -> Graph:
    """`before`: by task, those that come before it; others than the tasks themselves do not count. The order of the
    tasks is kept within a step. Raises graphlib.CycleError."""
    known = {name: [each for each in those if each in before] for name, those in before.items()}
    step: dict[str, int] = {}
    ends: dict[str, float] = {}
    last: dict[str, str | None] = {}
    for name in TopologicalSorter(known).static_order():
        step[name] = 1 + max((step[each] for each in known[name]), default=-1)
        last[name] = max(known[name], key=lambda each: ends[each], default=None)
        ends[name] = takes(name) + (ends[last[name]] if last[name] is not None else 0.0)  # type: ignore[index]
    steps: list[list[str]] = [[] for _ in range(1 + max(step.values(), default=-1))]
    for name in before:
        steps[step[name]].append(name)
    end = max(before, key=lambda each: ends[each], default=None)
    chain: list[str] = []
    while end is not None:
        chain.insert(0, end)
        end = last[end]
    return Graph(steps, chain, max(ends.values(), default=0.0))
