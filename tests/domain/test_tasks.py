"""What a task is: names of statuses and priorities, and order."""

from __future__ import annotations

import pytest

from tests.domain.things import NOW, refused, task
from toryo.domain.errors import Code
from toryo.domain.tasks import (
    CLOSED,
    OPEN,
    ORDER,
    Priority,
    Status,
    priority_named,
    priority_ranked,
    status_named,
)


def test_open_are_the_first_four_statuses_and_closed_the_last_three() -> None:
    assert [status.value for status in Status if status in OPEN] == ["backlog", "todo", "in_progress", "blocked"]
    assert [status.value for status in Status if status in CLOSED] == ["completed", "failed", "cancelled"]
    assert {task("t", status).open for status in OPEN} == {True}
    assert {task("t", status).closed for status in CLOSED} == {True}


def test_statuses_are_found_by_name_and_by_the_names_others_use() -> None:
    for status in Status:
        assert status_named(status.value) is status
    assert status_named("pending") is Status.TODO
    assert status_named("done") is Status.COMPLETED


def test_an_unknown_status_is_refused_with_those_that_exist() -> None:
    refusal = refused(Code.VALIDATION_ERROR, status_named, "started")
    for status in Status:
        assert status.value in refusal.instruction


def test_urgent_is_accepted_as_critical_and_nothing_unknown_is() -> None:
    assert priority_named("urgent") is Priority.CRITICAL
    assert [priority_named(priority.value) for priority in Priority] == list(Priority)
    with pytest.raises(ValueError, match="asap"):
        priority_named("asap")


@pytest.mark.pitfall("F84")
def test_priorities_are_ordered_by_rank_and_not_by_alphabet() -> None:
    ranked = sorted(Priority, key=lambda each: each.rank)
    assert [each.value for each in ranked] == ["critical", "high", "medium", "low"]
    assert [priority_ranked(each.rank) for each in Priority] == list(Priority)


@pytest.mark.pitfall("F84")
def test_tasks_are_ordered_by_priority_then_age_then_place() -> None:
    low = task("a", priority=Priority.LOW, created_at=NOW - 9)
    old = task("b", created_at=NOW - 8)
    first = task("d", created_at=NOW - 7, place=0)
    second = task("c", created_at=NOW - 7, place=1)
    urgent = task("e", priority=Priority.CRITICAL, created_at=NOW)
    assert sorted([low, second, first, old, urgent], key=lambda each: each.order) == [urgent, old, first, second, low]


def test_a_task_has_its_place_by_the_fields_that_statements_sort_by() -> None:
    one = task("one", priority=Priority.HIGH, place=3)
    assert one.order == (one.priority.rank, *(getattr(one, name) for name in ORDER[1:]))
    assert ORDER[0] == "priority"


def test_delegated_is_what_somebody_else_created() -> None:
    assert task("t", assignee="ann", by="boss").delegated
    assert not task("t", assignee="ann", by="ann").delegated
