"""Finds the names nearest to an unknown one."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable

_LONGEST = 100
_CLOSE = 0.6
_BEGINNING = 0.1
"""What a letter of the same beginning counts: people get the beginning of a word right (clod: claude, not codex)."""


def nearest(given: str, names: Iterable[str], *, close: float = _CLOSE) -> str | None:
    """The name that is most like what was given; None if none is like it."""
    plain = {_plain(name): name for name in names}
    wanted = _plain(given)[:_LONGEST]
    found = difflib.get_close_matches(wanted, plain, 3, close)
    return plain[max(found, key=lambda each: _likeness(wanted, each))] if found else None


def _likeness(one: str, other: str) -> float:
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return difflib.SequenceMatcher(None, one, other).ratio() + _BEGINNING * same


def _plain(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()
