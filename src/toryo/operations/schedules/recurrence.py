"""When a schedule is due: by a cron expression or an interval, or once, in a time zone.

Cron expressions have five fields, or are one of the usual names (`@daily`). In the hours in which clocks are changed,
they behave as Debian's cron does: a time that does not exist comes right after the gap, and one that exists twice comes
once; what runs every few minutes or every hour runs at each of them. The library is cronsim.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from functools import cache
from itertools import islice, takewhile
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.schedules import LONGEST_CRON, Schedule
from toryo.domain.times import SECOND, Millis, of_datetime
from toryo.domain.wording import say

NAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
FIELDS = 5


class NotARule(ValueError):
    """A cron expression that cannot be understood; the message is a sentence that says what is wrong with it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@cache
def time_zones() -> frozenset[str]:
    return frozenset(available_timezones() | {"UTC"})


@dataclass(frozen=True, slots=True)
class Rule:
    """When: exactly one of `cron`, `every` (seconds, counted from `anchor`) and `once`; with `after_task` none of them,
    until that task is completed."""

    cron: str | None
    every: int | None
    once: Millis | None
    time_zone: str
    anchor: Millis
    after_task: str | None = None


def rule_of(schedule: Schedule) -> Rule:
    return Rule(schedule.cron, schedule.every, schedule.once, schedule.time_zone, schedule.anchor, schedule.after_task)


def times_after(rule: Rule, instant: Millis) -> Iterator[Millis]:
    """All times after an instant, in order. Raises NotARule."""
    if rule.once is not None:
        return iter([rule.once] if rule.once > instant else [])
    if rule.after_task is not None:
        return iter(())
    if rule.every is not None:
        return _every(rule.every * SECOND, rule.anchor, instant)
    assert rule.cron is not None
    return _by_cron(rule.cron, rule.time_zone, instant)


def next_after(rule: Rule, instant: Millis) -> Millis | None:
    """The first time after an instant, if there is one. Raises NotARule."""
    return next(times_after(rule, instant), None)


def times_within(rule: Rule, since: Millis, until: Millis, most: int | None = None) -> list[Millis]:
    """The times from `since` to `until`, both included; the first ones, if `most` is given. Raises NotARule."""
    return list(islice(takewhile(lambda each: each <= until, times_after(rule, since - 1)), most))


def on_its_clock(rule: Rule, instant: Millis) -> str:
    """`2026-01-31 09:30`, on the clock of its time zone."""
    return datetime.fromtimestamp(instant / SECOND, _zone(rule.time_zone)).strftime("%Y-%m-%d %H:%M")


def _every(interval: Millis, anchor: Millis, instant: Millis) -> Iterator[Millis]:
    time = anchor + max(0, (instant - anchor) // interval + 1) * interval
    while True:
        yield time
        time += interval


def _by_cron(expression: str, time_zone: str, instant: Millis) -> Iterator[Millis]:
    start = datetime.fromtimestamp(instant // SECOND, _zone(time_zone))
    last = instant
    for moment in _parsed(expression, start):
        time = of_datetime(moment)
        if time > last:  # at the end of summer time a local clock comes back to where it was
            yield time
            last = time


def _parsed(expression: str, start: datetime) -> CronSim:
    fields = NAMES.get(expression.strip().lower(), expression).split()
    if expression.strip().startswith("@") and expression.strip().lower() not in NAMES:
        raise NotARule(say("{cron!r} is none of {names}.", cron=expression, names=", ".join(NAMES)))
    if len(expression) > LONGEST_CRON:
        raise NotARule(say("A cron expression has at most {most} characters.", most=LONGEST_CRON))
    if len(fields) != FIELDS:
        count = len(fields)
        raise NotARule(
            say("The cron expression {cron!r} has {count} fields instead of 5.", cron=expression, count=count)
        )
    try:
        return CronSim(" ".join(fields), start)
    except CronSimError as error:
        wrong = str(error).removeprefix("Bad ")
        raise NotARule(
            say("In the cron expression {cron!r} the field {field} is not valid.", cron=expression, field=wrong)
        ) from None


def _zone(name: str) -> tzinfo:
    return UTC if name == "UTC" else ZoneInfo(name)
