"""What the Redis bus promises to other programs, and to other Toryos on the same Redis."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from redis import Redis

from tests.databases import REDIS
from tests.stories import World, fresh, quiet
from toryo.bus.redis import RedisBus
from toryo.settings import Settings
from toryo.storage.engine.database import Database

__all__ = ["fresh", "quiet"]

pytestmark = pytest.mark.redis
SECONDS = 100.0


@contextmanager
def listening(url: str, channel: str) -> Iterator[Any]:
    """Another program, that knows Redis and nothing of Toryo."""
    with Redis.from_url(url, decode_responses=True) as client, client.pubsub() as pubsub:
        pubsub.subscribe(channel)
        assert pubsub.get_message(timeout=SECONDS)["type"] == "subscribe"
        yield pubsub


def heard(pubsub: Any) -> str:
    message = pubsub.get_message(timeout=SECONDS)
    assert message is not None, "nothing was published"
    data: str = message["data"]
    return data


async def tell(bus: RedisBus, story: Any) -> None:
    await bus.start()
    try:
        await asyncio.wait_for(asyncio.to_thread(story), SECONDS)
    finally:
        await bus.close()


def test_a_ready_task_is_published_on_the_channel_of_its_queue_with_its_id(redis_url: str, fresh: Database) -> None:
    """Published when it is filed, and when what it waits for is completed: `redis.subscribe("task:planning")`."""
    bus = RedisBus(redis_url)
    world = World(fresh, Settings())
    world.project()
    world.dispatcher.publish = bus.publish

    def story() -> None:
        with listening(redis_url, "task:planning") as planning, listening(redis_url, "task:building") as building:
            first = world.task(status="todo", agent_type="planning")
            assert heard(planning) == first
            second = world.task(status="todo", agent_type="building", dependencies=[first])
            assert heard(building) == second
            made = world.owner.call("make_api_key", project_id=world.project_id)
            asked = {"agent_id": "p", "api_key": made["token"]}
            world.nobody.call("register_agent", agent_type="planning", **asked)
            world.nobody.call("poll_tasks", **asked)
            world.nobody.call("submit_result", task_id=first, status="completed", **asked)
            assert heard(building) == second

    asyncio.run(tell(bus, story))


def test_the_name_of_a_queue_may_have_colons(redis_url: str) -> None:
    bus = RedisBus(redis_url)

    def story() -> None:
        with listening(redis_url, "task:a:b") as pubsub:
            bus.publish(["ready:a:b:tsk_1"])
            assert heard(pubsub) == "tsk_1"

    asyncio.run(tell(bus, story))


def test_toryos_on_two_databases_of_one_redis_do_not_hear_each_other(redis_url: str) -> None:
    async def story() -> None:
        here, there, elsewhere = RedisBus(redis_url), RedisBus(redis_url), RedisBus(other_database(redis_url))
        for bus in (here, there, elsewhere):
            await bus.start()
        async with there.subscribe(["a"]) as ours, elsewhere.subscribe(["a"]) as theirs:
            here.publish(["a"])
            assert await ours.wait(SECONDS) is True
            assert await theirs.wait(0.02) is False
        for bus in (here, there, elsewhere):
            await bus.close()

    asyncio.run(asyncio.wait_for(story(), SECONDS * 2))


def other_database(url: str) -> str:
    """Nothing is written there: hints are not kept."""
    assert url == REDIS
    start, _, number = url.rpartition("/")
    return f"{start}/{int(number) - 1}"
