"""What worktrees take on disk, and those that no task knows."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from toryo.coordinator.worktrees.git import Trouble
from toryo.coordinator.worktrees.paths import Worktree, opened_at, safe

BLOCK = 512
"""The unit of `st_blocks` in bytes, independent of the file system's blocks."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """A directory among the worktrees with an unknown name. Its `worktree` can be kept, merged or discarded; it is None
    if the directory is not one of ours, or its repository is gone: then only a person knows what it is."""

    path: Path
    size: int
    worktree: Worktree | None


def size(directory: Path) -> int:
    """Bytes on disk, a file of several names counted once. What vanishes meanwhile counts nothing."""
    return sum({(entry.st_dev, entry.st_ino): entry.st_blocks * BLOCK for entry in _within(directory)}.values())


def size_as_far_as(directory: Path, enough: Callable[[], bool]) -> tuple[int, bool]:
    """Like `size`, until `enough` says so (checked at every file); and whether that was everything."""
    seen: dict[tuple[int, int], int] = {}
    for entry in _within(directory):
        if enough():
            return sum(seen.values()), False
        seen[entry.st_dev, entry.st_ino] = entry.st_blocks * BLOCK
    return sum(seen.values()), True


def leftovers(directory: Path, known_names: Collection[str]) -> tuple[Leftover, ...]:
    """The directories here of which none of these names is the worktree's."""
    known = {safe(name) for name in known_names}
    try:
        found = (path for path in directory.iterdir() if not path.name.startswith("."))  # what belongs to worktrees
        places = sorted(path for path in found if path.is_dir() and not path.is_symlink())
    except FileNotFoundError:
        return ()
    return tuple(Leftover(place, size(place), _opened(place)) for place in places if place.name not in known)


def _opened(path: Path) -> Worktree | None:
    try:
        return opened_at(path)
    except Trouble:
        return None


def _within(directory: Path) -> Iterator[os.stat_result]:
    for parent, _, files in os.walk(directory):
        for each in (parent, *(os.path.join(parent, name) for name in files)):  # noqa: PTH118 - many files, plain text
            try:
                yield os.lstat(each)
            except OSError:
                continue
