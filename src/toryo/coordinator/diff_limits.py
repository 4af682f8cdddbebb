"""Limits on what a task changes, as an acceptance check: size, forbidden paths, and secrets in what it adds.

Pure: `acceptance_checks.py` brings the changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from toryo import secret_patterns
from toryo.coordinator.worktrees import Diff
from toryo.coordinator.worktrees.commits_and_diffs import named as some

_SECRET = re.compile(secret_patterns.LOOKS)
_PART = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
"""The header of one part of a patch: how many old lines, where the new ones begin, how many these are."""
_MAY_BE_NOTHING = frozenset({"**/", "**", "*"})
MOST_STEPS = 30_000_000
"""Of comparing all paths with all patterns of a check: some seconds."""
_SHOWN = 5


def named(limits: Mapping[str, Any]) -> str:
    """The limits in words: `changes: at most 50 files, nothing in *.lock, no secrets`."""
    parts = []
    if limits.get("max_files") is not None:
        parts.append(f"at most {_counted(limits['max_files'], 'file')}")
    if limits.get("max_lines") is not None:
        parts.append(f"at most {_counted(limits['max_lines'], 'line')}")
    if limits.get("forbidden_paths"):
        parts.append(f"nothing in {some([str(each) for each in limits['forbidden_paths']], _SHOWN)}")
    if limits.get("forbid_secrets"):
        parts.append("no secrets")
    return f"changes: {', '.join(parts)}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def broken(limits: Mapping[str, Any], changes: Diff) -> Iterator[str]:
    """A sentence for each limit that the changes do not keep."""
    files = len(changes.files)
    lines = sum(each.insertions + each.deletions for each in changes.files)
    most_files, most_lines = limits.get("max_files"), limits.get("max_lines")
    if most_files is not None and files > most_files:
        yield f"{_counted(files, 'file')} changed; at most {most_files} may be."
    if most_lines is not None and lines > most_lines:
        yield f"{_counted(lines, 'line')} added or deleted; at most {most_lines} may be."
    touched = sorted({path for each in changes.files for path in (each.path, each.old_path) if path is not None})
    work = _Work(MOST_STEPS)
    for pattern in map(str, limits.get("forbidden_paths") or ()):
        try:
            found = [path for path in touched if matches(pattern, path, work)]
        except TooMuchWork:
            yield f"{_counted(files, 'file')} changed: too many for these patterns. Change fewer files in one task."
            break
        if found:
            yield f"{some(found, _SHOWN)} may not be changed ({pattern}). Undo that."
    if limits.get("forbid_secrets"):
        yield from _secrets(changes)


def _secrets(changes: Diff) -> Iterator[str]:
    if changes.truncated:
        yield "The changes are too large to be searched for secrets. Make them smaller."
        return
    found = [place for place, line in _added(changes.patch) if _SECRET.search(line)]
    if found:
        yield f"Looks like a secret: {some(found, _SHOWN)}. Remove it, also from the commits."


def _added(patch: str) -> Iterator[tuple[str, str]]:
    """Each added line, and where it is. Headers are read only where the counts of the part before say that it is over:
    an added line may look like one."""
    path, number, old, new = "", 0, 0, 0
    for line in patch.split("\n"):
        if old > 0 or new > 0:
            kind = line[:1]
            old -= kind in (" ", "-", "")
            new -= kind in (" ", "+", "")
            if kind == "+":
                yield f"{path}:{number}", line[1:]
            number += kind in (" ", "+", "")
        elif line.startswith("+++ "):
            path = line[4:].removeprefix("b/").rstrip("\t")
        elif part := _PART.match(line):
            old, new = (1 if each is None else int(each) for each in (part[1], part[3]))
            number = int(part[2])


class TooMuchWork(Exception):
    """The patterns and paths are more than can be compared in reasonable time."""


class _Work:
    """What may be spent on comparing; agents write paths, and some write patterns."""

    def __init__(self, most: int) -> None:
        self.left = most

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooMuchWork


def matches(pattern: str, path: str, work: _Work | None = None) -> bool:
    """As in .gitignore: a name without a slash is looked for in every directory, `*` stays within one, `**` does not,
    and a directory includes what is in it.

    All ways to match are followed at once, character by character: a regular expression would try them one after the
    other, and some patterns have more ways than anybody can wait for. Raises TooMuchWork.
    """
    parts = _parts(pattern)
    end, work = len(parts), work or _Work(MOST_STEPS)
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
