"""Who is started: exactly one of many askers is told so, in order, and for nothing that is not there."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from tests.stories import COORDINATOR_TOKEN, Answer, Caller, World
from toryo.operations.calls.callers import Credentials
from toryo.storage.open_database import open_database, upgrade

pytestmark = pytest.mark.both

ASKERS = 50


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """All of them at the same moment, each in a thread of its own; their results in order."""
    gate = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        gate.wait(timeout=100)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def asking(world: World) -> Callable[[], Answer]:
    def ask() -> Answer:
        outcome = world.dispatcher.perform(
            "get_agent_action", {"agent_id": "w1"}, Credentials(bearer=COORDINATOR_TOKEN)
        )
        assert outcome.result is not None
        return outcome.result

    return ask


@pytest.mark.pitfall("F21")
def test_of_fifty_who_ask_at_once_exactly_one_is_told_to_start(world: World):
    world.crew(workers=1)
    world.task("w1")
    answers = at_once(*[asking(world)] * ASKERS)
    assert [answer["action"] for answer in answers].count("start") == 1
    assert {answer["reason"] for answer in answers if answer["action"] == "hold"} == {"start_pending"}
    assert len(world.launches()) == 1


@pytest.mark.pitfall("F21")
@pytest.mark.postgresql
def test_of_fifty_who_ask_two_servers_at_once_exactly_one_is_told_to_start(postgres_empty: str, quiet: None):
    """Two servers on one PostgreSQL, each with connections of its own."""
    with open_database(postgres_empty) as one, open_database(postgres_empty) as other:
        upgrade(one)
        worlds = [World(one), World(other, seed=1)]
        worlds[0].crew(workers=1)
        worlds[0].task("w1")
        answers = at_once(*[asking(world) for _ in range(ASKERS // 2) for world in worlds])
        assert [answer["action"] for answer in answers].count("start") == 1
        assert len(worlds[1].launches()) == 1


def test_of_many_who_sign_in_by_passkey_at_once_exactly_one_comes_in(world: World):
    world.crew(workers=1)
    world.task("w1")

    def sign_in() -> Answer:
        outcome = world.dispatcher.perform(
            "authenticate", {"agent_id": "w1", "passkey": world.passkeys["w1"]}, Credentials()
        )
        assert outcome.result is not None
        return outcome.result

    answers = at_once(*[sign_in] * 16)
    assert [answer["success"] for answer in answers].count(True) == 1
    assert {answer["error"] for answer in answers if not answer["success"]} == {"Agent already running"}
    assert len(world.sessions()) == 1


def test_many_coordinators_that_claim_at_once_share_the_starts_and_double_none(world: World):
    world.crew(workers=6)
    for number in range(1, 7):
        world.task(f"w{number}")

    def claim(name: str) -> Callable[[], list[str]]:
        def ask() -> list[str]:
            outcome = world.dispatcher.perform(
                "claim_starts", {"coordinator_id": name, "free_slots": 2}, Credentials(bearer=COORDINATOR_TOKEN)
            )
            assert outcome.result is not None
            return [each["agent_id"] for each in outcome.result["start"]]

        return ask

    claimed = at_once(*[claim(f"c{number}") for number in range(8)])
    assert sorted(agent for each in claimed for agent in each) == [f"w{number}" for number in range(1, 7)]
    assert all(len(each) <= 2 for each in claimed)


def test_an_order_that_nobody_signs_in_for_expires_and_the_next_asker_starts(world: World):
    world.crew(workers=1)
    world.task("w1")
    coordinator = world.coordinator()
    first = coordinator.action("w1")["launch"]
    world.advance(119)
    assert coordinator.reason("w1") == "hold start_pending"
    world.advance(2)
    second = coordinator.action("w1")["launch"]
    assert second["launch_id"] != first["launch_id"]
    refusal = world.process(first).refused("authenticate", "sessionExpired")
    assert refusal["action"] == "exit"
    world.process(second).sign_in()


def test_why_tells_until_when_an_order_is_waited_for(world: World):
    world.crew(workers=1)
    world.task("w1")
    world.coordinator().action("w1")
    said = world.owner.call("why", agent_id="w1")["decisions"][0]
    assert (said["reason"], said["row"]) == ("start_pending", "6")
    assert 118 <= said["seconds_left"] <= 120


def test_asking_for_a_project_that_is_not_there_is_refused(world: World):
    world.crew(workers=1)
    world.coordinator().refused("get_agent_action", "projectNotFound", agent_id="w1", project_id="prj_none")


def test_an_agent_that_is_not_known_is_held(world: World):
    world.crew(workers=1)
    assert world.coordinator().reason("nobody") == "hold agent_not_assigned"


@pytest.mark.pitfall("F73")
def test_a_blocked_task_alone_starts_nobody_and_another_in_progress_does(world: World):
    """F73."""
    world.crew(workers=1)
    blocked = world.task("w1")
    world.move(blocked, "blocked", "no stone")
    assert world.coordinator().reason("w1") == "hold blocked_without_in_progress"
    world.task("w1", title="Another")
    assert world.coordinator().reason("w1") == "start has_in_progress_task"


@pytest.mark.pitfall("F84")
def test_the_launch_is_for_the_first_main_task_by_priority_then_age(world: World):
    """F84."""
    world.project()
    world.worker("w1", max_parallel_tasks=4)
    tasks = {each: world.task("w1", title=each, priority=each) for each in ("low", "medium", "high", "urgent")}
    for wanted in ("urgent", "high", "medium", "low"):
        process = world.start("w1")
        assert process.call("get_my_task")["task"]["task_id"] == tasks[wanted]
        process.report()


@pytest.mark.pitfall("F40")
def test_one_agent_that_cannot_be_started_keeps_nobody_else_from_it(world: World):
    """F40: the failed start cools down that agent alone."""
    world.crew(workers=2)
    world.task("w1")
    world.task("w2")
    coordinator = world.coordinator()
    first, _ = coordinator.claim()["start"]
    coordinator.exited(first["launch_id"], error="command_not_found: no claude here")
    assert coordinator.reason("w1") == "hold cooling_down"
    coordinator.exited(world.launches(agent_id="w2")[0]["launch_id"], error="stopped")
    assert coordinator.reason("w2") == "start has_in_progress_task"


@pytest.mark.pitfall("F47")
def test_changes_of_provider_model_and_passkey_hold_from_the_next_start(world: World):
    """F47."""
    world.crew(workers=1)
    world.task("w1")
    world.owner.call("edit_agent", agent_id="w1", provider="gemini", model="flash")
    launch = world.coordinator().action("w1")["launch"]
    assert (launch["ai_type"], launch["model"]) == ("gemini", "flash")
    new = world.owner.call("renew_passkey", agent_id="w1")["passkey"]
    nobody = Caller(world, None)
    nobody.refused("authenticate", "invalidCredentials", agent_id="w1", passkey=world.passkeys["w1"])
    nobody.call("authenticate", agent_id="w1", passkey=new)


def test_a_coordinator_for_which_nothing_is_due_asks_again_in_ten_seconds(world: World) -> None:
    world.crew(workers=1)
    assert world.coordinator().claim(free_slots=1)["next_check_seconds"] == 10
