"""taskiq as its guide shows it: a Redis stream for messages, Redis for results. Worker: `taskiq worker …`."""

from __future__ import annotations

import asyncio
import os

from bell import enqueuing_async, ring
from taskiq_redis import RedisAsyncResultBackend, RedisStreamBroker

URL = os.environ["BENCH_URL"]
broker = RedisStreamBroker(url=URL).with_result_backend(RedisAsyncResultBackend(redis_url=URL))


@broker.task(task_name="number")
async def number(given: int) -> int:
    return ring(given)


async def enqueue() -> None:
    await broker.startup()
    await enqueuing_async(number.kiq)


if __name__ == "__main__":
    asyncio.run(enqueue())
