"""The official SDK's client, in both eras of the protocol, over real TCP: it lists and calls tools."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.server.http import Served, edge, served

ERAS = ["legacy", "auto", "2026-07-28"]


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served() as running:
        yield running


@pytest.mark.parametrize("mode", ERAS)
def test_it_lists_and_calls_tools(server: Served, mode: str) -> None:
    async def story() -> None:
        async with Client(f"{server.url}/mcp", mode=mode) as client:
            listed = await client.list_tools()
            assert [tool.name for tool in listed.tools] == ["health_check", "echo"]
            assert listed.tools[1].input_schema["properties"]["text"]["description"] == "Any text."
            for text in ("first", "second", "漢字"):
                result = await client.call_tool("echo", {"text": text})
                assert not result.is_error
                assert result.structured_content["text"] == text

    asyncio.run(story())


@pytest.mark.parametrize("mode", ERAS)
def test_a_refusal_arrives_as_an_error_that_the_model_can_read(server: Served, mode: str) -> None:
    async def story() -> None:
        async with Client(f"{server.url}/mcp", mode=mode) as client:
            result = await client.call_tool("refuse", {})
            assert result.is_error
            assert result.structured_content["error"] == "taskNotFound"
            assert result.structured_content["instruction"] == "Call list_tasks."
            unknown = await client.call_tool("ecko", {})
            assert unknown.structured_content["error"] == "toolNotFound"

    asyncio.run(story())


@pytest.mark.parametrize("mode", ERAS)
def test_its_calls_carry_the_credential_of_the_connection(server: Served, mode: str) -> None:
    async def story() -> None:
        headers = {"Authorization": "Bearer tst_abc", "X-Correlation-Id": "req-1"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(f"{server.url}/mcp", http_client=http), mode=mode) as client,
        ):
            for _ in range(2):
                result = await client.call_tool("whoami", {})
                assert result.structured_content["bearer"] == "tst_abc"
                assert result.structured_content["correlation_id"] == "req-1"
                assert result.structured_content["remote"] == "127.0.0.1"

    asyncio.run(story())


def test_the_query_chooses_another_set_of_tools(server: Served) -> None:
    async def story() -> None:
        async with Client(f"{server.url}/mcp?toolset=coordinator") as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["await_bell"]

    asyncio.run(story())


def test_the_server_says_what_to_do_first(server: Served) -> None:
    async def story() -> None:
        async with Client(f"{server.url}/mcp", mode="legacy") as client:
            assert "authenticate" in (client.instructions or "")
            assert client.server_info is not None
            assert client.server_info.name == "toryo"

    asyncio.run(story())


@pytest.mark.deep
def test_fifty_clients_wait_and_call_at_the_same_time(server: Served) -> None:
    async def one(number: int) -> None:
        async with Client(f"{server.url}/mcp", mode="legacy") as client:
            waited = await client.call_tool("await_bell", {"timeout_seconds": 0.3})
            assert waited.structured_content["rung"] is False
            answer = await client.call_tool("echo", {"text": str(number)})
            assert answer.structured_content["text"] == str(number)

    async def story() -> None:
        await asyncio.gather(*(one(number) for number in range(50)))

    asyncio.run(story())


def test_a_server_that_is_closed_leaves_nothing_at_work() -> None:
    async def story() -> None:
        async with edge() as server:
            await server.complete()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(story())
