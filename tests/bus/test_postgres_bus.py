"""Hints between servers: what the PostgreSQL bus promises beyond the conformance suite."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest

from tests.databases import postgres_url
from tests.postgres_proxy import proxy
from toryo.bus.bus import Subscription
from toryo.bus.postgres import PostgresBus

pytestmark = pytest.mark.postgresql
SECONDS = 20.0


@asynccontextmanager
async def servers(*urls: str) -> AsyncIterator[list[PostgresBus]]:
    buses = [PostgresBus(url) for url in urls]
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


def test_a_hint_reaches_the_other_server(postgres_server: str) -> None:
    async def story() -> None:
        async with (
            servers(postgres_server, postgres_server) as (here, there),
            there.subscribe(["a"]) as listening,
            there.subscribe(["b"]) as other,
        ):
            await asyncio.to_thread(here.publish, ["a"])
            assert await listening.wait(SECONDS) is True
            assert await other.wait(0) is False

    run(story())


def test_a_server_does_not_hint_itself_twice(postgres_server: str) -> None:
    async def story() -> None:
        async with (
            servers(postgres_server, postgres_server) as (here, there),
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


def test_more_topics_than_one_notification_holds_arrive(postgres_server: str) -> None:
    topics = [f"topic {number} {'x' * 100}" for number in range(1000)]

    async def story() -> None:
        async with servers(postgres_server, postgres_server) as (here, there):
            subscriptions = [there.subscribe([topic]) for topic in topics]
            here.publish(topics)
            assert await asyncio.gather(*(each.wait(SECONDS) for each in subscriptions)) == [True] * 1000

    run(story())


def test_what_was_published_before_the_start_is_sent_by_it(postgres_server: str) -> None:
    async def story() -> None:
        async with servers(postgres_server) as (there,):
            early = PostgresBus(postgres_server)
            async with there.subscribe(["a"]) as listening:
                early.publish(["a"])
                await early.start()
                assert await listening.wait(SECONDS) is True
            await early.close()

    run(story())


def test_a_lost_connection_is_made_again_and_everybody_looks(postgres_server: str) -> None:
    async def story() -> None:
        with proxy(postgres_server) as wire:
            async with (
                servers(postgres_server, wire.url) as (here, there),
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


def test_what_could_not_be_sent_makes_the_others_look_at_everything(postgres_server: str) -> None:
    async def story() -> None:
        with proxy(postgres_server) as wire:
            async with (
                servers(wire.url, postgres_server) as (here, there),
                there.subscribe(["a"]) as listening,
            ):
                wire.cut()
                for _ in range(3):
                    here.publish(["a"])
                wire.mend()
                await until(listening, lambda: None)

    run(story())


def test_within_the_process_hints_go_on_while_postgresql_is_away(
    postgres_server: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        async with (
            servers(postgres_url(postgres_server, port="1")) as (bus,),
            bus.subscribe(["a"]) as listening,
        ):
            bus.publish(["a"])
            assert await listening.wait(SECONDS) is True

    with caplog.at_level(logging.WARNING):
        run(story())
    assert "other servers are not heard" in caplog.text


def test_a_notification_of_a_stranger_does_no_harm(postgres_server: str, caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        async with servers(postgres_server, postgres_server) as (here, there):
            with psycopg.connect(postgres_server, autocommit=True) as stranger:
                for payload in ("not json", "[]", "7", '["x", 5]'):
                    stranger.execute("SELECT pg_notify('toryo', %s)", [payload])
            async with there.subscribe(["a"]) as listening:
                here.publish(["a"])
                assert await listening.wait(SECONDS) is True

    with caplog.at_level(logging.CRITICAL):
        run(story())


def test_on_uvloop_too(postgres_server: str) -> None:
    uvloop = pytest.importorskip("uvloop", reason="uvloop is not there: the server's own event loop was not tried")

    async def story() -> None:
        async with (
            servers(postgres_server, postgres_server) as (here, there),
            there.subscribe(["a"]) as listening,
        ):
            await asyncio.to_thread(here.publish, ["a"])
            assert await listening.wait(SECONDS) is True

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.wait_for(story(), SECONDS))
