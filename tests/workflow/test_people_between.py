"""Every row of a worker after every move that others can make in between: what it is told can be done.

From every small world each of these moves is made: every status that a person may give to a task below, every task
that may be filed there, for whoever, every assignee, every verdict, and whatever another agent does with its own. In
what comes of it the worker is told what its own tools accept, and whoever obeys comes to an end.

`TORYO_TEST_EXPLORE=1` goes on with every third move after each of these (minutes).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice

import pytest

from tests.domain.things import NOW, OWNER, actor, after, at_work, busy, moves, outcome, todo
from tests.workflow.scenes import session, snapshot
from tests.workflow.test_models_worker import GIVEN, UP
from tests.workflow.worlds import BELOW_A_WORKER, PLENTY, Around, Seen, trees, world
from toryo.domain.errors import Refusal
from toryo.domain.tasks import Approval, Status, Task, Wait
from toryo.domain.tree_state import TreeState
from toryo.workflow import facts, launch_rules, next_action
from toryo.workflow.step import Step

pytestmark = pytest.mark.deep

LONG = bool(os.environ.get("TORYO_TEST_EXPLORE"))
PARTS, MOVES = 2, 2 if LONG else 1
"""How many parts a world has, and how many moves in a row are made."""
EACH = 3
"""Of the moves after the first: every so many are made."""
ANN = actor("ann")
FETCHED = session("ann", "job")
WAITS = frozenset({"wait_for_others", "wait_for_delegation"})
ENDS = frozenset({"execute_task", "report_completion", "review_and_resolve_blocks", "resolve_dependency_deadlock"})
"""After which an obedient worker has reported, one way or another."""
MOST_STEPS = 40


# --- what others can do ----------------------------------------------------------------------------------------------


def interventions(where: TreeState) -> Iterator[tuple[str, TreeState]]:
    for task in [each for each in where.tree.tasks.values() if where.tree.is_below(each, GIVEN)]:
        yield from _moves(where, task)
        yield from _filed(where, task)
        yield from _given(where, task)
        yield from _judged(where, task)
    yield from _filed(where, where.tree.tasks["job"])


def _moves(where: TreeState, task: Task) -> Iterator[tuple[str, TreeState]]:
    who = [OWNER, *([actor(task.assignee_id)] if task.assignee_id in ("bob", "paul") else [])]
    for by in who:
        for to in Status:
            changes = outcome(moves, where, task.id, to, by)
            if not isinstance(changes, Refusal):
                yield f"{by.id} moves {task.id} to {to}", after(where, changes)


def _filed(where: TreeState, above: Task) -> Iterator[tuple[str, TreeState]]:
    if above.closed or where.tree.below_closed(above) or above.depth >= 4:
        return
    for number, whose in enumerate(("ann", "bob", "paul", None)):
        name = f"{above.id}_new{len(where.tree.tasks)}{number}"
        filed = _with(where, todo(name, whose, below=above, by="olga"))
        yield f"olga files {name} for {whose}", filed
        started = outcome(moves, filed, name, Status.IN_PROGRESS)
        if not isinstance(started, Refusal):
            yield f"olga files {name} for {whose}, in progress", after(filed, started)
        asked = replace(todo(name, whose, below=above, by="bob"), approval=Approval.PENDING)
        yield f"bob asks for {name} of {whose}", _with(where, asked)


def _given(where: TreeState, task: Task) -> Iterator[tuple[str, TreeState]]:
    for whose in ("ann", "bob", "paul", None):
        if task.open and task.assignee_id != whose and not (task.in_progress and whose is None):
            yield f"olga gives {task.id} to {whose}", _with(where, replace(task, assignee_id=whose))


def _judged(where: TreeState, task: Task) -> Iterator[tuple[str, TreeState]]:
    if task.approval is Approval.PENDING and task.open:
        for verdict in (Approval.APPROVED, Approval.REJECTED):
            yield f"hana: {task.id} {verdict}", _with(where, replace(task, approval=verdict))


def _with(where: TreeState, task: Task) -> TreeState:
    tree = where.tree.changed(task)
    return replace(where, tree=tree, busy=busy(tree, {}))


# --- what comes of it ------------------------------------------------------------------------------------------------


@cache
def explored() -> Seen:
    seen = Seen()
    for delegations in (0, 1):
        around = Around(PLENTY, delegations=delegations)
        for words, parts in trees(BELOW_A_WORKER, GIVEN, PARTS):
            where = world(replace(GIVEN, children_ever=1), list(parts), around, UP)
            if where is not None:
                _explore(seen, words, where, MOVES)
    return seen


def _explore(seen: Seen, words: str, where: TreeState, left: int) -> None:
    for what, becomes in islice(interventions(where), 0, None, 1 if left == MOVES else EACH):
        seen.worlds += 1
        _ask(seen, f"{words}; {what}", becomes)
        if left > 1:
            _explore(seen, f"{words}; {what}", becomes, left - 1)


def _ask(seen: Seen, words: str, where: TreeState) -> None:
    told: list[str] = []
    for _ in range(MOST_STEPS):
        step = _told(where)
        seen.rows[step.row] += 1
        told.append(step.action)
        if step.action in WAITS:
            break
        becomes = _obeyed(where, step)
        seen.expect("what it is told can be done", becomes is not None, words, told)
        if becomes is None or step.action in ENDS:
            break
        where = becomes
    seen.expect("whoever obeys comes to an end", told[-1] in WAITS | ENDS, words, told)
    if told[-1] == "wait_for_others":
        main = where.tree.tasks["job"]
        left = replace(where, tree=where.tree.changed(replace(main, wait=Wait("others", NOW, 5))))
        held = launch_rules.decide(snapshot(left, "ann"))
        waits = held.action is launch_rules.Action.HOLD or held.task_id != "job"  # it may have another main task by now
        seen.expect("who was told to wait is not started at once", waits, words, held.row)
        case = next_action.case_of(snapshot(where, "ann"), FETCHED)
        assert case is not None
        waits_for = facts.at_work_for(case)
        seen.expect("who waits is told for what", bool(waits_for), words)


def _told(where: TreeState) -> Step:
    return next_action.decide(snapshot(where, "ann", live=FETCHED), FETCHED)


def _obeyed(where: TreeState, step: Step) -> TreeState | None:
    """The state after the call that the step names; None if it would be refused."""
    case = next_action.case_of(snapshot(where, "ann"), FETCHED)
    assert case is not None
    if step.action == "start_subtask":
        part = facts.next_subtask(case)
        return _moved(where, part, Status.IN_PROGRESS)
    if step.action == "execute_subtask":
        part = facts.current_subtask(case)
        others = [_moved(where, part, to) for to in (Status.FAILED, Status.BLOCKED)]
        return _moved(where, part, Status.COMPLETED) if None not in others else None
    if step.action == "report_completion":
        return _moved(where, case.main, Status.COMPLETED)
    if step.action in ENDS:  # a report of success may be refused where parts are open; giving up may not
        return _moved(where, case.main, Status.BLOCKED)
    return None


def _moved(where: TreeState, task: Task | None, to: Status) -> TreeState | None:
    changes = outcome(moves, where, task.id, to, ANN) if task is not None else None
    return after(where, changes) if isinstance(changes, list) else None


@pytest.mark.parametrize(
    "promise",
    [
        "what it is told can be done",
        "whoever obeys comes to an end",
        "who was told to wait is not started at once",
        "who waits is told for what",
    ],
)
def test_whatever_others_do_in_between(promise: str) -> None:
    assert explored().broken(promise) == []


def test_the_exploration_goes_through_every_row_that_can_be_told_with_parts() -> None:
    assert explored().worlds > 15_000
    rows = {f"worker {each}" for each in ("5", "6", "7", "8", "9", "10", "11", "12")}
    assert rows <= set(explored().rows)


def test_a_part_of_a_part_is_done_before_its_whole() -> None:
    """The circle that this exploration was made for."""
    whole = at_work("whole", "ann", below=GIVEN, by="ann")
    where = world(replace(GIVEN, children_ever=1), [], Around(PLENTY), UP)
    assert where is not None
    for task in (whole, todo("part", "ann", below=whole)):
        where = _with(where, task)
    assert _told(where).action == "start_subtask"
