"""Fences: a fault of our own while one agent or project is decided about keeps nobody else waiting.

What the part has written is undone, the fault is logged with the ids, counted, and shown to people as long as it
happens (`operations/needs.py`, *why*). In the memory of this process only: a fault is no fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import structlog

from toryo.domain.times import MINUTE, SECOND, Millis
from toryo.storage.errors import DatabaseUnavailable

if TYPE_CHECKING:
    from toryo.operations.call import Call

_log = structlog.get_logger("toryo.faults")

T = TypeVar("T")
Thing = TypeVar("Thing")

SHOWN_FOR: Millis = 5 * MINUTE
"""Whoever is decided about is decided about more often than that."""
_LOGGED_EVERY: Millis = 30 * SECOND
_MOST = 1_000

REASON = "internal_error"
"""What stands in the place of a decision."""


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
    """Those of this server process. `total` counts all there have been."""

    total: int = 0
    _known: dict[tuple[str, str | None, str | None], Fault] = field(default_factory=dict)

    def lasting(self, now: Millis) -> list[Fault]:
        return [each for each in list(self._known.values()) if now - each.at < SHOWN_FOR]

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


def fenced(
    call: Call,
    where: str,
    work: Callable[[], T],
    otherwise: T,
    *,
    agent_id: str | None = None,
    project_id: str | None = None,
    asks: bool = True,
) -> T:
    """What `work` answers, or `otherwise` where it fails: then nothing of what it wrote is kept.

    `asks`: whether it asks the database anything.
    """
    tx = call.tx
    events, hints = len(tx.events.collected), set(tx.hints)
    try:
        with tx.connection.savepoint() if asks else nullcontext():
            return work()
    except DatabaseUnavailable:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it concerns this agent or project alone
        del tx.events.collected[events:]
        tx.hints.intersection_update(hints)
        call.context.faults.note(where, agent_id, project_id, call.now, error)
        return otherwise


def each_fenced(call: Call, where: str, things: Iterable[Thing], work: Callable[[Thing], T]) -> Iterator[T]:
    """What `work` answers for each of these, but for those at which it fails. Things tell whose they are."""
    for thing in things:
        agent_id, project_id = (getattr(thing, name, None) for name in ("agent_id", "project_id"))
        nothing: list[T] = []
        yield from fenced(call, where, partial(_one, work, thing), nothing, agent_id=agent_id, project_id=project_id)


def _one(work: Callable[[Thing], T], thing: Thing) -> list[T]:
    return [work(thing)]
