"""The sweep: what has run out is ended, once, and what lives is left alone."""

from __future__ import annotations

import pytest

from tests.stories import World


@pytest.mark.pitfall("F12")
def test_a_session_whose_lease_is_over_is_ended_and_its_task_stays_in_progress(world: World):
    world.crew(workers=2)
    task = world.task("w1")
    world.task("w2")
    world.start("w1")
    other = world.start("w2")
    world.advance(60)
    other.call("list_tasks")
    world.advance(31)
    world.housekeep()
    assert [session["agent_id"] for session in world.sessions()] == ["w2"]
    assert [launch["state"] for launch in world.launches(agent_id="w1")] == ["lost"]
    assert world.status(task) == "in_progress"


def test_an_order_that_nobody_signed_in_for_is_expired(world: World):
    world.crew(workers=1)
    world.task("w1")
    world.coordinator().action("w1")
    world.advance(121)
    world.housekeep()
    (launch,) = world.launches()
    assert (launch["state"], launch["end_reason"]) == ("expired", "not_signed_in")


def test_an_order_whose_process_was_seen_but_never_signed_in_cools_its_agent_down(world: World):
    world.crew(workers=1)
    world.task("w1")
    coordinator = world.coordinator()
    coordinator.starts()
    world.advance(60)
    coordinator.claim()
    world.advance(61)
    world.housekeep()
    assert world.why("w1") == "hold cooling_down"


def test_a_second_sweep_finds_nothing(world: World):
    world.crew(workers=1)
    world.task("w1")
    world.start("w1")
    world.advance(91)
    world.housekeep()
    before = world.events()
    world.housekeep()
    assert world.events() == before


def test_a_sweep_of_a_quiet_office_writes_nothing(world: World):
    world.crew(workers=1)
    world.task("w1")
    world.start("w1")
    before = world.rows()
    world.housekeep()
    assert world.rows() == before


def test_who_waits_for_a_place_is_woken_by_the_sweep(world: World):
    world.crew(workers=1)
    world.task("w1")
    world.start("w1")
    world.advance(91)
    world.hints.clear()
    world.housekeep()
    assert any("work" in hint for hint in world.hints)
