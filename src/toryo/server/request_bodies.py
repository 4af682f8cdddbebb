"""Reads request bodies within limits and sends responses: small ASGI helpers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, NoReturn, Self

from toryo.server import http_errors

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

JSON = b"application/json"
GUARDS = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))
"""Headers of every answer that has not set them itself."""
LARGE = 100_000
"""Bytes from which bodies are processed one at a time, because parsing them delays other requests."""
MOST_VALUES = 300_000
"""Maximum number of values in one body. Each takes some hundred bytes of memory, however short its text."""


class Gone(Exception):
    """The client disconnected before its request was complete."""


class Bodies:
    """Reads bodies of at most `limit` bytes. Large ones are processed one at a time, with others in between, so that
    many at once delay each other request by one of them only.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._turn = asyncio.Lock()

    async def read(self, receive: Receive, headers: Mapping[bytes, bytes]) -> bytes:
        """The whole body. Raises Refusal (too large, or compressed; stops reading) or Gone."""
        encoding = headers.get(b"content-encoding", b"identity")
        if encoding.strip().lower() not in (b"identity", b""):
            raise http_errors.refusal_of_encoding(encoding.decode("latin-1"))
        declared = headers.get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > self._limit:
            raise http_errors.too_large(self._limit)
        message = await receive()
        body: bytes = message.get("body", b"")
        if message["type"] != "http.request" or message.get("more_body") or len(body) > self._limit:
            body = await self._gather(message, receive)  # Almost every request arrives in one piece.
        if len(body) > LARGE:
            async with self._turn:
                await asyncio.sleep(0)
            # A count of what can only begin a value, or stand in a text; texts hold far fewer.
            if body.count(b",") + body.count(b"[") + body.count(b"{") > MOST_VALUES:
                raise http_errors.too_many_values(MOST_VALUES)
        return body

    async def _gather(self, message: Message, receive: Receive) -> bytes:
        pieces = bytearray()
        while True:
            if message["type"] != "http.request":
                raise Gone
            pieces += message.get("body", b"")
            if len(pieces) > self._limit:
                raise http_errors.too_large(self._limit)
            if not message.get("more_body"):
                return bytes(pieces)
            message = await receive()


def replay(body: bytes) -> Receive:
    """A `receive` that delivers a body that was already read, and then nothing; disconnects are watched elsewhere."""
    delivered = False

    async def again() -> Message:
        nonlocal delivered
        if delivered:
            await asyncio.Event().wait()
        delivered = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def guarded(send: Send) -> Send:
    """A `send` that adds `GUARDS` to what others answer (Starlette, the SDK, streams)."""

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            said = {name for name, _ in message["headers"]}
            message = {**message, "headers": [*message["headers"], *(each for each in GUARDS if each[0] not in said)]}
        await send(message)

    return guarded


async def send_json(
    send: Send, status: int, body: bytes, media_type: bytes = JSON, extra: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    headers = [(b"content-type", media_type), (b"content-length", b"%d" % len(body)), *GUARDS, *extra]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def send_text(send: Send, status: int, text: str) -> None:
    await send_json(send, status, text.encode("utf-8", "replace"), b"text/plain; charset=utf-8")


class Leaving:
    """`async with Leaving(receive) as client:` cancels the block when the client disconnects.

    The block then ends without an exception and `client.left` is true. Costs a task: only for work that may take long.
    """

    def __init__(self, receive: Receive) -> None:
        self.left = False
        self._receive = receive

    async def __aenter__(self) -> Self:
        self._task = asyncio.current_task() or _no_task()
        self._cancellations = self._task.cancelling()
        self._watcher = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: object) -> bool:
        self._watcher.cancel()
        if not self.left:
            return False
        foreign = self._task.uncancel() > self._cancellations
        return kind is asyncio.CancelledError and not foreign

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.left = True
        self._task.cancel()


def _no_task() -> NoReturn:
    raise RuntimeError("code that waits for a client to leave must run in a task")
