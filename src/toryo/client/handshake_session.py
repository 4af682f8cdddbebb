"""What client and server agreed on in a handshake, as the bridge must remember it.

A restarted server has forgotten it; then a new session is opened with it. No I/O.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

from toryo.client import jsonrpc
from toryo.client.jsonrpc import Message

SESSION_NOT_FOUND = -32001
"""The error of a request that needs the session, when the server does not, or no longer, know it."""

_TELLING = (jsonrpc.INITIALIZE, jsonrpc.SUBSCRIBE, jsonrpc.UNSUBSCRIBE)


class HandshakeSession:
    """`version` and `id` are None before the handshake, and in the era without one."""

    def __init__(self) -> None:
        self.version: str | None = None
        self.id: str | None = None
        self._handshake: Message | None = None
        self._subscriptions: dict[str, Message] = {}
        self._lock = asyncio.Lock()

    @property
    def began(self) -> bool:
        return self._handshake is not None

    @property
    def subscribed(self) -> Sequence[str]:
        """The resources whose changes the client wants to hear of."""
        return list(self._subscriptions)

    def note(self, message: Message, answer: bytes, session_id: str | None) -> None:
        """Learns from the answer to a request."""
        if message.method not in _TELLING:
            return
        result = jsonrpc.succeeded(answer)
        uri = message.params.get("uri")
        if not isinstance(result, dict):
            return
        if message.method == jsonrpc.INITIALIZE:
            self._handshake, self.id = message, session_id
            version = result.get("protocolVersion")
            self.version = version if isinstance(version, str) else None
        elif message.method == jsonrpc.SUBSCRIBE and isinstance(uri, str):
            self._subscriptions[uri] = message
        elif message.method == jsonrpc.UNSUBSCRIBE and isinstance(uri, str):
            self._subscriptions.pop(uri, None)

    def is_lost(self, message: Message, answer: bytes) -> bool:
        """Whether the server refused a request because it does not know the session."""
        needs_it = message.method in (jsonrpc.SUBSCRIBE, jsonrpc.UNSUBSCRIBE, jsonrpc.PING)
        return needs_it and self.began and jsonrpc.code(answer) == SESSION_NOT_FOUND

    @contextlib.asynccontextmanager
    async def renewing(self) -> AsyncIterator[Sequence[Message]]:
        """The requests that begin the session again, one caller at a time; none for those who came second."""
        before = self.id
        async with self._lock:
            if self._handshake is None or self.id != before:
                yield []
                return
            self.id = None
            try:
                yield [self._handshake, *self._subscriptions.values()]
            finally:
                # It was not renewed: the next try finds it as it was.
                if self.id is None:
                    self.id = before
