"""An open server (`TORYO_AUTH__MODE=open`): the queue protocol without keys, and what is not opened by that."""

from __future__ import annotations

import pytest

from tests.operations.test_queue import claimed, filed, key, poller
from tests.stories import Caller, World
from toryo.domain.errors import Code
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import tools
from toryo.operations.calls.grants import KEYED, Grant
from toryo.storage import schema


class Keyless(Caller):
    """A program without a credential, as the edge of an open server lets it in."""

    @property
    def credentials(self) -> Credentials:
        return Credentials(keyless=True)


@pytest.fixture
def keyless(world: World) -> Keyless:
    world.project()
    return Keyless(world, None)


def register(caller: Caller, agent_id: str = "planning-agent-001", agent_type: str = "planning") -> None:
    caller.call("register_agent", agent_id=agent_id, agent_type=agent_type)


def test_a_task_goes_from_who_files_it_to_who_does_it_without_a_key(keyless: Keyless) -> None:
    register(keyless)
    task = filed(keyless)
    assert [each["task_id"] for each in claimed(keyless, "planning-agent-001")] == [task]
    keyless.call("submit_result", task_id=task, status="completed", result={"plan": 1})
    again = keyless.call("submit_result", task_id=task, status="completed", result={"plan": 1})
    assert (again["status"], again["assigned_agent_id"]) == ("completed", "planning-agent-001")
    keyless.call("set_shared_state", key="k", value=1)
    assert keyless.call("get_shared_state", key="k")["value"] == 1
    assert [each["agent_id"] for each in keyless.call("list_agents")["agents"]] == ["planning-agent-001"]


def test_an_agent_that_registers_again_continues(keyless: Keyless) -> None:
    register(keyless)
    task = filed(keyless)
    claimed(keyless, "planning-agent-001")
    answer = keyless.call("register_agent", agent_id="planning-agent-001", agent_type="planning")
    assert [each["task_id"] for each in answer["claims"]] == [task] and "api_key" not in answer


def test_nobody_without_a_key_acts_as_somebody_who_has_a_credential(keyless: Keyless) -> None:
    world = keyless.world
    world.worker("w1", agent_type="planning")
    poller(world, "keyed")
    for agent_id in ("owner", "w1", "keyed"):
        for name, more in (("register_agent", {"agent_type": "planning"}), ("poll_tasks", {}), ("heartbeat", {})):
            keyless.refused(name, Code.PERMISSION_DENIED, agent_id=agent_id, **more)


def test_what_a_program_of_toryo_holds_is_not_submitted_without_its_credential(keyless: Keyless) -> None:
    world = keyless.world
    world.worker("w1", agent_type="planning")
    task = filed(key(world, "chief", orchestrator=True))
    world.started("w1")
    keyless.refused("submit_result", Code.PERMISSION_DENIED, task_id=task, status="completed")
    assert world.status(task) == "in_progress"


def test_what_comes_without_a_key_starts_no_program_and_carries_no_command(keyless: Keyless) -> None:
    world = keyless.world
    before = filed(keyless)
    world.worker("w1", agent_type="planning")
    assert world.why("w1").startswith("hold")
    assert world.coordinator().claim(free_slots=9)["start"] == []
    refusal = keyless.refused(
        "create_task", Code.PERMISSION_DENIED, agent_type="planning", task_description="Start it."
    )
    assert "w1" in refusal["message"]
    command = {"command": ["rm", "-r", "/"]}
    keyless.refused("create_task", Code.PERMISSION_DENIED, agent_type="testing", task_description="x", context=command)
    filed(key(world, "chief", orchestrator=True))
    assert world.why("w1") == "start has_ready_queue_task"
    assert world.status(before) == "todo"


def test_only_the_queue_protocol_is_open(keyless: Keyless) -> None:
    """Everything else asks for the same credential as on every other server."""
    stranger = Caller(keyless.world, None)
    for tool in tools():
        if tool.grant in KEYED:
            stranger.refused(tool.name)
        else:
            assert keyless.ask(tool.name).refused == stranger.ask(tool.name).refused, tool.name


def test_its_tools_are_listed_as_they_are_called(keyless: Keyless) -> None:
    listed = {tool.name: tool for tool in keyless.world.dispatcher.list_tools(keyless.credentials)}
    for name in ("register_agent", "poll_tasks", "submit_result", "list_agents", "get_task_status", "create_task"):
        assert listed[name].asks_for is None, name
    assert "authenticate" in listed
    others = {tool.name for tool in keyless.world.dispatcher.list_tools(Credentials())}
    assert "authenticate" in others and "poll_tasks" not in others


def test_with_two_active_projects_the_agent_says_which(keyless: Keyless) -> None:
    register(keyless)
    keyless.world.project(name="Garden")
    assert claimed(keyless, "planning-agent-001") == []
    refusal = keyless.refused("create_task", Code.VALIDATION_ERROR, agent_type="planning", task_description="x")
    assert "2" in refusal["message"] and "API key" in refusal["instruction"]
    assert keyless.world.rows(schema.tasks)["tasks"] == []


def test_without_a_credential_the_tools_of_queues_take_a_key_but_for_those_that_need_none(keyless: Keyless) -> None:
    found = {each.name: each for each in keyless.world.dispatcher.list_tools(Credentials(), "queue")}
    takes = {name for name, each in found.items() if "api_key" in each.listed_schema["properties"]}
    assert takes == {name for name, each in found.items() if each.grant is not Grant.OPEN}
    assert "help" in found.keys() - takes
