"""Whoever leaves because it was told to loses nothing by it: no attempt of a queue task, no cooldown, no strike."""

from __future__ import annotations

from typing import Any

import pytest

from tests.invariants import hold
from tests.obedience import crew_works, obedient
from tests.operations.test_queue import filed, key
from tests.stories import Caller, Process, World
from toryo.domain.task_tree import Tree
from toryo.settings import GuardSettings, Settings
from toryo.storage import schema, snapshots
from toryo.storage.engine.database import Database
from toryo.storage.tasks import Tasks


def crew_with_queue(world: World, **settings: Any) -> tuple[Caller, str]:
    """w1, below a manager, serves a queue with one task; its orchestrator, and that task."""
    world.project(**settings)
    world.manager()
    world.worker("w1", "boss", agent_type="planning")
    world.worker("w2", "boss")
    chief = key(world, "chief", orchestrator=True)
    return chief, filed(chief, max_attempts=3)


def waited(world: World, process: Process) -> None:
    """It is told to wait for others, and its process has ended."""
    assert process.action() == "wait_for_others"
    world.coordinator().exited(process.launch_id, exit_code=0)


def attempts(chief: Caller, task: str) -> tuple[str, int]:
    shown = chief.call("get_task_status", task_id=task)
    return shown["status"], shown["attempt"]


def test_who_waits_for_an_approval_keeps_its_queue_task_and_is_started_again_when_it_comes(world: World) -> None:
    chief, task = crew_with_queue(world, approvals="all")
    world.owner.call("approve_task", task_id=task)
    process = world.start("w1")
    (part,) = process.batch("A part")
    waited(world, process)
    for _ in range(4):
        world.advance(3600)
        world.housekeep()
        assert world.coordinator().starts() == []
        assert world.why("w1") == "hold waiting_for_workers"
    hold(world)
    world.owner.call("approve_task", task_id=part)
    assert world.why("w1") == "start has_in_progress_task"
    crew_works(world, "w1")
    assert attempts(chief, task) == ("completed", 1)
    assert world.events("claim.lost") == []


def test_who_waits_for_a_delegation_keeps_its_queue_task(world: World) -> None:
    chief, task = crew_with_queue(world, decomposition="never")
    (launch,) = world.coordinator().claim()["start"]
    obedient(world, launch, delegates="w2").run()
    world.coordinator().exited(launch["launch_id"], exit_code=0)
    assert world.why("w1") == "hold waiting_for_delegation"
    assert crew_works(world) <= 60
    assert attempts(chief, task) == ("completed", 1)
    assert len([each for each in world.launches(agent_id="w1") if each["purpose"] == "task"]) == 2


def test_who_waits_for_anothers_part_of_its_queue_task_does_not_take_it_out_of_the_others_hands(world: World) -> None:
    chief, task = crew_with_queue(world, decomposition="never")
    process = world.start("w1")
    part = world.task("w2", parent_task_id=task, title="A part")
    other = world.start("w2")
    waited(world, process)
    assert (world.status(part), world.status(task)) == ("in_progress", "in_progress")
    other.report()
    crew_works(world)
    assert attempts(chief, task) == ("completed", 1)


def test_pauses_cost_a_queue_task_no_attempt_and_its_agent_resumes_it(world: World) -> None:
    chief, task = crew_with_queue(world, decomposition="never")
    for _ in range(4):
        process = world.start("w1")
        world.owner.call("pause_project", project_id=world.project_id)
        assert process.next()["action"] == "get_notifications"
        process.call("get_notifications")
        assert process.next()["reason"] == "project_paused"
        world.coordinator().exited(process.launch_id, exit_code=0)
        world.advance(600)
        world.housekeep()
        world.owner.call("resume_project", project_id=world.project_id)
    process = world.start("w1")
    assert process.call("get_my_task")["task"]["resumed"]
    process.report()
    assert attempts(chief, task) == ("completed", 1)
    hold(world)


def test_a_manager_that_waits_for_the_parts_of_a_queue_task_is_woken_by_them(world: World) -> None:
    world.project(decomposition="never")
    world.manager(agent_type="planning")
    world.worker("w1", "boss")
    chief = key(world, "chief", orchestrator=True)
    task = filed(chief)
    crew_works(world)
    assert attempts(chief, task) == ("completed", 1)
    hold(world)


def test_what_is_not_its_own_doing_costs_no_attempt_and_a_crash_does(world: World) -> None:
    chief, task = crew_with_queue(world, decomposition="never")
    process = world.start("w1")
    world.owner.call("end_session", session_id=world.sessions()[0]["session_id"])
    assert attempts(chief, task) == ("pending", 1)
    process = world.start("w1")
    world.coordinator().exited(process.launch_id, exit_code=1, error="quota: used up", quota_reset_seconds=60)
    assert attempts(chief, task) == ("pending", 1)
    world.advance(4000)
    process = world.start("w1")
    world.coordinator().exited(process.launch_id, exit_code=1, error="crashed: oh")
    assert attempts(chief, task) == ("pending", 2)


def test_a_runaway_pays_with_an_attempt(world: World) -> None:
    chief, task = crew_with_queue(world, decomposition="never")
    process = world.start("w1")
    for _ in range(25):
        process.ask("get_task", task_id="tsk_none")
    assert process.next()["reason"] == "runaway"
    assert attempts(chief, task) == ("pending", 2)


def test_nobody_is_started_for_a_queue_task_on_which_it_would_only_be_told_to_wait(world: World) -> None:
    """Its agent died; what it had asked for is not approved yet."""
    chief, task = crew_with_queue(world, approvals="all")
    world.owner.call("approve_task", task_id=task)
    process = world.start("w1")
    (part,) = process.batch("A part")
    world.coordinator().exited(process.launch_id, exit_code=1, error="crashed: oh")
    world.advance(4000)
    assert attempts(chief, task) == ("pending", 2)
    assert world.why("w1") == "hold no_in_progress_task"
    assert world.coordinator().starts() == []
    other = filed(chief, "Something else")
    world.owner.call("approve_task", task_id=other)
    assert world.coordinator().claim()["start"]
    assert (world.status(other), world.status(task)) == ("in_progress", "todo")
    world.move(other, "cancelled", "not needed")
    world.owner.call("approve_task", task_id=part)
    world.advance(4000)
    crew_works(world, "w1")
    assert attempts(chief, task) == ("completed", 2)


def waiting_tasks(world: World, chief: Caller, many: int) -> list[tuple[str, str]]:
    """Ready tasks whose agent died while a part of each waits for an approval: the task, and that part."""
    found = []
    for number in range(many):
        task = filed(chief, f"Plan {number}")
        world.owner.call("approve_task", task_id=task)
        process = world.start("w1")
        found.append((task, process.batch("A part")[0]))
        world.coordinator().exited(process.launch_id, exit_code=1, error="crashed: oh")
        world.advance(4000)
    assert world.coordinator().starts() == []
    return found


def test_tasks_on_which_it_would_only_wait_hide_none_behind_them(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a new one nor one of them that can be gone on with; and what is known of them is not read again."""
    monkeypatch.setattr(snapshots, "MOST_OFFERS", 2)
    chief, first = crew_with_queue(world, approvals="all")
    world.move(first, "cancelled", "not needed")
    them = waiting_tasks(world, chief, 7)
    read: list[str] = []
    original = Tasks.tree

    def tree(tasks: Tasks, root_id: str) -> Tree:
        read.append(root_id)
        return original(tasks, root_id)

    monkeypatch.setattr(Tasks, "tree", tree)
    for _ in range(3):
        world.coordinator().claim()
    read.clear()
    assert world.coordinator().starts() == []
    assert sorted(set(read)) == sorted(task for task, _ in them[:2]), "the others are known"

    new = filed(chief, "New")
    world.owner.call("approve_task", task_id=new)
    (launch,) = world.coordinator().claim()["start"]
    assert world.status(new) == "in_progress"
    world.process(launch).sign_in()
    world.owner.call("end_session", session_id=world.sessions()[0]["session_id"])
    world.move(new, "cancelled", "not needed")
    world.owner.call("approve_task", task_id=them[6][1])
    world.advance(4000)
    assert world.coordinator().starts() == ["w1"]
    assert world.status(them[6][0]) == "in_progress"


def test_who_takes_over_a_queue_task_takes_over_the_parts_that_its_last_agent_made(world: World) -> None:
    chief, task = crew_with_queue(world)
    process = world.start("w1")
    first, second = process.batch("One", "Two")
    process.set(first, "in_progress")
    world.coordinator().exited(process.launch_id, exit_code=1, error="crashed: oh")
    world.owner.call("deactivate_agent", agent_id="w1")
    world.worker("w3", "boss", agent_type="planning")
    world.advance(4000)
    crew_works(world)
    assert attempts(chief, task) == ("completed", 2)
    assert {world.show(each)["assignee_id"] for each in (first, second)} == {"w3"}
    hold(world)


def kept_over_a_pause(world: World, process: Process) -> Process:
    """Its agent has left for a pause as it was told to, and is started again."""
    world.owner.call("pause_project", project_id=world.project_id)
    assert process.next()["action"] == "get_notifications"
    process.call("get_notifications")
    assert process.next()["reason"] == "project_paused"
    world.coordinator().exited(process.launch_id, exit_code=0)
    world.owner.call("resume_project", project_id=world.project_id)
    assert world.why("w1") == "start has_in_progress_task"
    return world.start("w1")


def test_a_task_kept_over_a_pause_goes_back_to_its_queue_when_the_quota_of_its_agent_is_used_up(world: World) -> None:
    chief, task = crew_with_queue(world, decomposition="never")
    world.worker("w3", "boss", agent_type="planning", provider="gemini")
    process = kept_over_a_pause(world, world.start("w1"))
    assert attempts(chief, task) == ("in_progress", 1)
    world.coordinator().exited(process.launch_id, exit_code=1, error="quota: x", quota_reset_seconds=400_000)
    assert attempts(chief, task) == ("pending", 1)
    assert world.why("w3") == "start has_ready_queue_task"
    hold(world)


def test_who_crashes_again_and_again_after_a_pause_uses_up_the_attempts_of_its_queue_task(world: World) -> None:
    chief, task = crew_with_queue(world, decomposition="never")
    process = kept_over_a_pause(world, world.start("w1"))
    for attempt in (2, 3):
        world.coordinator().exited(process.launch_id, exit_code=1, error="crashed: oh")
        assert attempts(chief, task) == ("pending", attempt)
        world.advance(4000)
        process = kept_over_a_pause(world, world.start("w1"))
    world.coordinator().exited(process.launch_id, exit_code=1, error="crashed: oh")
    assert attempts(chief, task)[0] == "failed"
    hold(world)


def test_nobody_who_signs_in_for_a_kept_queue_task_gives_it_back_to_its_queue(world: World) -> None:
    chief, task = crew_with_queue(world, decomposition="never")
    process = world.start("w1")
    world.owner.call("pause_project", project_id=world.project_id)
    process.next()
    process.call("get_notifications")
    process.next()
    world.owner.call("resume_project", project_id=world.project_id)
    assert world.coordinator().claim(agent_ids=["w1"])["start"]
    world.advance(4000)
    world.housekeep()
    assert attempts(chief, task) == ("pending", 1)
    hold(world)


@pytest.fixture
def hasty(fresh: Database) -> World:
    """A session may run for ten minutes."""
    return World(fresh, Settings(guards=GuardSettings(run_time=600)))


def runs_its_time(world: World, process: Process) -> None:
    """Its Coordinator reports it until its time is over, and then comes later than the agent asks."""
    ends = world.now + 600_000
    while ends - world.now > 20_000:
        world.advance(min(60, (ends - world.now) // 1000 - 10))
        assert not world.coordinator().claim(running=[process.launch_id], free_slots=0)["stop"]
    world.advance(15)


def test_who_leaves_at_its_time_limit_as_told_keeps_its_queue_task_and_its_attempt(hasty: World) -> None:
    chief, task = crew_with_queue(hasty, decomposition="never")
    process = hasty.start("w1")
    runs_its_time(hasty, process)
    assert process.next()["reason"] == "time_limit"
    process.call("logout")
    hasty.coordinator().exited(process.launch_id, exit_code=0)
    assert attempts(chief, task) == ("in_progress", 1)
    assert hasty.why("w1") == "start has_in_progress_task"
    hold(hasty)


def test_who_always_runs_into_its_time_limit_is_stopped_by_the_guard_against_starts_without_progress(
    hasty: World,
) -> None:
    _, task = crew_with_queue(hasty, decomposition="never")
    for _ in range(6):
        process = hasty.start("w1")
        runs_its_time(hasty, process)
        assert process.next()["reason"] == "time_limit"
        hasty.coordinator().exited(process.launch_id, exit_code=0)
    assert hasty.coordinator().starts() == []
    assert hasty.status(task) == "blocked"
    assert [event["data"]["reason"] for event in hasty.events("guard.blocked")] == ["no_progress"]
    hold(hasty)


def test_who_is_stopped_at_its_time_limit_before_it_has_called_again_keeps_its_queue_task(hasty: World) -> None:
    """It worked on one thing all the while: nobody could tell it that its time was over."""
    chief, task = crew_with_queue(hasty, decomposition="never")
    process = hasty.start("w1")
    runs_its_time(hasty, process)
    assert hasty.coordinator().claim(running=[process.launch_id], free_slots=0)["stop"]
    hasty.coordinator().exited(process.launch_id, signal=15, error="stopped")
    assert attempts(chief, task) == ("in_progress", 1)
    hasty.advance(61)
    assert hasty.why("w1") == "start has_in_progress_task"
    hold(hasty)


def test_who_is_always_stopped_at_its_time_limit_is_ended_by_the_guard_against_starts_without_progress(
    hasty: World,
) -> None:
    _, task = crew_with_queue(hasty, decomposition="never")
    for _ in range(6):
        process = hasty.start("w1")
        runs_its_time(hasty, process)
        assert hasty.coordinator().claim(running=[process.launch_id], free_slots=0)["stop"]
        hasty.coordinator().exited(process.launch_id, signal=15, error="stopped")
        hasty.advance(4000)
    assert hasty.coordinator().starts() == []
    assert hasty.status(task) == "blocked"


def test_who_calls_on_after_its_time_limit_and_has_to_be_stopped_pays_with_an_attempt(hasty: World) -> None:
    chief, task = crew_with_queue(hasty, decomposition="never")
    process = hasty.start("w1")
    runs_its_time(hasty, process)
    process.call("save_progress", progress="still at it")
    assert hasty.coordinator().claim(running=[process.launch_id], free_slots=0)["stop"]
    assert attempts(chief, task) == ("pending", 2)


def test_a_manager_that_is_woken_for_its_queue_task_and_crashes_gives_it_back_with_its_parts(world: World) -> None:
    """What is completed stays; what is in progress below goes back with it; who takes it next goes on from there."""
    world.project(decomposition="never")
    world.manager(agent_type="planning")
    for each in ("w1", "w2"):
        world.worker(each, "boss")
    chief = key(world, "chief", orchestrator=True)
    task = filed(chief)
    boss = world.start("boss")
    first, second = boss.assigned({"One": "w1", "Two": "w2"})
    boss.begin(first, second)
    boss.wait()
    world.coordinator().exited(boss.launch_id, exit_code=0)
    assert attempts(chief, task) == ("in_progress", 1)
    world.start("w1").report("blocked", "no key")
    worker = world.start("w2")
    assert world.why("boss") == "start worker_blocked"
    world.coordinator().exited(world.start("boss").launch_id, exit_code=1, error="crashed: oh")

    assert attempts(chief, task) == ("pending", 2)
    assert {each: world.status(each) for each in (first, second)} == {first: "blocked", second: "todo"}
    assert worker.next()["action"] == "get_notifications"
    worker.call("get_notifications")
    assert worker.next()["reason"] == "task_withdrawn"
    world.coordinator().exited(worker.launch_id, exit_code=0)
    assert world.coordinator().starts() == [], "it rests first"
    world.owner.call("move_task", task_id=first, status="todo")
    world.advance(4000)
    crew_works(world)
    assert attempts(chief, task) == ("completed", 2)
    assert len(world.rows(schema.tasks)["tasks"]) == 3, "no part is made anew"
    assert {world.status(each) for each in (first, second)} == {"completed"}
    hold(world)


@pytest.mark.parametrize("cause", ["others", "budget"])
def test_leaving_on_order_is_never_counted_as_a_start_without_progress(world: World, cause: str) -> None:
    """However often: five starts without progress in a row would have a guard block the task."""
    world.project(decomposition="never", budget_per_day=1.0)
    world.worker("w1")
    world.worker("w2")
    task = world.task("w1")
    for number in range(7):
        process = world.start("w1")
        if cause == "others":
            part = world.task("w2", parent_task_id=task, title=f"Part {number}")
            waited(world, process)
            world.move(part, "cancelled", "not needed")
        else:
            world.coordinator().call("append_log", launch_id=process.launch_id, offset=0, text="", usage=SPENT)
            assert process.next()["reason"] == "budget_exhausted"
            world.coordinator().exited(process.launch_id, exit_code=0)
            world.advance(86_400)
    assert world.status(task) == "in_progress"
    assert world.events("guard.blocked") == []


SPENT = {"input_tokens": 10, "output_tokens": 10, "cost_usd": 2.0}
