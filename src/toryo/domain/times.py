"""Instants as Toryo stores and shows them: whole milliseconds since the epoch, UTC; outside as ISO 8601 with `Z`."""

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
    """The ISO text up to the minute, cached: lists show thousands of instants that are close together."""
    return (_EPOCH + timedelta(minutes=number)).isoformat(timespec="minutes").removesuffix("+00:00")


def iso_or_none(instant: Millis | None) -> str | None:
    return None if instant is None else iso(instant)


def parse(text: str) -> Millis:
    """The instant of an ISO 8601 text; without an offset it is UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return of_datetime(moment)


def of_datetime(moment: datetime) -> Millis:
    """The instant of a datetime with an offset."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)
