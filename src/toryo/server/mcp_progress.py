"""Progress notifications: a waiting call sends one every few seconds to clients that requested them.

Clients abort calls that are silent for long; those that sent a progress token are answered with an event stream unless
the answer is there at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from toryo.server import request_bodies, sse
from toryo.server.request_bodies import Message, Send

EVERY = 10.0
"""Seconds between two progress notifications, and before the first."""


async def answer(response: Coroutine[Any, Any, bytes], token: bytes, send: Send) -> None:
    """Sends the response; after a wait as the last event of a stream, after its progress notifications.

    `token` is the client's progress token as JSON.
    """
    task = asyncio.create_task(response)
    try:
        if await _is_done(task):
            await request_bodies.send_json(send, 200, task.result())
        else:
            await _stream(task, token, send)
    finally:
        task.cancel()


async def relay(handle: Callable[[Send], Awaitable[None]], token: bytes, send: Send) -> None:
    """As `answer`, of what `handle` sends: an answer that comes late is the last event of the stream, whatever its
    status.
    """
    sent: list[Message] = []

    async def keep(message: Message) -> None:
        sent.append(message)

    async def body() -> bytes:
        await handle(keep)
        return b"".join(message.get("body", b"") for message in sent[1:])

    task = asyncio.create_task(body())
    try:
        if await _is_done(task):
            task.result()
            for message in sent:
                await send(message)
        else:
            await _stream(task, token, send)
    finally:
        task.cancel()


async def _stream(task: asyncio.Task[bytes], token: bytes, send: Send) -> None:
    await sse.begin(send)
    times = 0
    while not task.done():
        times += 1
        await sse.write(send, notification(token, times * EVERY))
        await _is_done(task)
    await sse.write(send, sse.event(task.result()))
    await sse.end(send)


def notification(token: bytes, seconds: float) -> bytes:
    """Progress is the number of seconds so far: a wait has no other measure, and the value must increase."""
    params = b'{"progressToken":%b,"progress":%g,"message":"still waiting"}' % (token, seconds)
    return sse.event(b'{"jsonrpc":"2.0","method":"notifications/progress","params":' + params + b"}")


async def _is_done(task: asyncio.Task[bytes]) -> bool:
    done, _ = await asyncio.wait([task], timeout=EVERY)
    return bool(done)
