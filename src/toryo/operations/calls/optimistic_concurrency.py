"""Optimistic concurrency: a change with `If-Match` is refused unless that is the current version."""

from __future__ import annotations

from toryo.domain.errors import Code, Refusal
from toryo.domain.wording import say


def refuse_stale(seen: int | None, now: int) -> None:
    """Raises Refusal if the caller names a version and it is another one; without one, the change is carried out."""
    if seen is not None and seen != now:
        raise Refusal(
            Code.CONFLICT,
            say("It has changed since you read it: the current version is {now}, you sent {seen}.", now=now, seen=seen),
            "Read it again, then repeat your change.",
            version=now,
        )
