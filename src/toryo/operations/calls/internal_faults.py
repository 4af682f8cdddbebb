"""Bugs caught while one agent or project was processed, kept in the memory of this process.

People see them while they keep happening (`overview/needs/`). Not stored, because a fault is not a fact.
"""

from __future__ import annotations

from dataclasses import field

import structlog

from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.times import MINUTE, SECOND, Millis

_log = structlog.get_logger("toryo.faults")

SHOWN_FOR: Millis = 5 * MINUTE
"""Longer than the interval at which every agent is decided about."""
_LOGGED_EVERY: Millis = 30 * SECOND
_MOST = 1_000


@dataclass(frozen=True, slots=True)
class Fault:
    where: str
    agent_id: str | None
    project_id: str | None
    since: Millis
    at: Millis
    """When it happened last."""
    logged_at: Millis
    times: int = 1


@dataclass
class Faults:
    """The faults of this server process. `total` counts all since its start."""

    total: int = 0
    _known: dict[tuple[str, str | None, str | None], Fault] = field(default_factory=dict)

    def lasting(self, now: Millis) -> list[Fault]:
        return [fault for fault in list(self._known.values()) if now - fault.at < SHOWN_FOR]

    def note(self, where: str, agent_id: str | None, project_id: str | None, now: Millis, error: Exception) -> None:
        self.total += 1
        about = (where, agent_id, project_id)
        known = self._known.get(about)
        again = known is not None and now - known.at < SHOWN_FOR
        fault = Fault(where, agent_id, project_id, now, now, now)
        if known is not None and again:
            quiet = now - known.logged_at < _LOGGED_EVERY
            fault = replace(known, at=now, times=known.times + 1, logged_at=known.logged_at if quiet else now)
        if fault.logged_at == now:
            told = {"agent_id": agent_id, "project_id": project_id, "times": fault.times}
            _log.error("internal_error", where=where, **told, error=repr(error), exc_info=error)
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[about] = fault
