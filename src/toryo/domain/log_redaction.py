"""Recognises secrets by name or by shape, and masks them in logs and printed texts.

Coordinators mask the output of agents' programs (`output_redaction.py`), because they know the actual values.
"""

from __future__ import annotations

import re

from toryo import secret_patterns

MASK = "***"

_NAMED = re.compile(
    r"(?<!by)pass|pwd|secret|token|credential|cookie|bearer|authori[sz]ation|api[_-]?key|private[_-]?key|access[_-]?key"
    r"|(?:^|[_-])(?:code|state|pin|otp)$",
    re.IGNORECASE,
)
_NUMBERS = re.compile(
    r"(?:max|min|num|total|input|output|cached?|prompt|completion|reasoning)_?(?:\w+_)?tokens$", re.IGNORECASE
)
"""Token counts of models: numbers, not secrets."""
_LOOKS = re.compile(rf"{secret_patterns.LOOKS}|(?<=[Bb]earer )[\w.~+/=-]{{8,}}|(?<=://)[^/?#\s@]{{1,300}}(?=@)")
_MAY_BE = re.compile(rf"{secret_patterns.MAY_BE}|://")


def is_named(name: str) -> bool:
    """Whether a field of this name holds a secret: `passkey`, `api_key`, `pass_key`, `oldPassword`."""
    return _NAMED.search(name) is not None and _NUMBERS.match(name) is None


def hide_secrets(text: str) -> str:
    """The text with everything masked that looks like a token, or like a user name and password in a URL."""
    return _LOOKS.sub(MASK, text) if _MAY_BE.search(text) else text


def address(url: str) -> str:
    """A URL that people can recognise: scheme, host and path, without credentials and query.

    Accepts invalid URLs too: the part before the last `@` is never shown, nor is a text that is not a URL.
    """
    scheme, separator, rest = url.partition("://")
    if not separator or not scheme.replace("+", "").isalnum():
        return MASK
    _, signs_in, place = rest.rpartition("@")
    shown = re.split(r"[?#\s]", place, maxsplit=1)[0]
    return f"{scheme}://{MASK}@{shown}" if signs_in else f"{scheme}://{shown}"
