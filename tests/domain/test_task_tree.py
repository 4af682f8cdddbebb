"""A tree of tasks: who is above and below, what waits for what."""

from __future__ import annotations

import pytest

from tests.domain.things import (
    at_work,
    cancelled,
    done,
    failed,
    stuck,
    task,
    todo,
    tree_state,
)
from toryo.domain.tasks import Status, Task

MAIN = at_work("main", "boss")


def part(status: Status = Status.TODO, assignee: str | None = "ann", **fields) -> Task:
    return task("part", status, assignee, below=MAIN, by="boss", **fields)


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
