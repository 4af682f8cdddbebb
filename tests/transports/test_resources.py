"""Resources: listed by who asks, read under the rules of the tools, and followed in both eras of the protocol."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from mcp import Client, MCPError
from mcp.shared.subscriptions import ResourceUpdated
from mcp_types import TextResourceContents

from tests.transports.conftest import Agent, LiveServer
from tests.transports.official import ERAS, WAYS, Heard, client

STOPS_WITHIN = 20.0
NOT_FOUND = {"legacy": -32002, "auto": -32602, "2026-07-28": -32602}


@pytest.fixture(autouse=True)
def no_word_about_deprecation() -> Iterator[None]:
    """The SDK warns of the era with a handshake, which is what is tested here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


async def signed_in(site: LiveServer, agent: Agent) -> str:
    """A session of the agent; its token may be the credential of a connection."""
    async with client(site, "tcp", "legacy") as anybody:
        answer = await anybody.call_tool("authenticate", agent.credentials)
        token: str = answer.structured_content["session_token"]
        return token


async def read(connected: Client, uri: str) -> Any:
    (content,) = (await connected.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    assert content.mime_type == "application/json"
    return orjson.loads(content.text)


def board(project: str) -> str:
    return f"toryo://project/{project}/board"


@pytest.mark.parametrize("mode", ERAS)
def test_an_agent_is_shown_its_board_its_task_and_its_inbox_and_may_read_them(site: LiveServer, mode: str) -> None:
    agent = site.worker()

    async def story() -> None:
        async with client(site, "tcp", mode, await signed_in(site, agent)) as connected:
            listed = [resource.uri for resource in (await connected.list_resources()).resources]
            inbox = f"toryo://agent/{agent.id}/inbox"
            assert listed == [board(agent.project), f"toryo://task/{agent.task}", inbox]
            columns = {column["status"]: column for column in (await read(connected, listed[0]))["columns"]}
            assert [each["task_id"] for each in columns["in_progress"]["tasks"]] == [agent.task]
            assert (await read(connected, listed[1]))["task"]["title"] == "Build it"
            assert (await read(connected, listed[2])) == {"agent_id": agent.id, "notifications": []}

    asyncio.run(story())


@pytest.mark.parametrize("mode", ERAS)
def test_templates_say_how_the_rest_is_addressed(site: LiveServer, mode: str) -> None:
    async def story() -> None:
        async with client(site, "tcp", mode) as connected:
            found = {
                template.uri_template for template in (await connected.list_resource_templates()).resource_templates
            }
            assert found == {"toryo://project/{id}/board", "toryo://task/{id}", "toryo://agent/{id}/inbox"}

    asyncio.run(story())


@pytest.mark.parametrize("mode", ERAS)
def test_what_belongs_to_another_project_or_agent_is_not_found(site: LiveServer, mode: str) -> None:
    """F118: the same answer as for what does not exist."""
    agent, other = site.worker(), site.worker()

    async def story() -> None:
        async with client(site, "tcp", mode, await signed_in(site, agent)) as connected:
            codes = []
            for uri in (
                board(other.project),
                board("no-such-project"),
                f"toryo://task/{other.task}",
                "toryo://task/no-such-task",
                f"toryo://agent/{other.id}/inbox",
                "toryo://nothing/at/all",
            ):
                with pytest.raises(MCPError) as refused:
                    await connected.read_resource(uri)
                codes.append(refused.value.code)
            assert set(codes) == {NOT_FOUND[mode]}

    asyncio.run(story())


def test_whoever_has_not_said_who_they_are_reads_nothing_and_is_told_how(site: LiveServer) -> None:
    agent = site.worker()

    async def story() -> None:
        async with client(site, "tcp", "auto") as connected:
            assert (await connected.list_resources()).resources == []
            with pytest.raises(MCPError, match="Authorization: Bearer") as refused:
                await connected.read_resource(f"toryo://task/{agent.task}")
            assert refused.value.data["error"] == "authenticationRequired"

    asyncio.run(story())


def test_a_person_reads_what_they_see(site: LiveServer) -> None:
    agent = site.worker()

    async def story() -> None:
        async with client(site, "tcp", "auto", site.token("owner")) as connected:
            assert board(agent.project) in [resource.uri for resource in (await connected.list_resources()).resources]
            assert (await read(connected, board(agent.project)))["project"]["project_id"] == agent.project
            assert (await read(connected, f"toryo://agent/{agent.id}/inbox"))["notifications"] == []
        async with client(site, "tcp", "auto", site.token("coordinator")) as connected:
            with pytest.raises(MCPError, match="must know who is reading"):
                await connected.read_resource(board(agent.project))

    asyncio.run(story())


def test_reading_the_inbox_delivers_nothing(site: LiveServer) -> None:
    agent = site.worker()

    async def story() -> None:
        async with client(site, "tcp", "auto", await signed_in(site, agent)) as connected:
            await asyncio.to_thread(site.people.patch, f"/tasks/{agent.task}", json={"description": "Differently."})
            for _ in range(2):
                (note,) = (await read(connected, f"toryo://agent/{agent.id}/inbox"))["notifications"]
                assert "description" in note["message"]
            told = await connected.call_tool("get_notifications", {})
            assert [notification["notification_id"] for notification in told.structured_content["notifications"]] == [
                note["notification_id"]
            ]
            assert (await read(connected, f"toryo://agent/{agent.id}/inbox"))["notifications"] == []

    asyncio.run(story())


# --- following -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_with_a_handshake_a_subscriber_hears_of_each_change_until_it_unsubscribes(site: LiveServer, way: str) -> None:
    project = site.project()
    heard = Heard()

    async def story() -> None:
        async with client(site, way, "legacy", site.token("owner"), heard) as connected:
            offered = connected.server_capabilities.resources
            assert offered is not None
            assert offered.subscribe
            await connected.subscribe_resource(board(project))
            for number in range(2):
                await asyncio.to_thread(site.until_followed, f"project:{project}")
                await asyncio.to_thread(site.task, project, f"task {number}")
                assert await heard.update() == board(project)
            await connected.unsubscribe_resource(board(project))
            await asyncio.to_thread(site.until_followed, f"project:{project}", 0)
            await asyncio.to_thread(site.task, project, "nobody hears of it")
            assert (await connected.call_tool("health_check", {})).structured_content["status"] == "ok"
            assert heard.updates.empty()

    asyncio.run(story())


@pytest.mark.parametrize("way", WAYS)
def test_without_one_each_listening_is_a_stream_of_its_own(site: LiveServer, way: str) -> None:
    project, elsewhere = site.project(), site.project()

    async def story() -> None:
        async with client(site, way, "auto", site.token("owner")) as connected:
            async with connected.listen(resource_subscriptions=[board(project), board(elsewhere)]) as changes:
                assert changes.honored.resource_subscriptions == [board(project), board(elsewhere)]
                for each in (project, elsewhere, project):
                    await asyncio.to_thread(site.until_followed, f"project:{each}")
                    await asyncio.to_thread(site.task, each)
                    assert await anext(changes) == ResourceUpdated(board(each))
            for each in (project, elsewhere):
                await asyncio.to_thread(site.until_followed, f"project:{each}", 0)

    asyncio.run(story())


def test_changes_of_lists_are_not_promised_because_nobody_is_told_of_them(site: LiveServer) -> None:
    async def story() -> None:
        for mode in ("legacy", "auto"):
            async with client(site, "tcp", mode, site.token("owner")) as connected:
                offered = connected.server_capabilities
                assert offered.tools and offered.resources and offered.prompts
                assert not (
                    offered.tools.list_changed or offered.resources.list_changed or offered.prompts.list_changed
                )
                assert offered.resources.subscribe
                if mode == "auto":
                    async with connected.listen(tools_list_changed=True, prompts_list_changed=True) as changes:
                        assert changes.honored.model_dump(exclude_none=True) == {}

    asyncio.run(story())


def test_nobody_follows_what_they_may_not_read(site: LiveServer) -> None:
    agent, other = site.worker(), site.worker()

    async def story() -> None:
        token = await signed_in(site, agent)
        both = [board(other.project), board(agent.project)]
        async with (
            client(site, "tcp", "auto", token) as connected,
            connected.listen(resource_subscriptions=both) as changes,
        ):
            assert changes.honored.resource_subscriptions == [board(agent.project)]
        async with client(site, "tcp", "legacy", token) as connected:
            with pytest.raises(MCPError) as refused:
                await connected.subscribe_resource(board(other.project))
            assert refused.value.code == NOT_FOUND["legacy"]

    asyncio.run(story())


def test_an_agent_hears_when_something_lands_in_its_inbox(site: LiveServer) -> None:
    agent = site.worker()

    async def story() -> None:
        inbox = f"toryo://agent/{agent.id}/inbox"
        async with (
            client(site, "tcp", "auto", await signed_in(site, agent)) as connected,
            connected.listen(resource_subscriptions=[inbox]) as changes,
        ):
            await asyncio.to_thread(site.until_followed, f"project:{agent.project}")
            await asyncio.to_thread(site.people.patch, f"/tasks/{agent.task}", json={"title": "Another title"})
            assert await anext(changes) == ResourceUpdated(inbox)

    asyncio.run(story())


@pytest.mark.parametrize("mode", ERAS)
def test_a_server_that_stops_ends_its_streams_and_does_not_wait_for_them(own_site: LiveServer, mode: str) -> None:
    project = own_site.project()

    async def story() -> None:
        async with client(own_site, "tcp", mode, own_site.token("owner")) as connected:
            if mode == "legacy":
                await connected.subscribe_resource(board(project))
                await asyncio.to_thread(own_site.until_followed, f"project:{project}")
                await asyncio.wait_for(asyncio.to_thread(own_site.stop), STOPS_WITHIN)
                return
            async with connected.listen(resource_subscriptions=[board(project)]) as changes:
                await asyncio.to_thread(own_site.until_followed, f"project:{project}")
                await asyncio.wait_for(asyncio.to_thread(own_site.stop), STOPS_WITHIN)
                assert [change async for change in changes] == [], "it ended in order"

    asyncio.run(story())
