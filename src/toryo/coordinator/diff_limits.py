"""Limits on what a task changes, as an acceptance check: size, forbidden paths, and secrets in what it adds.

Pure: `acceptance_checks.py` brings the changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from toryo import secret_patterns
from toryo.check_names import counted, some
from toryo.coordinator.worktrees import Diff
from toryo.path_patterns import MOST_STEPS, TooMuchWork, Work, matches

_SECRET = re.compile(secret_patterns.LOOKS)
_PART = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
"""The header of one part of a patch: how many old lines, where the new ones begin, how many these are."""
_SHOWN = 5


def broken(limits: Mapping[str, Any], changes: Diff) -> Iterator[str]:
    """A sentence for each limit that the changes do not keep."""
    files = len(changes.files)
    lines = sum(each.insertions + each.deletions for each in changes.files)
    most_files, most_lines = limits.get("max_files"), limits.get("max_lines")
    if most_files is not None and files > most_files:
        yield f"{counted(files, 'file')} changed; at most {most_files} may be."
    if most_lines is not None and lines > most_lines:
        yield f"{counted(lines, 'line')} added or deleted; at most {most_lines} may be."
    touched = sorted({path for each in changes.files for path in (each.path, each.old_path) if path is not None})
    work = Work(MOST_STEPS)
    for pattern in map(str, limits.get("forbidden_paths") or ()):
        try:
            found = [path for path in touched if matches(pattern, path, work)]
        except TooMuchWork:
            yield f"{counted(files, 'file')} changed: too many for these patterns. Change fewer files in one task."
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
