"""Random trees, random moves, anybody: what holds after every sequence of moves that were accepted.

The invariants are those of the specification's page on concepts, 3.1; single rules have their tests in `test_moves.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.domain.things import (
    GUARD,
    OWNER,
    actor,
    after,
    agent,
    moves,
    outcome,
    statuses,
    task,
    tree_state,
)
from toryo.domain import task_readiness
from toryo.domain.dependencies import Links, refuse_cycle
from toryo.domain.errors import Refusal
from toryo.domain.moves import MOVES, Actor, Change
from toryo.domain.tasks import Approval, Status, Task
from toryo.domain.tree_state import TreeState

ASSIGNEES = (None, "boss", "ann", "ann", "bob", "paul")
ACTORS: tuple[Actor, ...] = (
    OWNER,
    OWNER,
    GUARD,
    *(actor(each) for each in ("hana", "boss", "ann", "bob", "paul", "zoe")),
)
ALSO_BY_CASCADE = {(Status.BACKLOG, Status.BLOCKED), (Status.BLOCKED, Status.BACKLOG)}


@st.composite
def tree_states(draw: st.DrawFn) -> TreeState:
    """A tree of up to ten tasks, four deep, with dependencies, in `todo` and `backlog`."""
    crew = [agent("ann", reports_to="boss", parallel=draw(st.integers(1, 2)))]
    made: list[Task] = []
    waits: dict[str, tuple[str, ...]] = {}
    for number in range(draw(st.integers(2, 10))):
        above = [each for each in made if each.depth < 4]
        parent = draw(st.sampled_from(above)) if above else None
        name = f"t{number}"
        status = draw(st.sampled_from((Status.TODO, Status.TODO, Status.TODO, Status.BACKLOG)))
        approval = draw(st.sampled_from((Approval.APPROVED,) * 9 + (Approval.PENDING,)))
        made.append(task(name, status, draw(st.sampled_from(ASSIGNEES)), below=parent, approval=approval, place=number))
        others = draw(st.lists(st.sampled_from([each.id for each in made]), max_size=2, unique=True))
        if outcome(refuse_cycle, name, others, _linked(made, waits)) is None:
            waits[name] = tuple(others)
    return tree_state(*made, waits=waits, crew=crew)


def _linked(made: list[Task], waits: dict[str, tuple[str, ...]]) -> Any:
    parents = {each.id: each.parent_id for each in made}
    return lambda ids: {
        each: Links(
            list(waits.get(each, ())), [name for name, above in parents.items() if above == each], parents.get(each)
        )
        for each in ids
    }


orders = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.sampled_from((*Status, Status.IN_PROGRESS, Status.IN_PROGRESS, Status.TODO)),
        st.sampled_from(ACTORS),
        st.booleans(),
    ),
    max_size=30,
)


def played(where: TreeState, wanted: list[tuple[int, Status, Actor, bool]]) -> TreeState:
    """The state after these moves, as far as they were accepted; the invariants are asked after each."""
    for number, to, who, because in wanted:
        names = list(where.tree.tasks)
        name = names[number % len(names)]
        causes = _own_blocks_below(where, name) if because and to is Status.BLOCKED else ()
        changes = outcome(moves, where, name, to, who, because_of=causes)
        if isinstance(changes, Refusal):
            continue
        becomes = after(where, changes)
        assert_each_change_is_a_move(changes)
        assert_what_was_started_may_run(becomes, changes)
        assert_all_is_in_order(becomes)
        where = becomes
    return where


def _own_blocks_below(where: TreeState, name: str) -> tuple[str, ...]:
    """What a report of `blocked` names as its causes."""
    below = where.tree.descendants(where.tree.tasks[name])
    return tuple(each.id for each in below if each.status is Status.BLOCKED and each.blocked_cause is None)


def assert_each_change_is_a_move(changes: list[Change]) -> None:
    """Statuses go along the table only; cascades may also hold and release drafts. Others change no status."""
    for change in changes:
        edge = (change.before.status, change.after.status)
        if change.verb:
            assert edge[1] in MOVES[edge[0]] or (change.caused_by and edge in ALSO_BY_CASCADE)
        else:
            assert edge[0] is edge[1]


def assert_what_was_started_may_run(where: TreeState, changes: list[Change]) -> None:
    """Guard 1 held at every start, also where a cascade was undone."""
    for change in changes:
        if change.verb and change.after.in_progress:
            assert list(task_readiness.hindrances(where, where.tree.tasks[change.after.id])) == []


def assert_all_is_in_order(where: TreeState) -> None:
    tree = where.tree
    for each in tree.tasks.values():
        ended = [above for above in tree.ancestors(each) if above.status in (Status.COMPLETED, Status.CANCELLED)]
        assert not (each.open and ended), "nothing stays open below what is completed or cancelled"
        assert not (each.in_progress and tree.below_closed(each)), "nobody works below what is closed"
        if each.status is Status.BLOCKED:
            _assert_block_is_explained(where, each)
        else:
            assert (each.blocked_by, each.blocked_cause, each.blocked_from, each.blocked_on) == (None, None, None, ())
    for name, ids in where.busy.items():
        waiting = {above.id for each in ids for above in tree.ancestors(tree.tasks[each])}
        assert len(ids - waiting) <= where.agents[name].max_parallel_tasks


def _assert_block_is_explained(where: TreeState, held: Task) -> None:
    tree = where.tree
    assert held.blocked_by is not None
    assert held.blocked_from in (Status.BACKLOG, Status.TODO, Status.IN_PROGRESS)
    if held.blocked_cause is not None:
        cause = tree.tasks[held.blocked_cause]
        assert cause.status in (Status.BLOCKED, Status.FAILED), "a cascade does not outlive its cause"
        assert tree.is_below(held, cause)
    assert all(tree.tasks[each].status is Status.BLOCKED for each in held.blocked_on), "the last cause lifts it"


@settings(max_examples=120, deadline=None)
@given(tree_states(), orders)
def test_whatever_is_accepted_the_rules_hold_afterwards(where: TreeState, wanted: list) -> None:
    assert_all_is_in_order(played(where, wanted))


@settings(max_examples=100, deadline=None)
@given(tree_states(), orders)
def test_a_refused_move_changes_nothing_and_says_what_instead(where: TreeState, wanted: list) -> None:
    where = played(where, wanted)
    for name, to in [(name, to) for name in where.tree.tasks for to in Status]:
        before = dict(where.tree.tasks)
        refusal = outcome(moves, where, name, to, actor("ann"))
        assert where.tree.tasks == before
        if isinstance(refusal, Refusal):
            assert refusal.instruction
            assert refusal.details["task_id"] == name


@settings(max_examples=100, deadline=None)
@given(tree_states(), orders)
def test_a_block_that_is_lifted_at_once_has_changed_nothing_but_times(where: TreeState, wanted: list) -> None:
    where = played(where, wanted)
    for name, each in where.tree.tasks.items():
        if each.status in (Status.TODO, Status.IN_PROGRESS):
            held = after(where, moves(where, name, Status.BLOCKED))
            lifted = outcome(moves, held, name, each.status)
            if isinstance(lifted, Refusal):
                assert next(task_readiness.hindrances(where, each), None), "only guard 1 may stand in the way"
                continue
            assert _facts(after(held, lifted)) == _facts(where)


@settings(max_examples=100, deadline=None)
@given(tree_states(), orders, st.data())
def test_blocks_may_be_lifted_in_any_order(where: TreeState, wanted: list, data: st.DataObject) -> None:
    where = played(where, wanted)
    held, came_from = where, {}
    for name in data.draw(st.permutations(list(where.tree.tasks)))[:4]:
        before = held.tree.tasks[name].status
        changes = outcome(moves, held, name, Status.BLOCKED)
        if before in (Status.TODO, Status.IN_PROGRESS) and not isinstance(changes, Refusal):
            held, came_from[name] = after(held, changes), before
    for name in data.draw(st.permutations(list(came_from))):
        held = after(held, moves(held, name, came_from[name]))
    assert statuses(held) == statuses(where)


WRITTEN_BY_EVERY_MOVE: dict[str, Any] = {
    "moved_at": 0,
    "updated_at": 0,
    "moved_session": None,
    "moved_from": None,
    "wait": None,
    "started_at": None,
    "unreported_ends": 0,
    "idle_launches": 0,
    "worked_attempt": 0,
}
"""A window that was closed by the block stays closed, too."""


def _facts(where: TreeState) -> dict[str, Task]:
    return {name: replace(each, **WRITTEN_BY_EVERY_MOVE) for name, each in where.tree.tasks.items()}
