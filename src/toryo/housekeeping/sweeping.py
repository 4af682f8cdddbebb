"""Ends what has run out: launches nobody signed in for, sessions whose lease is over or whose work was taken away."""

from __future__ import annotations

from toryo.operations.calls.call import Call
from toryo.operations.launches import stops, termination


def sweep(call: Call) -> int:
    """How many launches and sessions it ended."""
    ended = 0
    for session in call.tx.sessions.expired(call.now):
        ended += termination.lapse(call, None, session)
    for launch in call.tx.launches.live():
        ended += termination.lapse(call, launch, None)
    return ended + stops.overdue(call)
