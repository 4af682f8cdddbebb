"""Ends what has run out: launches nobody signed in for, sessions whose lease is over or whose work was taken away."""

from __future__ import annotations

from toryo.operations import ending, stopping
from toryo.operations.call import Call
from toryo.operations.fencing import each_fenced

SWEEP = "sweep"


def sweep(call: Call) -> int:
    """How many launches and sessions it ended."""
    sessions = each_fenced(call, SWEEP, call.tx.sessions.expired(call.now), lambda each: ending.lapse(call, None, each))
    ended = sum(sessions)
    ended += sum(each_fenced(call, SWEEP, call.tx.launches.live(), lambda each: ending.lapse(call, each, None)))
    return ended + stopping.overdue(call)
