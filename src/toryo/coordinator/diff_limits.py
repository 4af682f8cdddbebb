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
_PART = re.compile(r"(@@+)((?: -\d+(?:,\d+)?)+) \+(\d+)(?:,(\d+))? \1")
"""The header of one part of a patch: how many old lines (of each parent: a merge has several, and one @ more than
parents), where the new ones begin, how many these are."""
_OLD = re.compile(r" (-)\d+((?:,\d+)?)")
_COMMIT = re.compile(r"commit ([0-9a-f]{40,64})\Z")
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
        return
    if told := in_history(changes.history, truncated=changes.history_truncated):
        yield told


def in_history(history: str, *, truncated: bool) -> str:
    """What is wrong with the commits of some work (`Diff.history`), which a merge brings all; empty if nothing is."""
    if truncated:
        return "The commits are too large to be searched for secrets. Make them smaller."
    found = list(dict.fromkeys(place for place, line in _added(history) if _SECRET.search(line)))
    if not found:
        return ""
    return (
        f"Looks like a secret, removed later, but a merge brings every commit: {some(found, _SHOWN)}. Rewrite these "
        "commits without it: git reset --soft to where the work began, then commit again."
    )


def _added(patch: str) -> Iterator[tuple[str, str]]:
    """Each added line, and each of a commit message, and where it is. Headers are read only where the counts of the
    part before say that it is over: an added line may look like one."""
    path, commit, number, new = "", "", 0, 0
    old: list[int] = []
    """Lines that are still to come, of each parent."""
    for line in patch.split("\n"):
        if new > 0 or any(each > 0 for each in old):
            signs = line[: len(old)]
            if "-" in signs:
                old = [each - (sign == "-") for each, sign in zip(old, signs, strict=False)]
                continue
            if not line.startswith("\\"):
                old = [each - (sign != "+") for each, sign in zip(old, signs.ljust(len(old)), strict=True)]
                if signs == "+" * len(old):
                    yield f"{path}:{number}{commit}", line[len(old) :]
                number, new = number + 1, new - 1
        elif line.startswith("+++ "):
            path = line[4:].removeprefix("b/").rstrip("\t")
        elif part := _PART.match(line):
            old = [1 if each[2] == "" else int(each[2][1:]) for each in _OLD.finditer(part[2])]
            number, new = int(part[3]), 1 if part[4] is None else int(part[4])
        elif begun := _COMMIT.match(line):
            commit = f" in commit {begun[1][:10]}"
        elif commit and line.startswith(" "):
            yield f"the message of{commit.removeprefix(' in')}", line
