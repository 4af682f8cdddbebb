"""Creates the tasks of schedules whose time has come. A round does a bounded part; what is left comes in the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from toryo.domain.schedules import Schedule
from toryo.domain.times import SECOND
from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import each_fenced
from toryo.operations.schedules import runs

SCHEDULES = "schedules"
AT_ONCE = 20
"""Schedules of one round."""
RESULTS_AT_ONCE = 200


def create_tasks(call: Call) -> int:
    """How many schedules were due."""
    runs.note_results(call, RESULTS_AT_ONCE)
    _each(call, call.tx.schedules.waiting(AT_ONCE), runs.begin_waiting)
    return _each(call, call.tx.schedules.due(call.now, AT_ONCE), runs.keep_time)


def until_due(call: Call) -> float | None:
    """Seconds until the next schedule is due, if there is one."""
    soonest = call.tx.schedules.soonest()
    return None if soonest is None else (soonest - call.now) / SECOND


def _each(call: Call, found: Iterable[Schedule], work: Callable[[Call, Schedule], None]) -> int:
    def done(schedule: Schedule) -> bool:
        work(call, schedule)
        return True

    return sum(each_fenced(call, SCHEDULES, found, done))
