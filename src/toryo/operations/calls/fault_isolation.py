"""Fault isolation: a bug that appears while one agent or project is processed does not stop the others.

The failed part's writes are rolled back, and the fault is recorded (`internal_faults.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import TypeVar

from toryo.domain.errors import Refusal
from toryo.operations.calls.call import Call
from toryo.storage.errors import DatabaseUnavailable

T = TypeVar("T")
Thing = TypeVar("Thing")

REASON = "internal_error"
"""What stands in the place of a decision."""


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
    try:
        return _undone_if_it_fails(call, work, asks=asks)
    except DatabaseUnavailable:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it concerns this agent or project alone
        call.context.faults.note(where, agent_id, project_id, call.now, error)
        return otherwise


def attempt(call: Call, work: Callable[[], T]) -> T | Refusal:
    """What `work` answers; or its refusal, and then nothing of what it wrote is kept."""
    before = set(call.made)
    try:
        return _undone_if_it_fails(call, work, asks=True)
    except Refusal as refusal:
        return refusal.without({made: called for made, called in call.made.items() if made not in before})


def _undone_if_it_fails(call: Call, work: Callable[[], T], *, asks: bool) -> T:
    tx = call.tx
    events, hints = len(tx.events.collected), set(tx.hints)
    try:
        with tx.connection.savepoint() if asks else nullcontext():
            return work()
    except Exception:
        del tx.events.collected[events:]
        tx.hints.intersection_update(hints)
        raise


def each_fenced(call: Call, where: str, things: Iterable[Thing], work: Callable[[Thing], T]) -> Iterator[T]:
    """What `work` answers for each of these, but for those at which it fails. Things tell whose they are."""
    for thing in things:
        agent_id, project_id = (getattr(thing, name, None) for name in ("agent_id", "project_id"))
        nothing: list[T] = []
        yield from fenced(call, where, partial(_one, work, thing), nothing, agent_id=agent_id, project_id=project_id)


def _one(work: Callable[[Thing], T], thing: Thing) -> list[T]:
    return [work(thing)]
