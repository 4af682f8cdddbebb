"""Collects the files that a command check leaves: those below its directory that match its patterns, within limits.

An agent may have written all of it, and change it meanwhile: nothing is reached through a symbolic link, only regular
files are read, and looking for them is bounded. `artifact_uploads.py` sends them.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from toryo import output_redaction, untrusted_files
from toryo.artifact_limits import (
    LARGEST,
    LARGEST_OF_CHECK,
    LARGEST_OF_RUN,
    LONGEST_NOTE,
    MOST_FILES,
    MOST_LEFT_OUT,
    MOST_PATTERNS,
    may_be_name,
)
from toryo.output_redaction import Mask
from toryo.path_patterns import MOST_STEPS, TooMuchWork, Work, matches
from toryo.shown_characters import on_a_line

MOST_ENTRIES = 100_000
"""Files and directories that are looked at for one check."""
DEEPEST = 40
MOST_READ = 3 * MOST_FILES
"""Files that are read for one check; those that turn out not to fit count, too."""
PORTION = 50_000
"""Characters that are masked at a time. Meanwhile nothing else in this Coordinator goes on, however many threads it
has; so one check at a time has its files masked."""
_MASKING = threading.Lock()
_SKIPPED = ".git"


@dataclass(frozen=True, slots=True)
class File:
    """`name`: its path below the directory where the check ran."""

    name: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Collected:
    """`left_out`: what was not taken, and why, in sentences."""

    files: tuple[File, ...] = ()
    left_out: tuple[str, ...] = ()


class Room:
    """What all checks of one run may still take. Several collect at the same time, in threads."""

    def __init__(self, most: int = LARGEST_OF_RUN) -> None:
        self._left = most
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        with self._lock:
            if size > self._left:
                return False
            self._left -= size
            return True


@dataclass(frozen=True, slots=True)
class Place:
    """Where the files of a check are. `within`: the worktree that the directory belongs to; from there on, an agent may
    have put a link in its place."""

    directory: Path
    within: Path | None = None

    def opened(self) -> int:
        """A descriptor of the directory; raises OSError. The caller closes it."""
        if self.within is None:
            return untrusted_files.directory_beneath(untrusted_files.real(self.directory))
        try:
            between = self.directory.relative_to(self.within).parts
        except ValueError:
            raise OSError(f"{self.directory} is not in its worktree") from None
        return untrusted_files.directory_beneath(untrusted_files.real(self.within), *between)


def collected(patterns: Sequence[str], place: Place, mask: Mask, room: Room) -> Collected:
    """Blocks. The first files by their names; never raises for what an agent has made of the directory."""
    given = [str(each).removeprefix("./") for each in patterns][:MOST_PATTERNS]
    taking = _Taking(given, mask, room)
    try:
        top = place.opened()
    except OSError as problem:
        return Collected((), (f"The files cannot be collected: {problem.strerror or problem}.",))
    try:
        taking.below(top, "", 0)
    except TooMuchWork:
        taking.stop()
    finally:
        os.close(top)
    return taking.done()


class _Taking:
    def __init__(self, patterns: Sequence[str], mask: Mask, room: Room) -> None:
        self._patterns, self._mask, self._room = patterns, mask, room
        self._towards = [_directories(each) for each in patterns]
        self._work = Work(MOST_STEPS)
        self._looked_at = 0
        self._matched: set[str] = set()
        """The patterns that some file matches."""
        self._files: list[File] = []
        self._size = self._read = 0
        self._all_seen = True
        self._notes: list[str] = []
        self._unnoted = 0

    def done(self) -> Collected:
        without = [each for each in self._patterns if each not in self._matched] if self._all_seen else []
        nothing = [f"No file matches {each}." for each in without]
        more = [f"{self._unnoted} more are left out."] if self._unnoted else []
        notes = [*self._notes[: MOST_LEFT_OUT - len(nothing) - len(more)], *more, *nothing]
        return Collected(tuple(self._files), tuple(each[:LONGEST_NOTE] for each in notes))

    def note(self, text: str) -> None:
        if len(self._notes) < MOST_LEFT_OUT - MOST_PATTERNS - 1:
            self._notes.append(self._mask(on_a_line(text)))
        else:
            self._unnoted += 1

    def stop(self) -> None:
        """There is more than can be looked at."""
        self._all_seen = False
        self._notes.insert(0, "There are too many files to compare with these patterns. Name their directory.")

    def below(self, directory: int, path: str, depth: int) -> None:
        """Takes what matches in an open directory and below it. Raises TooMuchWork."""
        for entry in self._entries(directory):
            name = path + entry.name
            if entry.name == _SKIPPED:  # in a worktree it is a file
                continue
            if _is_directory(entry):
                if depth < DEEPEST and self._leads_on(name):
                    self._enter(directory, entry.name, name, depth)
                continue
            found = [each for each in self._patterns if matches(each, name, self._work)]
            if found:
                self._matched.update(found)
                self._take(directory, entry.name, name)

    def _entries(self, directory: int) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(directory) as found:
                entries = sorted(islice(found, MOST_ENTRIES - self._looked_at + 1), key=lambda each: each.name)
        except OSError:
            return
        self._looked_at += len(entries)
        if self._looked_at > MOST_ENTRIES:
            raise TooMuchWork
        yield from entries

    def _enter(self, directory: int, own: str, name: str, depth: int) -> None:
        try:
            inner = untrusted_files.directory_beneath(directory, own)
        except OSError:
            return  # it was replaced meanwhile, or is none of ours to read
        try:
            self.below(inner, name + "/", depth + 1)
        finally:
            os.close(inner)

    def _leads_on(self, name: str) -> bool:
        """Whether a file in this directory can match."""
        parts = name.split("/")
        self._work.spend(len(self._towards))
        return any(all(a == b for a, b in zip(parts, each, strict=False)) for each in self._towards)

    def _take(self, directory: int, own: str, name: str) -> None:
        if not may_be_name(name) or self._mask(name) != name:
            self.note(f"{name} has a name that cannot be stored.")
        elif len(self._files) >= MOST_FILES or self._read >= MOST_READ:
            self.note(f"{name} is one file too many: a check can leave {MOST_FILES}.")
        else:
            try:
                content = self._content(directory, own, name)
            except OSError as problem:
                self.note(f"{name} is left out. {problem.strerror or problem}.")
                return
            if not self._room.take(len(content)):  # before it is masked, which takes long, and makes nothing larger
                self.note(f"{name} is left out. The files of all checks can have {LARGEST_OF_RUN / 1e6:g} MB.")
            else:
                self._size += len(content)
                self._files.append(File(name, self._masked(content)))

    def _content(self, directory: int, own: str, name: str) -> bytes:
        """Raises OSError for what is no regular file, or too large. What is too large is not read, unless it grows."""
        descriptor = untrusted_files.opened(own, untrusted_files.READING | os.O_NOFOLLOW, directory=directory)
        try:
            self._refuse_size(os.fstat(descriptor).st_size)
            self._read += 1
            content = untrusted_files.read(descriptor, LARGEST, name)
        finally:
            os.close(descriptor)
        self._refuse_size(len(content))
        return content

    def _refuse_size(self, size: int) -> None:
        if size > LARGEST:
            raise OSError(errno.EFBIG, f"A file can have {LARGEST / 1e6:g} MB")
        if self._size + size > LARGEST_OF_CHECK:
            raise OSError(errno.EFBIG, f"The files of one check can have {LARGEST_OF_CHECK / 1e6:g} MB")

    def _masked(self, content: bytes) -> bytes:
        """Texts without secrets; what is no text in UTF-8 stays as it is."""
        if b"\0" in content:
            return content
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return content
        with _MASKING:
            return "".join(self._mask(each) for each in _portions(text)).encode()


def _portions(text: str) -> Iterator[str]:
    """Whole lines, and no part of a key of several lines."""
    begun = ""
    for lines in _some_lines(text):
        whole = begun + lines
        end = output_redaction.unfinished(whole) if len(whole) < 2 * PORTION else len(whole)
        yield whole[:end]
        begun = whole[end:]
    yield begun


def _some_lines(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = text.find("\n", start + PORTION) + 1 or len(text)
        yield text[start:end]
        start = end


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _directories(pattern: str) -> list[str]:
    """The directories at the beginning of a pattern that have no wildcards: only these can lead to a match."""
    body = pattern.strip().rstrip("/").removeprefix("/")
    found: list[str] = []
    for each in body.split("/")[:-1]:
        if set(each) & set("*?"):
            break
        found.append(each)
    return found
