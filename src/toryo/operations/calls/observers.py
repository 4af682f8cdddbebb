"""What is reported about each call after its commit; metrics and traces are made from it."""

from __future__ import annotations

from collections.abc import Callable

from toryo.domain.events import Event
from toryo.domain.fast_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Observed:
    """A completed call. `seconds` excludes waiting; `outcome` is `ok` or a refusal's code."""

    operation: str
    outcome: str
    seconds: float
    ended_at: float
    """Seconds since the epoch."""
    agent_id: str | None = None
    session_id: str | None = None
    task_id: str | None = None
    correlation_id: str | None = None
    events: tuple[Event, ...] = ()
    """What happened in its transaction."""


Observer = Callable[[Observed], None]
"""Must not block: it is called where the call was answered."""
