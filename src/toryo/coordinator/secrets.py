"""Keeps secrets out of what is passed on: known ones, and whatever looks like one. Files on this machine stay as is."""

from __future__ import annotations

import re
from collections.abc import Iterable

MASK = "********"
SHORTEST = 8
"""Shorter values are no secrets: masking them would eat words."""

_LOOKS_SECRET = re.compile(
    r"\bt(?:ct|pt|lc|st)_[\w-]{16,}"
    r"|\b(?:sk|rk|pk)-[\w-]{20,}"
    r"|\bgh[opsu]_[A-Za-z0-9]{20,}"
    r"|\bAIza[\w-]{30,}"
    r"|(?<=[Bb]earer )[\w.~+/=-]{16,}"
)


class Mask:
    """Replaces the given values, and what looks like a token, by asterisks."""

    def __init__(self, secrets: Iterable[str | None]) -> None:
        known = sorted({each for each in secrets if each and len(each) >= SHORTEST}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None

    def __call__(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(MASK, text)
        return _LOOKS_SECRET.sub(MASK, text)
