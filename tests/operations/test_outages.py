"""Outages of what agents' programs depend on: for however long, no task is blocked by them, and none is lost."""

from __future__ import annotations

import pytest

from tests.stories import World
from toryo.failures import NATURES, Failure

NIGHT, LOOK = 12 * 3600, 600
"""Seconds, of the outage and between two looks of its Coordinator."""
OUTAGES = [each.value for each in (*(f for f, nature in NATURES.items() if nature.outside and not nature.logged),)]


def a_night_of(world: World, error: str) -> int:
    """Every launch works for a moment, and ends so; answers how many there were."""
    coordinator, count = world.coordinator(), 0
    until = world.now + NIGHT * 1000
    while world.now < until:
        for launch in coordinator.claim()["start"]:
            count += 1
            process = world.process(launch)
            process.sign_in()
            process.call("get_my_task")
            coordinator.exited(launch["launch_id"], exit_code=1, error=f"{error}: the words of it")
        world.advance(LOOK)
    return count


@pytest.mark.parametrize("error", OUTAGES)
def test_no_task_is_blocked_by_an_outage_of_a_night(world: World, error: str) -> None:
    world.crew(workers=1)
    task = world.task("w1")
    assert a_night_of(world, error) >= 5
    assert world.status(task) == "in_progress"
    world.owner.call("resume_agent", agent_id="w1")
    world.start("w1").report()
    assert world.status(task) == "completed"


def test_the_fifth_launch_that_crashes_at_work_on_a_task_blocks_it_and_people_hear_of_it(world: World) -> None:
    world.crew(workers=1)
    task = world.task("w1")
    assert a_night_of(world, "crashed") == 5
    assert world.status(task) == "blocked"
    assert [each["task_id"] for each in world.owner.call("needs_you")["items"] if each.get("task_id")] == [task]


def test_which_failures_are_outages_is_declared() -> None:
    """What counts against a task is what its agent, or its program on that task, did itself."""
    assert {Failure.SERVICE_FAILED, Failure.RATE_LIMITED, Failure.QUOTA, Failure.NOT_LOGGED_IN} <= {
        Failure(each) for each in OUTAGES
    }
    assert Failure.CRASHED.value not in OUTAGES
