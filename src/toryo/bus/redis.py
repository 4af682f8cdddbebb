"""The bus of servers that share a Redis: hints go by publish and subscribe, and within a process directly.

A ready queue task is also published for other programs: on the channel `task:<agent_type>`, with its id as payload.
Redis channels are shared by all databases, so Toryo's channel name contains the database number: two Toryos may share
one Redis.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from toryo.bus.remote import RemoteBus

READY = "ready:"
"""Topics of the form `ready:<agent_type>:<task_id>` are published for other programs."""


class RedisBus(RemoteBus[Redis]):
    failures = (RedisError, OSError)
    longest_payload = 100_000

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Redis]:
        never_again = Retry(NoBackoff(), 0)  # A lost connection must raise: hints were missed.
        client = Redis.from_url(
            self._url,
            retry=never_again,
            socket_keepalive=True,
            socket_connect_timeout=5,
            health_check_interval=10,
            decode_responses=True,
        )
        try:
            yield client
        finally:
            await client.aclose()

    async def listen(self, connection: Redis) -> AsyncIterator[str | None]:
        async with connection.pubsub() as pubsub:
            await pubsub.subscribe(_channel(connection))
            async for message in pubsub.listen():
                if message["type"] == "subscribe":
                    yield None
                elif message["type"] == "message":
                    yield message["data"]

    async def notify(self, connection: Redis, payloads: list[str], topics: Collection[str]) -> None:
        async with connection.pipeline(transaction=False) as pipeline:
            for payload in payloads:
                pipeline.publish(_channel(connection), payload)
            for topic in topics:
                if topic.startswith(READY):
                    agent_type, _, task_id = topic.removeprefix(READY).rpartition(":")
                    pipeline.publish(f"task:{agent_type}", task_id)
            await pipeline.execute()


def _channel(connection: Redis) -> str:
    return f"toryo:{connection.connection_pool.connection_kwargs.get('db', 0)}"
