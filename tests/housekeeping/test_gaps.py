"""A server that was not there for a while (its machine slept, its process was stopped, its clock jumped, it was started
again) ends nothing before everybody has had a lease's time to speak. Who alone is silent is gone as always."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from tests.operations.talkers import begin
from tests.stories import Caller, Coordinator, Process, World
from toryo.operations.calls.grants import Door
from toryo.operations.launches import after_a_gap

NIGHT = 9 * 3600
ENDS = (
    "agent.offline",
    "claim.lost",
    "conversation.ended",
    "conversation.expired",
    "delegation.failed",
    "launch.lost",
    "launch.expired",
    "message.nobody_came",
    "session.ended",
    "session.stopped",
    "task.no_agent",
    "task.stalled",
)
"""What time alone may do to somebody."""


def watching(world: World) -> World:
    """The server's own clock is watched from now on, as in a running server."""
    world.dispatcher.watch_for_gaps(after_a_gap.count_as_heard)
    return world


def quiet(world: World, seconds: int) -> None:
    """Time in which the server runs and nobody calls."""
    for _ in range(0, seconds, 5):
        world.advance(5)
        world.dispatcher.notice_gap()
        world.housekeep()


def busy(world: World) -> tuple[Coordinator, Process, Caller]:
    """Everything that time could end: a session, an order, a queue claim, a panel and its chat, an invitation."""
    world.crew(workers=3, decomposition="never")
    coordinator = world.coordinator()
    world.task("w2")
    working = world.start("w2")
    world.open_chat("w3")
    chat = world.start_chat("w3")
    begin(chat, "w2")
    coordinator.running += [working.launch_id, chat.launch_id]
    world.task("w1")
    assert coordinator.starts(agent_ids=["w1"]) == ["w1"]
    key = world.owner.call("make_api_key", project_id=world.project_id, agent_id="planner", types=["plan"])
    planner = Caller(world, key["token"])
    planner.call("register_agent", agent_id="planner", agent_type="plan")
    planner.call("heartbeat", agent_id="planner")
    world.owner.call("file_task", project_id=world.project_id, title="Plan", agent_type="plan")
    assert len(planner.call("poll_tasks", agent_id="planner")["result"]) == 1
    return coordinator, working, planner


@pytest.mark.both
@pytest.mark.parametrize(
    "first", ["the sweep", "another Coordinator", "a queue agent", "a person", "a client on the loop"]
)
def test_after_a_night_of_sleep_nothing_is_ended_whoever_speaks_first(world: World, first: str) -> None:
    coordinator, working, planner = busy(watching(world))
    before = len(world.events(*ENDS))
    world.advance(NIGHT)
    on_its_loop = partial(world.dispatcher.perform_async, door=Door.OWN)
    said: dict[str, Any] = {
        "the sweep": world.housekeep,
        "another Coordinator": lambda: world.coordinator("c2").claim(),
        "a queue agent": lambda: planner.call("poll_tasks", agent_id="planner"),
        "a person": lambda: world.owner.call("list_sessions"),
        "a client on the loop": lambda: asyncio.run(on_its_loop("list_sessions", {}, world.owner.credentials)),
    }
    said[first]()
    quiet(world, 40)
    assert [each["kind"] for each in world.events(*ENDS)[before:]] == []
    coordinator.claim()
    planner.call("heartbeat", agent_id="planner")
    quiet(world, 80)
    assert working.call("report_completed", result="success", summary="Done.")["success"]


@pytest.mark.parametrize("jump", [NIGHT, -NIGHT])
def test_who_does_not_speak_after_a_jump_of_the_clock_is_gone_after_one_lease(world: World, jump: int) -> None:
    world.crew(workers=1)
    world.task("w1")
    world.start("w1")
    watching(world)
    world.advance(jump)
    quiet(world, 85)
    assert len(world.sessions()) == 1
    quiet(world, 10)
    assert world.sessions() == []


def test_a_coordinator_that_alone_is_silent_is_gone_as_always(world: World) -> None:
    world.crew(workers=2)
    world.task("w1")
    watching(world)
    world.start("w1")
    other = world.coordinator("c2")
    for _ in range(17):
        world.advance(5)
        other.claim()
    assert len(world.sessions()) == 1
    world.advance(6)
    assert other.starts() == ["w1"]


def test_a_server_that_is_started_again_gives_everybody_one_lease(world: World) -> None:
    world.crew(workers=1)
    world.task("w1")
    process = world.start("w1")
    world.advance(600)
    world.restart()
    watching(world)
    assert world.coordinator("c2").starts() == []
    world.housekeep()
    assert process.call("report_completed", result="success", summary="Done.")["success"]


def test_a_check_that_its_coordinator_runs_is_given_to_no_other_after_a_gap(world: World) -> None:
    world.crew(workers=1, required_checks=[{"command": "make test"}])
    world.task("w1")
    coordinator = world.coordinator()
    (launch,) = coordinator.claim()["start"]
    process = world.process(launch)
    process.sign_in()
    process.call("report_model", provider="claude", model_id="model-1")
    process.call("get_my_task")
    process.ask("report_completed", result="success", summary="Done.")
    watching(world)
    assert len(coordinator.claim(running=[launch["launch_id"]])["checks"]) == 1
    world.advance(NIGHT)
    assert world.coordinator("c2").claim()["checks"] == []
