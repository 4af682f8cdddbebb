"""Masks secrets in output: known values, and whatever looks like one. In what is sent they are replaced; in files on
this machine they are covered, so that everything stays in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from toryo import secret_patterns

MASK = "********"
FILLER = "\x7f"
"""Behind a MASK that covers a longer secret in a file; readers leave it out."""
SHORTEST = 8
"""Shorter values are no secrets: masking them would eat words."""

_BEGIN, _END = (rf"-----{each} [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----" for each in ("BEGIN", "END"))
_BODY = r"(?:[A-Za-z0-9+/=\s:,.\\]|-(?!-)){0,20000}"
_LOOKS = rf"{secret_patterns.LOOKS}|{_BEGIN}{_BODY}(?:{_END}|\Z)"
"""Tokens by their form, and keys of several lines."""
_LOOKS_SECRET, _LOOKS_SECRET_IN_BYTES = re.compile(_LOOKS), re.compile(_LOOKS.encode())
_BEGUN = re.compile(rf"(?:{_BEGIN}{_BODY}|-----BEGIN [A-Z0-9 ]{{0,60}})-{{0,5}}\Z")

_NAMED_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|HEADER|AUTH(?!OR)|(?:^|_)PAT(?:_|$)", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"\w://(?P<user>[^/?#\s:@]*)(?::(?P<password>[^/?#\s]*))?@")


def names_secret(variable: str) -> bool:
    """Whether the value of a variable with this name is a secret."""
    return _NAMED_SECRET.search(variable) is not None


def among(environment: Mapping[str, str]) -> Iterator[str]:
    """The values that are secrets by their names, and what signs in within an address.

    Not every value: the name of a model, or of a directory, is what people look for in a log.
    """
    for name, value in environment.items():
        if names_secret(name):
            yield value
        for address in _IN_ADDRESS.finditer(value):
            yield from _signing_in(address["user"], address["password"])


def _signing_in(user: str, password: str | None) -> Iterator[str]:
    """As it is written there, and as it is meant; where there is no password, the user's part may be a token."""
    secret = user if password is None else password
    yield from (secret, unquote(secret))


def unfinished_from(text: str) -> int:
    """Where a key of several lines begins whose end is still to come; the length of the text where there is none."""
    at = text.rfind("-----BEGIN ")
    return at if at >= 0 and _BEGUN.match(text, at) else len(text)


class Mask:
    """Replaces the given values, and what looks like a token, by asterisks.

    Longer values first, because one may contain another. One by one instead of one pattern: there is a mask for every
    launch, and compiling its pattern would take as long as the rest of a start.
    """

    def __init__(self, secrets: Iterable[str | None]) -> None:
        self._known = sorted(
            {secret for secret in secrets if secret and len(secret) >= SHORTEST}, key=len, reverse=True
        )

    def __call__(self, text: str) -> str:
        for each in self._known:
            text = text.replace(each, MASK)
        return _LOOKS_SECRET.sub(MASK, text)

    @property
    def longest(self) -> int:
        """Bytes of the longest known value."""
        return max((len(each.encode()) for each in self._known), default=0)

    def covered(self, data: bytes) -> bytes:
        """The same with secrets covered: as long as before, and the same again if it is covered once more."""
        for each in self._known:
            secret = each.encode()
            if secret in data:
                data = data.replace(secret, _cover(len(secret)))
        return _LOOKS_SECRET_IN_BYTES.sub(lambda found: _cover(len(found[0])), data)


def _cover(length: int) -> bytes:
    return (MASK + FILLER * (length - len(MASK))).encode()
