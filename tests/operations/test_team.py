"""Who is here: agents find whom they may talk to, and a wrong id is answered with the right ones."""

from __future__ import annotations

import pytest

from tests.stories import Process, World


@pytest.fixture
def crew(world: World) -> World:
    """`alice`, a person, is above `boss`; `w3` belongs to another project."""
    world.project()
    world.person("alice", role="manager", name="Alice Adams")
    world.manager("boss", "alice")
    world.worker("w1", "boss", capabilities=["paint"])
    world.worker("w2", "boss")
    other = world.project(name="Other", project_id="other")
    world.agent("w3", "worker", projects=[other])
    return world


def worker(crew: World) -> Process:
    crew.task("w1")
    return crew.start("w1")


def test_a_worker_sees_who_is_here_and_how_they_stand_to_it(crew: World) -> None:
    members = worker(crew).call("list_team")["members"]
    assert {"agent_id": "boss", "role": "manager", "relation": "above you"} in members
    assert {"agent_id": "w2", "role": "worker"} in members
    alice = next(member for member in members if member["agent_id"] == "alice")
    assert (alice["role"], alice["name"], alice["relation"]) == ("person", "Alice Adams", "above you")
    assert {"w1", "w3"}.isdisjoint({member["agent_id"] for member in members})
    assert "owner" in {member["agent_id"] for member in members}


def test_members_are_found_by_role(crew: World) -> None:
    found = worker(crew).call("list_team", role="person")
    assert {member["agent_id"] for member in found["members"]} == {"alice", "owner"}
    assert found["total"] == 2


def test_a_manager_sees_who_is_below_and_a_chat_sees_the_same_members(crew: World) -> None:
    crew.task("boss")
    boss = {member["agent_id"]: member for member in crew.start("boss").call("list_team")["members"]}
    assert boss["w1"] == {"agent_id": "w1", "role": "worker", "capabilities": ["paint"], "relation": "below you"}
    crew.open_chat("w1")
    crew.say("w1", "hello")
    chat = {member["agent_id"] for member in crew.start_chat("w1").call("list_team")["members"]}
    assert chat == {"alice", "boss", "w2", "owner"}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("delegate_to_chat_session", {"target_agent_id": "nobody", "purpose": "Ask."}),
        ("delegate_to_chat_session", {"target_agent_id": "w3", "purpose": "Ask."}),
        ("delegate_to_chat_session", {"target_agent_id": "w1", "purpose": "Ask."}),
        ("request_task", {"assignee_id": "nobody", "title": "Paint"}),
        ("create_handoff", {"to_agent_id": "nobody", "summary": "x"}),
    ],
)
def test_a_wrong_id_is_answered_with_who_is_here(crew: World, name: str, arguments: dict[str, str]) -> None:
    process = worker(crew)
    if name == "create_handoff":
        arguments = {**arguments, "task_id": process.call("get_my_task")["task"]["task_id"]}
    instruction = process.refused(name, None, **arguments)["instruction"]
    assert "boss (manager)" in instruction
    assert "alice (person)" in instruction
    assert "w3" not in instruction


def test_in_a_chat_too(crew: World) -> None:
    crew.open_chat("w1")
    crew.say("w1", "hello")
    chat = crew.start_chat("w1")
    for name, more in (("send_message", {"content": "x"}), ("start_conversation", {"initial_message": "x"})):
        refusal = chat.refused(name, "agentNotFound", target_agent_id="nobody", **more)
        assert "w2 (worker)" in refusal["instruction"]


def test_somebody_inactive_is_not_among_them(crew: World) -> None:
    crew.owner.call("deactivate_agent", agent_id="w2")
    process = worker(crew)
    assert "w2" not in {member["agent_id"] for member in process.call("list_team")["members"]}
    refusal = process.refused("delegate_to_chat_session", "permissionDenied", target_agent_id="w2", purpose="Ask.")
    assert "w2" not in refusal["instruction"]
