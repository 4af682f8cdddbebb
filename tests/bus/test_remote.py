"""Hints between servers: what the buses of PostgreSQL and Redis promise beyond the conformance suite."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from redis import Redis

from tests.databases import postgres_url
from tests.postgres_proxy import Proxy, proxy, redis_proxy
from toryo.bus.bus import Bus, Subscription
from toryo.bus.postgres import PostgresBus
from toryo.bus.redis import RedisBus

pytestmark = pytest.mark.both

SECONDS = 100.0


@dataclass(frozen=True)
class Shared:
    """What servers share: how to reach it, in order, through a wire that can be cut, and not at all."""

    bus: Callable[[str], Bus]
    url: str
    nowhere: str
    proxy: Callable[[], AbstractContextManager[Proxy]]
    say: Callable[[list[str]], None]
    """As somebody else, on the channel of the servers."""


@pytest.fixture(
    params=[
        pytest.param("postgresql", marks=pytest.mark.postgresql),
        pytest.param("redis", marks=pytest.mark.redis),
    ]
)
def shared(request: pytest.FixtureRequest) -> Shared:
    if request.param == "redis":
        url = request.getfixturevalue("redis_url")
        return Shared(
            RedisBus, url, "redis://127.0.0.1:1/0", lambda: redis_proxy(url), lambda said: _publish(url, said)
        )
    url = request.getfixturevalue("postgres_server")
    nowhere = postgres_url(url, port="1")
    return Shared(PostgresBus, url, nowhere, lambda: proxy(url), lambda said: _notify(url, said))


def _publish(url: str, said: list[str]) -> None:
    with Redis.from_url(url) as stranger:
        for payload in said:
            assert stranger.publish(f"toryo:{stranger.get_connection_kwargs().get('db', 0)}", payload) == 2


def _notify(url: str, said: list[str]) -> None:
    with psycopg.connect(url, autocommit=True) as stranger:
        for payload in said:
            stranger.execute("SELECT pg_notify('toryo', %s)", [payload])


@asynccontextmanager
async def servers(shared: Shared, *urls: str) -> AsyncIterator[list[Bus]]:
    buses = [shared.bus(url) for url in urls]
    for bus in buses:
        await bus.start()
    try:
        yield buses
    finally:
        for bus in buses:
            await bus.close()


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, SECONDS * 2))


async def until(subscription: Subscription, publish: Callable[[], None]) -> None:
    """Publishes until a hint arrives: for the time while a connection is being made again."""
    for _ in range(200):
        publish()
        if await subscription.wait(0.1):
            return
    raise AssertionError("no hint arrived")


@pytest.mark.pitfall("F6")
def test_a_hint_reaches_the_other_server(shared: Shared) -> None:
    async def story() -> None:
        async with (
            servers(shared, shared.url, shared.url) as (here, there),
            there.subscribe(["a"]) as listening,
            there.subscribe(["b"]) as other,
        ):
            await asyncio.to_thread(here.publish, ["a"])
            assert await listening.wait(SECONDS) is True
            assert await other.wait(0) is False

    run(story())


def test_a_server_does_not_hint_itself_twice(shared: Shared) -> None:
    async def story() -> None:
        async with (
            servers(shared, shared.url, shared.url) as (here, there),
            here.subscribe(["a"]) as mine,
            there.subscribe(["a"]) as theirs,
        ):
            here.publish(["a"])
            assert await mine.wait(SECONDS) is True
            assert await theirs.wait(SECONDS) is True
            there.publish(["b"])  # after this has made its way, the first would have come back too
            async with here.subscribe(["c"]) as last:
                there.publish(["c"])
                assert await last.wait(SECONDS) is True
            assert await mine.wait(0) is False

    run(story())


def test_more_topics_than_one_notification_holds_arrive(shared: Shared) -> None:
    topics = [f"topic {number} {'x' * 100}" for number in range(1000)]

    async def story() -> None:
        async with servers(shared, shared.url, shared.url) as (here, there):
            subscriptions = [there.subscribe([topic]) for topic in topics]
            here.publish(topics)
            assert (
                await asyncio.gather(*(subscription.wait(SECONDS) for subscription in subscriptions)) == [True] * 1000
            )

    run(story())


def test_what_was_published_before_the_start_is_sent_by_it(shared: Shared) -> None:
    async def story() -> None:
        async with servers(shared, shared.url) as (there,):
            early = shared.bus(shared.url)
            async with there.subscribe(["a"]) as listening:
                early.publish(["a"])
                await early.start()
                assert await listening.wait(SECONDS) is True
            await early.close()

    run(story())


@pytest.mark.pitfall("F137")
def test_a_lost_connection_is_made_again_and_everybody_looks(shared: Shared) -> None:
    async def story() -> None:
        with shared.proxy() as wire:
            async with (
                servers(shared, shared.url, wire.url) as (here, there),
                there.subscribe(["a"]) as listening,
                there.subscribe(["never published"]) as other,
            ):
                wire.cut()
                here.publish(["a"])
                wire.mend()
                assert await listening.wait(SECONDS) is True
                assert await other.wait(SECONDS) is True
                await until(listening, lambda: here.publish(["a"]))

    run(story())


def test_what_could_not_be_sent_makes_the_others_look_at_everything(shared: Shared) -> None:
    async def story() -> None:
        with shared.proxy() as wire:
            async with (
                servers(shared, wire.url, shared.url) as (here, there),
                there.subscribe(["a"]) as listening,
            ):
                wire.cut()
                for _ in range(3):
                    here.publish(["a"])
                wire.mend()
                await until(listening, lambda: None)

    run(story())


def test_within_the_process_hints_go_on_while_what_they_share_is_away(
    shared: Shared, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        async with (
            servers(shared, shared.nowhere) as (bus,),
            bus.subscribe(["a"]) as listening,
        ):
            bus.publish(["a"])
            assert await listening.wait(SECONDS) is True

    with caplog.at_level(logging.WARNING):
        run(story())
    assert "no hints from other servers" in caplog.text


def test_a_notification_of_a_stranger_does_no_harm(shared: Shared, caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        async with servers(shared, shared.url, shared.url) as (here, there):
            shared.say(["not json", "[]", "7", '["x", 5]'])
            async with there.subscribe(["a"]) as listening:
                here.publish(["a"])
                assert await listening.wait(SECONDS) is True

    with caplog.at_level(logging.CRITICAL):
        run(story())


def test_on_uvloop_too(shared: Shared) -> None:
    uvloop = pytest.importorskip("uvloop", reason="uvloop is not there: the server's own event loop was not tried")

    async def story() -> None:
        async with (
            servers(shared, shared.url, shared.url) as (here, there),
            there.subscribe(["a"]) as listening,
        ):
            await asyncio.to_thread(here.publish, ["a"])
            assert await listening.wait(SECONDS) is True

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.wait_for(story(), SECONDS))
