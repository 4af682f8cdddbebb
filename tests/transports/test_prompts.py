"""Prompts: what they ask for, in the project's language, from what is so now, for those who may see it."""

from __future__ import annotations

import asyncio

import pytest
from mcp import Client, MCPError
from mcp_types import TextContent

from tests.transports.conftest import LiveServer
from tests.transports.official import ERAS, client
from tests.transports.test_resources import signed_in


async def words(connected: Client, name: str, **arguments: str) -> str:
    (message,) = (await connected.get_prompt(name, arguments)).messages
    assert message.role == "user"
    assert isinstance(message.content, TextContent)
    text: str = message.content.text
    return text


@pytest.mark.parametrize("mode", ERAS)
def test_they_are_listed_with_their_arguments(site: LiveServer, mode: str) -> None:
    async def story() -> None:
        async with client(site, "tcp", mode) as connected:
            found = {prompt.name: prompt for prompt in (await connected.list_prompts()).prompts}
            assert list(found) == ["agent_start", "task_breakdown", "status_report", "handoff"]
            for each in found.values():
                assert each.description
                assert all(argument.description and not argument.required for argument in each.arguments or ())
            assert [each.name for each in found["handoff"].arguments or ()] == ["task_id", "to_agent_id"]

    asyncio.run(story())


@pytest.mark.parametrize("way", ["tcp", "stdio"])
def test_an_agent_needs_no_arguments(site: LiveServer, way: str) -> None:
    agent = site.worker()

    async def story() -> None:
        async with client(site, way, "auto", await signed_in(site, agent)) as connected:
            assert f"You are the agent {agent.id}" in await words(connected, "agent_start")
            breakdown = await words(connected, "task_breakdown")
            assert "Build it" in breakdown
            assert f'create_tasks_batch(parent_task_id="{agent.task}"' in breakdown
            assert f"- Build it ({agent.id})" in await words(connected, "status_report", project_id="")
            assert f'create_handoff(task_id="{agent.task}"' in await words(connected, "handoff")

    asyncio.run(story())


def test_whoever_starts_an_agent_by_hand_is_told_how_it_signs_in(site: LiveServer) -> None:
    async def story() -> None:
        async with client(site, "tcp", "auto") as connected:
            told = await words(connected, "agent_start", agent_id="ann")
            assert 'agent_id="ann", your passkey' in told
            with pytest.raises(MCPError, match="Pass it in agent_id"):
                await connected.get_prompt("agent_start")

    asyncio.run(story())


def test_a_person_names_what_they_mean_and_is_told_what_people_can_do(site: LiveServer) -> None:
    agent = site.worker()

    async def story() -> None:
        async with client(site, "tcp", "auto", site.token("owner")) as connected:
            breakdown = await words(connected, "task_breakdown", task_id=agent.task)
            assert f"--parent {agent.task}" in breakdown
            assert f"- {agent.id} (worker)" in breakdown
            assert "in_progress 1" in await words(connected, "status_report", project_id=agent.project)
            handoff = await words(connected, "handoff", task_id=agent.task, to_agent_id=agent.id)
            assert f"over to {agent.id}" in handoff

    asyncio.run(story())


def test_they_speak_the_projects_language(site: LiveServer) -> None:
    project = site.project(language="ja")
    task = site.task(project, "家を建てる")

    async def story() -> None:
        async with client(site, "tcp", "auto", site.token("owner")) as connected:
            assert "サブタスクに分解" in await words(connected, "task_breakdown", task_id=task)
            assert "状況報告" in await words(connected, "status_report", project_id=project)
            assert "引き継いで" in await words(connected, "handoff", task_id=task)
            assert "指示します" in await words(connected, "agent_start", agent_id="ann", project_id=project)

    asyncio.run(story())


@pytest.mark.pitfall("F118")
@pytest.mark.parametrize("mode", ERAS)
def test_what_belongs_to_another_project_is_not_found(site: LiveServer, mode: str) -> None:
    agent, other = site.worker(), site.worker()

    async def story() -> None:
        async with client(site, "tcp", mode, await signed_in(site, agent)) as connected:
            for name, arguments in (
                ("task_breakdown", {"task_id": other.task}),
                ("handoff", {"task_id": other.task}),
                ("status_report", {"project_id": other.project}),
                ("agent_start", {"project_id": other.project}),
            ):
                with pytest.raises(MCPError, match="There is no"):
                    await connected.get_prompt(name, arguments)
            with pytest.raises(MCPError, match="agent_start, task_breakdown"):
                await connected.get_prompt("no such prompt")

    asyncio.run(story())


def test_without_a_credential_nothing_of_a_project_is_told(site: LiveServer) -> None:
    agent = site.worker()

    async def story() -> None:
        async with client(site, "tcp", "auto") as connected:
            with pytest.raises(MCPError, match="must know who is reading"):
                await connected.get_prompt("task_breakdown", {"task_id": agent.task})
            unknown = await words(connected, "agent_start", agent_id="ann", project_id=agent.project)
            assert unknown == await words(connected, "agent_start", agent_id="ann", project_id="no-such-project")

    asyncio.run(story())
