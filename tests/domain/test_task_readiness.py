"""Whether a task can be started: guard 1's questions, and what a manager can dispatch."""

from __future__ import annotations

import pytest

from tests.domain.things import (
    NOW,
    agent,
    at_work,
    cancelled,
    project,
    task,
    todo,
    tree_state,
)
from toryo.domain import task_readiness
from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.task_readiness import StartBlocker
from toryo.domain.tasks import Approval, Status, Task
from toryo.domain.tree_state import TreeState

MAIN = at_work("main", "boss")


def part(status: Status = Status.TODO, assignee: str | None = "ann", **fields) -> Task:
    return task("part", status, assignee, below=MAIN, by="boss", **fields)


# --- guard 1, as a list of hindrances --------------------------------------------------------------------------------


def hindrances(where: TreeState, name: str = "part") -> list[StartBlocker]:
    return list(task_readiness.hindrances(where, where.tree.tasks[name]))


def test_nothing_hinders_a_ready_task_of_a_free_member() -> None:
    assert hindrances(tree_state(MAIN, part())) == []


def test_every_hindrance_is_found_and_told_in_a_fixed_order() -> None:
    root = cancelled("root", "olga")
    main = at_work("main", "boss", below=root)
    leaf = todo("part", below=main, approval=Approval.PENDING, not_before=NOW + 1)
    where = tree_state(
        root,
        main,
        leaf,
        waits={"part": ["first"]},
        outside=[todo("first")],
        where=project(ProjectStatus.PAUSED),
    )
    assert hindrances(where) == list(StartBlocker)[:6]


@pytest.mark.parametrize(
    ("where", "hindrance"),
    [
        (tree_state(MAIN, part(approval=Approval.PENDING)), StartBlocker.NOT_APPROVED),
        (tree_state(MAIN, part(approval=Approval.REJECTED)), StartBlocker.NOT_APPROVED),
        (tree_state(MAIN, part(), where=project(ProjectStatus.PAUSED)), StartBlocker.PROJECT_NOT_ACTIVE),
        (tree_state(MAIN, part(), where=project(ProjectStatus.ARCHIVED)), StartBlocker.PROJECT_NOT_ACTIVE),
        (tree_state(MAIN, part(assignee=None)), StartBlocker.UNASSIGNED),
        (tree_state(MAIN, part(), strangers=["ann"]), StartBlocker.ASSIGNEE_NOT_ACTIVE),
        (tree_state(MAIN, part(), crew=[agent("ann", active=False)]), StartBlocker.ASSIGNEE_NOT_ACTIVE),
        (tree_state(MAIN, part(), elsewhere={"ann": 1}), StartBlocker.PARALLEL_LIMIT),
        (tree_state(MAIN, part(), waits={"part": ["x"]}, outside=[at_work("x", "bob")]), StartBlocker.DEPENDENCY),
        (tree_state(MAIN, part(), waits={"part": ["x"]}, outside=[cancelled("x", "bob")]), StartBlocker.DEPENDENCY),
    ],
    ids=lambda each: each.value if isinstance(each, StartBlocker) else "",
)
def test_each_part_of_guard_1_hinders_by_itself(where: TreeState, hindrance: StartBlocker) -> None:
    assert hindrances(where) == [hindrance]
    assert not task_readiness.startable(where, where.tree.tasks["part"])


def test_subtasks_of_the_same_agent_do_not_count_against_its_limit() -> None:
    main = at_work("main", "ann")
    own = todo("own", "ann", below=main, by="ann")
    other = at_work("other", "ann", below=main, by="ann")
    assert hindrances(tree_state(main, own, other), "own") == []


@pytest.mark.parametrize("status", [each for each in Status if each is not Status.TODO])
def test_startable_is_only_what_is_in_todo(status: Status) -> None:
    assert not task_readiness.startable(tree_state(MAIN, part(status)), part(status))
    assert task_readiness.startable(tree_state(MAIN, part()), part())


# --- what a manager can dispatch, and what only the limit holds back -------------------------------------------------


def judged(where: TreeState) -> tuple[bool, bool]:
    """Whether `part` can be dispatched by boss, and whether only the limit holds it back."""
    child = where.tree.tasks["part"]
    return task_readiness.dispatchable(where, child, "boss"), task_readiness.held_by_limit(where, child, "boss")


NO_WORKER = [agent("ann", provider=None, reports_to="boss"), agent("bob", active=False, reports_to="boss")]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (tree_state(MAIN, part()), (True, False)),
        (tree_state(MAIN, part(assignee=None)), (True, False)),
        (tree_state(MAIN, part(assignee="zoe"), crew=[agent("zoe", active=False)]), (True, False)),
        (tree_state(MAIN, part(assignee="paul")), (True, False)),
        (tree_state(MAIN, part(), elsewhere={"ann": 1}), (False, True)),
        (tree_state(MAIN, part(assignee=None), elsewhere={"ann": 1}), (True, False)),
        (tree_state(MAIN, part(assignee=None), elsewhere={"ann": 1, "bob": 1}), (False, True)),
        (tree_state(MAIN, part(assignee=None), crew=NO_WORKER), (False, False)),
        (tree_state(MAIN, part(), crew=NO_WORKER), (False, False)),
        (tree_state(MAIN, part(agent_type="builds", assignee=None)), (False, False)),
        (tree_state(MAIN, part(approval=Approval.PENDING)), (False, False)),
        (tree_state(MAIN, part(Status.BACKLOG)), (False, False)),
        (tree_state(MAIN, part(), waits={"part": ["x"]}, outside=[at_work("x", "bob")]), (False, False)),
        (tree_state(MAIN, part(), where=project(ProjectStatus.PAUSED)), (True, False)),
    ],
    ids=[
        "its worker is free",
        "nobody's, and a worker is free",
        "of somebody who cannot, and a worker is free",
        "a person's",
        "its worker is busy",
        "nobody's, and one of two workers is busy",
        "nobody's, and all workers are busy",
        "nobody's, and nobody is able",
        "of somebody who cannot, and nobody is able",
        "for a queue",
        "waits for approval",
        "a draft",
        "waits for another task",
        "the project rests",
    ],
)
def test_a_child_can_be_dispatched_or_is_held_by_the_limit_or_neither(where: TreeState, expected: tuple) -> None:
    assert judged(where) == expected


def test_a_managers_own_child_is_never_held_back_by_its_limit() -> None:
    """It is no main task, so the limit does not apply: whoever waited for room would wait for itself, for ever."""
    assert judged(tree_state(MAIN, part(assignee="boss"))) == (True, False)


# --- for a queue -----------------------------------------------------------------------------------------------------


def filed(status: Status = Status.TODO, **fields) -> Task:
    return part(status, None, agent_type="builds", **fields)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (tree_state(MAIN, filed(), served=frozenset({"builds"})), (True, True)),
        (tree_state(MAIN, filed(), served=frozenset({"paints"})), (True, False)),
        (tree_state(MAIN, filed()), (True, False)),
        (tree_state(MAIN, filed(Status.BACKLOG), served=frozenset({"builds"})), (False, False)),
        (tree_state(MAIN, part(assignee=None), served=frozenset({"builds"})), (False, False)),
        (tree_state(MAIN, filed(approval=Approval.PENDING), served=frozenset({"builds"})), (False, False)),
        (
            tree_state(MAIN, filed(), where=project(ProjectStatus.PAUSED), served=frozenset({"builds"})),
            (False, False),
        ),
    ],
    ids=["served", "another one is served", "none is served", "a draft", "for nobody", "not approved", "paused"],
)
def test_a_queue_task_can_be_claimed_and_will_be_where_its_queue_has_an_agent(
    where: TreeState, expected: tuple[bool, bool]
) -> None:
    task_ = where.tree.tasks["part"]
    assert (task_readiness.claimable(where, task_), task_readiness.will_be_claimed(where, task_)) == expected
