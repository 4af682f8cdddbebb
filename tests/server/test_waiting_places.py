"""Calls that wait and streams hold connections: one credential may hold a part of them, and agents never all."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

import pytest

from tests.server.fakes import FakeDispatcher, ObservedBus
from tests.server.http import call, served
from tests.server.test_connection_limits import connected, request, rest_of, until
from tests.server.test_long_polling import until_looked
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.grants import Door
from toryo.secret_patterns import COORDINATOR, LAUNCH, PERSON, PREFIXES, QUEUE, SESSION
from toryo.server import clock
from toryo.server.connection_limits import Bounds, Connections
from toryo.server.long_polling import Waiting
from toryo.server.waiting_places import Places, reserved_places

OF_AGENTS = (LAUNCH, SESSION, QUEUE)


@pytest.mark.parametrize("prefix", PREFIXES)
def test_one_credential_holds_a_quarter_of_the_connections(prefix: str) -> None:
    places = Places(60)
    with ExitStack() as held:
        got = [held.enter_context(places.taken(Credentials(bearer=f"{prefix}one"))) for _ in range(60)]
        assert sum(got) == (60 if prefix == COORDINATOR else 15)
        assert held.enter_context(places.taken(Credentials(bearer=f"{PERSON}another")))
    assert len(places) == 0


def test_agents_together_leave_some_of_the_connections_to_people_and_coordinators() -> None:
    places = Places(60)
    with ExitStack() as held:
        shown = [Credentials(bearer=f"{OF_AGENTS[number % 3]}{number}") for number in range(100)]
        assert sum(held.enter_context(places.taken(each)) for each in shown) == 60 - reserved_places(60) == 54
        for other in (PERSON, COORDINATOR):
            assert held.enter_context(places.taken(Credentials(bearer=f"{other}x")))


@pytest.mark.parametrize("name", ["session_token", "api_key"])
def test_a_credential_in_the_arguments_counts_as_one_in_the_header(name: str) -> None:
    places = Places(60)
    with ExitStack() as held:
        got = [held.enter_context(places.taken(Credentials(), {name: f"{SESSION}one"})) for _ in range(60)]
        assert sum(got) == 15
        assert held.enter_context(places.taken(Credentials(), {name: f"{SESSION}another"}))


@pytest.mark.parametrize("name", ["session_token", "api_key"])
def test_who_names_another_credential_in_each_call_is_counted_by_that_of_the_connection(name: str) -> None:
    places, agent = Places(60), Credentials(bearer=f"{SESSION}one")
    with ExitStack() as held:
        got = [held.enter_context(places.taken(agent, {name: f"made up {number}"})) for number in range(60)]
        assert sum(got) == 15


def test_who_finds_no_place_is_answered_at_once() -> None:
    async def story() -> None:
        dispatcher, bus = FakeDispatcher(), ObservedBus()
        waiting = Waiting(dispatcher, bus, dispatcher.operations, clock.now, Places(8))
        mine = Credentials(bearer=f"{QUEUE}one")
        asked = [
            asyncio.create_task(waiting.answer("await_bell", {"timeout_seconds": 40}, mine, Door.OWN)) for _ in range(2)
        ]
        await until_looked(dispatcher, 4)
        outcome = await waiting.answer("await_bell", {"timeout_seconds": 40}, mine, Door.OWN)
        assert outcome.later is None
        assert not any(each.done() for each in asked)
        for each in asked:
            each.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
        assert len(waiting.places) == 0

    asyncio.run(story())


def test_an_agent_with_as_many_waiting_calls_as_there_are_connections_does_not_keep_the_owner_out() -> None:
    crowd = Connections(Bounds(connections=20))
    with served(connections=crowd, places=Places(20)) as server:
        asked = request(call("await_bell", {"timeout_seconds": 45}), token="tlc_of_an_agent")
        held = [connected(server, asked) for _ in range(20)]
        until(lambda: server.dispatcher.counted >= 5)
        with connected(server, request(call("echo", {"text": "the owner"}), keep=False)) as owner:
            assert b"the owner" in rest_of(owner)
        for each in held:
            each.close()
