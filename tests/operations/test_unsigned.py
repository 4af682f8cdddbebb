"""Launches that nobody has signed in for: why, as far as their programs tell, and how people end them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.stories import Answer, Coordinator, World
from toryo.domain.times import parse


@pytest.fixture
def crew(world: World) -> World:
    world.crew(workers=2)
    world.task("w1")
    return world


def seen(world: World, coordinator: Coordinator) -> Answer:
    """A launch of w1 whose process is there and has not signed in."""
    (launch,) = coordinator.claim(agent_ids=["w1"])["start"]
    coordinator.running = [launch["launch_id"]]
    assert coordinator.claim(agent_ids=["w1"])["stop"] == []
    return dict(launch)


def given_up(world: World, coordinator: Coordinator) -> Answer:
    launch = seen(world, coordinator)
    world.advance(121)
    (stop,) = coordinator.claim(agent_ids=["w1"])["stop"]
    assert stop == {"launch_id": launch["launch_id"], "reason": "not_signed_in", "grace_seconds": 0}
    coordinator.running = []
    return launch


def why(world: World) -> Answer:
    (said,) = (
        decision for decision in world.owner.call("why", agent_id="w1")["decisions"] if decision["purpose"] == "task"
    )
    return dict(said)


# --- why it did not sign in -------------------------------------------------------------------------------------------


def test_a_process_that_did_not_sign_in_in_time_gets_no_more_time_and_its_slot_is_free_with_its_end(crew: World):
    given_up(crew, crew.coordinator())
    assert why(crew)["facts"]["cooldown"] == "could_not_connect"


def test_what_its_model_had_said_is_why_it_did_not_sign_in_and_people_are_told(crew: World):
    coordinator = crew.coordinator()
    launch = given_up(crew, coordinator)
    before = why(crew)
    until = coordinator.exited(launch["launch_id"], signal=2, error="not_logged_in: authentication_failed")
    said = why(crew)
    assert said["facts"]["cooldown"] == "not_logged_in"
    assert "authentication_failed" in said["explanation"]
    assert parse(said["until"]) == parse(until["cooling_down_until"]) == parse(before["until"]), "it failed once"
    items = [item for item in crew.owner.call("needs_you")["items"] if item["kind"] == "agent_cannot_start"]
    assert [item["agent_id"] for item in items] == ["w1"]
    assert "authentication_failed" in items[0]["text"]


@pytest.mark.parametrize("reason", ["not_logged_in", "rate_limited", "service_failed", "quota"])
def test_another_program_stands_in_as_soon_as_the_cause_is_known(crew: World, reason: str):
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": {"provider": "gemini"}})
    coordinator = crew.coordinator()
    launch = given_up(crew, coordinator)
    assert coordinator.claim(agent_ids=["w1"])["start"] == []
    coordinator.exited(launch["launch_id"], signal=2, error=f"{reason}: no")
    (again,) = coordinator.claim(agent_ids=["w1"])["start"]
    assert again["ai_type"] == "gemini"


def test_the_time_that_its_service_named_is_waited_for(crew: World):
    coordinator = crew.coordinator()
    launch = given_up(crew, coordinator)
    answer = coordinator.exited(launch["launch_id"], signal=2, error="rate_limited: later", quota_reset_seconds=600)
    assert parse(answer["cooling_down_until"]) - crew.now == 660_000


@pytest.mark.parametrize("error", ["stopped", "could_not_connect: no such server"])
def test_an_end_that_tells_nothing_new_counts_as_one_failure(crew: World, error: str):
    coordinator = crew.coordinator()
    launch = given_up(crew, coordinator)
    coordinator.exited(launch["launch_id"], signal=2, error=error)
    assert [event["data"]["failures"] for event in crew.events("agent.cooling_down")][-1] == 1
    assert why(crew)["facts"]["cooldown"] == "could_not_connect"


def test_what_is_known_too_late_changes_nothing(crew: World):
    coordinator = crew.coordinator()
    launch = given_up(crew, coordinator)
    crew.advance(61)
    coordinator.exited(launch["launch_id"], signal=2, error="rate_limited: later", quota_reset_seconds=600)
    assert why(crew)["action"] == "start"


# --- ended by people --------------------------------------------------------------------------------------------------


def cancel(world: World) -> None:
    world.move(world.launches(agent_id="w1")[0]["task_id"], "cancelled")


def block(world: World) -> None:
    world.move(world.launches(agent_id="w1")[0]["task_id"], "blocked", "not now")


def pause(world: World) -> None:
    world.owner.call("pause_project", project_id=world.launches()[0]["project_id"])


def deactivate(world: World) -> None:
    world.owner.call("deactivate_agent", agent_id="w1")


def end(world: World) -> None:
    world.owner.call("end_session", session_id=world.launches(agent_id="w1")[0]["launch_id"])


WORDS = {
    "task_withdrawn": (cancel, block),
    "project_paused": (pause,),
    "agent_inactive": (deactivate,),
    "ended_by_person": (end,),
}


@pytest.mark.parametrize(("reason", "act"), [(reason, act) for reason, acts in WORDS.items() for act in acts])
def test_a_launch_that_has_not_signed_in_ends_at_once_when_people_end_what_it_was_for(
    crew: World, reason: str, act: Callable[[World], None]
):
    coordinator = crew.coordinator()
    launch = seen(crew, coordinator)
    act(crew)
    (stop,) = coordinator.claim(agent_ids=["w1"])["stop"]
    assert stop == {"launch_id": launch["launch_id"], "reason": reason, "grace_seconds": 0}
    assert crew.process(launch).refused("authenticate", "sessionExpired")["action"] == "exit"
    answer = coordinator.exited(launch["launch_id"], signal=2, error="stopped")
    assert answer["cooling_down_until"] is None, "it was nobody's fault"


def test_whoever_ends_a_start_by_its_launch_ends_the_session_of_one_that_has_signed_in(crew: World):
    worker = crew.start("w1")
    assert crew.owner.call("end_session", session_id=worker.launch_id)["ended"] is True
    assert crew.sessions() == []


def test_why_names_the_launch_that_has_not_signed_in(crew: World):
    launch = seen(crew, crew.coordinator())
    assert why(crew)["facts"]["launch_id"] == launch["launch_id"]
