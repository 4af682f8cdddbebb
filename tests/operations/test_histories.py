"""Stories in which people step between an agent and what it was told: nobody is led in a circle, or told untruths."""

from __future__ import annotations

import pytest

from tests.invariants import hold
from tests.obedience import crew_works
from tests.operations.test_queue import filed, key
from tests.operations.test_worktrees import Yard
from tests.stories import World
from toryo.domain.errors import Code


@pytest.fixture
def halves(world: World) -> tuple[World, str, str]:
    """w1 works on the first half of its task; that task, and that half."""
    world.crew(workers=2)
    task = world.task("w1")
    process = world.start("w1")
    first, _ = process.batch("First half", "Second half")
    process.set(first, "in_progress")
    world.coordinator().exited(process.launch_id, exit_code=1, error="crashed: oh")
    world.advance(4000)
    return world, task, first


# --- a task filed below an agent's own subtask -----------------------------------------------------------------------


@pytest.mark.parametrize("status", ["todo", "in_progress"])
def test_what_a_person_files_for_an_agent_below_its_own_subtask_is_done_first(halves: tuple, status: str) -> None:
    world, task, first = halves
    filed = world.task("w1", parent_task_id=first, title="Before that", status=status)
    crew_works(world)
    assert [world.status(each) for each in (filed, first, task)] == ["completed"] * 3
    assert len(world.launches(agent_id="w1")) == 2
    hold(world)


def test_an_agent_waits_for_what_another_does_below_its_own_subtask(halves: tuple) -> None:
    world, task, first = halves
    filed = world.task("w2", parent_task_id=first, title="Before that")
    process = world.start("w1")
    assert process.action() == "start_subtask"  # what else it has to do comes first
    subtask = process.next()["subtask"]["task_id"]
    process.set(subtask, "in_progress")
    process.set(subtask, "completed")
    told = process.next()
    assert (told["action"], [wait["task_id"] for wait in told["waits_for"]]) == ("wait_for_others", [filed])
    world.coordinator().exited(process.launch_id, exit_code=0)
    assert world.why("w1") == "hold waiting_for_workers"
    crew_works(world)
    assert [world.status(each) for each in (filed, first, task)] == ["completed"] * 3


@pytest.mark.parametrize("assignee", ["w2", None])
def test_an_agent_gives_up_at_once_where_nobody_starts_what_stands_below_its_own_subtask(
    halves: tuple, assignee: str | None
) -> None:
    world, task, first = halves
    filed = world.task(assignee, parent_task_id=first, title="Before that", status="todo")
    crew_works(world, "w1")
    assert world.status(task) == "blocked"
    assert world.events("session.runaway") == []
    (item,) = world.owner.call("needs_you")["items"]
    assert (item["kind"], item["task_id"]) == ("blocked", task)
    world.move(filed, "cancelled", "not needed")
    world.move(task, "in_progress")
    crew_works(world, "w1")
    assert world.status(task) == "completed"


# --- what an agent may resolve ---------------------------------------------------------------------------------------


def resolvable(world: World, agent_id: str = "w1") -> tuple[str, dict[str, tuple[bool, bool]]]:
    """What it is told about its blocked subtasks, and whether the calls themselves say the same."""
    process = world.start(agent_id)
    told = process.next()
    assert told["action"] == "review_and_resolve_blocks"
    flags = {
        blocked_subtask["task_id"]: (blocked_subtask["you_may_resolve"], blocked_subtask["you_may_cancel"])
        for blocked_subtask in told["blocked_subtasks"]
    }
    for task_id, (resolve, cancel) in flags.items():
        assert process.ask("update_task_status", task_id=task_id, status="todo").refused is not resolve
        assert process.ask("cancel_task", task_id=task_id, reason="so").refused is not cancel
    return told["instruction"], flags


@pytest.mark.parametrize("end", ["blocked", "failed"])
def test_a_worker_is_not_told_that_it_may_resolve_what_is_anothers(world: World, end: str) -> None:
    world.crew(workers=2, decomposition="never")
    task = world.task("w1")
    part = world.task("w2", parent_task_id=task, title="A part")
    world.start("w2").report(end, "cannot")
    said, flags = resolvable(world)
    assert flags == {part: (False, False)}
    assert "update_task_status" not in said
    assert "report_completed" in said


def test_a_worker_is_not_told_to_try_again_what_it_may_try_no_more(world: World) -> None:
    world.crew(workers=1, retry_attempts=2)
    world.task("w1")
    process = world.start("w1")
    (part,) = process.batch("A part")
    for again in (True, False):
        process.set(part, "in_progress")
        process.set(part, "failed", "cannot")
        if again:
            process.set(part, "todo")
    world.coordinator().exited(process.launch_id, exit_code=1, error="crashed: oh")
    world.advance(4000)
    assert resolvable(world)[1] == {part: (False, True)}


@pytest.mark.both
def test_a_manager_hears_of_each_failure_and_may_try_again_once_a_person_retries_the_whole(world: World) -> None:
    world.crew(workers=1, decomposition="never", retry_attempts=2)
    main = world.task("boss")
    boss = world.start("boss")
    (part,) = boss.assigned({"Part": "w1"})

    def fails() -> None:
        boss.begin(part)
        boss.wait()
        world.start("w1").report("failed", "cannot")

    fails()
    boss = world.start("boss")
    boss.set(part, "todo")
    boss.call("select_action", action="start")
    fails()
    boss = world.start("boss")
    told = boss.next()
    (stuck,) = told["blocked_subtasks"]
    assert (stuck["task_id"], stuck["you_may_resolve"], stuck["you_may_cancel"]) == (part, False, True)
    boss.report("failed", "The part fails.")
    world.move(main, "todo")
    world.move(main, "in_progress")

    boss = world.start("boss")
    told = boss.next()
    (stuck,) = told["blocked_subtasks"]
    assert (stuck["task_id"], stuck["you_may_resolve"]) == (part, True)
    boss.set(part, "todo")
    boss.call("select_action", action="start")
    fails()
    assert world.show(part)["attempt"] == 3


def test_a_worker_may_resolve_what_it_has_blocked_itself(world: World) -> None:
    world.crew(workers=1)
    world.task("w1")
    process = world.start("w1")
    (part,) = process.batch("A part")
    process.set(part, "in_progress")
    process.set(part, "blocked", "not now")
    world.coordinator().exited(process.launch_id, exit_code=1, error="crashed: oh")
    world.advance(4000)
    assert resolvable(world)[1][part][0] is True


# --- dependencies between the whole and its parts --------------------------------------------------------------------


def test_no_task_depends_on_what_stands_above_or_below_it_however_that_is_asked(world: World) -> None:
    world.crew(workers=1)
    whole = world.task("boss", status="todo", title="Whole")
    part = world.task("w1", status="todo", title="Part", parent_task_id=whole)
    piece = world.task("w1", status="todo", title="Piece", parent_task_id=part)
    beside = world.task("w1", status="todo", title="Beside", dependencies=[piece])
    for task, on in ((whole, part), (whole, piece), (part, whole), (piece, whole), (whole, beside), (part, beside)):
        refusal = world.owner.refused("edit_task", Code.DEPENDENCY_CYCLE, task_id=task, add_dependencies=[on])
        assert refusal["cycle"][0] == refusal["cycle"][-1] == task
        assert on in refusal["cycle"]
    asked = {"project_id": world.project_id, "title": "New", "parent_task_id": part}
    for on in (whole, part):
        world.owner.refused("file_task", Code.DEPENDENCY_CYCLE, dependencies=[on], **asked)
    world.owner.call("file_task", dependencies=[piece], **asked)
    hold(world)


# --- the limit of tasks at a time ------------------------------------------------------------------------------------


@pytest.mark.parametrize("whose", ["w2", None])
def test_a_part_that_would_count_as_one_task_too_many_keeps_its_whole_where_it_is(
    world: World, whose: str | None
) -> None:
    """As a part of w1's own task it is exempt from the limit; below somebody else's it counts."""
    world.crew(workers=2, decomposition="never")
    world.task("w1", title="Shed")
    whole = world.task("w1", title="House", status="todo")
    part = world.task("w1", title="Walls", parent_task_id=whole)
    given = {"task_id": whole, **({"assignee_id": whose} if whose else {"assignee_id": None})}
    refusal = world.owner.refused("edit_task", Code.LIMIT_REACHED, **given)
    assert part in refusal["running"]
    assert world.show(whole)["assignee_id"] == "w1"
    hold(world)
    world.move(part, "todo")
    world.owner.call("edit_task", **given)
    hold(world)
    crew_works(world, "w1")
    hold(world)


def test_a_manager_that_gives_a_task_away_leaves_nobody_with_one_task_too_many(world: World) -> None:
    world.crew(workers=2, decomposition="never")
    house = world.task("boss", title="House")
    world.task("w1", title="Shed")
    walls = world.task("w1", title="Walls", status="todo", parent_task_id=house)
    world.task("w1", title="Door", parent_task_id=walls)
    boss = world.start("boss")
    boss.refused("assign_task", Code.LIMIT_REACHED, task_id=walls, assignee_id="w2")
    hold(world)
    crew_works(world)
    hold(world)


def test_two_managers_of_whom_neither_can_get_it_done_are_stopped_and_a_person_is_told(world: World) -> None:
    """What the lower one creates and gives up again is no progress: after five launches a guard blocks its task."""
    world.project(commands_from="managers")
    world.person("ann")
    world.manager("director", "ann")
    world.manager("boss", "director")
    world.worker("w1", "boss")
    town = world.task("director", title="Town")
    house = world.task("boss", title="House", parent_task_id=town)
    crew_works(world, "director", "boss")  # its parts wait for w1
    world.owner.call("deactivate_agent", agent_id="w1")
    crew_works(world, rounds=40)
    starts = [event for event in world.events("session.started") if event["agent_id"] == "boss"]
    assert len(starts) <= 8
    assert [event["task_id"] for event in world.events("guard.blocked")] == [house]
    hold(world)


# --- work in worktrees -----------------------------------------------------------------------------------------------


def test_work_that_was_kept_is_reviewed_also_where_its_task_was_gone_on_with_on_a_machine_that_then_died(
    world: World,
) -> None:
    yard = Yard(world)
    task = world.task("w1", title="Walls")
    first = yard.launch("w1")
    yard.told(first, head_commit="h1", commits=1, files_changed=2)
    yard.c1.exited(first["launch_id"], error="crashed: oh")
    world.advance(4000)
    process = world.process(yard.launch("w1"))
    held = yard.worktree(task)
    assert (held["head_commit"], held["commits"], held["files_changed"]) == ("h1", 1, 2)
    process.sign_in()
    process.call("get_my_task")
    process.report()
    world.advance(4000)  # nobody tells of its end
    world.coordinator("c2").claim()
    (item,) = world.owner.call("needs_you")["items"]
    assert (item["kind"], item["task_id"]) == ("review", task)
    assert len(world.events("worktree.changed")) == 1


# --- budgets ---------------------------------------------------------------------------------------------------------


def test_a_person_is_told_that_no_money_is_left_also_where_only_a_queue_waits_for_it(world: World) -> None:
    world.project(budget_per_day=5.0, decomposition="never")
    world.manager("boss")
    world.worker("w1", "boss", agent_type="planning")
    world.task("w1")
    process = world.start("w1")
    process.report()
    world.coordinator().exited(process.launch_id, exit_code=0, usage={"cost_usd": 6.0})
    assert world.owner.call("needs_you")["items"] == []
    plan = filed(key(world, "chief", orchestrator=True))
    assert world.why("w1") == "hold budget_exhausted"
    (item,) = world.owner.call("needs_you")["items"]
    assert (item["kind"], item["project_id"]) == ("budget_used_up", world.project_id)
    world.owner.call("edit_project", project_id=world.project_id, settings={"budget_per_day": 50})
    assert world.owner.call("needs_you")["items"] == []
    crew_works(world, "w1")
    assert world.status(plan) == "completed"


# --- what was observed, and is no fault ------------------------------------------------------------------------------


def test_what_failed_below_a_cancelled_part_starts_a_manager_that_is_then_told_to_report(world: World) -> None:
    """The reason names the failure (row 8); what it does next depends on what is left, and here all is done."""
    world.crew(workers=2, decomposition="never")
    town = world.task("boss", title="Town")
    done = world.task("w2", title="Done", parent_task_id=town)
    world.start("w2").report()
    house = world.task("w1", title="House", parent_task_id=town)
    walls = world.task("w1", title="Walls", parent_task_id=house, status="todo")
    boss = world.start("boss")
    boss.call("get_my_task")
    boss.wait()
    world.move(walls, "in_progress")
    world.move(walls, "failed", "cannot")
    world.move(house, "cancelled", "not needed")
    assert world.status(done) == "completed"
    assert world.why("boss") == "start worker_blocked"
    boss = world.start("boss")
    assert boss.action() == "report_completion"
    boss.report()
    assert [world.status(each) for each in (town, walls)] == ["completed", "failed"]
    hold(world)


def test_a_start_for_a_queue_task_leaves_none_for_a_later_decision_of_the_same_claim(world: World) -> None:
    world.crew(workers=0, decomposition="never")
    for name in ("w1", "w2"):
        world.worker(name, "boss", agent_type="planning")
    filed(key(world, "chief", orchestrator=True))
    assert [world.why(name) for name in ("w1", "w2")] == ["start has_ready_queue_task"] * 2
    (started,) = world.coordinator().starts()
    (other,) = {"w1", "w2"} - {started}
    assert world.why(other) == "hold no_in_progress_task"
    hold(world)


def test_a_session_whose_lease_ran_out_goes_on_if_its_coordinator_says_first_that_it_runs(world: World) -> None:
    world.crew(workers=1, decomposition="never")
    world.task("w1")
    desk = world.coordinator()
    (launch,) = desk.claim()["start"]
    process = world.process(launch)
    process.sign_in()
    desk.running.append(launch["launch_id"])
    world.advance(91)
    assert world.why("w1") == "start has_in_progress_task"
    assert desk.starts() == []
    assert world.why("w1") == "hold already_running"
    process.call("report_model", provider="claude", model_id="m")
    process.call("get_my_task")
    process.report()
    hold(world)


def test_a_persons_own_block_is_no_need_and_wakes_the_manager_above(world: World) -> None:
    world.crew(workers=1, decomposition="never")
    house = world.task("boss", title="House")
    walls = world.task("w1", title="Walls", parent_task_id=house)
    boss = world.start("boss")
    boss.call("get_my_task")
    boss.wait()
    world.move(walls, "blocked", "so")
    assert world.owner.call("needs_you")["items"] == []
    assert world.why("boss") == "start worker_blocked"
