"""Waiting calls: they end by a hint, by the time that was named, by patience, by a stop, or by the client's leaving."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from tests.server.fakes import FakeDispatcher, ObservedBus
from tests.server.http import LIMIT, Exchange, call, edge, exchange
from toryo.operations.calls.call import RIGHTS
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.grants import Door
from toryo.server import clock, long_polling
from toryo.server.long_polling import Waiting, patience

NOBODY = Credentials()


def make() -> tuple[FakeDispatcher, ObservedBus, Waiting]:
    dispatcher, bus = FakeDispatcher(), ObservedBus()
    return dispatcher, bus, Waiting(dispatcher, bus, dispatcher.operations, clock.now)


async def until_looked(dispatcher: FakeDispatcher, times: int) -> None:
    """Returns when the dispatcher has been asked so often."""
    async with asyncio.timeout(LIMIT):
        while len(dispatcher.looks) < times:
            dispatcher.looked.clear()
            await dispatcher.looked.wait()


def ring(dispatcher: FakeDispatcher, bus: ObservedBus, name: str = "bell") -> None:
    dispatcher.rung.add(name)
    bus.publish((f"bell:{name}",))


def test_a_call_that_waits_answers_when_it_is_hinted() -> None:
    async def story() -> None:
        dispatcher, bus, edges = make()
        held = asyncio.create_task(edges.answer("await_bell", {"timeout_seconds": 40}, NOBODY, Door.OWN))
        await until_looked(dispatcher, 2)
        assert not held.done()
        ring(dispatcher, bus)
        outcome = await asyncio.wait_for(held, LIMIT)
        assert outcome.result == {"success": True, "rung": True}

    asyncio.run(story())


def test_a_call_that_waits_looks_again_when_somebody_has_lost_a_right() -> None:
    async def story() -> None:
        dispatcher, bus, edges = make()
        held = asyncio.create_task(edges.answer("await_bell", {"timeout_seconds": 40}, NOBODY, Door.OWN))
        await until_looked(dispatcher, 2)
        bus.publish((RIGHTS,))
        await until_looked(dispatcher, 3)
        ring(dispatcher, bus)
        await asyncio.wait_for(held, LIMIT)

    asyncio.run(story())


def test_what_happens_between_the_first_look_and_the_subscription_is_not_missed() -> None:
    async def story() -> None:
        dispatcher, _, edges = make()
        held = asyncio.create_task(edges.answer("await_bell", {"timeout_seconds": 40}, NOBODY, Door.OWN))
        await until_looked(dispatcher, 1)
        dispatcher.rung.add("bell")  # and nobody listens to a hint yet
        outcome = await asyncio.wait_for(held, LIMIT)
        assert outcome.result == {"success": True, "rung": True}
        assert (len(dispatcher.looks), dispatcher.counted) == (2, 1), "a call is one call, however often it looks"

    asyncio.run(story())


def test_when_patience_ends_the_call_is_asked_a_last_time_and_answers() -> None:
    async def story() -> None:
        dispatcher, bus, edges = make()
        outcome = await edges.answer("await_bell", {"timeout_seconds": 0.05}, NOBODY, Door.OWN)
        assert outcome.result == {"success": True, "rung": False}
        assert dispatcher.looks[-1] == ("await_bell", False)
        assert bus.topics() == set()

    asyncio.run(story())


def test_a_call_that_does_not_wait_looks_once_and_subscribes_to_nothing() -> None:
    async def story() -> None:
        dispatcher, _, edges = make()
        for arguments in ({"timeout_seconds": 0}, {"timeout_seconds": -1}, {"timeout_seconds": "soon"}):
            await edges.answer("await_bell", dict(arguments), NOBODY, Door.OWN)
        await edges.answer("echo", {"text": "x"}, NOBODY, Door.OWN)
        assert [may_wait for _, may_wait in dispatcher.looks] == [False] * 4

    asyncio.run(story())


def test_the_instant_that_the_handler_names_is_a_look_without_a_hint() -> None:
    async def story() -> None:
        dispatcher, _, edges = make()
        dispatcher.at = clock.now() + 100
        held = asyncio.create_task(edges.answer("await_bell", {"timeout_seconds": 40}, NOBODY, Door.OWN))
        await until_looked(dispatcher, 2)
        dispatcher.rung.add("bell")
        outcome = await asyncio.wait_for(held, LIMIT)
        assert outcome.result == {"success": True, "rung": True}

    asyncio.run(story())


def test_an_instant_that_has_passed_does_not_make_the_call_spin() -> None:
    async def story() -> None:
        dispatcher, _, edges = make()
        dispatcher.at = 1
        await edges.answer("await_bell", {"timeout_seconds": 0.3}, NOBODY, Door.OWN)
        assert len(dispatcher.looks) <= 2 + 0.3 / long_polling.SHORTEST + 1

    asyncio.run(story())


def test_a_stop_makes_everyone_answer_at_once_and_lets_nobody_wait_again() -> None:
    async def story() -> None:
        dispatcher, _, edges = make()
        held = [asyncio.create_task(edges.answer("await_bell", {}, NOBODY, Door.OWN)) for _ in range(100)]
        await until_looked(dispatcher, 200)
        began = time.monotonic()
        edges.stop()
        outcomes = await asyncio.wait_for(asyncio.gather(*held), LIMIT)
        assert {outcome.result["rung"] for outcome in outcomes if outcome.result} == {False}
        await edges.answer("await_bell", {}, NOBODY, Door.OWN)
        assert time.monotonic() - began < 20, "they would have waited for 45 s"

    asyncio.run(story())


def test_a_crash_is_the_callers_refusal_and_tells_no_secret() -> None:
    async def story() -> None:
        _, _, edges = make()
        outcome = await edges.answer("crash", {}, NOBODY, Door.OWN)
        assert outcome.refused
        assert outcome.result is not None
        assert outcome.result["error"] == "unavailable"
        assert "secret" not in str(outcome.result)

    asyncio.run(story())


def test_a_handler_that_never_answers_is_a_fault_and_not_an_endless_loop() -> None:
    async def story() -> None:
        _, _, edges = make()
        outcome = await asyncio.wait_for(
            edges.answer("never_answers", {"timeout_seconds": 0.05}, NOBODY, Door.OWN), LIMIT
        )
        assert outcome.refused

    asyncio.run(story())


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [({}, 45), ({"timeout_seconds": 3}, 3), ({"timeout_seconds": "2.5"}, 2.5), ({"timeout_seconds": 3600}, 45),
     ({"timeout_seconds": None}, 45), ({"timeout_seconds": "nan"}, 0), ({"timeout_seconds": []}, 0)],
)  # fmt: skip
def test_patience_is_the_argument_or_the_default_and_never_more_than_45_seconds(
    arguments: dict[str, Any], seconds: float
) -> None:
    assert patience(FakeDispatcher().operations["await_bell"], arguments) == seconds


@pytest.mark.parametrize("unusual", [{}, {"task": None}], ids=["plain path", "SDK"])
def test_a_client_that_leaves_ends_its_wait_and_leaves_nothing_behind(unusual: dict[str, Any]) -> None:
    async def story() -> None:
        dispatcher, bus = FakeDispatcher(), ObservedBus()
        async with edge(dispatcher, bus) as app:
            client = Exchange(app, call("await_bell", {}, **unusual))
            held = asyncio.create_task(client.run_until_gone())
            await bus.until(lambda topics: "bell:bell" in topics)
            client.leave()
            await asyncio.wait_for(held, LIMIT)
            assert client.sent == []
            await bus.until(lambda topics: set(topics) <= {RIGHTS})  # which the endpoint itself follows
            assert dispatcher.finished == 0

    asyncio.run(story())


def test_other_calls_are_answered_while_a_hundred_wait() -> None:
    async def story() -> None:
        dispatcher, bus = FakeDispatcher(), ObservedBus()
        async with edge(dispatcher, bus) as app:
            held = [asyncio.create_task(exchange(app, call("await_bell"))) for _ in range(100)]
            await until_looked(dispatcher, 200)
            answer = await exchange(app, call("echo", {"text": "at once"}))
            assert answer.tool_result["structuredContent"]["text"] == "at once"
            ring(dispatcher, bus)
            answers = await asyncio.gather(*held)
            assert all(response.tool_result["structuredContent"]["rung"] for response in answers)

    asyncio.run(story())
