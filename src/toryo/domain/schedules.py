"""Schedules: tasks that are created at certain times. What a schedule does about a time that has come. Pure.

The states: `active` until a person pauses it, too many of its tasks fail in a row (`stopped`), or no time is left
(`ended`). Only an active schedule has a next time. `operations/schedules/` stores schedules and creates their tasks;
times come from `operations/schedules/recurrence.py`.

The policies for overlaps and for missed times, and their names, are those of Temporal's Schedules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Any

from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.shape import AgentId, ProjectId, TaskId, To
from toryo.domain.tasks import Status
from toryo.domain.times import MINUTE, SECOND, Millis

MOST = 100
"""Schedules of one project."""
LONGEST_CRON = 100
SHORTEST_INTERVAL = 60
"""Seconds."""
LONGEST_INTERVAL = 366 * 24 * 3600
USUAL_CATCH_UP = 24 * 3600
LONGEST_CATCH_UP = 7 * 24 * 3600
"""Seconds."""
USUAL_FAILURES = 3
MOST_AT_ONCE = 50
"""Tasks that one schedule creates after a downtime: of more missed times the last ones are made up for."""
MOST_RUNS = 100
"""Runs without a task that are kept for each schedule: the newest."""
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


class State(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    STOPPED = "stopped"
    ENDED = "ended"


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


@dataclass(frozen=True, slots=True)
class Schedule:
    """One of `cron`, `every` (seconds), `once` and `after_task` says when. `task` has the parameters of the tasks that
    it creates."""

    id: str
    project_id: ProjectId
    name: str
    cron: str | None
    every: int | None
    once: Millis | None
    time_zone: str
    anchor: Millis
    """From which intervals count."""
    overlap: Overlap
    catch_up: int
    """Seconds after a time within which it is made up for."""
    failures_allowed: int
    """How many runs that fail in a row stop the schedule; 0: none do."""
    task: dict[str, Any]
    runs_as: AgentId
    """The person who changed it last: its tasks are created by them, with their rights."""
    login: str
    """The role with which they changed it: it gets no more than that."""
    created_at: Millis
    state: State = State.ACTIVE
    state_by: str | None = None
    state_at: Millis | None = None
    reason: str | None = None
    """Why it was paused."""
    next_at: Millis | None = None
    buffered: Millis | None = None
    """The time of a run that waits until its task can be created."""
    failures: int = 0
    """Runs that failed in a row."""
    runs: int = 0
    """Tasks created so far."""
    after_task: str | None = None
    """It comes once, when this task is completed; then `once` says when that was noticed."""

    @property
    def awaits_task(self) -> bool:
        return self.after_task is not None and self.once is None

    @property
    def active(self) -> bool:
        return self.state is State.ACTIVE


@dataclass(frozen=True, slots=True)
class Run:
    """What happened at one time, or at several in a row with the same outcome (`times`; `scheduled_at`: the last)."""

    id: str
    schedule_id: Annotated[str, To("schedules")]
    project_id: ProjectId
    scheduled_at: Millis
    at: Millis
    outcome: Outcome
    times: int = 1
    task_id: TaskId | None = None
    reason: str | None = None
    started_by: str | None = None
    """The person who ran it by hand."""
    result: Status | None = None
    """The status in which its task was closed."""

    @property
    def open(self) -> bool:
        return self.task_id is not None and self.result is None


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


def after_results(schedule: Schedule, results: Iterable[Status]) -> Schedule:
    """The schedule once its tasks have been closed like this, in their order. A cancelled one says nothing."""
    failures = schedule.failures
    for result in results:
        if result is Status.COMPLETED:
            failures = 0
        elif result is Status.FAILED:
            failures += 1
    return replace(schedule, failures=failures)


def fails_too_often(schedule: Schedule) -> bool:
    return schedule.active and 0 < schedule.failures_allowed <= schedule.failures


def with_times(text: str, scheduled: str, number: int) -> str:
    """A text of a task with its placeholders filled: `{date}` and `{time}` on the schedule's clock, and `{run}`.

    `scheduled` is like `2026-01-31 09:30`. Everything else in braces stays as it is.
    """
    day, _, clock = scheduled.partition(" ")
    values = {"{date}": day, "{time}": clock, "{run}": str(number)}
    return _PLACEHOLDER.sub(lambda found: values[found[0]], text)


_PLACEHOLDER = re.compile(r"\{(?:date|time|run)\}")
