"""Who changes what somebody else has changed meanwhile is told: the version they have seen (`If-Match`) must be it."""

from __future__ import annotations

from toryo.domain.errors import Code, Refusal
from toryo.domain.wording import say


def refuse_stale(seen: int | None, now: int) -> None:
    """Raises Refusal if the caller names a version and it is another one; without one, the change is carried out."""
    if seen is not None and seen != now:
        raise Refusal(
            Code.CONFLICT,
            say("It has been changed since you looked: version {now}, you have {seen}.", now=now, seen=seen),
            "Look again, and repeat your change on what is there now.",
            version=now,
        )
