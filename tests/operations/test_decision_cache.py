"""What a server remembers of holds never keeps anybody from being started: whatever could change the answer is seen."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from tests.stories import Process, World
from toryo.operations.launches import launch_decisions
from toryo.storage import snapshots
from toryo.storage.tasks import Tasks


def leave_waiting(world: World, **assigned: str | None) -> list[str]:
    """`boss` starts what it can of these subtasks and leaves to wait; a Coordinator has seen that it waits."""
    boss = world.start("boss")
    ids = boss.assigned(dict(assigned))
    for each in ids:
        boss.ask("update_task_status", task_id=each, status="in_progress")
    boss.wait()
    world.advance(121)
    assert "boss" not in world.coordinator().starts()
    return ids


def watched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The agents about whom a decision is made from here on."""
    asked: list[str] = []
    decide = launch_decisions.decide

    def counted(call, agent_id, *args, **more):
        asked.append(agent_id)
        return decide(call, agent_id, *args, **more)

    monkeypatch.setattr(launch_decisions, "decide", counted)
    return asked


def test_a_claim_decides_anew_only_about_whom_something_has_changed(world: World, monkeypatch: pytest.MonkeyPatch):
    world.crew(workers=1)
    world.task("boss")
    leave_waiting(world, Walls="w1")
    asked = watched(monkeypatch)
    world.coordinator().claim()
    assert "boss" not in asked
    world.owner.call(
        "edit_task",
        task_id=world.owner.call("list_project_tasks", project_id=world.project_id)["tasks"][0]["id"],
        title="Other",
    )
    world.coordinator().claim()
    assert "boss" in asked


def test_a_finished_worker_wakes_its_manager_through_a_claim(world: World):
    world.crew(workers=1)
    world.task("boss")
    leave_waiting(world, Walls="w1")
    worker_of(world).report()
    assert world.coordinator().starts() == ["boss"]


def worker_of(world: World) -> Process:
    """`w1`, signed in for the start that the Coordinator is handed out again."""
    start = next(each for each in world.coordinator().claim()["start"] if each["agent_id"] == "w1")
    process = world.process(start)
    process.sign_in()
    return process


def test_a_dependency_that_is_completed_in_another_tree_wakes_the_manager(world: World):
    world.crew(workers=2)
    outside = world.task("w2", title="Wood")
    world.task("boss")
    boss = world.start("boss")
    walls, roof = boss.assigned({"Walls": "w1", "Roof": "w1"})
    boss.call("update_task_dependencies", task_id=roof, add_dependencies=[outside])
    boss.begin(walls)
    worker = world.start("w1")
    boss.wait()
    worker.report()
    world.advance(1)
    assert "boss" not in world.coordinator().starts()
    world.owner.call("move_task", task_id=outside, status="completed")
    assert "boss" in world.coordinator().starts()


def test_a_worker_who_is_free_again_wakes_the_manager_that_was_held_by_its_limit(world: World):
    world.crew(workers=1)
    elsewhere = world.task("w1", title="Another house")
    world.task("boss")
    leave_waiting(world, Walls="w1")
    world.owner.call("move_task", task_id=elsewhere, status="completed")
    assert "boss" in world.coordinator().starts()


def test_a_worker_who_is_made_inactive_wakes_the_manager(world: World):
    world.crew(workers=1)
    world.task("boss")
    leave_waiting(world, Walls="w1")
    world.owner.call("deactivate_agent", agent_id="w1")
    assert "boss" in world.coordinator().starts()


def test_a_hold_is_looked_at_again_after_a_minute_whatever_was_remembered(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    world.crew(workers=1)
    world.task("boss")
    leave_waiting(world, Walls="w1")
    asked = watched(monkeypatch)
    world.advance(61)
    world.coordinator().claim()
    assert "boss" in asked


def test_the_first_look_reads_the_trees_of_all_who_wait_together(world: World, monkeypatch: pytest.MonkeyPatch):
    world.crew(workers=0)
    world.agent("other", "manager")
    world.agent("third", "manager")
    for name in ("boss", "other", "third"):
        world.task(name)
    read: list[list[str]] = []
    reads = Tasks._read

    def counted(tasks: Tasks, roots: list[str]) -> None:
        read.append(roots)
        reads(tasks, roots)

    world.database.write(lambda connection: connection.unit.forget())  # as a server that has just started
    monkeypatch.setattr(Tasks, "_read", counted)
    assert sorted(world.coordinator().starts()) == ["boss", "other", "third"]
    assert sum(len(roots) for roots in read) == 3
    assert len(read) == 1


def test_what_a_decision_has_read_is_freed_with_its_call_without_the_collector(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    world.crew(workers=1)
    world.task("boss")
    boss = world.start("boss")
    loaded: list[weakref.ref[Any]] = []
    load = snapshots.load

    def noted(*asked: Any) -> Any:
        found = load(*asked)
        loaded.append(weakref.ref(found))
        return found

    monkeypatch.setattr(snapshots, "load", noted)
    gc.disable()
    try:
        boss.ask("get_next_action")
        world.coordinator().claim()
        assert loaded
        assert [each() for each in loaded] == [None] * len(loaded)
    finally:
        gc.enable()
