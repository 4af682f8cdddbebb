"""Who wants to wait without ever having looked is told to look first: else what happens meanwhile would be lost.

A story on the whole path, because looks and news are loaded; `test_manager_rules.py` tries the tables themselves.
"""

from __future__ import annotations

from tests.stories import Process, World, fresh, quiet, world

__all__ = ["fresh", "quiet", "world"]


def in_a_hurry(world: World) -> Process:
    """boss has planned and started two subtasks without asking what comes next, and wants to wait."""
    world.crew(workers=2)
    world.task("boss")
    boss = world.start("boss")
    parts = boss.assigned({"Walls": "w1", "Roof": "w2"})
    boss.call("select_action", action="start")
    for part in parts:
        boss.set(part, "in_progress")
    told = boss.refused("select_action", "notNow", action="wait")
    assert told["next"]["action"] == "get_next_action"
    return boss


def test_a_wait_without_a_look_is_refused_and_chosen_after_it(world: World) -> None:
    boss = in_a_hurry(world)
    assert boss.action() == "situational_awareness"
    boss.call("select_action", action="wait")
    assert boss.action() == "wait"


def test_a_block_wakes_it_after_that(world: World) -> None:
    boss = in_a_hurry(world)
    boss.next()
    boss.call("select_action", action="wait")
    boss.next()
    world.start("w1").report("blocked", summary="no bricks")
    assert world.coordinator().reason("boss") == "start worker_blocked"


def test_a_block_before_its_first_look_is_seen_at_it(world: World) -> None:
    boss = in_a_hurry(world)
    world.start("w1").report("blocked", summary="no bricks")
    assert boss.action() == "situational_awareness"
    boss.call("select_action", action="wait")
    assert boss.action() == "wait"
    assert world.coordinator().reason("boss") == "hold handled_blocked"
