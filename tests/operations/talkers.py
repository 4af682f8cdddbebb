"""What stories about talk need: who talks, a conversation under way, and processes that are lost."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories import Answer, Process, World
from toryo.domain.delegations import Delegation
from toryo.operations.calls.catalogue import Later
from toryo.storage.transaction import Transaction


def two(world: World, **settings: Any) -> None:
    """A project with two workers `a` and `b` that do their tasks themselves."""
    world.project(decomposition="never", **settings)
    world.worker("a")
    world.worker("b")


@pytest.fixture
def pair(world: World) -> World:
    """Two workers, `a` and `b`."""
    two(world)
    return world


def converse(world: World, **more: Any) -> tuple[Process, Process, str]:
    """`a` has begun a conversation with `b`, which has joined; it is `b`'s turn."""
    world.open_chat("a")
    a = world.start_chat("a")
    conversation = begin(a, "b", **more)
    b = world.start_chat("b")
    b.fetch()
    return a, b, conversation


def begin(agent: Process, target: str, **more: Any) -> str:
    """The agent begins a conversation with another."""
    asked = {"target_agent_id": target, "initial_message": "Shall we talk?", "purpose": "talk", **more}
    conversation: str = agent.call("start_conversation", **asked)["conversation_id"]
    return conversation


def stop(world: World, process: Process) -> None:
    """The process is ended from outside, in the middle of whatever it did; nothing cools down."""
    world.coordinator().exited(process.launch_id, error="coordinator_stopped")


def lose(world: World, *processes: Process) -> None:
    """Nobody hears of these processes any more until their leases are over."""
    world.advance(91)
    world.coordinator().claim(agent_ids=[])


def contents(answer: Answer) -> list[str]:
    """What a hand-out delivers."""
    return [pending_message["content"] for pending_message in answer["pending_messages"]]


def state(world: World, conversation_id: str) -> Answer:
    """A conversation as a person sees it."""
    found: Answer = world.owner.call("show_conversation", conversation_id=conversation_id)["conversation"]
    return found


def delegate(worker: Process, target: str = "b", **more: Any) -> str:
    """The task session has something said; answers the delegation's id."""
    asked = {"target_agent_id": target, "purpose": "Ask for the colour.", **more}
    delegation: str = worker.call("delegate_to_chat_session", **asked)["delegation_id"]
    return delegation


def delegation_of(world: World, delegation_id: str) -> Delegation:
    """A delegation as it is stored."""
    found = world.database.read(lambda connection: Transaction(connection).chat.delegation(delegation_id))
    assert found is not None
    return found


def waits(world: World, process: Process, name: str = "get_next_action") -> Later | None:
    """What the call would wait for; None if it answers at once."""
    return world.perform(name, {"timeout_seconds": 45}, process.credentials, may_wait=True).later
