"""Lists of tasks: what they hold, in which order, page by page, whatever index they are read by."""

from __future__ import annotations

from functools import partial
from itertools import product

import pytest

from tests.storage.makers import NOW, Store, task
from toryo.domain.tasks import CLOSED, Approval, Priority, Status, Task
from toryo.storage.task_lists import Place, Wanted
from toryo.storage.transaction import Transaction

pytestmark = pytest.mark.both

ASSIGNEES = (None, "w2", "w1")


@pytest.fixture
def many(store: Store) -> list[Task]:
    """A parent, and a task of each status for each assignee, in a queue or not, with places that are often the same."""
    found = [task("tsk_parent", priority=Priority.HIGH)]
    for number, (status, assignee, queue) in enumerate(product(Status, ASSIGNEES, (None, "review"))):
        found.append(
            task(
                f"tsk_{number}",
                status=status,
                assignee_id=assignee,
                agent_type=queue,
                parent_id="tsk_parent" if number % 5 == 0 else None,
                root_id="tsk_parent" if number % 5 == 0 else f"tsk_{number}",
                priority=Priority.HIGH if number % 3 else Priority.LOW,
                created_at=NOW + number % 4,
                ordinal=number % 2,
                completed_at=NOW + number % 7 if status in CLOSED else None,
            )
        )
    store.add_tasks(*found)
    return sorted(found, key=lambda each: each.order)


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_the_pages_of_a_list_together_are_all_that_was_asked_for_in_order(
    store: Store, many: list[Task], size: int
) -> None:
    for status, assignee, parent in product((None, *Status), ASSIGNEES, (None, "tsk_parent")):
        wanted = Wanted("prj_1", status, assignee, parent)
        expected = [
            each.id
            for each in many
            if status in (None, each.status)
            and assignee in (None, each.assignee_id)
            and parent in (None, each.parent_id)
        ]
        assert pages(store, wanted, size) == expected, wanted
        assert store.read(partial(counted, wanted, size)) == min(size, len(expected))


def pages(store: Store, wanted: Wanted, size: int) -> list[str]:
    found: list[str] = []
    page: list[Task] = []
    while page := store.read(partial(page_after, wanted, size, page)):
        found += (each.id for each in page)
    return found


def counted(wanted: Wanted, most: int, tx: Transaction) -> int:
    return tx.task_lists.count(wanted, most)


def page_after(wanted: Wanted, size: int, before: list[Task], tx: Transaction) -> list[Task]:
    return tx.task_lists.page(wanted, size, Place(*before[-1].order) if before else None)


def test_another_project_has_none_of_them(store: Store, many: list[Task]) -> None:
    assert many
    assert pages(store, Wanted("prj_2"), 10) == []
    assert store.read(lambda tx: tx.task_lists.current("prj_2")) == []
    assert store.read(lambda tx: tx.task_lists.current_spots("prj_2", 0)) == []
    roots = [each.root_id for each in many]
    assert store.read(lambda tx: tx.task_lists.spots_of_trees("prj_2", roots)) == []


def test_current_tasks_are_the_open_ones_and_those_closed_since(store: Store, many: list[Task]) -> None:
    assert store.read(lambda tx: tx.task_lists.current("prj_1")) == [each for each in many if each.open]
    since = NOW + 4
    expected = [each for each in many if each.open or (each.completed_at or 0) >= since]
    found = sorted(store.read(lambda tx: tx.task_lists.current_spots("prj_1", since)))
    assert [each[:4] for each in found] == [each.order for each in expected]
    about = [(each.root_id, each.parent_id, each.status, each.assignee_id, each.agent_type) for each in expected]
    assert [each[4:] for each in found] == about


def test_closed_tasks_are_counted_and_the_last_ones_come_first(store: Store, many: list[Task]) -> None:
    for status in CLOSED:
        there = sorted(
            (each for each in many if each.status is status),
            key=lambda each: (each.completed_at or 0, each.id),
            reverse=True,
        )
        assert store.read(partial(last_closed, status)) == there[:3]
        assert store.read(lambda tx: tx.task_lists.closed_counts("prj_1"))[status] == len(there)


def last_closed(status: Status, tx: Transaction) -> list[Task]:
    return tx.task_lists.closed("prj_1", status, 3)


def test_requests_are_counted_as_long_as_they_are_open_and_not_rejected(store: Store) -> None:
    store.add_tasks(
        task("tsk_1", requested_by="w1", created_at=NOW - 5),
        task("tsk_2", requested_by="w1", approval=Approval.REJECTED),
        task("tsk_3", requested_by="w1", status=Status.COMPLETED),
        task("tsk_4", requested_by="w2"),
    )
    assert store.read(lambda tx: tx.task_lists.open_requests("prj_1", "w1")) == 1
    assert store.read(lambda tx: tx.task_lists.requests_since("prj_1", "w1", NOW - 1)) == 2


def test_what_may_be_meant_is_found_by_title_and_by_either_end_of_an_id(store: Store) -> None:
    store.add_tasks(
        task("tsk_abcdefghijkl_1", title="Write the manual"),
        task("tsk_zzzzzzzzzzzz_2", title="Wrap it", status=Status.COMPLETED, completed_at=NOW),
    )
    near = lambda text: [each for each, _ in store.read(lambda tx: tx.task_lists.near(text, ["prj_1"]))]  # noqa: E731
    assert near("write the") == ["tsk_abcdefghijkl_1", "tsk_zzzzzzzzzzzz_2"]
    assert near("tsk_abcdef") == ["tsk_abcdefghijkl_1"]
    assert near("zzzzzz_2") == ["tsk_zzzzzzzzzzzz_2"]
    assert store.read(lambda tx: tx.task_lists.near("write the", ["prj_2"])) == []
