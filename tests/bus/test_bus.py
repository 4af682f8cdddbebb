"""What every bus promises: a hint after the subscription is never lost, whoever publishes and whoever waits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from threading import Event, Thread
from typing import Any

import pytest

from tests.databases import KINDS
from toryo.bus.bus import WOKEN_OF_A_QUEUE, Bus
from toryo.bus.in_process import InProcessBus
from toryo.bus.postgres import PostgresBus
from toryo.bus.redis import RedisBus

pytestmark = pytest.mark.both

SECONDS = 100.0
SOON = 0.02
Story = Callable[[Bus], Coroutine[Any, Any, None]]


@pytest.fixture(params=[*KINDS, pytest.param("redis", marks=pytest.mark.redis)])
def tell(request: pytest.FixtureRequest) -> Callable[[Story], None]:
    """Runs a story with a bus of each kind that has been started, and is closed afterwards."""

    def new() -> Bus:
        if request.param == "sqlite":
            return InProcessBus()
        if request.param == "redis":
            return RedisBus(request.getfixturevalue("redis_url"))
        return PostgresBus(request.getfixturevalue("postgres_server"))

    async def started_and_closed(story: Story) -> None:
        async with running(new()) as bus:
            await asyncio.wait_for(story(bus), SECONDS)

    return lambda story: asyncio.run(started_and_closed(story))


@asynccontextmanager
async def running(bus: Bus) -> AsyncIterator[Bus]:
    await bus.start()
    try:
        yield bus
    finally:
        await bus.close()


def from_a_thread(function: Callable[[], Any]) -> None:
    thread = Thread(target=function)
    thread.start()
    thread.join(SECONDS)


def test_a_waiter_is_woken_by_a_hint_from_a_thread(tell: Callable[[Story], None]) -> None:
    async def story(bus: Bus) -> None:
        async with bus.subscribe(["project:a"]) as subscription:
            waiting = asyncio.create_task(subscription.wait(SECONDS))
            await asyncio.sleep(0)
            await asyncio.to_thread(bus.publish, ["project:a"])
            assert await waiting is True

    tell(story)


def test_a_hint_between_subscribing_and_waiting_is_kept(tell: Callable[[Story], None]) -> None:
    async def story(bus: Bus) -> None:
        async with bus.subscribe(["project:a"]) as subscription:
            from_a_thread(lambda: bus.publish(["project:a"]))
            assert await subscription.wait(SECONDS) is True
            assert await subscription.wait(SOON) is False

    tell(story)


def test_the_message_of_a_hint_that_was_seen_does_not_end_the_next_wait(tell: Callable[[Story], None]) -> None:
    async def story(bus: Bus) -> None:
        async with bus.subscribe(["a"]) as subscription:
            bus.publish(["a"])
            assert await subscription.wait(SECONDS) is True  # at once: its message is still on the way to the loop
            before = time.monotonic()
            assert await subscription.wait(SOON) is False
            assert time.monotonic() - before >= SOON

    tell(story)


def test_many_hints_are_one_reason_to_look(tell: Callable[[Story], None]) -> None:
    async def story(bus: Bus) -> None:
        async with bus.subscribe(["a", "b"]) as subscription:
            for _ in range(100):
                bus.publish(["a", "b"])
            assert await subscription.wait(SECONDS) is True
            assert await subscription.wait(SOON) is False

    tell(story)


def test_without_a_hint_the_time_passes(tell: Callable[[Story], None]) -> None:
    async def story(bus: Bus) -> None:
        async with bus.subscribe(["a"]) as subscription:
            bus.publish(["b"])
            before = time.monotonic()
            assert await subscription.wait(SOON) is False
            assert time.monotonic() - before >= SOON
            assert await subscription.wait(0) is False
            assert await subscription.wait(-1) is False

    tell(story)


def test_after_closing_there_are_no_hints(tell: Callable[[Story], None]) -> None:
    async def story(bus: Bus) -> None:
        subscription = bus.subscribe(["a"])
        subscription.close()
        subscription.close()
        bus.publish(["a"])
        assert await subscription.wait(SOON) is False

    tell(story)


def test_only_those_who_listen_to_the_topic_are_woken(tell: Callable[[Story], None]) -> None:
    async def story(bus: Bus) -> None:
        async with bus.subscribe(["a", "b"]) as both, bus.subscribe(["b"]) as one, bus.subscribe([]) as none:
            bus.publish(["a"])
            assert await both.wait(SECONDS) is True
            assert await one.wait(0) is False
            assert await none.wait(0) is False

    tell(story)


def test_a_cancelled_waiter_leaves_the_hint_to_the_next(tell: Callable[[Story], None]) -> None:
    async def story(bus: Bus) -> None:
        async with bus.subscribe(["a"]) as subscription:
            waiting = asyncio.create_task(subscription.wait(SECONDS))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            bus.publish(["a"])
            assert await subscription.wait(SECONDS) is True

    tell(story)


def test_no_hint_is_lost_while_a_waiter_looks_and_waits_again(tell: Callable[[Story], None]) -> None:
    """The waiter counts what it saw; after the last publication it must have seen the last state."""
    state = 0

    async def story(bus: Bus) -> None:
        def publish() -> None:
            nonlocal state
            for _ in range(2000):
                state += 1
                bus.publish(["state"])

        async with bus.subscribe(["state"]) as subscription:
            publishing = Thread(target=publish)
            publishing.start()
            seen = 0
            while seen < 2000:
                assert await subscription.wait(SECONDS), f"nothing woke the waiter who saw {seen} of {state}"
                seen = state
            publishing.join(SECONDS)

    tell(story)


def test_tasks_of_several_event_loops_are_woken(tell: Callable[[Story], None]) -> None:
    async def story(bus: Bus) -> None:
        subscribed, outcomes = Event(), list[bool]()

        async def elsewhere() -> None:
            async with bus.subscribe(["a"]) as subscription:
                subscribed.set()
                outcomes.append(await subscription.wait(SECONDS))

        other_loop = Thread(target=lambda: asyncio.run(elsewhere()))
        other_loop.start()
        await asyncio.to_thread(subscribed.wait, SECONDS)
        async with bus.subscribe(["a"]) as subscription:
            bus.publish(["a"])
            assert await subscription.wait(SECONDS) is True
        await asyncio.to_thread(other_loop.join, SECONDS)
        assert outcomes == [True]

    tell(story)


def test_a_loop_that_went_away_does_not_disturb_the_publisher(tell: Callable[[Story], None]) -> None:
    async def story(bus: Bus) -> None:
        async def leave() -> None:
            bus.subscribe(["a"])

        await asyncio.to_thread(lambda: asyncio.run(leave()))
        async with bus.subscribe(["a"]) as subscription:
            bus.publish(["a"])
            assert await subscription.wait(SECONDS) is True

    tell(story)


def test_thousands_who_wait_are_woken_and_forgotten(tell: Callable[[Story], None]) -> None:
    async def story(bus: Bus) -> None:
        subscriptions = [bus.subscribe([f"agent:{number}", "all"]) for number in range(5000)]
        waiting = asyncio.gather(*(subscription.wait(SECONDS) for subscription in subscriptions))
        await asyncio.sleep(0)
        bus.publish(["all"])
        assert await waiting == [True] * 5000
        bus.publish(["agent:7"])
        assert await subscriptions[7].wait(SECONDS) is True
        assert await subscriptions[8].wait(0) is False
        for subscription in subscriptions:
            subscription.close()
        assert not bus._subscriptions._by_topic  # type: ignore[attr-defined]

    tell(story)


def test_one_publication_is_one_message_to_a_loop(
    tell: Callable[[Story], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(bus: Bus) -> None:
        subscriptions = [bus.subscribe(["all"]) for _ in range(100)]
        wakings: list[int] = []
        for subscription in subscriptions:
            plain = subscription.loop.call_soon_threadsafe

        def counted(function: Callable[..., Any], *args: Any, **kw: Any) -> Any:
            if args:
                wakings.append(len(args[0]))
            return plain(function, *args, **kw)

        monkeypatch.setattr(asyncio.get_running_loop(), "call_soon_threadsafe", counted)
        bus.publish(["all"])
        assert await asyncio.gather(*(subscription.wait(SECONDS) for subscription in subscriptions)) == [True] * 100
        assert wakings == [100]
        for subscription in subscriptions:
            subscription.close()

    tell(story)


def test_closing_the_bus_wakes_those_who_wait(tell: Callable[[Story], None]) -> None:
    async def story(bus: Bus) -> None:
        subscription = bus.subscribe(["a"])
        waiting = asyncio.create_task(subscription.wait(SECONDS))
        await asyncio.sleep(0)
        await bus.close()
        assert await waiting is True
        bus.publish(["a"])
        await bus.close()

    tell(story)


def test_publishing_takes_any_iterable_once(tell: Callable[[Story], None]) -> None:
    async def story(bus: Bus) -> None:
        topics: Iterable[str] = (each for each in ("a", "b"))
        async with bus.subscribe(["a"]) as first, bus.subscribe(["b"]) as second:
            bus.publish(topics)
            assert await first.wait(SECONDS) is True
            assert await second.wait(SECONDS) is True

    tell(story)


def test_of_many_who_wait_for_a_queue_a_few_are_woken_by_each_hint(tell: Callable[[Story], None]) -> None:
    """All would look for the same task; whoever gets one hints again if there are more."""

    async def story(bus: Bus) -> None:
        waiting = [bus.subscribe(["queue:prj:planning"]) for _ in range(30)]
        bus.publish(["queue:prj:planning"])
        first = [subscription for subscription in waiting if await subscription.wait(0)]
        assert len(first) == WOKEN_OF_A_QUEUE
        for _ in range(4):
            bus.publish(["queue:prj:planning"])
        assert len([subscription for subscription in waiting if await subscription.wait(0)]) == len(waiting)
        for subscription in waiting:
            subscription.close()

    tell(story)
