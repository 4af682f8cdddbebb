"""When a process was last known to run.

A server that was killed and started again has the sessions of before. Whether their processes live on is not known
until they call, or their Coordinator reports them.
"""

from __future__ import annotations

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.launches import Launch
from toryo.domain.sessions import Session
from toryo.domain.times import Millis
from toryo.operations.calls.call import Call


@dataclass(frozen=True, slots=True)
class LastSeen:
    at: Millis
    confirmed: bool
    """Whether that was since this server started, or went on after a gap."""


def of(call: Call, launch: Launch | None, session: Session | None) -> LastSeen:
    """By its Coordinator's last report and its own last call; at first, by its start."""
    reported = (launch.ordered_at, launch.seen_at or 0) if launch is not None else ()
    called = (session.last_call_at,) if session is not None else ()
    at = max(*reported, *called, 0)
    return LastSeen(at, confirmed=at >= call.context.awake.since)
