"""One suite for every way to the server: TCP, Unix socket, and stdio through the bridge."""

from __future__ import annotations

import asyncio
import time

import httpx
import pytest

from tests.transports.conftest import Connect, LiveServer
from tests.transports.wires import CLIENT, HEADERS, LIMIT, call, content, request

HUGE = 90_000
"""Characters of one description; twelve of them are an answer of more than a megabyte."""


def test_tools_are_listed_with_their_schemas(connect: Connect) -> None:
    async def story() -> None:
        async with connect() as wire:
            tools = (await wire.ask("tools/list"))["result"]["tools"]
            assert {"authenticate", "get_next_action", "health_check"} <= {tool["name"] for tool in tools}
            assert all(tool["inputSchema"]["type"] == "object" for tool in tools)
            whole = {tool["name"] for tool in tools if tool.get("_meta")}
            assert whole == {"get_my_task", "get_task", "get_pending_messages"}

    asyncio.run(story())


def test_a_tool_answers_and_a_refusal_says_what_to_do(connect: Connect) -> None:
    async def story() -> None:
        async with connect() as wire:
            assert (await content(wire, "health_check"))["status"] == "ok"
            refused = await call(wire, "get_my_task")
            assert refused["isError"]
            assert refused["structuredContent"]["error"] == "authenticationRequired"
            assert "authenticate" in refused["structuredContent"]["instruction"]

    asyncio.run(story())


def test_an_agent_signs_in_and_is_led_to_its_task(connect: Connect, site: LiveServer) -> None:
    agent = site.worker()

    async def story() -> None:
        async with connect() as wire:
            token = await agent.sign_in(wire)
            await content(wire, "report_model", session_token=token, provider="command", model_id="m")
            mine = await content(wire, "get_my_task", session_token=token)
            assert mine["task"]["task_id"] == agent.task

    asyncio.run(story())


def test_the_credential_of_the_connection_is_the_callers(connect: Connect, site: LiveServer) -> None:
    async def story() -> None:
        async with connect(site.token("coordinator")) as wire:
            assert "agents" in await content(wire, "list_managed_agents")
        async with connect(site.token("owner")) as wire:
            refused = await call(wire, "list_managed_agents")
            assert refused["structuredContent"]["error"] == "coordinatorRequired"

    asyncio.run(story())


@pytest.mark.pitfall("F2", "F30")
def test_a_waiting_call_holds_up_no_other_and_ends_at_once_when_there_is_work(
    connect: Connect, site: LiveServer
) -> None:
    """F2, F30."""
    agent = site.agent(site.project())

    async def story() -> None:
        async with connect(site.token("coordinator")) as wire:
            who = {"coordinator_id": f"c-{agent.id}", "agent_ids": [agent.id], "providers": ["command"]}
            waiting = asyncio.create_task(content(wire, "claim_starts", timeout_seconds=45, free_slots=1, **who))
            await asyncio.to_thread(site.until_followed, "work")
            answers = await asyncio.gather(*(content(wire, "health_check") for _ in range(20)))
            assert all(answer["status"] == "ok" for answer in answers)
            assert not waiting.done()
            task = await asyncio.to_thread(
                site.task, agent.project, assignee_id=agent.id, status="in_progress", context={"command": "true"}
            )
            began = time.monotonic()
            (launch,) = (await waiting)["start"]
            assert time.monotonic() - began < 30, "without a hint it waits for 45 s"
            assert launch["agent_id"] == agent.id
            assert task

    asyncio.run(story())


def test_a_hundred_requests_at_once_are_each_answered_with_their_own_answer(connect: Connect) -> None:
    async def story() -> None:
        names = ["authenticate", "get_next_action", "health_check", "report_completed"]
        async with connect() as wire:
            answers = await asyncio.gather(*(content(wire, "help", tool_name=names[n % 4]) for n in range(100)))
            assert [answer["tools"][0]["name"] for answer in answers] == [names[n % 4] for n in range(100)]

    asyncio.run(story())


@pytest.mark.pitfall("F3")
def test_answers_of_a_megabyte_arrive_complete_many_at_a_time(connect: Connect, site: LiveServer) -> None:
    """F3."""
    agent = site.worker()

    async def story() -> None:
        async with connect() as wire:
            token = {"session_token": await agent.sign_in(wire)}
            about = {"task_id": (await content(wire, "get_my_task", **token))["task"]["task_id"]}
            for number in range(4):
                summary = f"{number:02}" + "漢" * HUGE
                await content(wire, "create_handoff", **token, **about, summary=summary)
            shown = await asyncio.gather(*(content(wire, "get_task", **token, **about) for _ in range(10)))
            for each in shown:
                large = each["task"]["handoffs"]
                assert sorted(one["summary"][:2] for one in large) == [f"{number:02}" for number in range(4)]
                assert all(len(one["summary"]) == HUGE + 2 for one in large)

    asyncio.run(story())


def test_a_request_that_is_too_large_is_refused_by_name_and_the_next_one_is_served(connect: Connect) -> None:
    async def story() -> None:
        async with connect() as wire:
            arguments = {"x": "x" * 3_000_000}
            large = await wire.send(request(7, "tools/call", {"name": "health_check", "arguments": arguments}))
            assert "2,000,000" in large["error"]["message"]
            assert (await content(wire, "health_check"))["status"] == "ok"

    asyncio.run(story())


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"this is no JSON", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":', -32700),
        (b"\xff\xfe", -32700),
    ],
)
def test_what_is_no_json_is_answered_with_a_parse_error_and_the_next_one_is_served(
    connect: Connect, body: bytes, code: int
) -> None:
    async def story() -> None:
        async with connect() as wire:
            answer = await wire.send(body)
            assert (answer["error"]["code"], answer["id"]) == (code, None)
            assert (await content(wire, "health_check"))["status"] == "ok"

    asyncio.run(story())


@pytest.mark.parametrize("body", [b"[]", b"42", b'{"jsonrpc":"2.0"}'])
def test_json_that_is_no_message_is_answered_with_an_error(connect: Connect, body: bytes) -> None:
    async def story() -> None:
        async with connect() as wire:
            answer = await wire.send(body)
            assert answer["error"]["code"] in (-32600, -32602)
            assert (await content(wire, "health_check"))["status"] == "ok"

    asyncio.run(story())


def test_an_unknown_method_is_a_protocol_error_with_the_id_it_came_with(connect: Connect) -> None:
    async def story() -> None:
        async with connect() as wire:
            answer = await wire.send(request("a name", "no/such/method"))
            assert (answer["id"], answer["error"]["code"]) == ("a name", -32601)

    asyncio.run(story())


def test_a_server_that_was_started_again_serves_the_same_client(connect_to_own: Connect, own_site: LiveServer) -> None:
    agent = own_site.worker()

    async def story() -> None:
        async with connect_to_own() as wire:
            token = await agent.sign_in(wire)
            await asyncio.to_thread(own_site.stop)
            await asyncio.to_thread(own_site.start_again)
            mine = await content(wire, "get_my_task", session_token=token)
            assert mine["task"]["task_id"] == agent.task

    asyncio.run(story())


def test_sessions_are_for_streams_alone_and_one_that_was_ended_is_refused(site: LiveServer) -> None:
    shake_hands = request(0, "initialize", CLIENT)
    known = {**HEADERS, "Authorization": f"Bearer {site.token('owner')}"}  # streams are for those whom the server knows
    with httpx.Client(base_url=site.url, headers=known, timeout=LIMIT) as http:
        session = {"Mcp-Session-Id": http.post("/mcp", content=shake_hands).headers["Mcp-Session-Id"]}
        assert http.get("/mcp").status_code == 405
        assert http.get("/mcp", headers={"Mcp-Session-Id": "of a server before this one"}).status_code == 404
        ping = request(1, "ping")
        for headers, answer in ((session, 200), ({"Mcp-Session-Id": "of a server before this one"}, 404), ({}, 200)):
            assert http.post("/mcp", content=ping, headers=headers).status_code == answer
        assert http.delete("/mcp", headers=session).status_code == 200
        assert http.post("/mcp", content=ping, headers=session).status_code == 404
        assert http.get("/mcp", headers=session).status_code == 404
