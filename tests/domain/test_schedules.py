"""Schedules: what is done about a time that has come, and which missed times are made up for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.things import NOW
from toryo.domain import schedules
from toryo.domain.fast_dataclasses import replace
from toryo.domain.schedules import LATE, MOST_AT_ONCE, Overlap, Schedule, Step
from toryo.domain.times import DAY, MINUTE, SECOND

HOURLY = Schedule(
    id="sch",
    project_id="prj",
    name="Tidy",
    cron=None,
    every=3600,
    once=None,
    time_zone="UTC",
    anchor=0,
    overlap=Overlap.SKIP,
    catch_up=24 * 3600,
    failures_allowed=3,
    task={},
    runs_as="hana",
    login="owner",
    created_at=NOW - DAY,
)


def schedule(**facts: Any) -> Schedule:
    return replace(HOURLY, **facts)


@pytest.mark.parametrize(
    ("overlap", "alone", "beside_an_open_one", "while_a_run_waits"),
    [
        (Overlap.SKIP, Step.CREATE, Step.SKIP, Step.SKIP),
        (Overlap.BUFFER_ONE, Step.CREATE, Step.BUFFER, Step.SKIP),
        (Overlap.ALLOW_ALL, Step.CREATE, Step.CREATE, Step.SKIP),
        (Overlap.CANCEL_OTHER, Step.CREATE, Step.CANCEL_AND_CREATE, Step.CANCEL_AND_CREATE),
    ],
)
def test_what_is_done_at_a_time_depends_on_what_is_open_or_waits(
    overlap: Overlap, alone: Step, beside_an_open_one: Step, while_a_run_waits: Step
) -> None:
    free, waiting = schedule(overlap=overlap), schedule(overlap=overlap, buffered=NOW)
    assert schedules.step(free, is_open=False) is alone
    assert schedules.step(free, is_open=True) is beside_an_open_one
    for is_open in (False, True):
        assert schedules.step(waiting, is_open=is_open) is while_a_run_waits


# --- times that were missed ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("catch_up", "back"), [(3600, 3600 * SECOND), (0, LATE), (300, LATE), (301, 301 * SECOND)])
def test_a_time_is_made_up_for_within_the_catch_up_window_and_always_a_little_late(catch_up: int, back: int) -> None:
    on, before = NOW - back, NOW - back - 1
    found = schedules.due(schedule(catch_up=catch_up), [before, on], NOW)
    assert (found.missed, found.coalesced, found.make) == ((before,), (), (on,))
    assert schedules.looks_back_to(schedule(catch_up=catch_up), NOW) == on


def test_of_several_times_the_last_is_made_up_for_and_each_where_tasks_run_side_by_side() -> None:
    come = [NOW - 3 * MINUTE, NOW - 2 * MINUTE, NOW - MINUTE]
    assert schedules.due(schedule(), come, NOW) == schedules.Due((), tuple(come[:2]), tuple(come[2:]))
    many = schedule(overlap=Overlap.ALLOW_ALL)
    assert schedules.due(many, come, NOW) == schedules.Due((), (), tuple(come))
    crowd = [NOW - MINUTE + each for each in range(MOST_AT_ONCE + 2)]
    assert schedules.due(many, crowd, NOW) == schedules.Due((), tuple(crowd[:2]), tuple(crowd[2:]))
    assert schedules.due(schedule(), [], NOW) == schedules.Due((), (), ())


@given(st.sampled_from(Overlap), st.integers(0, 7200), st.lists(st.integers(0, 3 * 3600), max_size=70, unique=True))
def test_every_time_that_has_come_is_missed_coalesced_or_made_in_this_order(
    overlap: Overlap, catch_up: int, ago: list[int]
) -> None:
    come = sorted(NOW - each * SECOND for each in ago)
    found = schedules.due(schedule(overlap=overlap, catch_up=catch_up), come, NOW)
    assert [*found.missed, *found.coalesced, *found.make] == come
    assert all(each < NOW - max(catch_up, 300) * SECOND for each in found.missed)
    assert all(each >= NOW - max(catch_up, 300) * SECOND for each in (*found.coalesced, *found.make))
    assert len(found.make) == min(len(come) - len(found.missed), 50 if overlap is Overlap.ALLOW_ALL else 1)


# --- its states ------------------------------------------------------------------------------------------------------


def test_a_schedule_after_a_task_awaits_it_until_it_came_and_again_when_it_is_put_off() -> None:
    after = schedule(every=None, after_task="t")
    assert (after.awaits_task, schedule().awaits_task) == (True, False)
    came = replace(after, once=NOW)
    assert not came.awaits_task
    assert schedules.awaiting_again(came) == after
    once = schedule(every=None, once=NOW)
    assert schedules.awaiting_again(once) == once


def test_placeholders_are_filled_and_everything_else_in_braces_stays() -> None:
    text = "{run}. of {date} at {time}: {date} {day} {{time}} {}"
    assert schedules.with_times(text, "2026-01-31 09:30", 7) == "7. of 2026-01-31 at 09:30: 2026-01-31 {day} {09:30} {}"
