"""The state of a tree: who is able and has room."""

from __future__ import annotations

import pytest

from tests.domain.things import (
    agent,
    at_work,
    done,
    task,
    tree_state,
)
from toryo.domain import parallel_limit
from toryo.domain.agents import Role
from toryo.domain.tasks import Status, Task

MAIN = at_work("main", "boss")


def part(status: Status = Status.TODO, assignee: str | None = "ann", **fields) -> Task:
    return task("part", status, assignee, below=MAIN, by="boss", **fields)


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
    main, other = at_work("main", "ann"), task("other", assignee="ann")
    where = tree_state(main, other)
    assert not parallel_limit.has_room(where, "ann", other)
    assert parallel_limit.has_room(where, "ann", main)
    assert parallel_limit.has_room(tree_state(main, other, crew=[agent("ann", parallel=2)]), "ann", other)
    assert not parallel_limit.has_room(tree_state(main, elsewhere={"ann": 1}), "ann", main)


def test_what_waits_for_a_task_does_not_use_up_the_place_of_its_agent() -> None:
    main = at_work("main", "ann")
    below = at_work("below", "bob", below=main)
    part = task("part", assignee="ann", below=below)
    assert parallel_limit.fits(tree_state(main, below, part), part)
    assert not parallel_limit.fits(tree_state(main, below, part, at_work("other", "ann")), part)


def test_a_task_whose_part_its_agent_has_begun_may_start_in_the_place_of_that_part() -> None:
    main = task("main", assignee="ann")
    below = task("below", assignee="bob", below=main)
    part = at_work("part", "ann", below=below)
    assert parallel_limit.fits(tree_state(main, below, part), main)
    assert not parallel_limit.fits(tree_state(main, below, part, at_work("other", "ann")), main)


def test_workers_below_a_manager_are_found_at_any_depth_and_only_the_able_ones() -> None:
    crew = [agent("sub", Role.MANAGER, reports_to="boss"), agent("eve", reports_to="sub"), agent("bob", active=False)]
    assert {each.id for each in tree_state(crew=crew).below("boss")} == {"ann", "sub", "eve"}
    moved = [*crew, agent("bob", reports_to="boss", active=False)]
    assert {able_worker.id for able_worker in tree_state(crew=moved).able_workers("boss")} == {"ann", "eve"}


def test_a_queue_task_that_is_claimed_takes_open_parts_of_its_earlier_agent_along_and_leaves_what_is_over() -> None:
    main = task("main", agent_type="painting")
    parts = [task("open", assignee="ann", below=main, by="ann"), done("over", "ann", below=main)]
    after = tree_state(main, *parts).claimed(main, "bob").tree.tasks
    assert {each.id: each.assignee_id for each in after.values()} == {"main": "bob", "open": "bob", "over": "ann"}
