"""Stalls: a task in progress with parts that could be started, and nobody who does; reported once."""

from __future__ import annotations

import pytest

from tests.stories import World


def stalls(world: World) -> list[tuple[str, list[str]]]:
    return [(event["task_id"], event["data"]["startable"]) for event in world.events("task.stalled")]


@pytest.mark.pitfall("F71")
def test_startable_subtasks_that_nobody_starts_are_reported_once_and_named(world: World):
    """F71."""
    world.crew(workers=2)
    main = world.task("w1")
    parts = [world.task("w2", title=each, parent_task_id=main, status="todo") for each in ("One", "Two")]
    world.housekeep()
    assert stalls(world) == []
    world.advance(121)
    world.housekeep()
    world.housekeep()
    world.advance(600)
    world.housekeep()
    assert stalls(world) == [(main, parts)]


def test_a_stall_after_a_change_is_reported_again(world: World):
    world.crew(workers=2)
    main = world.task("w1")
    part = world.task("w2", title="One", parent_task_id=main, status="todo")
    world.advance(121)
    world.housekeep()
    world.move(part, "backlog")
    world.move(part, "todo")
    world.advance(121)
    world.housekeep()
    assert [each for each, _ in stalls(world)] == [main, main]


def test_where_somebody_works_there_is_no_stall(world: World):
    world.crew(workers=2)
    main = world.task("w1")
    world.task("w2", title="One", parent_task_id=main)
    world.task("w2", title="Two", parent_task_id=main, status="todo")
    world.advance(600)
    world.housekeep()
    assert stalls(world) == []


def test_where_a_session_is_signed_in_there_is_no_stall(world: World):
    world.crew(workers=2)
    main = world.task("w1")
    part = world.task("w2", title="One", parent_task_id=main, status="todo")
    process = world.start("w1")
    for _ in range(3):
        world.advance(80)
        process.call("list_tasks")
        world.housekeep()
    assert stalls(world) == []
    process.call("logout")
    world.advance(600)
    world.housekeep()
    assert stalls(world) == [(main, [part])]


def test_a_paused_project_does_not_stall(world: World):
    world.crew(workers=2)
    main = world.task("w1")
    part = world.task("w2", title="One", parent_task_id=main, status="todo")
    world.owner.call("pause_project", project_id=world.project_id)
    world.advance(600)
    world.housekeep()
    assert stalls(world) == []
    world.owner.call("resume_project", project_id=world.project_id)
    world.advance(600)
    world.housekeep()
    assert stalls(world) == [(main, [part])]


def test_the_stall_time_is_a_setting_of_the_project(world: World):
    world.crew(workers=2, stall_seconds=10)
    main = world.task("w1")
    world.task("w2", title="One", parent_task_id=main, status="todo")
    world.advance(11)
    world.housekeep()
    assert [each for each, _ in stalls(world)] == [main]
