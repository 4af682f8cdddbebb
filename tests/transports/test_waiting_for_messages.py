"""A call that waits for talk ends by its cause, on every way to the server (F30, F95), and idling costs little (F29).

SOON is a bound on waiting for an answer: without a hint (see `only_hints`) a call waits for WAIT.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.stories import World
from tests.transports.conftest import Agent, Connect, LiveServer, way_to
from tests.transports.wires import Wire, call, content
from toryo.client import Client
from toryo.domain.times import SECOND
from toryo.operations.calls.catalogue import Later
from toryo.server import app
from toryo.settings import Settings

SOON = 30.0
WAIT = 45
TOOLS = ("get_next_action", "get_pending_messages")

Answer = dict[str, Any]


# --- two agents, and who talks to them -------------------------------------------------------------------------------


class Talk:
    """Agents `a` and `b` of one project; a person has the panels of both open, so that both stay."""

    def __init__(self, site: LiveServer) -> None:
        self.site = site
        self.project = site.project(decomposition="never")
        self.a, self.b = site.agent(self.project), site.agent(self.project)
        self.conversation = ""

    @property
    def topic(self) -> str:
        """What `a` listens to while it waits."""
        return f"chat:{self.project}:{self.a.id}"

    def open_panel(self, agent: Agent) -> None:
        self.site.send(f"{self._chat(agent)}/open")

    def close_panel(self) -> None:
        self.site.send(f"{self._chat(self.a)}/close")

    def write(self) -> None:
        self.site.send(f"{self._chat(self.a)}/messages", content="Are you there?")

    def start(self, agent: Agent) -> Chatting:
        """The agent's chat session, started as a Coordinator does, in a panel that is open."""
        self.open_panel(agent)
        who = {"coordinator_id": f"c-{agent.id}", "agent_ids": [agent.id]}
        with Client(self.site.url, self.site.token("coordinator")) as coordinator:
            (launch,) = coordinator.call("claim_starts", **who, free_slots=0, free_chat_slots=1)["start"]
        session = Chatting(self.site, launch["credential"])
        session.call("authenticate")
        session.call("report_model", provider="command", model_id="none")
        return session

    def converse(self, starter: Chatting, partner: Agent) -> None:
        asked = {"target_agent_id": partner.id, "initial_message": "Hello.", "purpose": "greeting"}
        self.conversation = starter.call("start_conversation", **asked)["conversation_id"]

    def _chat(self, agent: Agent) -> str:
        return f"/projects/{self.project}/chats/{agent.id}"


@dataclass
class Chatting:
    """A session over a connection of its own; `credential` is what a way to the server is opened with."""

    site: LiveServer
    credential: str

    def call(self, tool: str, /, **arguments: Any) -> Answer:
        with Client(self.site.url, self.credential) as client:
            return client.call(tool, **arguments)


@contextlib.asynccontextmanager
async def held(
    wire: Wire, site: LiveServer, topic: str, tool: str, **arguments: Any
) -> AsyncIterator[asyncio.Task[Answer]]:
    """The tool's call, once it waits at the server; the result as MCP shows it."""
    waiting = asyncio.create_task(call(wire, tool, timeout_seconds=WAIT, **arguments))
    await asyncio.to_thread(site.until_followed, topic)
    yield waiting
    waiting.cancel()


async def soon(waiting: asyncio.Task[Answer]) -> Answer:
    """The structured content of its answer."""
    result: Answer = (await asyncio.wait_for(waiting, SOON))["structuredContent"]
    return result


# --- what ends a wait ------------------------------------------------------------------------------------------------

Cause = Callable[[Talk, Chatting, Chatting], None]
"""Does something while `a` waits: given the sessions of `a` and of `b`."""


@dataclass(frozen=True)
class Ending:
    """What happens before `a` waits and while it does, and what its call then answers."""

    before: Cause
    act: Cause
    action: str
    fetched: str
    """The list of `get_pending_messages` that is not empty; "" where there is nothing to fetch."""


def nothing(_talk: Talk, _a: Chatting, _b: Chatting) -> None:
    """Nothing is there before."""


def invite(talk: Talk, a: Chatting, b: Chatting) -> None:
    """`b` has joined a conversation that `a` has started, and it is its turn."""
    talk.converse(a, talk.b)
    b.call("get_pending_messages")


def delegate(talk: Talk, _a: Chatting, _b: Chatting) -> None:
    """The task session of `a` has something said to `b`."""
    talk.site.task(talk.project, assignee_id=talk.a.id, status="in_progress")
    with Client(talk.site.url) as client:
        token = client.call("authenticate", **talk.a.credentials)["session_token"]
        client.call("report_model", session_token=token, provider="command", model_id="none")
        client.call("delegate_to_chat_session", session_token=token, target_agent_id=talk.b.id, purpose="Greet it.")


def end_session(talk: Talk, _a: Chatting, _b: Chatting) -> None:
    sessions = talk.site.people.get("/sessions").json()["sessions"]
    (mine,) = [session for session in sessions if session["agent_id"] == talk.a.id]
    talk.site.people.delete(f"/sessions/{mine['session_id']}").raise_for_status()


def write(talk: Talk, _a: Chatting, _b: Chatting) -> None:
    talk.write()


def be_invited(talk: Talk, _a: Chatting, b: Chatting) -> None:
    talk.converse(b, talk.a)


def answer(talk: Talk, _a: Chatting, b: Chatting) -> None:
    b.call("respond_conversation_message", conversation_id=talk.conversation, content="Hello, a.")


def end_conversation(talk: Talk, _a: Chatting, b: Chatting) -> None:
    b.call("end_conversation", conversation_id=talk.conversation)


def close_panel(talk: Talk, _a: Chatting, _b: Chatting) -> None:
    talk.close_panel()


ENDINGS = {
    "a message": Ending(nothing, write, "get_pending_messages", "pending_messages"),
    "an invitation": Ending(nothing, be_invited, "get_pending_messages", "invitations"),
    "its turn": Ending(invite, answer, "get_pending_messages", "pending_messages"),
    "a delegation": Ending(nothing, delegate, "get_pending_messages", "pending_delegations"),
    "its partner's ending": Ending(invite, end_conversation, "get_pending_messages", "ended_conversations"),
    "the closing of its panel": Ending(nothing, close_panel, "exit", ""),
    "a person ending its session": Ending(nothing, end_session, "exit", ""),
}


@pytest.mark.pitfall("F95")
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("what", ENDINGS)
def test_what_concerns_a_waiting_chat_agent_ends_its_wait_at_once(site: LiveServer, what: str, tool: str) -> None:
    _ends(site, way_to(site, "tcp"), what, tool)


@pytest.mark.parametrize("tool", TOOLS)
def test_that_is_so_over_every_way(site: LiveServer, connect: Connect, tool: str) -> None:
    _ends(site, connect, "a message", tool)


def _ends(site: LiveServer, connect: Connect, what: str, tool: str) -> None:
    """A wait that begins before it happens ends with it."""
    talk, ending = Talk(site), ENDINGS[what]
    a, b = talk.start(talk.a), talk.start(talk.b)
    ending.before(talk, a, b)

    async def story() -> Answer:
        async with connect(a.credential) as wire, held(wire, site, talk.topic, tool) as waiting:
            await asyncio.to_thread(ending.act, talk, a, b)
            return await soon(waiting)

    said = asyncio.run(story())
    if tool == "get_next_action":
        assert said["action"] == ending.action
    elif ending.fetched:
        assert said[ending.fetched]
    else:
        assert not said.get("pending_messages")


def test_the_turn_that_ends_a_wait_comes_with_what_was_said(site: LiveServer, connect: Connect) -> None:
    talk = Talk(site)
    a, b = talk.start(talk.a), talk.start(talk.b)
    invite(talk, a, b)

    async def story() -> Answer:
        async with connect(a.credential) as wire, held(wire, site, talk.topic, "get_pending_messages") as waiting:
            await asyncio.to_thread(answer, talk, a, b)
            return await soon(waiting)

    said = asyncio.run(story())
    assert [pending_message["content"] for pending_message in said["pending_messages"]] == ["Hello, a."]
    assert [conversation["your_turn"] for conversation in said["conversations"]] == [True]


def test_a_task_session_that_waits_for_a_delegation_goes_on_when_that_is_over(
    site: LiveServer, connect: Connect
) -> None:
    talk = Talk(site)
    task = site.task(talk.project, assignee_id=talk.a.id, status="in_progress")
    chat = talk.start(talk.a)

    async def story() -> Answer:
        async with connect() as wire:
            token = await talk.a.sign_in(wire)
            mine = {"session_token": token}
            await content(wire, "report_model", **mine, provider="command", model_id="none")
            await content(wire, "get_my_task", **mine)
            asked = {"target_agent_id": talk.b.id, "purpose": "Ask it."}
            made = await content(wire, "delegate_to_chat_session", **mine, **asked)
            early = await call(wire, "report_completed", **mine, result="success", summary="early")
            assert early["structuredContent"]["error"] == "delegationOpen"
            async with held(wire, site, f"task:{task}", "get_next_action", **mine) as waiting:
                await asyncio.to_thread(chat.call, "get_pending_messages")
                report = {"delegation_id": made["delegation_id"], "result": "It said yes."}
                await asyncio.to_thread(chat.call, "report_delegation_completed", **report)
                return await soon(waiting)

    said = asyncio.run(story())
    assert said["action"] == "execute_task"
    assert [delegation["result"] for delegation in said["delegations"]] == ["It said yes."]


def test_what_is_there_already_is_said_without_a_wait(site: LiveServer, connect: Connect) -> None:
    talk = Talk(site)
    a = talk.start(talk.a)
    talk.write()

    async def story() -> None:
        async with connect(a.credential) as wire, asyncio.timeout(SOON):
            said = await content(wire, "get_next_action", timeout_seconds=WAIT)
            assert said["action"] == "get_pending_messages"
            got = await content(wire, "get_pending_messages", timeout_seconds=WAIT)
            assert [pending_message["content"] for pending_message in got["pending_messages"]] == ["Are you there?"]

    asyncio.run(story())


# --- when nothing happens --------------------------------------------------------------------------------------------


@pytest.mark.first(1)
@pytest.mark.pitfall("F29")
def test_when_nothing_happens_the_wait_ends_and_the_agent_is_told_to_call_again(
    site: LiveServer, connect: Connect
) -> None:
    talk = Talk(site)
    a = talk.start(talk.a)

    async def story() -> None:
        async with connect(a.credential) as wire, asyncio.timeout(SOON):
            said, got = await asyncio.gather(*(content(wire, tool, timeout_seconds=1) for tool in TOOLS))
            assert (said["action"], said["tools"]) == ("wait_for_messages", ["get_next_action"])
            assert "now" in said["instruction"]
            assert not got["pending_messages"]
            at_once = await content(wire, "get_next_action", timeout_seconds=0)
            assert at_once["action"] == "wait_for_messages"

    asyncio.run(story())


def test_ten_idle_minutes_cost_fourteen_calls_and_then_the_agent_leaves(world: World) -> None:
    """F29."""
    world.project()
    world.worker("a")
    viewer = world.open_chat("a")["viewer_id"]
    agent = world.start_chat("a")
    began, calls, looks = world.now, 0, 0
    said: Answer = {"action": "get_next_action"}
    while said["action"] not in ("logout", "exit"):
        assert said["action"] in ("get_next_action", "wait_for_messages")
        calls += 1
        until = world.now + WAIT * SECOND
        outcome = world.perform("get_next_action", {}, agent.credentials, may_wait=True)
        while outcome.result is None:
            looks += 1
            assert outcome.later is not None
            world.now = _next_look(outcome.later, world.now, until)
            world.open_chat("a", viewer_id=viewer)
            outcome = world.perform("get_next_action", {}, agent.credentials, may_wait=world.now < until)
        said = outcome.result
    assert (said["action"], said["reason"]) == ("logout", "session_timeout")
    assert (world.now - began) // SECOND == pytest.approx(600, abs=2)
    assert 13 <= calls <= 14
    assert looks <= 4 * calls, "it must not spin either"
    assert not world.sessions()


def _next_look(later: Later, now: int, until: int) -> int:
    """When the edge looks again: at the instant that is named, or after the 15 s at which the person's panel calls."""
    return max(now + 1, min(until, now + 15 * SECOND, later.at if later.at is not None else until))


# --- who waits no more -----------------------------------------------------------------------------------------------


@pytest.mark.first(1)
def test_a_server_that_stops_answers_everybody_who_waits_at_once(own_site: LiveServer, connect_to_own: Connect) -> None:
    talk = Talk(own_site)
    agents = [talk.start(own_site.agent(talk.project)) for _ in range(3)]

    async def story() -> list[Answer]:
        async with contextlib.AsyncExitStack() as open_:
            ways = [await open_.enter_async_context(connect_to_own(agent.credential)) for agent in agents]
            calls = [asyncio.create_task(call(way, "get_next_action", timeout_seconds=WAIT)) for way in ways]
            stopping = f"server:{id(_waiting(own_site))}:stopping"
            await asyncio.to_thread(own_site.until_followed, stopping, len(calls))
            stopped = asyncio.create_task(asyncio.to_thread(own_site.stop))
            answers = [await soon(task) for task in calls]
            await stopped
            return answers

    assert {each["action"] for each in asyncio.run(story())} == {"wait_for_messages"}


def _waiting(site: LiveServer) -> object:
    found: object = site.running.app.edge._waiting
    return found


def test_a_client_that_goes_away_frees_its_wait_and_what_comes_is_the_next_ones(
    site: LiveServer, connect: Connect
) -> None:
    talk = Talk(site)
    a = talk.start(talk.a)

    async def story() -> None:
        async with connect(a.credential) as wire, held(wire, site, talk.topic, "get_pending_messages"):
            pass
        await asyncio.to_thread(site.until_followed, talk.topic, 0)

    asyncio.run(story())
    talk.write()
    assert [pending_message["content"] for pending_message in a.call("get_pending_messages")["pending_messages"]] == [
        "Are you there?"
    ]


# --- two servers -----------------------------------------------------------------------------------------------------


@pytest.fixture
def pair(tmp_path: Path, postgres_empty: str) -> Iterator[tuple[LiveServer, LiveServer]]:
    """Two servers on one PostgreSQL database, each with a data directory and tokens of its own."""
    with contextlib.ExitStack() as open_:
        sites = []
        for name in ("one", "two"):
            settings = Settings(port=0, data_dir=tmp_path / name, database=postgres_empty)
            running = open_.enter_context(app.run_in_thread(settings))
            sites.append(LiveServer.at(tmp_path / name, running))
        yield sites[0], sites[1]


@pytest.mark.deep
@pytest.mark.postgresql
@pytest.mark.parametrize("tool", TOOLS)
def test_what_is_written_at_one_server_wakes_who_waits_at_another(
    pair: tuple[LiveServer, LiveServer], tool: str
) -> None:
    here, there = pair
    talk = Talk(here)
    a = talk.start(talk.a)

    async def story() -> Answer:
        async with way_to(there, "tcp")(a.credential) as wire, held(wire, there, talk.topic, tool) as waiting:
            await asyncio.to_thread(talk.write)
            return await soon(waiting)

    said = asyncio.run(story())
    assert said.get("action") == "get_pending_messages" or said["pending_messages"]
