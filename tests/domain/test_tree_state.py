"""The state of a tree: who is able and has room, guard 1's questions, what a manager can dispatch."""

from __future__ import annotations

import pytest

from tests.domain.things import (
    agent,
    at_work,
    cancelled,
    done,
    failed,
    project,
    stuck,
    task,
    todo,
    tree_state,
)
from toryo.domain import parallel_limit, start_conditions
from toryo.domain.agents import Role
from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.start_conditions import StartBlocker
from toryo.domain.tasks import Approval, Status, Task
from toryo.domain.tree_state import TreeState

MAIN = at_work("main", "boss")


def part(status: Status = Status.TODO, assignee: str | None = "ann", **fields) -> Task:
    return task("part", status, assignee, below=MAIN, by="boss", **fields)


# --- trees -----------------------------------------------------------------------------------------------------------


def test_a_tree_knows_who_is_above_and_below() -> None:
    leaf = todo("leaf", below=part())
    other = todo("other", below=MAIN, place=1)
    tree = tree_state(other, leaf, part(), MAIN).tree
    assert [child.id for child in tree.children(MAIN)] == ["part", "other"]
    assert [descendant.id for descendant in tree.descendants(MAIN)] == ["part", "leaf", "other"]
    assert [ancestor.id for ancestor in tree.ancestors(leaf)] == ["part", "main"]
    assert tree.parent(MAIN) is None
    assert tree.is_below(leaf, MAIN)
    assert not tree.is_below(MAIN, leaf)
    assert not tree.is_below(leaf, leaf)


def test_a_changed_tree_leaves_the_first_one_as_it_was() -> None:
    tree = tree_state(MAIN, part()).tree
    changed = tree.changed(part(Status.COMPLETED))
    assert changed.tasks["part"].status is Status.COMPLETED
    assert tree.tasks["part"].status is Status.TODO
    assert [child.status for child in changed.children(MAIN)] == [Status.COMPLETED]


def test_dependencies_are_found_in_the_tree_and_outside_of_it() -> None:
    here, there = done("here", below=MAIN), at_work("there", "bob")
    where = tree_state(MAIN, part(), here, waits={"part": ["here", "there", "gone"]}, outside=[there])
    assert where.tree.dependencies(part()) == [here, there]
    assert where.tree.open_dependencies(part()) == [there]
    assert where.tree.dependencies(MAIN) == []


@pytest.mark.parametrize("ended", [failed, cancelled])
def test_an_open_task_is_flagged_when_what_it_waits_for_failed_or_was_cancelled(ended) -> None:
    first = ended("first", below=MAIN)
    waits = {"part": ["first"]}
    assert tree_state(MAIN, part(), first, waits=waits).tree.dependency_failed(part())
    assert not tree_state(MAIN, part(), first).tree.dependency_failed(part())
    over = part(Status.CANCELLED)
    assert not tree_state(MAIN, over, first, waits=waits).tree.dependency_failed(over)


@pytest.mark.parametrize("first", [todo("first"), at_work("first", "bob"), stuck("first", "bob"), done("first")])
def test_a_task_is_not_flagged_while_what_it_waits_for_may_still_come(first: Task) -> None:
    assert not tree_state(MAIN, part(), waits={"part": ["first"]}, outside=[first]).tree.dependency_failed(part())


def test_a_main_task_is_an_assigned_one_whose_parent_is_somebody_elses() -> None:
    own = todo("own", "ann", below=part())
    nobodys = todo("nobodys", below=MAIN)
    tree = tree_state(MAIN, part(), own, nobodys).tree
    assert {each.id for each in tree.tasks.values() if tree.is_main(each)} == {"main", "part"}


@pytest.mark.parametrize("over", [done, failed, cancelled])
def test_below_closed_looks_all_the_way_up(over) -> None:
    root = over("root", "olga")
    main = at_work("main", "boss", below=root)
    leaf = todo("leaf", "ann", below=main)
    tree = tree_state(root, main, leaf).tree
    assert tree.below_closed(leaf)
    assert not tree.below_closed(root)


# --- people and programs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("who", "able"),
    [
        ({}, True),
        ({"active": False}, False),
        ({"provider": None}, False),
        ({"human": True}, True),
        ({"human": True, "active": False}, False),
    ],
    ids=["managed", "inactive", "not managed", "a person", "a person who left"],
)
def test_able_is_an_active_managed_member_or_a_person(who: dict, able: bool) -> None:
    assert tree_state(crew=[agent("ann", **who)]).able("ann") is able


def test_able_is_also_a_member_whose_session_a_person_has_started() -> None:
    free = agent("ann", provider=None)
    assert tree_state(crew=[free], signed_in=frozenset({"ann"})).able("ann")
    assert not tree_state(crew=[free], signed_in=frozenset({"ann"}), strangers=["ann"]).able("ann")


def test_nobody_and_strangers_are_not_able() -> None:
    where = tree_state(strangers=["ann"])
    assert not where.able(None)
    assert not where.able("unheard-of")
    assert not where.able("ann")
    assert not where.active_member("ann")
    assert where.active_member("bob")


def test_room_is_counted_without_the_task_itself() -> None:
    main = at_work("main", "ann")
    where = tree_state(main)
    assert not parallel_limit.has_room(where, "ann")
    assert parallel_limit.has_room(where, "ann", "main")
    assert parallel_limit.has_room(tree_state(main, crew=[agent("ann", parallel=2)]), "ann")
    assert not parallel_limit.has_room(tree_state(main, elsewhere={"ann": 1}), "ann", "main")


def test_workers_below_a_manager_are_found_at_any_depth_and_only_the_able_ones() -> None:
    crew = [agent("sub", Role.MANAGER, reports_to="boss"), agent("eve", reports_to="sub"), agent("bob", active=False)]
    assert {each.id for each in tree_state(crew=crew).below("boss")} == {"ann", "sub", "eve"}
    moved = [*crew, agent("bob", reports_to="boss", active=False)]
    assert {able_worker.id for able_worker in tree_state(crew=moved).able_workers("boss")} == {"ann", "eve"}


# --- guard 1, as a list of hindrances --------------------------------------------------------------------------------


def hindrances(where: TreeState, name: str = "part") -> list[StartBlocker]:
    return list(start_conditions.hindrances(where, where.tree.tasks[name]))


def test_nothing_hinders_a_ready_task_of_a_free_member() -> None:
    assert hindrances(tree_state(MAIN, part())) == []


def test_every_hindrance_is_found_and_told_in_a_fixed_order() -> None:
    root = cancelled("root", "olga")
    main = at_work("main", "boss", below=root)
    leaf = todo("part", below=main, approval=Approval.PENDING)
    where = tree_state(
        root,
        main,
        leaf,
        waits={"part": ["first"]},
        outside=[todo("first")],
        where=project(ProjectStatus.PAUSED),
    )
    assert hindrances(where) == list(StartBlocker)[:5]


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
    assert not start_conditions.startable(where, where.tree.tasks["part"])


def test_subtasks_of_the_same_agent_do_not_count_against_its_limit() -> None:
    main = at_work("main", "ann")
    own = todo("own", "ann", below=main, by="ann")
    other = at_work("other", "ann", below=main, by="ann")
    assert hindrances(tree_state(main, own, other), "own") == []


@pytest.mark.parametrize("status", [each for each in Status if each is not Status.TODO])
def test_startable_is_only_what_is_in_todo(status: Status) -> None:
    assert not start_conditions.startable(tree_state(MAIN, part(status)), part(status))
    assert start_conditions.startable(tree_state(MAIN, part()), part())


# --- what a manager can dispatch, and what only the limit holds back -------------------------------------------------


def judged(where: TreeState) -> tuple[bool, bool]:
    """Whether `part` can be dispatched by boss, and whether only the limit holds it back."""
    child = where.tree.tasks["part"]
    return start_conditions.dispatchable(where, child, "boss"), start_conditions.held_by_limit(where, child, "boss")


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
