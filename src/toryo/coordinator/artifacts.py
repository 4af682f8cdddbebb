"""Collects the files that a command check leaves: those below its directory that match its patterns, within limits.

An agent may have written all of it, and change it meanwhile: nothing is reached through a symbolic link, only regular
files are read, and looking for them is bounded. `artifact_uploads.py` sends them.
"""

from __future__ import annotations

import errno
import heapq
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
MOST_CANDIDATES = 1_000
"""Files that match, the newest of which are taken as far as they fit."""
MOST_READ = 3 * MOST_FILES
"""Files that are read for one check; those that turn out not to fit count, too."""
PORTION = 50_000
"""Characters that are masked at a time. Meanwhile nothing else in this Coordinator goes on, however many threads it
has; so one check at a time has its files masked."""
_MASKING = threading.Lock()
_SKIPPED = ".git"
_COARSE = 2.0
"""Seconds that a file system may be wrong about when a file was written."""


@dataclass(frozen=True, slots=True)
class File:
    """`name`: its path below the directory where the check ran."""

    name: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Collected:
    """`left_out`: what was not taken, and why, and what is older than the run of the command, in sentences."""

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


def collect(patterns: Sequence[str], began: float, place: Place, mask: Mask, room: Room) -> Collected:
    """Blocks. The newest files; never raises for what an agent has made of the directory. `began`: when the command was
    started, by the clock of the files."""
    given = [str(each).removeprefix("./") for each in patterns][:MOST_PATTERNS]
    taking = _Taking(given, began, mask, room)
    try:
        top = place.opened()
    except OSError as problem:
        return Collected((), (f"The files cannot be collected: {problem.strerror or problem}.",))
    try:
        taking.newest(top)
    finally:
        os.close(top)
    return taking.done()


@dataclass(frozen=True, slots=True)
class _Candidate:
    """`written`: when, in seconds."""

    name: str
    written: float


class _Taking:
    def __init__(self, patterns: Sequence[str], began: float, mask: Mask, room: Room) -> None:
        self._patterns, self._began, self._mask, self._room = patterns, began, mask, room
        self._towards = [_directories(each) for each in patterns]
        self._work = Work(MOST_STEPS)
        self._looked_at = 0
        self._matched: set[str] = set()
        """The patterns that some file matches."""
        self._many = 0
        self._files: list[File] = []
        self._old: list[str] = []
        self._size = self._read = 0
        self._all_seen = True
        self._notes: list[str] = []
        self._unnoted = 0

    def done(self) -> Collected:
        without = [each for each in self._patterns if each not in self._matched] if self._all_seen else []
        nothing = [f"No file matches {each}." for each in without]
        more = [f"{self._unnoted} more are left out."] if self._unnoted else []
        old = [f"Kept, but older than the run of the command: {', '.join(sorted(self._old))}."] if self._old else []
        notes = [*self._notes[: MOST_LEFT_OUT - len(nothing) - len(more) - len(old)], *more, *old, *nothing]
        files = sorted(self._files, key=lambda each: each.name)
        return Collected(tuple(files), tuple(each[:LONGEST_NOTE] for each in notes))

    def note(self, text: str) -> None:
        if len(self._notes) < MOST_LEFT_OUT - MOST_PATTERNS - 2:
            self._notes.append(self._mask(on_a_line(text)))
        else:
            self._unnoted += 1

    def newest(self, top: int) -> None:
        """Takes what matches below an open directory."""
        newest_first = heapq.nsmallest(MOST_CANDIDATES, self._all(top), key=lambda each: (-each.written, each.name))
        for each in newest_first:
            self._take(top, each)
        self._unnoted += self._many - len(newest_first)

    def _all(self, top: int) -> Iterator[_Candidate]:
        """What matches, as far as it can be looked at."""
        try:
            for each in self._below(top, "", 0):
                self._many += 1
                yield each
        except TooMuchWork:
            self._all_seen = False
            self._notes.insert(0, "There are too many files to compare with these patterns. Name their directory.")

    def _below(self, directory: int, path: str, depth: int) -> Iterator[_Candidate]:
        """Raises TooMuchWork."""
        for entry in self._entries(directory):
            name = path + entry.name
            if entry.name == _SKIPPED:  # in a worktree it is a file
                continue
            if _is_directory(entry):
                if depth < DEEPEST and self._leads_on(name):
                    yield from self._enter(directory, entry.name, name, depth)
                continue
            found = [each for each in self._patterns if matches(each, name, self._work)]
            if found:
                self._matched.update(found)
                yield _Candidate(name, _written(entry))

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

    def _enter(self, directory: int, own: str, name: str, depth: int) -> Iterator[_Candidate]:
        try:
            inner = untrusted_files.directory_beneath(directory, own)
        except OSError:
            return  # it was replaced meanwhile, or is none of ours to read
        try:
            yield from self._below(inner, name + "/", depth + 1)
        finally:
            os.close(inner)

    def _leads_on(self, name: str) -> bool:
        """Whether a file in this directory can match."""
        parts = name.split("/")
        self._work.spend(len(self._towards))
        return any(all(a == b for a, b in zip(parts, each, strict=False)) for each in self._towards)

    def _take(self, top: int, candidate: _Candidate) -> None:
        name = candidate.name
        if not may_be_name(name) or self._mask(name) != name:
            self.note(f"{name} has a name that cannot be stored.")
        elif len(self._files) >= MOST_FILES or self._read >= MOST_READ:
            self.note(f"{name} is one file too many: a check can leave {MOST_FILES}.")
        else:
            try:
                content = self._content(top, name)
            except OSError as problem:
                self.note(f"{name} is left out. {problem.strerror or problem}.")
                return
            if not self._room.take(len(content)):  # before it is masked, which takes long, and makes nothing larger
                self.note(f"{name} is left out. The files of all checks can have {LARGEST_OF_RUN / 1e6:g} MB.")
            else:
                self._size += len(content)
                self._files.append(File(name, self._masked(content)))
                if candidate.written < self._began - _COARSE:
                    self._old.append(name)

    def _content(self, top: int, name: str) -> bytes:
        """Raises OSError for what is no regular file, or too large. What is too large is not read, unless it grows."""
        *between, own = name.split("/")
        directory = untrusted_files.directory_beneath(top, *between)
        try:
            descriptor = untrusted_files.open_regular(own, untrusted_files.READING | os.O_NOFOLLOW, directory=directory)
        finally:
            os.close(directory)
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
        end = output_redaction.unfinished_from(whole) if len(whole) < 2 * PORTION else len(whole)
        yield whole[:end]
        begun = whole[end:]
    yield begun


def _some_lines(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = text.find("\n", start + PORTION) + 1 or len(text)
        yield text[start:end]
        start = end


def _written(entry: os.DirEntry[str]) -> float:
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return 0.0  # it is gone


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
