"""What a connection may cost before its request is there: bytes, seconds, and how many connections one address has.

Nothing here bounds a request that is complete: long polls and streams stay open as long as they like. A connection
that waits for its client (silent, half a request, kept alive between two, an answer that is not read) is *idle*; where
there are too many, the
oldest idle one makes room. What is served is not known here.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any, NoReturn

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.network_addresses import household, is_loopback
from toryo.server.coalesced_writes import CoalescingProtocol
from toryo.server.waiting_places import reserved_places


@dataclass(frozen=True, slots=True)
class Bounds:
    connections: int = 10_000
    """In all, Unix sockets aside."""
    of_one_address: int = 2_000
    """Of another machine. The addresses of this machine may together have all but what is reserved for others."""
    head_bytes: int = 65_536
    """Request line and headers; and what comes beside the body of one in pieces."""
    headers: int = 100
    unfinished_bytes: int = 8_000_000
    """Of all requests together that have begun and are not complete."""
    thrown_away_bytes: int = 16_000_000
    """Of a body that is read on after its answer, so that the answer arrives."""
    pipelined: int = 16
    """Requests that one connection may send ahead of their answers."""
    head_seconds: float = 30
    """From the connection, or the first byte of a further request, to the end of its head."""
    body_seconds: float = 60
    """From there to the end of the body."""
    stalled_seconds: float = 60
    """Without a client reading anything of its answer."""
    lingering_seconds: float = 2
    """For a client to read why its connection ends."""


class Connections:
    """All connections of one server. `open_handed` says of an address that it may have any number of them."""

    def __init__(self, bounds: Bounds | None = None, open_handed: Callable[[str], bool] = lambda _: False) -> None:
        self.bounds = bounds or Bounds()
        self._open_handed = open_handed
        self._names: dict[BoundedProtocol, str] = {}
        self._numbers: Counter[str] = Counter()
        self._idle: dict[BoundedProtocol, None] = {}
        """Oldest first."""
        self._idle_of: dict[str, dict[BoundedProtocol, None]] = {}
        self._unfinished: dict[BoundedProtocol, int] = {}
        self._unfinished_bytes = 0

    def __len__(self) -> int:
        return len(self._names)

    def of(self, address: str) -> int:
        return self._numbers[_counted_as(address)]

    def _most_of(self, name: str) -> int:
        most = self.bounds.connections
        return most - reserved_places(most) if name == _LOOPBACK else self.bounds.of_one_address

    @property
    def unfinished_bytes(self) -> int:
        return self._unfinished_bytes

    def enter(self, connection: BoundedProtocol, address: str) -> bool:
        """Whether there is room for one more, once the oldest idle one has left."""
        name = _counted_as(address)
        if self._numbers[name] >= self._most_of(name) and not self._open_handed(address):
            return self._make_room(self._idle_of.get(name)) and self._add(connection, name)
        if len(self._names) >= self.bounds.connections:
            return self._make_room(self._idle) and self._add(connection, name)
        return self._add(connection, name)

    def leave(self, connection: BoundedProtocol) -> None:
        name = self._names.pop(connection, None)
        if name is None:
            return
        self.finished(connection)
        self._busy(connection, name)
        self._numbers[name] -= 1
        if not self._numbers[name]:
            del self._numbers[name]

    def waits_for_client(self, connection: BoundedProtocol) -> None:
        name = self._names.get(connection)
        if name is not None:
            self._idle[connection] = None
            self._idle_of.setdefault(name, {})[connection] = None

    def has_request(self, connection: BoundedProtocol) -> None:
        self.finished(connection)
        name = self._names.get(connection)
        if name is not None:
            self._busy(connection, name)

    def is_served(self, connection: BoundedProtocol) -> None:
        """Its client reads on."""
        name = self._names.get(connection)
        if name is not None:
            self._busy(connection, name)

    def unfinished(self, connection: BoundedProtocol, further: int) -> None:
        """Counts further bytes of incomplete requests; beyond the limit in total, the oldest such connections are
        closed.
        """
        if connection not in self._names:
            return
        self._unfinished[connection] = self._unfinished.get(connection, 0) + further
        self._unfinished_bytes += further
        while self._unfinished_bytes > self.bounds.unfinished_bytes:
            self._give_up(next(iter(self._unfinished)))

    def finished(self, connection: BoundedProtocol) -> None:
        self._unfinished_bytes -= self._unfinished.pop(connection, 0)

    def _add(self, connection: BoundedProtocol, name: str) -> bool:
        self._names[connection] = name
        self._numbers[name] += 1
        self.waits_for_client(connection)
        return True

    def _busy(self, connection: BoundedProtocol, name: str) -> None:
        self._idle.pop(connection, None)
        idle = self._idle_of.get(name)
        if idle is not None:
            idle.pop(connection, None)
            if not idle:
                del self._idle_of[name]

    def _make_room(self, idle: dict[BoundedProtocol, None] | None) -> bool:
        if not idle:
            return False
        self._give_up(next(iter(idle)))
        return True

    def _give_up(self, connection: BoundedProtocol) -> None:
        self.leave(connection)
        connection.give_up()


_LOOPBACK = "loopback"


def _counted_as(address: str) -> str:
    """All addresses of this machine are one: its programs choose among millions."""
    return _LOOPBACK if is_loopback(address) else household(address)


_WHITESPACE = (b" ", b"\t")
"""May stand around the value of a header and is no part of it (RFC 9110, 5.5); the parser removes it in front only."""


class _Refused(Exception):
    """Ends the parser's work; `BoundedProtocol.send_400_response` says why."""


class BoundedProtocol(CoalescingProtocol):
    """uvicorn's protocol within bounds: one for each connection; those of a server share their `crowd`."""

    def __init__(self, crowd: Connections, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._crowd = crowd
        self._bounds = crowd.bounds
        self._verdict: tuple[int, str] | None = None
        """The status and the words with which this connection ends."""
        self._deadline: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._part: str | None = None
        """Which part of a request the deadline is for."""
        self._in_head = self._in_body = self._completed = False
        self._raw = self._body = self._thrown_away = 0
        """Bytes of the present head or body as they came, of the body in them, and of bodies nobody wanted."""

    # --- coming and going ---------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.client is not None and not self._crowd.enter(self, self.client[0]):
            self._end(503, "Too many connections are open. Try again later.")
            self.transport.close()
            return
        self._due("head")

    def connection_lost(self, exc: Exception | None) -> None:
        self._not_due()
        self._read_again()
        self._crowd.leave(self)
        self.transport.lost()
        super().connection_lost(exc)

    def give_up(self) -> None:
        """Another one needs the room."""
        self.transport.abort()

    # --- what comes ---------------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        if self._verdict is not None:
            self._throw_away(len(data))
            return
        self._completed = False
        super().data_received(data)
        if self._verdict is None:
            self._measure(len(data))

    def _measure(self, length: int) -> None:
        """After each piece: what is still open has its bounds of bytes and time."""
        over = self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]
        if self._in_head or self._in_body:
            self._raw += 0 if self._completed else length  # it began within this piece, after the end of another
            if self._in_head and (self._raw > self._bounds.head_bytes or len(self.headers) > self._bounds.headers):
                self._end(431, "The headers of this request are too large.")
            elif self._in_body and self._raw - self._body > self._bounds.head_bytes + 8 * self._body:
                self._end(400, "The chunk sizes and extensions of this body are too large.")
            if self._verdict is not None:
                return
            if self._in_head or not over:
                self._crowd.unfinished(self, length)
        self._due("body" if self._in_body else "head" if self._in_head or over else None)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._raw = True, 0

    def on_headers_complete(self) -> None:
        if any(value.endswith(_WHITESPACE) for _, value in self.headers):
            self.headers[:] = [(name, value.rstrip(b" \t")) for name, value in self.headers]
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self._bounds.head_bytes or len(self.headers) > self._bounds.headers:
            self._refuse(431, "The headers of this request are too large.")
        if len(self.pipeline) >= self._bounds.pipelined:
            self._refuse(429, "Too many requests were sent before the earlier ones were answered.")
        self._in_head, self._in_body, self._raw, self._body = False, True, 0, 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        if self.cycle.response_complete:
            self._crowd.finished(self)
            self._throw_away(len(body))
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_body, self._completed = False, True
        self._due(None)
        if self.cycle.response_complete:
            self._crowd.finished(self)
        else:
            self._crowd.has_request(self)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete:
            self._crowd.waits_for_client(self)

    # --- what goes ----------------------------------------------------------------------------------------------------

    def pause_writing(self) -> None:
        super().pause_writing()
        self._crowd.waits_for_client(self)
        self._watch_reader(None)

    def resume_writing(self) -> None:
        self._read_again()
        if self.cycle is not None and not self.cycle.response_complete:  # type: ignore[redundant-expr]
            self._crowd.is_served(self)
        super().resume_writing()

    def _watch_reader(self, before: int | None) -> None:
        left = self.transport.get_write_buffer_size()
        if before is not None and left >= before:
            self.transport.abort()
            return
        self._stalled = self.loop.call_later(self._bounds.stalled_seconds, self._watch_reader, left)

    def _read_again(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    # --- the end ------------------------------------------------------------------------------------------------------

    def _due(self, part: str | None) -> None:
        """Until when this part of a request has to be there; a deadline that runs for it goes on."""
        if part == self._part:
            return
        self._not_due()
        self._part = part
        if part is not None:
            seconds = self._bounds.body_seconds if part == "body" else self._bounds.head_seconds
            self._deadline = self.loop.call_later(seconds, self._too_late)

    def _not_due(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        if self._in_head or self._in_body:
            self._end(408, "The request was not received in time.")
        else:
            self.transport.close()

    def _refuse(self, status: int, words: str) -> NoReturn:
        """From within the parser."""
        self._verdict = status, words
        raise _Refused

    def send_400_response(self, msg: str) -> None:
        self._end(*(self._verdict or (400, msg)))

    def _end(self, status: int, words: str) -> None:
        """Says why, if no answer is on its way, and closes once the client has had the time to read it: closing on
        what it still sends would take the answer away from it."""
        self._verdict = status, words
        self.headers = []
        self._crowd.finished(self)
        self._not_due()
        if self.transport.is_closing():
            return
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:  # type: ignore[redundant-expr]
            self.transport.close()
            return
        body = words.encode() + b"\n"
        head = STATUS_LINE[status] + b"content-type: text/plain; charset=utf-8\r\nx-content-type-options: nosniff\r\n"
        self.transport.write(
            head + b"cache-control: no-store\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body
        )
        self.loop.call_soon(self._end_writing)
        self._deadline = self.loop.call_later(self._bounds.lingering_seconds, self.transport.abort)

    def _end_writing(self) -> None:
        if not self.transport.is_closing():
            self.transport.write_eof()

    def _throw_away(self, length: int) -> None:
        self._thrown_away += length
        if self._thrown_away > self._bounds.thrown_away_bytes:
            self.transport.abort()
