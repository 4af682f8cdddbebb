"""Which endpoint a path of REST names.

A path is looked up once for each place where parameters stand in paths of its length. Starlette compares it with all
paths, one after the other, which takes longer than a read.
"""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")
_Words = tuple[str | None, ...]
"""The segments of a path; None for a parameter."""


class Paths(Generic[T]):
    """Endpoints by path; `{name}` takes one segment. A path of plain words wins over one with a parameter."""

    def __init__(self) -> None:
        self._alike: dict[int, list[tuple[tuple[int, ...], dict[_Words, tuple[T, list[str]]]]]] = {}
        """By the number of segments: where the parameters are, and the endpoints with their names. Those with the
        fewest parameters first."""

    def add(self, path: str, endpoint: T) -> None:
        segments = path.split("/")
        places = tuple(at for at, segment in enumerate(segments) if segment.startswith("{"))
        alike = self._alike.setdefault(len(segments), [])
        endpoints = next((found for where, found in alike if where == places), None)
        if endpoints is None:
            endpoints = {}
            alike.append((places, endpoints))
            alike.sort(key=lambda each: len(each[0]))
        endpoints[_words(segments, places)] = endpoint, [segments[at][1:-1] for at in places]

    def find(self, path: str) -> tuple[T, dict[str, str]] | None:
        """The endpoint and the parameters of a path, as they stand there."""
        segments = path.split("/")
        for places, endpoints in self._alike.get(len(segments), ()):
            found = endpoints.get(_words(segments, places))
            given = [segments[at] for at in places]
            if found is not None and all(given):
                return found[0], dict(zip(found[1], given, strict=True))
        return None


def _words(segments: list[str], places: tuple[int, ...]) -> _Words:
    words: list[str | None] = [*segments]
    for at in places:
        words[at] = None
    return tuple(words)
