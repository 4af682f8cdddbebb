"""Parses an event stream (SSE) incrementally: the data of each event as soon as it is complete, of any size."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator


class Events:
    """Takes the pieces of a stream and returns the data of the events that they complete."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._searched = 0
        self._data: list[bytes] = []

    def take(self, piece: bytes) -> Iterator[bytes]:
        self._rest += piece
        while (end := self._rest.find(b"\n", self._searched)) >= 0:
            line = bytes(self._rest[:end]).rstrip(b"\r")
            del self._rest[: end + 1]
            self._searched = 0
            yield from self._line(line)
        self._searched = len(self._rest)

    def _line(self, line: bytes) -> Iterator[bytes]:
        """Fields other than `data` (and comments, which keep the connection open) are passed over."""
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif not line and self._data:
            data, self._data = b"\n".join(self._data), []
            yield data


async def data_of(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The data of each event of a stream; empty ones are passed over."""
    events = Events()
    async for piece in pieces:
        for data in events.take(piece):
            if data.strip():
                yield data
