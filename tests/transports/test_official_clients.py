"""The official SDK's client in both eras of the protocol, over TCP, the Unix socket, and the bridge as its command."""

from __future__ import annotations

import asyncio

import pytest

from tests.transports.conftest import LiveServer
from tests.transports.official import ERAS, WAYS, client
from tests.transports.wires import LIMIT

everywhere = pytest.mark.parametrize(("way", "mode"), [(way, mode) for way in WAYS for mode in ERAS])
where_closing_cancels = pytest.mark.parametrize(
    ("way", "mode"), [("stdio", mode) for mode in ERAS] + [(way, "auto") for way in ("tcp", "unix")]
)
"""With a handshake over HTTP a client that gives up keeps its request open; the call ends by itself in time."""


@pytest.mark.first(4)
@everywhere
def test_it_connects_lists_and_calls(site: LiveServer, way: str, mode: str) -> None:
    agent = site.worker()

    async def story() -> None:
        async with client(site, way, mode) as connected:
            assert "authenticate" in {tool.name for tool in (await connected.list_tools()).tools}
            signed_in = await connected.call_tool("authenticate", agent.credentials)
            session = {"session_token": signed_in.structured_content["session_token"]}
            mine = await connected.call_tool("get_my_task", session)
            assert mine.structured_content["task"]["task_id"] == agent.task
            refused = await connected.call_tool("get_task", {**session, "task_id": "no such task"})
            assert refused.is_error
            assert refused.structured_content["error"] == "taskNotFound"

    asyncio.run(story())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_server_says_what_to_do_first(site: LiveServer, way: str, mode: str) -> None:
    async def story() -> None:
        async with client(site, way, mode) as connected:
            assert "authenticate" in (connected.instructions or "")

    asyncio.run(story())


@pytest.mark.first(3)
@everywhere
def test_many_calls_share_one_connection(site: LiveServer, way: str, mode: str) -> None:
    async def story() -> None:
        async with client(site, way, mode) as connected:
            calls = [connected.call_tool("help", {"tool_name": "logout"}) for _ in range(20)]
            answers = await asyncio.gather(*calls)
            assert all(answer.structured_content["tools"][0]["name"] == "logout" for answer in answers)

    asyncio.run(story())


@where_closing_cancels
def test_a_call_that_is_given_up_leaves_nobody_waiting_at_the_server(site: LiveServer, way: str, mode: str) -> None:
    async def story() -> None:
        async with client(site, way, mode, site.token("coordinator")) as connected:
            claim = {"coordinator_id": "c-gives-up", "agent_ids": [], "free_slots": 1, "timeout_seconds": 45}
            waiting = asyncio.create_task(connected.call_tool("claim_starts", claim))
            await asyncio.to_thread(site.until_followed, "work")
            waiting.cancel()
            await asyncio.to_thread(site.until_followed, "work", 0)
            assert not (await connected.call_tool("health_check", {})).is_error

    asyncio.run(story())


@pytest.mark.first(2)
@where_closing_cancels
def test_who_asks_hears_that_a_call_still_waits(
    site: LiveServer, way: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toryo.server.mcp_progress.EVERY", 0.05)
    agent = site.agent(site.project())
    heard: asyncio.Queue[float] = asyncio.Queue()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.put_nowait(progress)

    async def story() -> None:
        async with client(site, way, mode, site.token("coordinator")) as connected:
            await connected.call_tool("health_check", {})
            who = {"coordinator_id": f"c-{agent.id}", "agent_ids": [agent.id], "providers": ["command"]}
            claim = {**who, "free_slots": 1, "timeout_seconds": 45}
            waiting = asyncio.create_task(connected.call_tool("claim_starts", claim, progress_callback=hear))
            told = [await asyncio.wait_for(heard.get(), LIMIT) for _ in range(3)]
            assert told == sorted(set(told))
            await asyncio.to_thread(site.task, agent.project, assignee_id=agent.id, status="in_progress")
            assert (await waiting).structured_content["start"][0]["agent_id"] == agent.id

    asyncio.run(story())
