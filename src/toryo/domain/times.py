"""Instants as Toryo stores and shows them: whole milliseconds since the epoch, UTC; ISO 8601 with `Z` outside."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

Millis = int
"""An instant: milliseconds since 1970-01-01T00:00:00Z."""

SECOND: Millis = 1000
MINUTE: Millis = 60 * SECOND
HOUR: Millis = 60 * MINUTE
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def iso(instant: Millis) -> str:
    """`1767225600000` -> `2026-01-01T00:00:00.000Z`."""
    moment = _EPOCH + timedelta(milliseconds=instant)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def iso_or_none(instant: Millis | None) -> str | None:
    return None if instant is None else iso(instant)


def parse(text: str) -> Millis:
    """The instant an ISO 8601 text names; a text without an offset is UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(milliseconds=1)
