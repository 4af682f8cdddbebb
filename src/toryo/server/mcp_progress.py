"""Progress: a call that waits says every few seconds that it still does, to clients that asked to hear of it.

Clients cut calls off when nothing is heard for long; those that sent a progress token are answered by an event stream
as soon as the answer is not there at once. What the call does is not known here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from toryo.server import request_bodies, sse
from toryo.server.request_bodies import Send

EVERY = 10.0
"""Seconds between two words of progress, and before the first."""


async def answer(response: Coroutine[Any, Any, bytes], token: bytes, send: Send) -> None:
    """Sends the response when it is there; if that takes long as the last event of a stream, after its progress.

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


async def _stream(task: asyncio.Task[bytes], token: bytes, send: Send) -> None:
    await sse.begin(send)
    times = 0
    while not task.done():
        times += 1
        # Progress is the seconds that have passed: a wait has no other, and it must grow.
        params = b'{"progressToken":%b,"progress":%g,"message":"still waiting"}' % (token, times * EVERY)
        await sse.write(
            send, sse.event(b'{"jsonrpc":"2.0","method":"notifications/progress","params":' + params + b"}")
        )
        await _is_done(task)
    await sse.write(send, sse.event(task.result()))
    await sse.end(send)


async def _is_done(task: asyncio.Task[bytes]) -> bool:
    done, _ = await asyncio.wait([task], timeout=EVERY)
    return bool(done)
