"""Progress of calls that wait: told to those who asked and can hear it, and to nobody else."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import orjson
import pytest

from tests.server.fakes import FakeDispatcher, ObservedBus
from tests.server.http import ENVELOPE, LIMIT, PLAIN, Exchange, Headers, call, edge, exchange, modern
from toryo.server import mcp_fast_path, mcp_progress

TOKENS = ["mine", 7]
ONLY_JSON: Headers = tuple((name, value.split(",")[0] if name == "accept" else value) for name, value in PLAIN)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_progress, "EVERY", 0.01)


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, LIMIT))


def waiting(token: Any, **meta: Any) -> bytes:
    return call("await_bell", {"timeout_seconds": 40}, _meta={**meta, "progressToken": token})


def messages(body: bytes) -> list[Any]:
    return [orjson.loads(event.split(b"data: ", 1)[1]) for event in body.split(b"\n\n") if event]


class Heard(Exchange):
    """An exchange that says when progress was sent."""

    def __init__(self, app: Any, body: bytes, headers: Headers = PLAIN) -> None:
        super().__init__(app, body, headers=headers)
        self._told: asyncio.Queue[None] = asyncio.Queue()

    async def until_told(self, times: int) -> None:
        for _ in range(times):
            await self._told.get()

    async def _send(self, message: dict[str, Any]) -> None:
        await super()._send(message)
        if b"notifications/progress" in message.get("body", b""):
            self._told.put_nowait(None)


WAYS: dict[str, tuple[dict[str, Any], Headers]] = {
    "a plain call": ({}, PLAIN),
    "the first call of a client without handshake, left to the SDK": (ENVELOPE, modern("await_bell")),
}


@pytest.mark.parametrize(("meta", "headers"), WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize("token", TOKENS)
def test_a_call_that_waits_long_is_answered_by_a_stream_of_growing_progress_and_then_its_answer(
    token: Any, meta: dict[str, Any], headers: Headers
) -> None:
    async def story() -> None:
        dispatcher, bus = FakeDispatcher(), ObservedBus()
        async with edge(dispatcher, bus) as app:
            held = Heard(app, waiting(token, **meta), headers)
            running = asyncio.create_task(held.run())
            await held.until_told(3)
            dispatcher.rung.add("bell")
            bus.publish(("bell:bell",))
            response = await running
            assert (response.status, response.headers["content-type"]) == (200, "text/event-stream")
            *told, answer = messages(response.body)
            assert {each["params"]["progressToken"] for each in told} == {token}
            grown = [each["params"]["progress"] for each in told]
            assert grown == sorted(set(grown))
            assert grown[0] == mcp_progress.EVERY, "the seconds so far"
            assert answer["result"]["structuredContent"] == {"success": True, "rung": True}

    run(story())


@pytest.mark.parametrize(("meta", "headers"), WAYS.values(), ids=WAYS.keys())
def test_an_answer_that_is_there_soon_is_plain_json(
    meta: dict[str, Any], headers: Headers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_progress, "EVERY", LIMIT)

    async def story() -> None:
        dispatcher = FakeDispatcher()
        dispatcher.rung.add("bell")
        async with edge(dispatcher) as app:
            response = await exchange(app, waiting("mine", **meta), headers=headers)
            assert response.headers["content-type"] == "application/json"
            assert response.tool_result["structuredContent"]["rung"] is True

    run(story())


@pytest.mark.parametrize(
    ("body", "headers"),
    [(waiting("mine"), ONLY_JSON), (call("await_bell", {"timeout_seconds": 0.05}), PLAIN)],
    ids=["who takes JSON alone", "who did not ask"],
)
def test_nobody_else_hears_of_it(body: bytes, headers: Headers) -> None:
    async def story() -> None:
        dispatcher, bus = FakeDispatcher(), ObservedBus()
        async with edge(dispatcher, bus) as app:
            held = Exchange(app, body, headers=headers)
            running = asyncio.create_task(held.run())
            while len(dispatcher.looks) < 2:
                dispatcher.looked.clear()
                await dispatcher.looked.wait()
            dispatcher.rung.add("bell")
            bus.publish(("bell:bell",))
            assert (await running).headers["content-type"] == "application/json"

    run(story())


def test_of_a_call_that_is_left_to_the_sdk_only_who_takes_a_stream_hears() -> None:
    takes = [{name.encode(): value.encode() for name, value in headers} for headers in (PLAIN, ONLY_JSON)]
    assert [mcp_fast_path.progress_wanted(each, waiting("mine")) for each in takes] == [b'"mine"', None]


def test_a_client_that_leaves_while_it_hears_of_progress_leaves_nobody_waiting() -> None:
    async def story() -> None:
        dispatcher, bus = FakeDispatcher(), ObservedBus()
        async with edge(dispatcher, bus) as app:
            held = Heard(app, waiting("mine"))
            running = asyncio.create_task(held.run_until_gone())
            await held.until_told(1)
            held.leave()
            await running
            await bus.until(lambda topics: "bell:bell" not in topics)
            assert dispatcher.finished == 0

    run(story())
