"""Worktrees and the jobs there: when a pull request is looked at, what a job concerns, and when it is lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.things import NOW
from toryo.domain.fast_dataclasses import replace
from toryo.domain.times import MINUTE, SECOND
from toryo.domain.worktrees import LOST_AFTER, Kind, State, Worktree, WorktreeJob, look_after

WORK = Worktree(
    "t", "prj", "c1", "/w", "/w", "toryo/t", "main", "b0", "h1", 0, 0, 0, 0, State.OPEN, None, None, None, NOW, NOW
)
JOB = WorktreeJob("j", Kind.PULL_REQUEST, "t", "prj", "c1", "hana", None, NOW)


@pytest.mark.parametrize(
    ("others", "in_vain", "after"),
    [
        (0, 0, MINUTE),
        (30, 0, MINUTE),
        (31, 0, 62 * SECOND),
        (0, 1, 2 * MINUTE),
        (0, 4, 16 * MINUTE),
        (0, 5, 30 * MINUTE),
        (0, 1_000, 30 * MINUTE),
        (60, 1, 4 * MINUTE),
        (1_000, 0, 2_000 * SECOND),
        (1_000, 5, 2_000 * SECOND),
    ],
)
def test_a_pull_request_is_looked_at_more_seldom_in_vain_and_among_many(others: int, in_vain: int, after: int) -> None:
    assert look_after(others, in_vain) == after


@given(st.integers(0, 2_000), st.integers(0, 2_000))
def test_a_further_look_or_another_pull_request_never_hastens_the_next_look(others: int, in_vain: int) -> None:
    assert MINUTE <= look_after(others, in_vain) <= look_after(others, in_vain + 1)
    assert look_after(others, in_vain) <= look_after(others + 1, in_vain)


@pytest.mark.parametrize(
    ("facts", "changed"),
    [({}, False), ({"commits": 1}, True), ({"files_changed": 1}, True), ({"trouble": "locked"}, True)],
)
def test_a_worktree_is_changed_by_what_its_base_does_not_have(facts: dict[str, Any], *, changed: bool) -> None:
    assert replace(WORK, **facts).changed is changed


@pytest.mark.parametrize("state", State)
def test_only_an_open_worktree_is_open(state: State) -> None:
    assert replace(WORK, state=state).open is (state is State.OPEN)


def job(answer: dict[str, Any] | None = None, **options: Any) -> WorktreeJob:
    return replace(JOB, answer=answer, options=options or None)


@pytest.mark.parametrize(
    ("taken_at", "lost"),
    [(None, True), (NOW, False), (NOW - LOST_AFTER + 1, False), (NOW - LOST_AFTER, True)],
)
def test_a_job_is_lost_until_it_is_taken_and_when_no_answer_comes(taken_at: int | None, *, lost: bool) -> None:
    assert replace(JOB, taken_at=taken_at).lost(NOW) is lost


@pytest.mark.parametrize("answer", [None, {}, {"given_up": True}, {"given_up": False}])
@pytest.mark.parametrize("finished_at", [None, NOW])
def test_a_job_is_given_up_by_its_last_answer(answer: dict[str, Any] | None, finished_at: int | None) -> None:
    found = replace(job(answer), finished_at=finished_at)
    assert found.over is (finished_at is not None)
    assert found.given_up is (found.over and answer == {"given_up": True})


@pytest.mark.parametrize("told", [None, {}, {"state": "open"}, {"state": "closed"}, {"state": "merged"}])
def test_a_pull_request_is_as_it_was_told_last(told: dict[str, Any] | None) -> None:
    found = job(None if told is None else {"pull_request": told})
    assert found.pull_request == told
    assert (found.is_open, found.is_closed) == (told == {"state": "open"}, told == {"state": "closed"})


OPEN = {"pull_request": {"state": "open"}}


@pytest.mark.parametrize(
    ("opened", "work", "has"),
    [
        (job(OPEN, heads={"t": "h1"}), WORK, True),
        (job(OPEN, heads={"t": "h0"}), WORK, False),
        (job(OPEN, heads={"u": "h0"}), WORK, True),
        (job(OPEN), WORK, True),
        (job(OPEN, heads=None), WORK, True),
        (job(OPEN, heads={"t": "h1"}), replace(WORK, coordinator_id="c2"), False),
        (job({"pull_request": {"state": "closed"}}, heads={"t": "h1"}), WORK, False),
        (job(), WORK, False),
    ],
)
def test_a_job_has_opened_all_work_that_was_there_when_it_was_ordered(
    opened: WorktreeJob, work: Worktree, *, has: bool
) -> None:
    assert opened.has_opened(work) is has


def test_a_job_concerns_its_task_those_of_its_order_and_who_asked_for_it() -> None:
    several = job(None, order=[{"task_id": "u"}, {"task_id": "v"}], asked_for="whole", look=True, looks_in_vain=3)
    assert [set(each) for each in (several.tasks, several.about)] == [{"t", "u", "v"}, {"t", "u", "v", "whole"}]
    assert [set(each) for each in (JOB.tasks, JOB.about)] == [{"t"}, {"t"}]
    assert [(each.looks, each.looks_in_vain) for each in (several, JOB)] == [(True, 3), (False, 0)]
