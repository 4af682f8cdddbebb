"""Instants as Toryo stores and shows them: whole milliseconds since the epoch, UTC; ISO 8601 with `Z` outside."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

Millis = int
"""An instant: milliseconds since 1970-01-01T00:00:00Z."""

SECOND: Millis = 1000
MINUTE: Millis = 60 * SECOND
HOUR: Millis = 60 * MINUTE
DAY: Millis = 24 * HOUR
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def iso(instant: Millis) -> str:
    """`1767225600000` -> `2026-01-01T00:00:00.000Z`."""
    minute, rest = divmod(instant, MINUTE)
    second, thousandth = divmod(rest, SECOND)
    return f"{_minute(minute)}:{second:02d}.{thousandth:03d}Z"


@lru_cache(maxsize=16_384)
def _minute(number: int) -> str:
    """The beginning of the texts of a minute's instants: lists show thousands of instants that lie close together."""
    return (_EPOCH + timedelta(minutes=number)).isoformat(timespec="minutes").removesuffix("+00:00")


def iso_or_none(instant: Millis | None) -> str | None:
    return None if instant is None else iso(instant)


def parse(text: str) -> Millis:
    """The instant an ISO 8601 text names; a text without an offset is UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return of_datetime(moment)


def of_datetime(moment: datetime) -> Millis:
    """The instant of a moment that knows its offset."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)
