"""The output of agents: one file per launch, read while it grows and sent to the server in the background.

The file is the process's standard output itself, so that agents survive a crash of their Coordinator. Nothing can
stand in between, so secrets are covered in the file as soon as they are read there (`Mask.covered`), in their place.
What is sent is masked, cut at line ends if possible, and repeated unchanged until the server has it.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from toryo import output_redaction, untrusted_files
from toryo.coordinator import doing as words
from toryo.coordinator.doing import Doing
from toryo.coordinator.program_output import Reading
from toryo.output_redaction import Mask

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
UNDECIDED = 4096
"""Bytes at the end of an unfinished line that wait for more: a secret may have come in part. Of a shorter line, all."""
PIECE = 1024 * 1024
"""Bytes that are covered at a time where nobody reads them: others wait meanwhile."""
_APPENDING = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


def path_of(directory: Path, launch_id: str) -> Path:
    return directory / f"{launch_id}.log"


def create(directory: Path, launch_id: str) -> tuple[Path, int]:
    """The file (mode 0600) and a descriptor that appends to it; the caller closes it."""
    path = path_of(directory, launch_id)
    output = create_file(path, _APPENDING)
    size = os.fstat(output).st_size
    if size and os.pread(output, 1, size - 1) != b"\n":  # the output ended within a line and is continued
        os.write(output, b"\n")
    return path, output


def create_file(path: Path, flags: int) -> int:
    """A file (mode 0600), also the first in its directory."""
    try:
        return untrusted_files.open_own(path, flags)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return untrusted_files.open_own(path, flags)


def note(output: int, notes: Sequence[str]) -> None:
    """What the Coordinator itself has to say of a launch, before its process says anything: a line for each."""
    words = "".join(f"· {' '.join(each.split())}\n" for each in notes)
    if words:
        os.write(output, words.encode(errors="replace"))


def add(path: Path, lines: Sequence[str]) -> None:
    """Lines that belong to the output of a launch, and that its program has written elsewhere."""
    with os.fdopen(untrusted_files.open_regular(path, os.O_WRONLY | os.O_APPEND), "wb") as output:
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
    with contextlib.suppress(OSError), os.fdopen(untrusted_files.open_regular(path), "rb") as file:
        return tail_of(file, characters)
    return ""


def tail_of(file: IO[bytes], characters: int = TAIL) -> str:
    """The end of an open file, as text."""
    file.seek(0, os.SEEK_END)
    file.seek(max(0, file.tell() - 4 * characters))
    return file.read(4 * characters).decode("utf-8", "replace").replace(output_redaction.FILLER, "")[-characters:]


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
        self.ports: dict[str, int] | None = None
        """Where the ports of its program are reachable, once that is known."""
        self._mask = mask
        self._largest = largest
        if reading is not None:
            reading.mask = mask
        self._position = 0
        self._undecided = b""
        """Read, but neither covered nor taken: the end of an unfinished line."""
        self._covered_to = 0
        """Up to where in the file secrets are covered."""
        self._too_large = False
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
                self._cover_unread(min(self.size - self._cut_away, self._covered_to + PIECE))
                return
            data = self._more()
            self._take_in(data)
            if len(data) < CHUNK:
                return

    def finish(self) -> None:
        """Takes in the rest: nothing more will be written. Time, memory and what stays on disk are bounded."""
        self.ended = True
        self._measure()
        self._skip(self.size - self._cut_away - self._position - LARGEST_REST)
        while data := self._more():
            self._take_in(data)
        self._take_in(b"")

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
        surplus = self._dropped(surplus)
        self._undecided = b""
        self._decoder.reset()
        self._raw = ""
        self._add(f"\n… {surplus} bytes of output were omitted here …\n")

    def _dropped(self, surplus: int) -> int:
        """Nobody reads what is skipped, and to look for secrets in it would take long: it is taken out of the file, up
        to the end of a line. Returns how much that is. A program can make its file as long as it likes without writing
        it, so nothing here may take longer for that."""
        begin = self._position - len(self._undecided)
        self._position += surplus
        with contextlib.suppress(OSError), os.fdopen(untrusted_files.open_regular(self.path, os.O_RDWR), "rb+") as file:
            file.seek(self._position - 1)
            line = file.read(UNDECIDED)
            further = max(0, line.find(b"\n") if b"\n" in line else len(line) - 1)
            file.seek(self._position + further)
            rest = file.read(LARGEST_REST)
            file.seek(begin)
            file.write(rest)
            file.truncate()
            surplus += further
            self._cut_away += self._position + further - begin
            self._position = self._covered_to = begin
        return surplus

    def _more(self) -> bytes:
        try:
            with os.fdopen(untrusted_files.open_regular(self.path), "rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(self._position)
                data = file.read(CHUNK)
        except OSError:
            return b""
        self._position += len(data)
        self.size = self._cut_away + size
        self._too_large = size > self._largest and self._position >= size - CHUNK
        return data

    def _take_in(self, data: bytes) -> None:
        """What was read; nothing: the end."""
        if decided := self._covered(data):
            self._take(decided)
        elif data and self.reading is None and self.doing is not None:
            self._notice(replace(self.doing))  # its line is not over, but it lives
        if not data:
            self._take(b"")
        if self._too_large:
            self._shorten()
            self._too_large = False

    # covering: what follows `_position - len(self._undecided)` is as the program wrote it, or covered already

    def _covered(self, data: bytes) -> bytes:
        """What was decided by this, with secrets covered, here and in the file."""
        if not isinstance(self._mask, Mask):
            return data
        whole = self._undecided + data
        done = len(whole) if self.ended and not data else self._decided(whole, self._mask)
        ready, self._undecided = whole[:done], whole[done:]
        covered = self._mask.covered(ready)
        begin = self._position - len(whole)
        if covered != ready:
            self._write(begin, ready, covered)
        self._covered_to = max(self._covered_to, begin + done)
        return covered

    @staticmethod
    def _decided(whole: bytes, mask: Mask) -> int:
        """How many bytes can be no part of a secret that is still to come."""
        end = max(whole.rfind(b"\n") + 1, len(whole) - max(UNDECIDED, mask.longest))
        return output_redaction.unfinished_from(whole[:end].decode("latin-1"))

    def _cover_unread(self, end: int) -> None:
        """Up to there in the file, without taking it in."""
        if not isinstance(self._mask, Mask):
            return
        overlap = max(UNDECIDED, self._mask.longest)
        with contextlib.suppress(OSError), os.fdopen(untrusted_files.open_regular(self.path), "rb") as file:
            while self._covered_to < end:
                begin = max(0, self._covered_to - overlap)
                file.seek(begin)
                data = file.read(min(PIECE, end - begin))
                data = data[: self._decided(data, self._mask)]
                if begin + len(data) <= self._covered_to:
                    return
                covered = self._mask.covered(data)
                if covered != data:
                    self._write(begin, data, covered)
                self._covered_to = begin + len(data)

    def _write(self, begin: int, before: bytes, after: bytes) -> None:
        """What differs, in its place; nothing beyond the end of the file, which its program may have cut, nor before
        its beginning: that was cut by us."""
        begin, before, after = max(0, begin), before[max(0, -begin) :], after[max(0, -begin) :]
        if before == after:
            return
        with contextlib.suppress(OSError):
            descriptor = untrusted_files.open_regular(
                self.path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
            )
            try:
                size = os.fstat(descriptor).st_size
                first = next(at for at, (old, new) in enumerate(zip(before, after, strict=True)) if old != new)
                last = next(at for at in range(len(after), 0, -1) if before[at - 1] != after[at - 1])
                if begin + last <= size:
                    os.pwrite(descriptor, after[first:last], begin + first)
            finally:
                os.close(descriptor)

    def _take(self, data: bytes) -> None:
        text = self._decoder.decode(data, final=self.ended and not data).replace(output_redaction.FILLER, "")
        if self.reading is None:
            self._add(text)
            if text:  # whole lines only: a part of a secret cannot be recognised
                whole = self._tail[: self._tail.rfind("\n") + 1]
                self._notice(words.of_output(self._mask(whole)) or Doing("printed", ""))
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
            end = output_redaction.unfinished_from(self._text[:end])
        done, self._text = self._mask(self._text[:end]), self._text[end:]
        known = min(self._known, len(done))
        self._known -= known
        return done[known:]

    def _shorten(self) -> None:
        """As log rotation does for programs that keep their file open: copy the end, then empty the file."""
        self._cover_unread(self.size - self._cut_away)
        with contextlib.suppress(OSError), os.fdopen(untrusted_files.open_regular(self.path, os.O_RDWR), "rb+") as file:
            self._cut_away += os.fstat(file.fileno()).st_size
            file.seek(-KEPT_WHEN_CUT, os.SEEK_END)
            older = untrusted_files.open_own(self.path.with_suffix(".log.1"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            with os.fdopen(older, "wb") as kept:
                kept.write(file.read(2 * KEPT_WHEN_CUT))
            file.truncate(0)
            self._position = self._covered_to = 0
