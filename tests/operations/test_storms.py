"""Programs that always fail: how often they start, and who hears of it."""

from __future__ import annotations

from itertools import product

import pytest

from tests.stories import Answer, World
from toryo.failures import Failure

HOUR, LOOK = 3600, 30
"""Seconds, of the story and between two looks of its Coordinator."""
MOST = 6
LINE = 100
IN_LINE: dict[str, Answer] = {"in progress": {}, "in a queue": {"agent_type": "planning", "status": "todo"}}
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


@pytest.mark.deep
@pytest.mark.parametrize("signs_in", [False, True], ids=["before it signs in", "at work"])
@pytest.mark.parametrize("error", ["crashed", "service_failed", "quota", "not_logged_in"])
@pytest.mark.parametrize("line", ["in progress", "in a queue"])
def test_a_hundred_tasks_in_line_make_no_more_starts_than_one(
    world: World, line: str, error: str, signs_in: bool
) -> None:
    world.project(decomposition="never")
    world.person("ann")
    world.worker("w1", "ann", agent_type="planning", max_parallel_tasks=LINE)
    for number in range(LINE):
        if line == "in progress":
            world.task("w1", title=f"Part {number}")
        else:
            world.task(title=f"Part {number}", agent_type="planning", status="todo")
    assert 0 < starts_in_an_hour(world, error, None, signs_in=signs_in) <= MOST


@pytest.mark.first(4)
@pytest.mark.parametrize("signs_in", [False, True], ids=["before it signs in", "at work"])
@pytest.mark.parametrize("error", ["service_failed", "could_not_connect", "rate_limited", "coordinator_stopped"])
@pytest.mark.parametrize("line", ["in progress", "in a queue"])
def test_after_an_outage_of_an_hour_all_tasks_go_on_by_themselves_and_none_is_blocked(
    world: World, line: str, error: str, signs_in: bool
) -> None:
    world.project(decomposition="never")
    world.person("ann")
    for agent_id in ("w1", "w2"):
        world.worker(agent_id, "ann", agent_type="planning", max_parallel_tasks=2)
    tasks = [
        world.task(None if line == "in a queue" else f"w{number % 2 + 1}", title=f"Part {number}", **IN_LINE[line])
        for number in range(4)
    ]
    starts_in_an_hour(world, error, None, signs_in=signs_in)
    assert {world.status(task) for task in tasks} <= {"todo", "in_progress"}
    coordinator = world.coordinator()
    for _ in range(2 * HOUR // LOOK):
        for launch in coordinator.claim()["start"]:
            process = world.process(launch)
            process.sign_in()
            process.report()
            coordinator.exited(launch["launch_id"], exit_code=0)
        world.advance(LOOK)
    assert {world.status(task) for task in tasks} == {"completed"}


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
