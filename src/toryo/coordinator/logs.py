"""The output of agents: one file per launch, read as it grows and passed on to the server in the background.

The file is the process's own standard output, so that a Coordinator that dies takes no agent with it. What is passed
on is masked, cut at line ends where there are any, and sent again unchanged until the server has it.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

CHUNK = 64 * 1024
"""Bytes passed on at a time."""
TAIL = 4000
"""Characters of output that an exit report carries."""
LARGEST = 64 * 1024 * 1024
"""A file that grows beyond this is cut: its end so far is kept beside it as `.1`."""
KEPT_WHEN_CUT = 4 * 1024 * 1024
PARTIAL_LINE = 4096
"""A line longer than this is passed on before it ends."""


def path_of(directory: Path, launch_id: str) -> Path:
    return directory / f"{launch_id}.log"


def create(directory: Path, launch_id: str) -> tuple[Path, int]:
    """The file (mode 0600) and a descriptor that appends to it; the caller closes it."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = path_of(directory, launch_id)
    return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def forget_older_than(directory: Path, days: float) -> None:
    """Removes the files of launches that ended long ago."""
    oldest = time.time() - days * 86400
    for path in directory.glob("*.log*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()


def tail(path: Path, characters: int = TAIL) -> str:
    """The end of a file, as text."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - 4 * characters))
        return file.read().decode("utf-8", "replace")[-characters:]
    return ""


class Log:
    """Reads one growing file from the start; `chunk` is what to pass on next, `passed_on` moves forward."""

    def __init__(self, path: Path, mask: Callable[[str], str], *, largest: int = LARGEST) -> None:
        self.path = path
        self.offset = 0
        """Where the server says the next chunk begins (in its own measure)."""
        self.ended = False
        """Nothing will be written any more, so that a last line without an end may go."""
        self._mask = mask
        self._largest = largest
        self._position = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = ""
        self._pending: str | None = None

    def chunk(self) -> str | None:
        """The next piece, the same one until it was passed on; None where there is nothing to pass on now."""
        if self._pending is None:
            self._read()
            self._pending = self._cut() or None
        return self._pending

    def passed_on(self, next_offset: int) -> None:
        self.offset = next_offset
        self._pending = None

    def _read(self) -> None:
        try:
            with self.path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(self._position)
                data = file.read(CHUNK)
        except OSError:
            return
        self._position += len(data)
        self._text += self._decoder.decode(data, final=self.ended and not data)
        if size > self._largest and self._position >= size - CHUNK:
            self._shorten()

    def _cut(self) -> str:
        """Whole lines; a long or last one without its end."""
        end = self._text.rfind("\n") + 1
        if self.ended or len(self._text) - end > PARTIAL_LINE:
            end = len(self._text)
        done, self._text = self._text[:end], self._text[end:]
        return self._mask(done)

    def _shorten(self) -> None:
        """As log rotation does for programs that keep their file open: copy the end, then empty the file."""
        with contextlib.suppress(OSError), self.path.open("rb+") as file:
            file.seek(-KEPT_WHEN_CUT, os.SEEK_END)
            older = self.path.with_suffix(".log.1")
            older.touch(mode=0o600)
            older.write_bytes(file.read())
            file.truncate(0)
            self._position = 0
