"""One write per answer: the head of a response is held until its body follows.

uvicorn writes head and body separately, and each write is a system call that wakes the client: a quarter of the cost of
a small answer. Only the timing of writes changes, not their content.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_HEAD = b"HTTP/1."
_LARGE = 65_536
"""Bytes above which a body is not copied together with its head, because clients that do not read would keep a copy."""
_CLOSES_WITHIN = 60.0
"""Seconds for a client to read the rest after its connection is closed."""


class CoalescingProtocol(HttpToolsProtocol):
    """uvicorn's protocol on a `CoalescingTransport`."""

    transport: CoalescingTransport  # type: ignore[assignment]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(CoalescingTransport(transport, self.loop))  # type: ignore[arg-type]


class CoalescingTransport:
    """Holds a head until the next write, or until the loop's next iteration. Delegates everything else."""

    __slots__ = (
        "_closing",
        "_held",
        "_loop",
        "_transport",
        "get_extra_info",
        "is_closing",
        "pause_reading",
        "resume_reading",
    )

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held = b""
        self._closing: asyncio.TimerHandle | None = None
        self.get_extra_info = transport.get_extra_info
        self.is_closing = transport.is_closing
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading

    def write(self, data: bytes) -> None:
        if self._held and len(data) > _LARGE:
            self._flush()
        elif self._held:
            data, self._held = self._held + data, b""
        elif data.startswith(_HEAD):
            self._held = data
            self._loop.call_soon(self._flush)
            return
        self._transport.write(data)

    def close(self) -> None:
        self._flush()
        if self._closing is None and self._transport.get_write_buffer_size():
            self._closing = self._loop.call_later(_CLOSES_WITHIN, self._transport.abort)
        self._transport.close()

    def lost(self) -> None:
        """The connection is gone."""
        if self._closing is not None:
            self._closing.cancel()

    def _flush(self) -> None:
        if self._held:
            data, self._held = self._held, b""
            self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
