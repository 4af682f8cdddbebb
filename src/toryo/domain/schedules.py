"""Schedules: tasks that are created at certain times. What a schedule does about a time that has come. Pure.

What webhooks have, too, is in `sources.py`. Only an active schedule has a next time. `operations/schedules/` stores
schedules and creates their tasks; times come from `operations/schedules/recurrence.py`.

The policies for overlaps and for missed times, and their names, are those of Temporal's Schedules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.shape import To
from toryo.domain.sources import Entry, Source
from toryo.domain.times import MINUTE, SECOND, Millis

LONGEST_CRON = 100
SHORTEST_INTERVAL = 60
"""Seconds."""
LONGEST_INTERVAL = 366 * 24 * 3600
USUAL_CATCH_UP = 24 * 3600
LONGEST_CATCH_UP = 7 * 24 * 3600
"""Seconds."""
MOST_AT_ONCE = 50
"""Tasks that one schedule creates after a downtime: of more missed times the last ones are made up for."""
LATE: Millis = 5 * MINUTE
"""What comes later than this after its time was missed, and is made up for. Within it, it is on time."""


class Overlap(StrEnum):
    """What happens at a time at which a task of an earlier run is still open."""

    SKIP = "skip"
    BUFFER_ONE = "buffer_one"
    """The run begins when no earlier one is open; further times meanwhile are skipped."""
    ALLOW_ALL = "allow_all"
    CANCEL_OTHER = "cancel_other"
    """The open tasks are cancelled."""


class Outcome(StrEnum):
    """What became of a time."""

    CREATED = "created"
    BUFFERED = "buffered"
    """It waits until a task can be created."""
    SKIPPED = "skipped"
    """A task of an earlier run was open."""
    COALESCED = "coalesced"
    """A later time was made up for in its place."""
    MISSED = "missed"
    """It was not made up for: it was longer ago than the catch-up window."""
    REFUSED = "refused"
    """The task could not be created; `reason` says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule(Source):
    """One of `cron`, `every` (seconds), `once` and `after_task` says when."""

    cron: str | None
    every: int | None
    once: Millis | None
    time_zone: str
    anchor: Millis
    """From which intervals count."""
    overlap: Overlap
    catch_up: int
    """Seconds after a time within which it is made up for."""
    next_at: Millis | None = None
    buffered: Millis | None = None
    """The time of a run that waits until its task can be created."""
    runs: int = 0
    """Tasks created so far."""
    after_task: str | None = None
    """It comes once, when this task is completed; then `once` says when that was noticed."""

    @property
    def awaits_task(self) -> bool:
        return self.after_task is not None and self.once is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Entry):
    """What happened at one time."""

    schedule_id: Annotated[str, To("schedules")]
    scheduled_at: Millis
    outcome: Outcome
    started_by: str | None = None
    """The person who ran it by hand."""

    @property
    def source_id(self) -> str:
        return self.schedule_id


class Step(StrEnum):
    """What to do about a time that has come."""

    CREATE = "create"
    CANCEL_AND_CREATE = "cancel_and_create"
    BUFFER = "buffer"
    SKIP = "skip"


def step(schedule: Schedule, is_open: bool) -> Step:
    """`is_open`: whether a task of an earlier run is open. The first row that applies wins."""
    table = (
        (not is_open and schedule.buffered is None, Step.CREATE),
        (schedule.overlap is Overlap.ALLOW_ALL and schedule.buffered is None, Step.CREATE),
        (schedule.overlap is Overlap.CANCEL_OTHER, Step.CANCEL_AND_CREATE),  # also instead of a run that waits
        (schedule.overlap is Overlap.SKIP, Step.SKIP),
        (schedule.buffered is None, Step.BUFFER),
        (True, Step.SKIP),
    )
    return next(what for applies, what in table if applies)


@dataclass(frozen=True, slots=True)
class Due:
    """The times that have come, in order: those that are too long ago, those for which a later one stands, and those
    whose tasks are created."""

    missed: tuple[Millis, ...]
    coalesced: tuple[Millis, ...]
    make: tuple[Millis, ...]


def due(schedule: Schedule, come: Sequence[Millis], now: Millis) -> Due:
    """What to do about the times that have come since the schedule was looked at last.

    A schedule that may run several at once makes up for each time, all others once, for the last one.
    """
    missed = [each for each in come if each < looks_back_to(schedule, now)]
    in_time = come[len(missed) :]
    many = MOST_AT_ONCE if schedule.overlap is Overlap.ALLOW_ALL else 1
    return Due(tuple(missed), tuple(in_time[:-many]), tuple(in_time[-many:]))


def awaiting_again(schedule: Schedule) -> Schedule:
    """The schedule as it is put off: when it goes on, what comes after a task comes, though it had come before."""
    return schedule if schedule.after_task is None else replace(schedule, once=None)


def looks_back_to(schedule: Schedule, now: Millis) -> Millis:
    """Times before this instant are not made up for."""
    return now - max(schedule.catch_up * SECOND, LATE)


def with_times(text: str, scheduled: str, number: int) -> str:
    """A text of a task with its placeholders filled: `{date}` and `{time}` on the schedule's clock, and `{run}`.

    `scheduled` is like `2026-01-31 09:30`. Everything else in braces stays as it is.
    """
    day, _, clock = scheduled.partition(" ")
    values = {"{date}": day, "{time}": clock, "{run}": str(number)}
    return _PLACEHOLDER.sub(lambda found: values[found[0]], text)


_PLACEHOLDER = re.compile(r"\{(?:date|time|run)\}")
