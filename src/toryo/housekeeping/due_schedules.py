"""Creates the tasks of schedules whose time has come, and looks after the tasks of webhooks.

A round does a bounded part; what is left comes in the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

from toryo.domain.times import SECOND
from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import each_fenced
from toryo.operations.schedules import deliveries, runs

SCHEDULES = "schedules"
Thing = TypeVar("Thing")
AT_ONCE = 20
"""Schedules of one round."""
RESULTS_AT_ONCE = 200
WAITING = 1_000
"""Runs and deliveries that are looked at because they wait."""


def create_tasks(call: Call) -> int:
    """How many schedules were due."""
    runs.note_results(call, RESULTS_AT_ONCE)
    deliveries.note_results(call, RESULTS_AT_ONCE)
    _begin(call, deliveries.waiting_deliveries(call, WAITING), deliveries.begin_waiting)
    _begin(call, [(each.task["assignee_id"], each) for each in call.tx.schedules.waiting(WAITING)], runs.begin_waiting)
    _each(call, call.tx.schedules.decided(AT_ONCE), runs.come)
    return _each(call, call.tx.schedules.due(call.now, AT_ONCE), runs.keep_time)


def until_due(call: Call) -> float | None:
    """Seconds until the next schedule is due, if there is one."""
    soonest = call.tx.schedules.soonest()
    return None if soonest is None else (soonest - call.now) / SECOND


def _begin(call: Call, found: Iterable[tuple[str | None, Thing]], begin: Callable[[Call, Thing], bool]) -> None:
    """What waits for one agent, the oldest first, keeps no other from its work."""
    full: set[str] = set()
    for assignee, thing in found:
        if assignee not in full and False in each_fenced(call, SCHEDULES, [thing], partial(begin, call)) and assignee:
            full.add(assignee)


def _each(call: Call, found: Iterable[Thing], work: Callable[[Call, Thing], None]) -> int:
    def done(thing: Thing) -> bool:
        work(call, thing)
        return True

    return sum(each_fenced(call, SCHEDULES, found, done))
