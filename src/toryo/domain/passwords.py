"""Password rules: length only. Storage is in `people/password_hashing.py`."""

from __future__ import annotations

from toryo.domain.errors import Code, Refusal
from toryo.domain.wording import say

SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 1_000


def refuse_weak(password: str) -> None:
    """Raises Refusal for a password that is too short or too long."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say(
                "A password must have {shortest} to {longest:,} characters.",
                shortest=SHORTEST_PASSWORD,
                longest=LONGEST_PASSWORD,
            ),
            "Choose a longer password, for example several words.",
        )
