"""Connections of an event loop to one server: kept ones and new ones, an exchange on each, streams too.

An exchange costs one write, one wake-up, and the parsing of what arrives (`http1.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Mapping

from toryo.client import http1, routes
from toryo.client.blocking import readable
from toryo.client.errors import Unreachable
from toryo.client.routes import Route
from toryo.client.server_address import Address


class Connections:
    """To one server; as many as there are exchanges at a time. For one event loop."""

    def __init__(self, where: Address) -> None:
        self._where = where
        self._route: Route | None = None
        self._idle: list[_Connection] = []
        self._open: set[_Connection] = set()

    async def exchange(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None, timeout: float
    ) -> http1.Answer:
        """The whole answer. Raises Unreachable; `timeout` is the longest silence in seconds."""
        route, connection = await self._connected()
        try:
            answer = await connection.begin(route.request(method, path, headers, body), timeout)
            while not answer.complete:
                await connection.more()
        except BaseException as problem:
            self._drop(connection)
            if isinstance(problem, routes.LOST):
                raise self._unreachable(problem, sent=True) from problem
            raise
        self._done(connection, answer)
        return answer

    @contextlib.asynccontextmanager
    async def stream(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None, timeout: float
    ) -> AsyncIterator[Stream]:
        """An answer whose body may still be arriving. Raises Unreachable, inside the block too."""
        route, connection = await self._connected()
        try:
            answer = await connection.begin(route.request(method, path, headers, body), timeout)
            while not answer.status:
                await connection.more()
            yield Stream(connection, answer)
        except BaseException as problem:
            self._drop(connection)
            if isinstance(problem, routes.LOST):
                raise self._unreachable(problem, sent=True) from problem
            raise
        if answer.complete:
            self._done(connection, answer)
        else:
            self._drop(connection)

    async def close(self) -> None:
        """Also ends exchanges in progress."""
        for connection in list(self._open):
            self._drop(connection)
        await asyncio.sleep(0)  # the loop closes the sockets in its next round

    async def _connected(self) -> tuple[Route, _Connection]:
        """A kept connection that the server has not closed meanwhile, or a new one."""
        try:
            if self._route is None:
                self._route = Route(self._where)
            while self._idle:
                kept = self._idle.pop()
                if kept.usable:
                    return self._route, kept
                self._drop(kept)
            async with asyncio.timeout(routes.CONNECT_WITHIN):
                connection = await _connected(self._route)
        except routes.LOST as problem:
            raise self._unreachable(problem, sent=False) from problem
        self._open.add(connection)
        return self._route, connection

    def _done(self, connection: _Connection, answer: http1.Answer) -> None:
        if answer.keeps and len(self._idle) < routes.KEPT:
            self._idle.append(connection)
        else:
            self._drop(connection)

    def _drop(self, connection: _Connection) -> None:
        self._open.discard(connection)
        connection.abort()

    def _unreachable(self, problem: BaseException, *, sent: bool) -> Unreachable:
        return Unreachable(f"{self._where}: {routes.words(problem)}", sent=sent)


class Stream:
    """The head of an answer, and its body as it arrives."""

    def __init__(self, connection: _Connection, answer: http1.Answer) -> None:
        self._connection = connection
        self._answer = answer
        self.status, self.headers = answer.status, answer.headers

    async def pieces(self) -> AsyncIterator[bytes]:
        answer = self._answer
        while True:
            if answer.body:
                piece = bytes(answer.body)
                answer.body.clear()
                yield piece
            elif answer.complete:
                return
            else:
                await self._connection.more()

    async def read(self) -> bytes:
        while not self._answer.complete:
            await self._connection.more()
        return bytes(self._answer.body)


class _Connection(asyncio.Protocol):
    """One exchange at a time: `begin`, then `more` until the answer is complete."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._answer: http1.Answer | None = None
        self._problem: BaseException | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._timeout = 0.0
        self._arrived = False
        """Whether something has arrived since `more` was last called."""

    @property
    def usable(self) -> bool:
        """Whether the server has neither closed it nor sent anything unasked. The loop may not have seen that yet."""
        transport = self._transport
        if transport is None or transport.is_closing() or self._problem is not None:
            return False
        return not readable(transport.get_extra_info("socket"))

    async def begin(self, request: bytes, timeout: float, *, of_tunnel: bool = False) -> http1.Answer:
        """Sends a request; the answer fills itself."""
        if self._problem is not None:
            raise self._problem
        assert self._transport is not None, "it is connected"
        self._answer, self._timeout, self._arrived = http1.Answer(of_tunnel=of_tunnel), timeout, False
        self._transport.write(request)
        return self._answer

    async def more(self) -> None:
        """Waits until something more has arrived, at most the time of this exchange; raises what went wrong."""
        if not self._arrived and self._problem is None:
            self._waiting = self._loop.create_future()
            late = self._loop.call_later(self._timeout, self._late)
            try:
                await self._waiting
            finally:
                late.cancel()
                self._waiting = None
        self._arrived = False
        if self._problem is not None and not (self._answer is not None and self._answer.complete):
            raise self._problem

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    async def secured(self, route: Route) -> None:
        """Begins TLS behind a proxy."""
        assert self._transport is not None, "it is connected"
        name = route.secure_name
        self._transport = await self._loop.start_tls(self._transport, self, route.tls(), server_hostname=name)

    # --- what the loop calls ------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        wire = transport.get_extra_info("socket")
        if wire is not None and wire.family != socket.AF_UNIX:
            with socket.socket(fileno=os.dup(wire.fileno())) as same:  # not every loop's own takes options
                routes.notice_silence(same)

    def data_received(self, data: bytes) -> None:
        if self._answer is None or self._answer.complete:
            self._fail(http1.Garbled("the server sent something unasked"))
            return
        try:
            self._answer.take(data)
        except http1.Garbled as problem:
            self._fail(problem)
        else:
            self._wake()

    def eof_received(self) -> None:
        """The transport closes itself: `connection_lost` follows."""

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and exc is None:
            try:
                self._answer.end()
            except http1.Garbled as problem:
                exc = problem
        self._fail(exc or http1.Garbled("the connection was closed"))

    def _late(self) -> None:
        self._fail(TimeoutError())

    def _fail(self, problem: BaseException) -> None:
        self._problem = self._problem or problem
        self.abort()
        self._wake()

    def _wake(self) -> None:
        self._arrived = True
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


async def _connected(route: Route) -> _Connection:
    loop = asyncio.get_running_loop()
    tls = route.tls() if route.secure_name is not None and route.tunnel is None else None
    name = route.secure_name if tls is not None else None
    if route.socket is not None:
        _, connection = await loop.create_unix_connection(_Connection, route.socket, ssl=tls, server_hostname=name)
    else:
        _, connection = await loop.create_connection(_Connection, route.host, route.port, ssl=tls, server_hostname=name)
    if route.tunnel is not None:
        try:
            answer = await connection.begin(route.tunnel, routes.CONNECT_WITHIN, of_tunnel=True)
            while not answer.complete:
                await connection.more()
            routes.let_through(answer)
            await connection.secured(route)
        except BaseException:
            connection.abort()
            raise
    return connection
