"""Notices: what people are told outside Toryo, one for each need and channel. When one is retried, and how long it is
kept.

A notice is delivered at least once: a sender leases it, and if the lease expires the next sender takes it. The id stays
the same, so that a receiver can drop duplicates.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from toryo import backoff
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.needs import Kind
from toryo.domain.shape import AgentId
from toryo.domain.times import HOUR, MINUTE, SECOND, Millis

TAKEN_FOR: Millis = 5 * MINUTE
"""How long a sender leases a notice; longer than all send timeouts together."""
FIRST_RETRY, LONGEST_RETRY = 30 * SECOND, HOUR
KEPT: Millis = 30 * 24 * HOUR
"""How long a notice is kept after its need is gone."""
QUIET: dict[Kind, Millis] = {Kind.SIGN_IN_LOCKED: HOUR}
"""Kinds that strangers can cause repeatedly: no further notice for this long."""


class Channel(StrEnum):
    WEBHOOK = "webhook"
    EMAIL = "email"
    PUSH = "push"


@dataclass(frozen=True, slots=True)
class Notice:
    """`content` is the need as it was when it was found."""

    id: str
    person_id: AgentId
    key: str
    channel: Channel
    content: dict[str, Any]
    created_at: Millis
    next_at: Millis | None
    """When it is sent next; None: nothing left to do."""
    attempts: int = 0
    sent_at: Millis | None = None
    given_up_at: Millis | None = None
    over_at: Millis | None = None
    """When the need was gone; after that the same need may be announced again."""
    error: str | None = None
    """Why the last attempt failed."""


def taken(notice: Notice, now: Millis) -> Notice:
    """The notice with a lease for one sender."""
    return replace(notice, attempts=notice.attempts + 1, next_at=now + TAKEN_FOR)


def sent(notice: Notice, now: Millis) -> Notice:
    return replace(notice, sent_at=now, next_at=None, error=None)


def failed(notice: Notice, error: str, now: Millis, attempts: int) -> Notice:
    """Retries after `FIRST_RETRY`, doubling up to `LONGEST_RETRY`; stops after `attempts`."""
    if notice.attempts >= attempts:
        return replace(notice, given_up_at=now, next_at=None, error=error)
    wait = backoff.pause(notice.attempts, FIRST_RETRY, LONGEST_RETRY)
    return replace(notice, next_at=now + wait, error=error)


def over(notice: Notice, now: Millis) -> Notice:
    """Its need is gone: it is no longer sent if it was not sent yet."""
    return replace(notice, over_at=now, next_at=None)
