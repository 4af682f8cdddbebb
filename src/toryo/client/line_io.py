"""Reads and writes lines of any length on file descriptors: pipes, files and terminals.

In daemon threads, because an event loop cannot wait for a plain file, and neither a silent client nor one that has
stopped reading may keep the process alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import threading
from collections.abc import AsyncIterator

_PIECE = 1 << 16


async def lines(descriptor: int) -> AsyncIterator[bytes]:
    """Every line, and what stands after the last line break, until the other side closes."""
    arrived: asyncio.Queue[bytes | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def hand(line: bytes | None) -> None:
        with contextlib.suppress(RuntimeError):  # no reader is left
            loop.call_soon_threadsafe(arrived.put_nowait, line)

    def read() -> None:
        rest = bytearray()
        with contextlib.suppress(OSError):
            while piece := os.read(descriptor, _PIECE):
                *complete, last = piece.split(b"\n")
                for chunk in complete:
                    hand(bytes(rest + chunk))
                    rest.clear()
                rest += last
        if rest:
            hand(bytes(rest))
        hand(None)

    threading.Thread(target=read, name="standard input", daemon=True).start()
    while (line := await arrived.get()) is not None:
        yield line


class Output:
    """Writes whole lines, one after the other, in the order in which they were given."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waiting: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self.broken = asyncio.Event()
        """Set when no reader is left."""
        threading.Thread(target=self._work, name="standard output", daemon=True).start()

    async def write(self, line: bytes) -> None:
        """Returns when it is written, or when no reader is left. What has begun is finished though the caller
        be cancelled."""
        written: asyncio.Future[None] = self._loop.create_future()
        self._waiting.put((line + b"\n", written))
        await written

    def _work(self) -> None:
        while True:
            line, written = self._waiting.get()
            done = self._write(line)
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._tell, written, done)

    def _write(self, line: bytes) -> bool:
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            return False
        return True

    def _tell(self, written: asyncio.Future[None], done: bool) -> None:
        if not done:
            self.broken.set()
        if not written.done():
            written.set_result(None)
