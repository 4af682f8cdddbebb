"""Small worlds, enumerated: every tree of up to three children out of kinds of children, in every surrounding.

A kind is what stands under a main task: a child, with what stands below it, what it waits for, and what happens in
other trees. Worlds that the rules of `concepts.md` 3.1 make impossible (more main tasks in progress than the limit) are
left out. Order among children does not matter to any row, so multisets are enumerated, not sequences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement, islice
from typing import Any, TypeVar

import pytest

from tests.domain.things import NOW, agent, at_work, cancelled, done, failed, stuck, task, todo, tree_state
from tests.workflow.scenes import snapshot
from toryo.domain.agents import Agent
from toryo.domain.tasks import Approval, Checks, Pool, Start, Status, Task
from toryo.domain.tree_state import TreeState
from toryo.workflow import launch_rules

World = TypeVar("World")


@dataclass(frozen=True)
class Part:
    """What one kind of child puts into the world."""

    child: Task
    below: tuple[Task, ...] = ()
    waits: dict[str, tuple[str, ...]] = field(default_factory=dict)
    outside: tuple[Task, ...] = ()


Kind = Callable[[str, Task, "str | None"], Part]
"""From a name, the main task, and the name of the last child (None for the last itself)."""


def _plain(make: Callable[..., Task], who: str | None, **fields: Any) -> Kind:
    return lambda name, main, _: Part(make(name, who, below=main, **{"by": main.assignee_id, **fields}))


def _above(
    make: Callable[..., Task], who: str | None, make_leaf: Callable[..., Task], leaf: str, **fields: Any
) -> Kind:
    """A child with one task below it."""

    def part(name: str, main: Task, _: str | None) -> Part:
        child = make(name, who, below=main, by=main.assignee_id)
        return Part(child, (make_leaf(f"{name}_leaf", leaf, below=child, by=who or "olga", **fields),))

    return part


def _cascaded(make: Callable[..., Task], who: str) -> Kind:
    """A blocked or failed child, which took along what is below it."""

    def part(name: str, main: Task, _: str | None) -> Part:
        child = make(name, who, below=main, by=main.assignee_id)
        fields = {"blocked_cause": name, "blocked_from": Status.IN_PROGRESS}
        return Part(child, (stuck(f"{name}_leaf", who, below=child, by=who, **fields),))

    return part


def _waits_outside(make: Callable[..., Task], who: str, other: Callable[..., Task], by: str, **fields: Any) -> Kind:
    """A child that waits for a task of another tree."""

    def part(name: str, main: Task, _: str | None) -> Part:
        elsewhere = other(f"{name}_there", by)
        child = make(name, who, below=main, by=main.assignee_id, **fields)
        return Part(child, (), {name: (elsewhere.id,)}, (elsewhere,))

    return part


def _waits_last(who: str | None, **fields: Any) -> Kind:
    """A child that waits for its last sibling (for nothing, if it is the last itself): of a kind that comes later."""

    def part(name: str, main: Task, sibling: str | None) -> Part:
        child = todo(name, who, below=main, **{"by": main.assignee_id, **fields})
        return Part(child, (), {name: (sibling,)} if sibling is not None else {})

    return part


def _sent_back(make: Callable[..., Task], who: str) -> Kind:
    """A child that is done and was sent back, and the one that changes its work, which starts by itself."""

    def part(name: str, main: Task, _: str | None) -> Part:
        changes = make(f"{name}_changes", who, below=main, by=main.assignee_id, start=Start.WHEN_READY)
        work = done(name, "ann", below=main, by=main.assignee_id)
        return Part(work, (changes,), {changes.id: (name,)})

    return part


PENDING = {"approval": Approval.PENDING}
IN_LINE = {"start": Start.WHEN_READY}
IN_REVIEW = {"checks": Checks.IN_REVIEW, "open_questions": 1, "has_acceptance": True}

BELOW_A_MANAGER: dict[str, Kind] = {
    "todo of nobody": _plain(todo, None),
    "todo of ann": _plain(todo, "ann"),
    "todo of bob": _plain(todo, "bob"),
    "todo of a person": _plain(todo, "paul"),
    "todo of the manager": _plain(todo, "boss"),
    "todo for a queue": _plain(todo, None, agent_type="builds"),
    "todo not approved yet": _plain(todo, "ann", **PENDING),
    "todo rejected": _plain(todo, "ann", approval=Approval.REJECTED),
    "todo waits for the last": _waits_last("bob"),
    "todo waits for another tree at work": _waits_outside(todo, "ann", at_work, "zoe"),
    "todo waits for another tree cancelled": _waits_outside(todo, "ann", cancelled, "zoe"),
    "in line of ann": _plain(todo, "ann", **IN_LINE),
    "in line of ann, not approved yet": _plain(todo, "ann", **IN_LINE, **PENDING),
    "in line of ann waits for the last": _waits_last("ann", **IN_LINE),
    "in line of bob waits for another tree at work": _waits_outside(todo, "bob", at_work, "zoe", **IN_LINE),
    "in line of bob waits for another tree failed": _waits_outside(todo, "bob", failed, "zoe", **IN_LINE),
    "for anyone": _plain(todo, None, pool=Pool(), **IN_LINE),
    "for anyone waits for the last": _waits_last(None, pool=Pool(), **IN_LINE),
    "for anyone who can what nobody can": _plain(todo, None, pool=Pool(("painting",)), **IN_LINE),
    "ann in review": _plain(at_work, "ann", **IN_REVIEW),
    "draft": lambda name, main, _: Part(task(name, Status.BACKLOG, "ann", below=main)),
    "ann at work": _plain(at_work, "ann"),
    "bob at work": _plain(at_work, "bob"),
    "a person at work": _plain(at_work, "paul"),
    "the manager at work": _plain(at_work, "boss"),
    "ann at work on a part of her own": _above(at_work, "ann", at_work, "ann"),
    "ann at work, below it a block": _above(at_work, "ann", stuck, "ann"),
    "ann at work, below it a request": _above(at_work, "ann", todo, "bob", **PENDING),
    "todo, below it bob at work": _above(todo, None, at_work, "bob"),
    "blocked": _plain(stuck, "ann"),
    "blocked, with what is below": _cascaded(stuck, "ann"),
    "failed": _plain(failed, "ann"),
    "failed, with what is below": _cascaded(failed, "ann"),
    "completed": _plain(done, "ann"),
    "sent back, its author in line": _sent_back(todo, "ann"),
    "sent back, its author at work": _sent_back(at_work, "ann"),
    "sent back, to a person": _sent_back(todo, "paul"),
    "sent back, the changes failed": _sent_back(failed, "ann"),
    "sent back, and changed": _sent_back(done, "ann"),
    "cancelled": _plain(cancelled, "ann"),
}

BELOW_A_WORKER: dict[str, Kind] = {
    "own todo": _plain(todo, "ann"),
    "own todo waits for the last": _waits_last("ann"),
    "own todo waits for another tree": _waits_outside(todo, "ann", at_work, "zoe"),
    "own todo not approved yet": _plain(todo, "ann", **PENDING),
    "own draft": lambda name, main, _: Part(task(name, Status.BACKLOG, "ann", below=main, by="ann")),
    "own at work": _plain(at_work, "ann"),
    "own blocked": _plain(stuck, "ann"),
    "own blocked by a person": _plain(stuck, "ann", blocked_by="hana", blocked_by_person=True),
    "own failed": _plain(failed, "ann"),
    "own completed": _plain(done, "ann"),
    "own cancelled": _plain(cancelled, "ann"),
    "own todo, below it a request": _above(todo, "ann", todo, "bob", **PENDING),
    "own blocked, below it a request": _above(stuck, "ann", todo, "bob", **PENDING),
    "todo of bob": _plain(todo, "bob", by="boss"),
    "bob at work": _plain(at_work, "bob", by="boss"),
    "a person at work": _plain(at_work, "paul", by="olga"),
    "bob's completed": _plain(done, "bob", by="boss"),
    "bob's blocked": _plain(stuck, "bob", by="boss"),
}


@dataclass(frozen=True)
class Around:
    """What surrounds a tree: who there is, who is signed in, who is busy elsewhere."""

    crew: tuple[Agent, ...] = ()
    strangers: tuple[str, ...] = ()
    signed_in: frozenset[str] = frozenset()
    elsewhere: dict[str, int] = field(default_factory=dict)
    delegations: int = 0


def _worker(name: str, **how: Any) -> Agent:
    return agent(name, reports_to="boss", **how)


PLENTY = (_worker("ann", parallel=3), _worker("bob", parallel=3), agent("paul", human=True, parallel=3))
"""Enough room for whatever a world has in progress."""

SURROUNDINGS: dict[str, Around] = {
    "everybody is able": Around(PLENTY),
    "one task each": Around(),
    "ann is inactive": Around((*PLENTY, _worker("ann", active=False, parallel=3))),
    "ann is not managed": Around((*PLENTY, _worker("ann", provider=None, parallel=3))),
    "ann was started by hand": Around((*PLENTY, _worker("ann", provider=None, parallel=3)), (), frozenset({"ann"})),
    "nobody is able": Around((*PLENTY, _worker("ann", active=False, parallel=3)), ("bob",)),
    "ann is busy elsewhere": Around((), (), frozenset(), {"ann": 1}),
    "both are busy elsewhere": Around((), (), frozenset(), {"ann": 1, "bob": 1}),
}


def trees(kinds: dict[str, Kind], main: Task, most: int) -> Iterator[tuple[str, Sequence[Part]]]:
    """Every multiset of at most so many children, with words that name it."""
    for many in range(most + 1):
        for names in combinations_with_replacement(kinds, many):
            last = many - 1
            parts = [
                kinds[name](f"c{place}", main, f"c{last}" if place < last else None) for place, name in enumerate(names)
            ]
            yield " + ".join(names) or "no children", parts


def world(main: Task, parts: Sequence[Part], around: Around, *above: Task, **facts: Any) -> TreeState | None:
    """The state of one tree; None where more would be in progress than the limit lets."""
    inside = [each for part in parts for each in (part.child, *part.below)]
    outside = [each for part in parts for each in part.outside]
    where = tree_state(
        *above,
        main,
        *inside,
        waits={name: others for part in parts for name, others in part.waits.items()},
        outside=outside,
        crew=around.crew,
        strangers=around.strangers,
        elsewhere=around.elsewhere,
        signed_in=around.signed_in,
        open_delegations={main.id: around.delegations},
        **facts,
    )
    return where if _within_limits(where) else None


def _within_limits(where: TreeState) -> bool:
    """Nobody but zoe, who stands for several agents of other trees, has more in progress than the limit."""
    return all(len(ids) <= where.agents[name].max_parallel_tasks for name, ids in where.busy.items() if name != "zoe")


def lasts(where: TreeState, who: str) -> bool:
    """Whether the agent is held still, however much has happened elsewhere and however late it is."""
    decisions = [launch_rules.decide(snapshot(state, who, now=NOW + 10**9)) for state in later(where)]
    return all(decision.action is launch_rules.Action.HOLD for decision in decisions)


def later(where: TreeState) -> list[TreeState]:
    """The same tree after much has happened elsewhere: others signed in or out, got busy or free, other trees done."""
    tree = where.tree
    there = {name: replace(each, status=Status.COMPLETED) for name, each in tree.outside.items()}
    busier = {name: where.busy.get(name, frozenset()) | {"other_1", "other_2", "other_3"} for name in ("ann", "bob")}
    freer = {name: frozenset(ids & set(tree.tasks)) for name, ids in where.busy.items()}
    return [
        replace(where, signed_in=frozenset({"ann", "bob"}), busy=freer),
        replace(
            where,
            signed_in=frozenset(),
            busy={**where.busy, **busier},
            tree=type(tree)(tree.tasks, tree.depends_on, there),
        ),
    ]


@dataclass
class Seen:
    """What an exploration has found: how often each row won, and what speaks against each promise."""

    rows: Counter[str] = field(default_factory=Counter)
    worlds: int = 0
    against: dict[str, list[str]] = field(default_factory=dict)

    def expect(self, promise: str, kept: bool, *where: object) -> None:
        found = self.against.setdefault(promise, [])
        if not kept and len(found) < 20:
            found.append(" | ".join(str(each) for each in where))

    def broken(self, promise: str) -> list[str]:
        """The first worlds in which a promise is broken; it must have been asked about."""
        return self.against[promise]


SHARES = [pytest.param(8, id="an_eighth"), pytest.param(1, id="all", marks=pytest.mark.deep)]
"""Of an exploration: each so many worlds. A module explores once for each, in a fixture `explored(request.param)`."""


WHOLE = pytest.mark.parametrize("explored", SHARES[1:], indirect=True)
"""For what is true of the whole exploration only."""


def some(worlds: Iterable[World], each: int) -> Iterator[World]:
    """Every so many of them."""
    return islice(worlds, 0, None, each)
