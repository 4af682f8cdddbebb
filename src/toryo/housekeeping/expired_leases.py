"""Ends what has run out: launches nobody signed in for, sessions whose lease is over or whose work was taken away."""

from __future__ import annotations

from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import each_fenced
from toryo.operations.launches import stops, termination

SWEEP = "sweep"


def sweep(call: Call) -> int:
    """How many launches and sessions it ended."""
    sessions = each_fenced(
        call, SWEEP, call.tx.sessions.expired(call.now), lambda each: termination.lapse(call, None, each)
    )
    ended = sum(sessions)
    ended += sum(each_fenced(call, SWEEP, call.tx.launches.live(), lambda each: termination.lapse(call, each, None)))
    return ended + stops.overdue(call)
