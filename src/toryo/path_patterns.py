"""Patterns of paths as in .gitignore: which paths they match, and whether a path can match two of them.

Agents and people write patterns and paths, so the work is bounded: see `Work`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

MOST_PATTERNS = 50
"""Of one task."""
LONGEST_PATTERN = 300
_MAY_BE_NOTHING = frozenset({"**/", "**", "*"})
MOST_STEPS = 30_000_000
"""Of comparing all paths with all patterns: some seconds."""


class TooMuchWork(Exception):
    """The patterns and paths are more than can be compared in reasonable time."""


class Work:
    """What may be spent on comparing; agents write paths, and some write patterns."""

    def __init__(self, most: int) -> None:
        self.left = most

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooMuchWork


def matches(pattern: str, path: str, work: Work | None = None) -> bool:
    """As in .gitignore: a name without a slash is looked for in every directory, `*` stays within one, `**` does not,
    and a directory includes what is in it.

    All ways to match are followed at once, character by character: a regular expression would try them one after the
    other, and some patterns have more ways than anybody can wait for. Raises TooMuchWork.
    """
    parts = _parts(pattern)
    end, work = len(parts), work or Work(MOST_STEPS)
    first, *others = _literals(pattern)
    if not path.startswith(first) or not all(each in path for each in others):
        work.spend(1)
        return False
    if len(first) == end:  # a plain path
        work.spend(1)
        return path[end : end + 1] in ("", "/")
    places = _reached({(0, False)}, parts)
    for each in path:
        if each == "/" and (end, False) in places:
            return True
        work.spend(len(places) + 1)
        places = _reached({after for place in places for after in _after(place, each, parts)}, parts)
        if not places:
            return False
    return (end, False) in places


_Place = tuple[int, bool]
"""Before which part of a pattern, and whether within the directories that a `**/` stands for."""


def _after(place: _Place, character: str, parts: tuple[str, ...]) -> Iterator[_Place]:
    number, inside = place
    if number == len(parts):
        return
    part = parts[number]
    if part == "**/":
        yield number, True
        if character == "/":
            yield number + 1, False
    elif part == "**" or (part == "*" and character != "/"):
        yield number, inside
    elif part == character or (part == "?" and character != "/"):
        yield number + 1, False


def _reached(places: set[_Place], parts: tuple[str, ...]) -> set[_Place]:
    """With the places behind wildcards that stand for nothing."""
    for number, inside in tuple(places):
        after = number
        while not inside and after < len(parts) and parts[after] in _MAY_BE_NOTHING:
            after += 1
            places.add((after, False))
    return places


@lru_cache(maxsize=1024)
def _parts(pattern: str) -> tuple[str, ...]:
    """Its wildcards and its characters."""
    body = pattern.strip().rstrip("/")
    anywhere = ("**/",) if "/" not in body else ()
    return (*anywhere, *re.findall(r"\*\*/|\*\*|.", body.removeprefix("/"), re.DOTALL))


def beginning(pattern: str) -> str:
    """What every path begins with that the pattern matches."""
    return _literals(pattern)[0]


@lru_cache(maxsize=1024)
def _literals(pattern: str) -> tuple[str, ...]:
    """The texts between its wildcards, which every path has that it matches; the first one, at its beginning, may be
    empty.
    """
    found = [""]
    for part in _parts(pattern):
        if len(part) > 1 or part in "*?":
            found.append("")
        else:
            found[-1] += part
    return (found[0], *filter(None, found[1:]))


# --- two patterns ----------------------------------------------------------------------------------------------------

_OTHER = "\0"
"""Stands for every character that neither pattern names: no path contains it."""
_WITHIN: _Place = (-1, True)
"""Within a directory that the whole pattern has matched."""


def meet(one: str, other: str, work: Work | None = None) -> bool:
    """Whether some path matches both, also as a file within a directory that one of them matches.

    Follows all pairs of places that one path can lead to. Raises TooMuchWork.
    """
    first, second, work = _parts(one), _parts(other), work or Work(MOST_STEPS)
    seen = {(a, b) for a in _reached({(0, False)}, first) for b in _reached({(0, False)}, second)}
    left = list(seen)
    while left:
        a, b = left.pop()
        if _whole(a, first) and _whole(b, second):
            return True
        for character in {"/", _OTHER, *_named(a, first), *_named(b, second)}:
            found = {(c, d) for c in _onwards(a, character, first) for d in _onwards(b, character, second)} - seen
            work.spend(len(found) + 1)
            seen |= found
            left.extend(found)
    return False


def _whole(place: _Place, parts: tuple[str, ...]) -> bool:
    return place in (_WITHIN, (len(parts), False))


def _named(place: _Place, parts: tuple[str, ...]) -> str:
    part = parts[place[0]] if 0 <= place[0] < len(parts) else ""
    return part if len(part) == 1 and part not in "*?" else ""


def _onwards(place: _Place, character: str, parts: tuple[str, ...]) -> set[_Place]:
    if place == _WITHIN or (character == "/" and place == (len(parts), False)):
        return {_WITHIN}
    return _reached(set(_after(place, character, parts)), parts)


def is_plain(pattern: str) -> bool:
    """Whether it names a path, without wildcards."""
    return not set(pattern) & set("*?")
