"""Talking: a person with an agent, an agent with an agent, and a task that has something said."""

from __future__ import annotations

import pytest

from tests.stories import World
from toryo.domain.errors import Code


def two(world: World) -> None:
    world.project(decomposition="never")
    world.worker("a")
    world.worker("b")


def test_a_person_writes_and_the_agent_is_started_and_answers(world: World) -> None:
    two(world)
    asked = world.say("a", "What is your name?")
    assert world.why("a") == "hold no_in_progress_task"
    assert world.why_chat("a") == "start has_pending_purpose"
    agent = world.start_chat("a")
    assert agent.action() == "get_pending_messages"
    got = agent.fetch()
    assert [pending_message["content"] for pending_message in got["pending_messages"]] == ["What is your name?"]
    agent.call("respond_chat", message_id=asked, content="I am a.")
    assert [each["content"] for each in world.thread("a")] == ["What is your name?", "I am a."]
    assert agent.next()["reason"] == "user_closed_chat"
    assert world.why_chat("a") == "hold no_chat_work"


@pytest.mark.pitfall("F96")
def test_a_task_has_its_agents_talk_for_six_rounds_and_gets_the_result(world: World) -> None:
    two(world)
    task = world.task("a", title="Play shiritori with b")
    worker = world.start("a")
    delegated = worker.call("delegate_to_chat_session", target_agent_id="b", purpose="Play 6 rounds.")["delegation_id"]
    worker.refused("report_completed", Code.DELEGATION_OPEN, result="success", summary="early")
    assert worker.action() == "wait_for_delegation"
    a = world.start_chat("a")
    got = a.fetch()
    assert [delegation["delegation_id"] for delegation in got["pending_delegations"]] == [delegated]
    conversation = a.call(
        "start_conversation",
        target_agent_id="b",
        initial_message="ringo",
        purpose="shiritori",
        max_turns=12,
        delegation_id=delegated,
    )["conversation_id"]
    assert a.action() == "wait_for_messages"
    b = world.start_chat("b")
    for word in range(2, 13):
        player, other = (b, a) if word % 2 == 0 else (a, b)
        assert player.action() == "get_pending_messages"
        got = player.fetch()
        assert [each["your_turn"] for each in got["conversations"]] == [True]
        other.refused("respond_conversation_message", Code.NOT_YOUR_TURN, conversation_id=conversation, content="again")
        player.turn(conversation, f"word {word}")
    got = a.fetch()
    assert [each["reason"] for each in got["ended_conversations"]] == ["max_turns"]
    a.call("report_delegation_completed", delegation_id=delegated, result="b won")
    assert a.next()["reason"] == "user_closed_chat"
    assert [each["conversation_id"] for each in b.fetch()["ended_conversations"]] == [conversation]
    said = worker.call("get_task_conversations")
    assert len(said["conversations"][0]["messages"]) == 12
    assert {message["conversation_id"] for message in said["conversations"][0]["messages"]} == {conversation}
    assert said["conversations"][0]["state"] == "ended"
    step = worker.next()
    assert step["action"] == "execute_task"
    assert step["delegations"][0]["result"] == "b won"
    worker.report()
    assert world.status(task) == "completed"
