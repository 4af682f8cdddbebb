"""What is a secret by its name or by its looks, and how a text is shown without: in the log, and in what is printed.

The output of agents' programs is masked by Coordinators (`output_redaction.py`), who know the very values.
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
"""How many tokens of a model: figures, no secrets."""
_LOOKS = re.compile(rf"{secret_patterns.LOOKS}|(?<=[Bb]earer )[\w.~+/=-]{{8,}}|(?<=://)[^/?#\s@]{{1,300}}(?=@)")


def is_named(name: str) -> bool:
    """Whether what bears this name is a secret: `passkey`, `api_key`, `pass_key`, `oldPassword`."""
    return _NAMED.search(name) is not None and _NUMBERS.match(name) is None


def hidden(text: str) -> str:
    """The text, and a mask for whatever in it looks like a token, or signs in within an address."""
    return _LOOKS.sub(MASK, text)


def address(url: str) -> str:
    """A URL for people to recognise: scheme, host and path, without who signs in and without options.

    It need not be a proper one: what stands before the last `@` is never shown, whatever it is, nor is a text that
    is no URL at all.
    """
    scheme, separator, rest = url.partition("://")
    if not separator or not scheme.replace("+", "").isalnum():
        return MASK
    _, signs_in, place = rest.rpartition("@")
    shown = re.split(r"[?#\s]", place, maxsplit=1)[0]
    return f"{scheme}://{MASK}@{shown}" if signs_in else f"{scheme}://{shown}"
