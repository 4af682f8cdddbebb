"""Streams of the era with a handshake: what a client subscribed to is told on the GET that it keeps open.

A session here is nothing but the bond between subscriptions (POSTs) and that stream: no other request needs one, so
calls go on when a server that was started again knows none. The newer era has `subscriptions/listen` instead.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Any

import orjson

from toryo.domain.fast_dataclasses import dataclass
from toryo.operations.calls.callers import Credentials
from toryo.server import mcp_resource_updates, request_bodies, sse
from toryo.server.mcp_resource_updates import Read
from toryo.server.request_bodies import Leaving, Message, Receive, Send

SESSION = b"mcp-session-id"
MOST_SESSIONS = 10_000
"""Sessions that are remembered; beyond it the oldest without a stream is forgotten."""
MOST_SUBSCRIPTIONS = 100
"""Of one session."""
PING = 15.0
"""Seconds of silence after which something is sent, so that nobody between takes the connection for dead."""
ABOUT_A_SESSION = frozenset({"ping", "resources/subscribe", "resources/unsubscribe"})
"""Requests that are answered with 404 if their session is unknown, as a GET is: a client notices that a server that
was started again no longer tells it anything."""


@dataclass
class Subscribed:
    """A resource that a session follows: how it reads it, and what it was told of last."""

    read: Read
    etag: str


@dataclass
class Session:
    bearer: bytes | None
    """Who began it, as a digest: whatever a stranger sends is kept in 32 bytes. Nobody else may use it."""
    subscriptions: dict[str, Subscribed] = field(default_factory=dict)
    stream: _Outlet | None = None
    """What is open; the newest one wins, because the older one may be dead."""

    elicits: bool = False
    """Whether its client can ask the person who uses it (`mcp_elicitation.py`)."""
    asked: dict[str, asyncio.Future[dict[str, Any]]] = field(default_factory=dict)
    """What the client was asked and has not answered, by the id of the request."""

    @property
    def in_use(self) -> bool:
        return self.stream is not None or bool(self.asked)

    def changed(self) -> None:
        """Makes an open stream look again: at the subscriptions, and whether it is still wanted."""
        if self.stream is not None:
            self.stream.news.set()

    def turn_to(self, stream: _Outlet | None) -> None:
        """From here on that is the session's stream; the one before ends."""
        self.changed()
        self.stream = stream


class Streams:
    """All sessions of one server. Lives on one event loop."""

    def __init__(self, stopping: asyncio.Event) -> None:
        self._stopping = stopping
        self._sessions: dict[str, Session] = {}
        self._ended: dict[bytes, None] = {}

    def look_again(self) -> None:
        """Every stream looks whether it is still wanted: rights have changed, or `stopping` has been set."""
        for session in self._sessions.values():
            session.changed()

    # --- sessions -----------------------------------------------------------------------------------------------------

    def beginning(self, credentials: Credentials, send: Send, *, elicits: bool = False) -> Send:
        """A `send` that gives the answer to `initialize` a session."""

        async def with_session(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                if len(self._sessions) >= MOST_SESSIONS:
                    idle = next((name for name, session in self._sessions.items() if not session.in_use), None)
                    if idle is not None:
                        del self._sessions[idle]
                name = secrets.token_urlsafe(24)
                self._sessions[name] = Session(_digest(credentials.bearer), elicits=elicits)
                message = {**message, "headers": [*message["headers"], (SESSION, name.encode())]}
            await send(message)

        return with_session

    def session(self, headers: Mapping[bytes, bytes], credentials: Credentials) -> Session | None:
        """The session that a request names, if it is this caller's."""
        found = self._sessions.get(headers.get(SESSION, b"").decode("latin-1"))
        return found if found is not None and found.bearer == _digest(credentials.bearer) else None

    def heard(self, headers: Mapping[bytes, bytes], credentials: Credentials, body: bytes) -> bool:
        """Takes a client's answer to what it was asked; whether this request was one."""
        session = self.session(headers, credentials)
        if session is None or not session.asked:
            return False
        message = _object(body)
        name = message.get("id") if "method" not in message else None
        reply = session.asked.get(name) if isinstance(name, str) else None
        if reply is None:
            return False
        if not reply.done():
            reply.set_result(message)
        return True

    def has_ended(self, headers: Mapping[bytes, bytes]) -> bool:
        """Whether a request names a session that its client has ended. One that is merely unknown has not: calls go
        on when the server was started again."""
        return headers.get(SESSION) in self._ended

    # --- GET and DELETE -----------------------------------------------------------------------------------------------

    async def open(
        self,
        headers: Mapping[bytes, bytes],
        credentials: Credentials,
        receive: Receive,
        send: Send,
        may_listen: Callable[[], Awaitable[bool]],
    ) -> None:
        """Answers a GET: the session's stream, until its client leaves or loses the right, another stream is opened, or
        the server stops.
        """
        session = self.session(headers, credentials)
        if session is None:
            await refuse(send)
            return
        await sse.begin(send)
        async with Leaving(receive):
            await self._tell(session, _Outlet(send), may_listen)
            await sse.end(send)

    async def end(self, headers: Mapping[bytes, bytes], credentials: Credentials, send: Send) -> None:
        """Answers a DELETE: the session is forgotten, and its stream ends."""
        session = self.session(headers, credentials)
        if session is None:
            await refuse(send)
            return
        del self._sessions[headers[SESSION].decode("latin-1")]
        if len(self._ended) >= MOST_SESSIONS:
            del self._ended[next(iter(self._ended))]
        self._ended[headers[SESSION]] = None
        session.turn_to(None)
        await request_bodies.send_json(send, 200, b"")

    async def _tell(self, session: Session, outlet: _Outlet, may_listen: Callable[[], Awaitable[bool]]) -> None:
        session.turn_to(outlet)
        followers: dict[str, tuple[Subscribed, asyncio.Task[None]]] = {}
        try:
            await outlet.ping()
            while session.stream is outlet and not self._stopping.is_set():
                outlet.news.clear()
                if not await may_listen():
                    break
                self._follow(session, followers, outlet)
                # Until there is news; a silence is broken.
                try:
                    await asyncio.wait_for(outlet.news.wait(), PING)
                except TimeoutError:
                    await outlet.ping()
        finally:
            for _, task in followers.values():
                task.cancel()
            if session.stream is outlet:
                session.stream = None

    def _follow(
        self, session: Session, followers: dict[str, tuple[Subscribed, asyncio.Task[None]]], outlet: _Outlet
    ) -> None:
        """Exactly what is subscribed to is followed."""
        for uri in [
            uri for uri, (subscribed, _) in followers.items() if session.subscriptions.get(uri) is not subscribed
        ]:
            followers.pop(uri)[1].cancel()
        for uri, subscription in session.subscriptions.items():
            if uri not in followers:
                followers[uri] = subscription, asyncio.create_task(self._follow_one(session, uri, subscription, outlet))

    async def _follow_one(self, session: Session, uri: str, subscribed: Subscribed, outlet: _Outlet) -> None:
        """Follows one resource until the reader may no longer see it; ends the stream when nothing is left."""

        async def changed(etag: str) -> None:
            await outlet.notify("notifications/resources/updated", {"uri": uri})
            subscribed.etag = etag

        await mcp_resource_updates.follow(subscribed.read, subscribed.etag, changed, self._stopping)
        if session.subscriptions.get(uri) is subscribed and not self._stopping.is_set():
            del session.subscriptions[uri]
            if not session.subscriptions and session.stream is outlet:
                session.turn_to(None)


class _Outlet:
    """The one body that everybody who has something to tell writes to, an event at a time."""

    def __init__(self, send: Send) -> None:
        self.news = asyncio.Event()
        """Set when its session has changed."""
        self._send = send
        self._turn = asyncio.Lock()

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        message = orjson.dumps({"jsonrpc": "2.0", "method": method, "params": params})
        await self._write(sse.event(message))

    async def ping(self) -> None:
        await self._write(sse.PING)

    async def _write(self, event: bytes) -> None:
        async with self._turn:
            await sse.write(self._send, event)


def _digest(bearer: str | None) -> bytes | None:
    return None if bearer is None else hashlib.sha256(bearer.encode(errors="surrogatepass")).digest()


def initialize(body: bytes) -> dict[str, Any] | None:
    """The request, if it is an `initialize`; cheap for all others."""
    if b'"initialize"' not in body:
        return None
    message = _object(body)
    return message if message.get("method") == "initialize" else None


def _object(body: bytes) -> dict[str, Any]:
    """Empty for what is none."""
    with contextlib.suppress(orjson.JSONDecodeError):
        message = orjson.loads(body)
        return message if isinstance(message, dict) else {}
    return {}


async def refuse(send: Send) -> None:
    """In the protocol this status tells a client to start a new session."""
    error = {"code": -32001, "message": "Session not found: send initialize again"}
    await request_bodies.send_json(send, 404, orjson.dumps({"jsonrpc": "2.0", "id": None, "error": error}))
