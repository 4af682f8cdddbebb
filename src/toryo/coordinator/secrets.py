"""Keeps secrets out of what is passed on: known ones, and whatever looks like one. Files on this machine stay as is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

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

_NAMED_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|HEADER|AUTH(?!OR)|(?:^|_)PAT(?:_|$)", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"\w://(?P<user>[^/?#\s:@]*)(?::(?P<password>[^/?#\s]*))?@")


def among(environment: Mapping[str, str]) -> Iterator[str]:
    """The values that are secrets by their names, and what signs in within an address.

    Not every value: the name of a model, or of a directory, is what people look for in a log.
    """
    for name, value in environment.items():
        if _NAMED_SECRET.search(name):
            yield value
        for address in _IN_ADDRESS.finditer(value):
            yield from _signing_in(address["user"], address["password"])


def _signing_in(user: str, password: str | None) -> Iterator[str]:
    """As it is written there, and as it is meant; where there is no password, the user's part may be a token."""
    secret = user if password is None else password
    yield from (secret, unquote(secret))


class Mask:
    """Replaces the given values, and what looks like a token, by asterisks.

    Longer ones first: one may be a part of another. Each by itself, not as one pattern: there is a mask for every
    launch, and compiling its pattern would cost as much as all else that is prepared for a start.
    """

    def __init__(self, secrets: Iterable[str | None]) -> None:
        self._known = sorted({each for each in secrets if each and len(each) >= SHORTEST}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for each in self._known:
            text = text.replace(each, MASK)
        return _LOOKS_SECRET.sub(MASK, text)
