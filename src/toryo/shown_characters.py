"""Which characters of texts from outside are shown: in stored lines, on terminals and as names of files."""

from __future__ import annotations

import re

REPLACEMENT = "\ufffd"

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
"""Invisible, or changing the order of other characters: bidirectional controls, zero-width and blank characters, line
separators, tags. The joiners U+200C and U+200D stay: languages and emoji need them.
"""
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"
_VARIANTS = "(?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]"
"""Variation selectors that select the form of a Chinese character, as in names (葛󠄀): one behind each. Elsewhere they
can hide data.
"""
NOT_SHOWN = re.compile(f"[{_CONTROLS}{_INVISIBLE}]|{_VARIANTS}")
NOT_OF_A_LINE = re.compile(f"[\t\n{_CONTROLS}{_INVISIBLE}]|{_VARIANTS}")


def is_a_line(text: str) -> bool:
    """Whether all of it can be shown on one line."""
    return NOT_OF_A_LINE.search(text) is None


def on_a_line(text: str) -> str:
    """With a replacement for each character that cannot."""
    return NOT_OF_A_LINE.sub(REPLACEMENT, text)
