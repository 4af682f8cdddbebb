"""The output of agents: one file per launch, read while it grows and sent to the server in the background.

The file is the process's standard output itself, so that agents survive a crash of their Coordinator. What is sent is
masked, cut at line ends if possible, and repeated unchanged until the server has it.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from toryo import output_redaction, untrusted_files
from toryo.coordinator import doing as words
from toryo.coordinator.doing import Doing
from toryo.coordinator.program_output import Reading

CHUNK = 64 * 1024
"""Bytes passed on at a time."""
TAIL = 4000
"""Characters of output that an exit report carries."""
LARGEST = 64 * 1024 * 1024
"""A file that grows beyond this is cut: its end so far is kept beside it as `.1`."""
KEPT_WHEN_CUT = 4 * 1024 * 1024
PARTIAL_LINE = 4096
"""A line longer than this is passed on before it ends."""
LONGEST_LINE = 8 * 1024 * 1024
"""A line of JSON that is longer than this is taken for text."""
HELD_BACK = 4 * 1024 * 1024
"""Characters that wait for a server that is away; more stays in the file for now (and, after the end, for good)."""
LONGEST_PIECE = 100_000
"""Characters passed on in one call: the server takes no more than a few times that."""
READS_AT_ONCE = 16
LARGEST_REST = 16 * 1024 * 1024
"""Bytes that are still read after the end: of a flood, only the end."""
_APPENDING = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


def path_of(directory: Path, launch_id: str) -> Path:
    return directory / f"{launch_id}.log"


def create(directory: Path, launch_id: str) -> tuple[Path, int]:
    """The file (mode 0600) and a descriptor that appends to it; the caller closes it."""
    path = path_of(directory, launch_id)
    try:
        output = untrusted_files.made(path, _APPENDING)
    except FileNotFoundError:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        output = untrusted_files.made(path, _APPENDING)
    size = os.fstat(output).st_size
    if size and os.pread(output, 1, size - 1) != b"\n":  # the output ended within a line and is continued
        os.write(output, b"\n")
    return path, output


def note(output: int, notes: Sequence[str]) -> None:
    """What the Coordinator itself has to say of a launch, before its process says anything: a line for each."""
    words = "".join(f"· {' '.join(each.split())}\n" for each in notes)
    if words:
        os.write(output, words.encode(errors="replace"))


def add(path: Path, lines: Sequence[str]) -> None:
    """Lines that belong to the output of a launch, and that its program has written elsewhere."""
    with os.fdopen(untrusted_files.opened(path, os.O_WRONLY | os.O_APPEND), "wb") as output:
        output.write("".join(f"{line}\n" for line in lines).encode(errors="replace"))


def forget_older_than(directory: Path, days: float) -> None:
    """Removes the files of launches that ended long ago."""
    oldest = time.time() - days * 86400
    for path in directory.glob("*.log*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()


def tail(path: Path, characters: int = TAIL) -> str:
    """The end of a file, as text."""
    with contextlib.suppress(OSError), os.fdopen(untrusted_files.opened(path), "rb") as file:
        return tail_of(file, characters)
    return ""


def tail_of(file: IO[bytes], characters: int = TAIL) -> str:
    """The end of an open file, as text."""
    file.seek(0, os.SEEK_END)
    file.seek(max(0, file.tell() - 4 * characters))
    return file.read(4 * characters).decode("utf-8", "replace")[-characters:]


class Log:
    """Follows one growing file from its start: `read` takes in what is there, `chunk` is what to pass on next.

    With a `reading` whole lines are translated for people; without one the text goes as it is. What the server has
    already (another Coordinator passed it on) is not sent again.
    """

    def __init__(
        self, path: Path, mask: Callable[[str], str], reading: Reading | None = None, *, largest: int = LARGEST
    ) -> None:
        self.path = path
        self.reading = reading
        self.offset = 0
        """The offset of the next chunk, as the server counts it."""
        self.size = 0
        """Bytes that were printed so far."""
        self.ended = False
        """Nothing more will be written, so that a last line without an end may go."""
        self.doing: Doing | None = None
        """What the program does now, by the newest that it printed; masked."""
        self.doing_since = 0.0
        """When that was noticed, on the clock that only goes forward."""
        self._mask = mask
        self._largest = largest
        if reading is not None:
            reading.mask = mask
        self._position = 0
        self._cut_away = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._raw = ""
        self._text = ""
        self._tail = ""
        self._pending: str | None = None
        self._known = 0
        """Characters to come that the server has already."""

    def read(self) -> None:
        """Takes in what was printed meanwhile, some pieces of it; none while much is still to be passed on."""
        self._measure()
        if not self.ended and self.size - self._cut_away == self._position:
            return  # most outputs are silent: this avoids opening a thousand files twice a second
        for _ in range(READS_AT_ONCE):
            if len(self._text) >= HELD_BACK:
                return
            data = self._more()
            self._take(data)
            if len(data) < CHUNK:
                return

    def finish(self) -> None:
        """Takes in the rest: nothing more will be written. Time, memory and what stays on disk are bounded."""
        self.ended = True
        self._measure()
        self._skip(self.size - self._cut_away - self._position - LARGEST_REST)
        while data := self._more():
            self._take(data)
        self._take(b"")

    @property
    def tail(self) -> str:
        """The end of the text read so far, masked. Masks a longer piece, because a cut could split a secret."""
        return self._mask(self._tail + self._raw[-TAIL:])[-TAIL:]

    def chunk(self) -> str | None:
        """The next piece to send, the same one until it is acknowledged; None if there is nothing to send."""
        while self._pending is None:
            before = self._position
            self.read()
            known = self._known
            self._pending = self._cut() or None
            if self._position == before and self._known == known:
                break
        return self._pending

    def passed_on(self, next_offset: int) -> None:
        """Acknowledges a piece. The server names the next offset, which is larger if it had more than was sent."""
        self._known += max(0, next_offset - self.offset - len(self._pending or ""))
        self.offset = next_offset
        self._pending = None

    def _measure(self) -> None:
        """How much was printed is known even while nothing is read."""
        with contextlib.suppress(OSError):
            self.size = self._cut_away + self.path.stat().st_size

    def _skip(self, surplus: int) -> None:
        if surplus <= 0:
            return
        self._position += surplus
        self._decoder.reset()
        self._raw = ""
        self._add(f"\n… {surplus} bytes of output were omitted here …\n")

    def _more(self) -> bytes:
        try:
            with os.fdopen(untrusted_files.opened(self.path), "rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(self._position)
                data = file.read(CHUNK)
        except OSError:
            return b""
        self._position += len(data)
        self.size = self._cut_away + size
        if size > self._largest and self._position >= size - CHUNK:
            self._shorten()
        return data

    def _take(self, data: bytes) -> None:
        text = self._decoder.decode(data, final=self.ended and not data)
        if self.reading is None:
            self._add(text)
            if text:  # whole lines only: a part of a secret cannot be recognised
                whole = self._tail[: self._tail.rfind("\n") + 1]
                self._notice(words.printed(self._mask(whole)) or Doing("printed", ""))
            return
        *lines, self._raw = (self._raw + text).split("\n")
        if self._raw and (len(self._raw) > LONGEST_LINE or (self.ended and not data)):
            lines.append(self._raw)
            self._raw = ""
        self._add("".join(map(self.reading.line, lines)))
        self._notice(self.reading.doing)
        if self.ended and not data:
            self._add(self.reading.rest())

    def _notice(self, doing: Doing | None) -> None:
        if doing is not None and doing is not self.doing:
            self.doing, self.doing_since = doing, time.monotonic()

    def _add(self, text: str) -> None:
        if len(self._text) < HELD_BACK:
            self._text += text
        self._tail = (self._tail + text)[-2 * TAIL :]

    def _cut(self) -> str:
        """Whole lines; a long or last one without its end."""
        most = min(len(self._text), LONGEST_PIECE)
        end, everything = self._text.rfind("\n", 0, most) + 1, most == len(self._text)
        if (self.ended or most - end > PARTIAL_LINE) if everything else end == 0:
            end = most
        if not self.ended:
            end = output_redaction.unfinished(self._text[:end])
        done, self._text = self._mask(self._text[:end]), self._text[end:]
        known = min(self._known, len(done))
        self._known -= known
        return done[known:]

    def _shorten(self) -> None:
        """As log rotation does for programs that keep their file open: copy the end, then empty the file."""
        with contextlib.suppress(OSError), os.fdopen(untrusted_files.opened(self.path, os.O_RDWR), "rb+") as file:
            self._cut_away += os.fstat(file.fileno()).st_size
            file.seek(-KEPT_WHEN_CUT, os.SEEK_END)
            older = untrusted_files.made(self.path.with_suffix(".log.1"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            with os.fdopen(older, "wb") as kept:
                kept.write(file.read(2 * KEPT_WHEN_CUT))
            file.truncate(0)
            self._position = 0
