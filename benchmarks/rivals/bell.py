"""What every program here shares: jobs ring the bell when they start, and numbers to enqueue come on stdin.

Runs in the rivals' own environments: the standard library alone.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

AT_ONCE = 8

_socket: tuple[int, socket.socket] | None = None


def ring(number: int) -> int:
    """The job: says when it was started, and returns its number."""
    global _socket  # noqa: PLW0603 - one for each process, also for those that are forked
    if _socket is None or _socket[0] != os.getpid():
        made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        made.connect(os.environ["BENCH_BELL"])
        _socket = os.getpid(), made
    _socket[1].send(struct.pack("qd", number, time.time()))
    return number


def enqueuing(enqueue: Callable[[int], object]) -> None:
    """Enqueues the numbers of each line `FROM TO`, by eight threads, and answers when it began."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for line in sys.stdin:
            first, end = map(int, line.split())
            began = time.time()
            if end - first == 1:
                enqueue(first)
            else:
                list(pool.map(enqueue, range(first, end)))
            print(began, flush=True)


async def enqueuing_async(enqueue: Callable[[int], Awaitable[object]]) -> None:
    """As `enqueuing`, eight at once on an event loop."""
    room = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with room:
            await enqueue(number)

    while line := await asyncio.to_thread(sys.stdin.readline):
        first, end = map(int, line.split())
        began = time.time()
        await asyncio.gather(*(one(number) for number in range(first, end)))
        print(began, flush=True)


async def enqueuing_in_bulk(enqueue: Callable[[Sequence[int]], Awaitable[object]]) -> None:
    """As `enqueuing_async`, all numbers of a line in one call."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        first, end = map(int, line.split())
        began = time.time()
        await enqueue(range(first, end))
        print(began, flush=True)
