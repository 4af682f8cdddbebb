"""Texts that programs print, as they can be stored and shown."""

from __future__ import annotations

NUL, SIGN_FOR_NUL = "\0", "\u2400"


def storable(printed: str) -> str:
    """Character by character, with a sign for NUL: no column takes that one."""
    return printed.replace(NUL, SIGN_FOR_NUL)
