"""Programs that always fail: how often they start, and who hears of it."""

from __future__ import annotations

from itertools import product

import pytest

from tests.stories import World
from toryo.failures import Failure

HOUR, LOOK = 3600, 30
"""Seconds, of the story and between two looks of its Coordinator."""
MOST = 6
SEEN_BY_COORDINATORS = [
    each.value for each in Failure if each not in (Failure.RUNAWAY, Failure.SILENT, Failure.TIME_LIMIT)
]
NAMED = (None, 1, 61)
"""Seconds until the next request is accepted, as the message of a program says again and again."""


def starts_in_an_hour(world: World, error: str, seconds: int | None, *, signs_in: bool) -> int:
    """Of one agent whose program always ends so."""
    coordinator = world.coordinator()
    end = {"exit_code": 1, "error": f"{error}: the words of it", "log_tail": "Traceback\nIt is broken.\n"}
    if seconds is not None:
        end["quota_reset_seconds"] = seconds
    until, count = world.now + HOUR * 1000, 0
    while world.now < until:
        for launch in coordinator.claim()["start"]:
            count += 1
            if signs_in:
                world.process(launch).sign_in()
            coordinator.exited(launch["launch_id"], **end)
        world.advance(LOOK)
    return count


@pytest.mark.first(6)
@pytest.mark.parametrize(("error", "seconds"), [*product(SEEN_BY_COORDINATORS, NAMED)])
def test_a_program_that_always_fails_starts_at_most_six_times_in_the_first_hour(
    world: World, error: str, seconds: int | None
) -> None:
    world.crew(workers=1)
    for _ in range(3):
        world.task("w1", status="todo")
    world.task("w1")
    assert starts_in_an_hour(world, error, seconds, signs_in=False) <= MOST


@pytest.mark.first(2)
@pytest.mark.parametrize(
    ("error", "seconds"), [*product(("crashed", "service_failed", "rate_limited", "quota"), NAMED)]
)
def test_it_is_so_too_when_it_signs_in_before_it_fails(world: World, error: str, seconds: int | None) -> None:
    world.crew(workers=1)
    world.task("w1")
    assert starts_in_an_hour(world, error, seconds, signs_in=True) <= MOST


def told(world: World) -> list[str]:
    found = world.owner.call("needs_you")["items"]
    return [f"{each['title']} | {each['text']}" for each in found if each["kind"] == "agent_cannot_start"]


@pytest.mark.parametrize("error", ["crashed", "killed", "service_failed", "could_not_connect", "rate_limited"])
def test_the_third_failure_in_a_row_is_told_with_what_the_program_said_last_until_it_works_again(
    world: World, error: str
) -> None:
    world.crew(workers=1)
    world.task("w1")
    coordinator = world.coordinator()
    for number in range(4):
        (launch,) = coordinator.claim()["start"]
        assert len(told(world)) == (number >= 3)
        if number == 3:
            world.process(launch).sign_in()
            assert told(world) == []
            return
        coordinator.exited(launch["launch_id"], exit_code=1, error=error, log_tail="Much before\nIt is broken.\nEnd.\n")
        world.advance(HOUR)
    pytest.fail("it was not started again")


@pytest.mark.parametrize(("names", "margin"), [(600, 60), (5 * 3600, 180), (6 * 86400, 180)])
def test_a_used_up_quota_is_waited_for_as_long_as_named_and_at_most_three_minutes_longer(
    world: World, names: int, margin: int
) -> None:
    world.crew(workers=1)
    world.task("w1")
    coordinator = world.coordinator()
    (launch,) = coordinator.claim()["start"]
    coordinator.exited(launch["launch_id"], exit_code=1, error="quota: used up", quota_reset_seconds=names)
    world.advance(names + margin - 1)
    assert coordinator.claim()["start"] == []
    world.advance(2)
    assert len(coordinator.claim()["start"]) == 1


def test_a_full_disk_is_no_mistake_of_a_configuration_and_the_agent_goes_on_by_itself(world: World) -> None:
    world.crew(workers=1)
    task = world.task("w1")
    coordinator = world.coordinator()
    (launch,) = coordinator.claim()["start"]
    coordinator.exited(launch["launch_id"], error="machine_failed", log_tail="No space left on device: /srv/x")
    (need,) = [each for each in world.owner.call("needs_you")["items"] if each["kind"] == "agent_cannot_start"]
    assert "No space left on device" in need["text"]
    assert "configur" not in f"{need['title']} {need['text']}"
    world.advance(67)
    world.start("w1").report()
    assert world.status(task) == "completed"


@pytest.mark.parametrize("error", ["bad_worktree", "bad_directory", "bad_setup"])
def test_a_fault_of_a_project_holds_an_agent_in_that_project_only(world: World, error: str) -> None:
    world.crew(workers=1)
    here, other = world.project_id, world.project(name="Garden")
    world.owner.call("add_member", project_id=other, agent_id="w1")
    world.task("w1")
    coordinator = world.coordinator()
    (launch,) = coordinator.claim(free_slots=1)["start"]
    coordinator.exited(launch["launch_id"], error=error, log_tail="no")
    assert coordinator.claim()["start"] == []
    world.owner.call("file_task", project_id=other, title="Dig", assignee_id="w1", status="in_progress")
    (launch,) = coordinator.claim()["start"]
    assert launch["project_id"] == other
    world.process(launch).sign_in()
    coordinator.exited(launch["launch_id"], exit_code=1, error="stopped")
    assert [each["project_id"] for each in coordinator.claim()["start"]] == [other], "the fault is still there"
    world.advance(61)
    assert here in [each["project_id"] for each in coordinator.claim()["start"]]
