"""`toryo mcp`: MCP over stdin and stdout for programs that speak no HTTP, carried to the server's `/mcp`.

A pure client: it opens no database and decides nothing. Every request is an exchange of its own, so that one that waits
holds up no other; both eras of the protocol pass through it. stdout carries messages and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from toryo.client import async_connections, jsonrpc, server_address, sse, wire
from toryo.client.async_connections import Connections, Stream
from toryo.client.errors import Unreachable
from toryo.client.handshake_session import HandshakeSession
from toryo.client.jsonrpc import Malformed, Message
from toryo.client.server_address import Address
from toryo.client.server_discovery import Found
from toryo.long_waits import LONGEST_WAIT_SECONDS

PATIENCE = 10.0
"""Seconds for which a request is tried again where nothing was sent (or it only reads)."""
LAST_ANSWERS = 1.5
"""Seconds that requests in hand get when stdin closes; clients wait about 2 before they use force."""
FAREWELL = 0.3
SILENCE = LONGEST_WAIT_SECONDS + wire.MARGIN
"""Seconds without a byte after which an answer is lost; streams send something every 15 s."""

log = logging.getLogger("toryo.mcp")

Write = Callable[[bytes], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Link:
    """A server that was found, and the connections to it."""

    where: Address
    token: str | None
    http: Connections


class Bridge:
    """Carries messages between a client's lines and a server. One per client; use it on one event loop.

    `find` says where the server is and which credential to show it; it is asked again when the server is away.
    """

    def __init__(self, find: Callable[[], Found], write: Write, *, patience_seconds: float = PATIENCE) -> None:
        self._find = find
        self._write = write
        self._patience = patience_seconds
        self._link: _Link | None = None
        self._links: list[_Link] = []
        self._carrying: set[asyncio.Task[None]] = set()
        self._requests: dict[jsonrpc.Id, asyncio.Task[None]] = {}
        self._session = HandshakeSession()
        self._handshake: asyncio.Task[None] | None = None
        self._hearing: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    async def run(self, lines: AsyncIterable[bytes]) -> None:
        """Until the lines end; then what is in hand gets a moment to be answered."""
        try:
            async for line in lines:
                if line.strip():
                    await self._take(line)
            self._closing.set()
            if self._carrying:
                await asyncio.wait(self._carrying, timeout=LAST_ANSWERS)
        finally:
            await self._close()

    async def _take(self, line: bytes) -> None:
        try:
            message = jsonrpc.read(line)
        except Malformed as wrong:
            await self._write(wrong.answer)
            return
        if message.method == jsonrpc.CANCELLED and self._cancel(message):
            return
        task = asyncio.create_task(self._carry(message, self._handshake))
        self._keep(task, message)
        if message.method == jsonrpc.INITIALIZE:
            self._handshake = task

    def _keep(self, task: asyncio.Task[None], message: Message) -> None:
        self._carrying.add(task)
        if message.id is not None and message.method is not None:
            self._requests[message.id] = task
        task.add_done_callback(lambda _: self._forget(task, message))

    def _forget(self, task: asyncio.Task[None], message: Message) -> None:
        self._carrying.discard(task)
        if message.id is not None and self._requests.get(message.id) is task:
            del self._requests[message.id]

    def _cancel(self, message: Message) -> bool:
        """Gives the exchange up, which is what cancels it at the server; whether that was enough.

        With a handshake the server is told as well; without one, closing the exchange is the only word for it.
        """
        meant = message.cancels
        task = self._requests.get(meant) if meant is not None else None
        if task is not None:
            task.cancel()
        return not self._session.began

    # --- one message --------------------------------------------------------------------------------------------------

    async def _carry(self, message: Message, handshake: asyncio.Task[None] | None) -> None:
        """Once the handshake before it has ended: that agrees on the version and the session."""
        if handshake is not None and not handshake.done():
            await asyncio.wait([handshake])
        try:
            await self._patiently(message)
        except Unreachable as away:
            log.warning("%s: %s", message.method, away)
            await self._fail(message, jsonrpc.AWAY, _advice(message, away))
        except Exception as defect:
            log.exception("%s failed", message.method)
            await self._fail(message, jsonrpc.INTERNAL_ERROR, f"The bridge failed: {defect!r}. Repeat the request.")
        if message.method == jsonrpc.INITIALIZED and self._hearing is None and self._session.id is not None:
            self._hearing = asyncio.create_task(self._hear())

    async def _fail(self, message: Message, code: int, text: str) -> None:
        if message.id is not None and message.method is not None:
            await self._write(jsonrpc.error(message.id, code, text))

    async def _patiently(self, message: Message) -> None:
        give_up = _now() + self._patience
        for pause in wire.pauses():
            try:
                await self._exchange(message)
                return
            except Unreachable as away:
                again = not away.sent or message.repeatable
                if not again or self._closing.is_set() or _now() + pause > give_up:
                    raise
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), pause)

    async def _exchange(self, message: Message) -> None:
        async with self._post(message) as response:
            if _streamed(response):
                await self._pass_on(message, response)
            else:
                await self._settle(message, response, await response.read())

    @contextlib.asynccontextmanager
    async def _post(self, message: Message) -> AsyncIterator[Stream]:
        """Raises Unreachable, inside the block too."""
        token = self._reach().token
        headers = jsonrpc.headers(message, token, self._session.version, self._session.id)
        async with self._requesting("POST", headers, message.body) as response:
            yield response

    async def _pass_on(self, message: Message, response: Stream) -> None:
        """Everything on the stream, as it comes; a stream that ends without the answer is a lost answer."""
        answered = message.id is None
        async for data in sse.data_of(response.pieces()):
            if jsonrpc.answers(data, message.id):
                await self._settle(message, response, data)
                answered = True
            else:
                await self._write(jsonrpc.one_line(data))
        if not answered:
            raise Unreachable("the server closed the stream before it answered", sent=True)

    async def _settle(self, message: Message, response: Stream, body: bytes) -> None:
        if message.id is None or message.method is None:
            if response.status >= 400:
                log.warning("%s was answered with %d", message.method, response.status)
            return
        answer = jsonrpc.answer(message, response.status, body)
        if self._session.is_lost(message, answer):
            await self._begin_anew()
            async with self._post(message) as again:
                answer = jsonrpc.answer(message, again.status, await again.read())
        self._session.note(message, answer, response.headers.get("mcp-session-id"))
        await self._write(answer)

    # --- what the server says by itself, in the era with a handshake --------------------------------------------------

    async def _hear(self) -> None:
        """Passes on what a session's own stream brings, for as long as the server has such streams."""
        pauses = wire.pauses()
        while True:
            with contextlib.suppress(Unreachable):
                async with self._listening() as response:
                    if response.status == 404:
                        await self._begin_anew()
                    elif _streamed(response):
                        pauses = wire.pauses()
                        async for data in sse.data_of(response.pieces()):
                            await self._write(jsonrpc.one_line(data))
                    elif response.status < 500:
                        return
            await asyncio.sleep(next(pauses))

    @contextlib.asynccontextmanager
    async def _listening(self) -> AsyncIterator[Stream]:
        headers = jsonrpc.listening_headers(self._reach().token, self._session.version, self._session.id)
        async with self._requesting("GET", headers) as response:
            yield response

    async def _begin_anew(self) -> None:
        """The server no longer knows the session (it was started again): begins another, with its subscriptions."""
        async with self._session.renewing() as needed:
            for message in needed:
                async with self._post(message) as response:
                    answer = jsonrpc.answer(message, response.status, await response.read())
                    self._session.note(message, answer, response.headers.get("mcp-session-id"))
            for uri in self._session.subscribed if needed else ():
                await self._write(jsonrpc.updated(uri))  # it may have changed meanwhile

    # --- the connection -----------------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def _requesting(
        self, method: str, headers: dict[str, str], body: bytes | None = None
    ) -> AsyncIterator[Stream]:
        link = self._reach()
        try:
            async with link.http.stream(method, "/mcp", headers, body, SILENCE) as response:
                yield response
        except Unreachable:
            if self._link is link:
                self._link = None  # it may be elsewhere when it is back
            raise

    def _reach(self) -> _Link:
        """The server, looked for again after it was lost; connections are kept where it is still the same one."""
        if self._link is None:
            found, where = self._found()
            known = next((link for link in self._links if (link.where, link.token) == (where, found.token)), None)
            if known is None:
                known = _Link(where, found.token, async_connections.Connections(where))
                self._links.append(known)
            self._link = known
        return self._link

    def _found(self) -> tuple[Found, Address]:
        try:
            found = self._find()
            return found, server_address.parse(found.url)
        except ValueError as wrong:
            raise Unreachable(str(wrong)) from wrong

    async def _close(self) -> None:
        tasks = [*self._carrying, *([self._hearing] if self._hearing else [])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._say_goodbye()
        for link in self._links:
            await link.http.close()

    async def _say_goodbye(self) -> None:
        """The server may forget the session at once; it would anyway, in time."""
        if self._session.id is None or self._link is None:
            return
        headers = jsonrpc.listening_headers(self._link.token, self._session.version, self._session.id)
        with contextlib.suppress(Unreachable, TimeoutError):
            async with asyncio.timeout(FAREWELL), self._requesting("DELETE", headers):
                pass


def _streamed(response: Stream) -> bool:
    return str(response.headers.get("content-type", "")).startswith("text/event-stream")


def _advice(message: Message, away: Unreachable) -> str:
    """What the reader of the error should do."""
    if not away.sent:
        return (
            f"Toryo's server cannot be reached ({away}). Start it with `toryo up` or `toryo server` (or set "
            "TORYO_SERVER_URL), then repeat the request. This bridge finds the server by itself."
        )
    if message.repeatable:
        return f"The answer was lost ({away}). Repeat the request."
    return (
        f"The answer was lost ({away}). The request may have been carried out. Check first (get_next_action, "
        "get_task), and repeat it only if it was not."
    )


def _now() -> float:
    return asyncio.get_running_loop().time()
