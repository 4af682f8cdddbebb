"""Notices: what people are told outside Toryo, one for each need and channel. When one is sent again, and for how long.

A notice goes out at least once: whoever takes it has it for a while, and if nothing is heard by then the next one
takes it. Its id stays the same, so that a receiver sees what came twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from toryo import backoff
from toryo.domain.needs import Kind
from toryo.domain.times import HOUR, MINUTE, SECOND, Millis

TAKEN_FOR: Millis = 5 * MINUTE
"""How long whoever sends one has it; longer than all time limits of sending together."""
FIRST_RETRY, LONGEST_RETRY = 30 * SECOND, HOUR
KEPT: Millis = 30 * 24 * HOUR
"""How long one is kept when what it was about is over."""
QUIET: dict[Kind, Millis] = {Kind.SIGN_IN_LOCKED: HOUR}
"""Kinds that strangers can bring about again and again: so long nobody is told once more."""


class Channel(StrEnum):
    WEBHOOK = "webhook"
    EMAIL = "email"


@dataclass(frozen=True, slots=True)
class Notice:
    """`content` is the need as it was shown when it was found."""

    id: str
    person_id: str
    key: str
    channel: Channel
    content: dict[str, Any]
    created_at: Millis
    next_at: Millis | None
    """When it is to be sent (again); None: nothing is to be done any more."""
    attempts: int = 0
    sent_at: Millis | None = None
    given_up_at: Millis | None = None
    over_at: Millis | None = None
    """When the need was gone: from then on the same may be told anew."""
    error: str | None = None
    """Why the last attempt failed."""


def taken(notice: Notice, now: Millis) -> Notice:
    """Somebody sends it now; nobody else does until that time is over."""
    return replace(notice, attempts=notice.attempts + 1, next_at=now + TAKEN_FOR)


def sent(notice: Notice, now: Millis) -> Notice:
    return replace(notice, sent_at=now, next_at=None, error=None)


def failed(notice: Notice, error: str, now: Millis, attempts: int) -> Notice:
    """Tried again after 30 s, doubling to an hour; given up after so many attempts."""
    if notice.attempts >= attempts:
        return replace(notice, given_up_at=now, next_at=None, error=error)
    wait = backoff.pause(notice.attempts, FIRST_RETRY, LONGEST_RETRY)
    return replace(notice, next_at=now + wait, error=error)


def over(notice: Notice, now: Millis) -> Notice:
    """What it was about needs nobody any more: if it has not been sent, it is not sent."""
    return replace(notice, over_at=now, next_at=None)
