"""The report that ends a main task: it concerns that task alone, under the guards of every path, and is taken once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories import World


def test_the_same_report_again_answers_as_the_first_time(crew: World):
    task = crew.task("w1")
    worker = crew.start("w1")
    first = worker.report(summary="done", artifacts=["a.txt"])
    again = worker.report(summary="done", artifacts=["a.txt"])
    assert first == again
    assert len(crew.events("task.completed")) == 1
    assert crew.show(task)["artifacts"] == ["a.txt"]


def test_another_report_after_the_end_changes_nothing_and_says_exit(crew: World):
    task = crew.task("w1")
    worker = crew.start("w1")
    worker.report(summary="done")
    answer = worker.report("failed", summary="no, after all")
    assert (answer["action"], answer["status"]) == ("exit", "unchanged")
    assert (crew.status(task), crew.show(task)["summary"]) == ("completed", "done")


@pytest.mark.pitfall("F67")
def test_success_is_refused_while_subtasks_are_open_and_names_them(crew: World):
    """F67."""
    crew.task("w1")
    worker = crew.start("w1")
    one, two = worker.batch("One", "Two")
    refusal = worker.refused("report_completed", "subtasksOpen", result="success")
    assert [open_subtask["task_id"] for open_subtask in refusal["open_subtasks"]] == [one, two]
    assert refusal["next"]["action"] == "start_subtask"


@pytest.mark.pitfall("F66", "F83")
@pytest.mark.parametrize("result", ["blocked", "failed"])
def test_blocked_and_failed_need_no_finished_subtasks(crew: World, result: str):
    """F66, F83."""
    task = crew.task("w1")
    worker = crew.start("w1")
    one, two = worker.batch("One", "Two")
    worker.set(one, "in_progress")
    worker.report(result, summary="no stone")
    assert crew.status(task) == result
    assert [crew.status(each) for each in (one, two)] == ["blocked", "blocked"]


@pytest.mark.pitfall("F83")
def test_blocked_keeps_the_summary_as_the_reason(crew: World):
    task = crew.task("w1")
    crew.start("w1").report("blocked", summary="no stone")
    shown = crew.show(task)
    assert (shown["blocked_reason"], shown["blocked_by"]) == ("no stone", "w1")


@pytest.mark.pitfall("F82")
def test_it_touches_the_main_task_and_nothing_else(crew: World):
    """F82: two other tasks of the agent stay as they are."""
    crew.task("w1")
    others = [crew.task("w1", title=each, status="todo") for each in ("Other", "Another")]
    crew.start("w1").report()
    assert [crew.status(other) for other in others] == ["todo", "todo"]


def test_the_main_task_is_finished_by_a_report_alone(crew: World):
    task = crew.task("w1")
    worker = crew.start("w1")
    refusal = worker.refused("update_task_status", "notNow", task_id=task, status="completed")
    assert "report_completed" in refusal["instruction"]


@pytest.mark.pitfall("F60")
def test_a_manager_may_complete_what_its_workers_have_done(crew: World):
    """F60; F81: what was cancelled does not stand in the way."""
    main = crew.task("boss")
    boss = crew.start("boss")
    one, two = boss.assigned({"One": "w1", "Two": "w2"})
    boss.begin(one)
    boss.call("cancel_task", task_id=two, reason="not needed")
    boss.wait()
    crew.start("w1").report()
    boss = crew.start("boss")
    assert boss.action() == "report_completion"
    boss.report(summary="all done", next_steps="paint it")
    shown = crew.show(main)
    assert (shown["status"], shown["summary"], shown["next_steps"]) == ("completed", "all done", "paint it")


def test_completing_cancels_what_is_still_open_below_a_failed_part(crew: World):
    crew.task("boss")
    boss = crew.start("boss")
    one, two = boss.assigned({"One": "w1", "Two": "w2"})
    boss.begin(one, two)
    boss.wait()
    worker = crew.start("w1")
    (below,) = worker.batch("Below")
    worker.report("failed", summary="cannot")
    crew.start("w2").report()
    boss = crew.start("boss")
    boss.next()
    assert crew.status(below) == "blocked"
    boss.report(summary="without one")
    assert crew.status(below) == "cancelled"


def test_a_task_reported_blocked_because_of_blocks_below_goes_on_when_the_last_is_lifted(crew: World):
    main = crew.task("w1")
    worker = crew.start("w1")
    one, two = worker.batch("One", "Two")
    for each in (one, two):
        worker.set(each, "in_progress")
        worker.set(each, "blocked", "no stone")
    worker.report("blocked", summary="both are stuck")
    crew.move(one, "todo")
    assert crew.status(main) == "blocked"
    crew.move(two, "todo")
    assert crew.status(main) == "in_progress"


def test_a_report_ends_session_and_launch_and_the_next_task_may_start_at_once(crew: World):
    crew.owner.call("edit_agent", agent_id="w1", max_parallel_tasks=2)
    crew.task("w1", title="One")
    crew.task("w1", title="Two")
    crew.start("w1").report()
    assert crew.sessions() == []
    assert crew.coordinator().starts() == ["w1"]


def test_leaving_without_a_report_is_no_success(crew: World):
    task = crew.task("w1")
    crew.start("w1").call("logout")
    assert crew.status(task) == "in_progress"
    assert crew.coordinator().starts() == ["w1"]


def test_three_ends_without_a_report_block_the_task_and_only_a_person_lifts_that(crew: World):
    task = crew.task("w1")
    for leave in ("logout", "process", "logout"):
        worker = crew.start("w1")
        if leave == "logout":
            worker.call("logout")
        else:
            crew.coordinator().exited(worker.launch_id, exit_code=0)
    shown = crew.show(task)
    assert (shown["status"], shown["blocked_reason"]) == ("blocked", "agent_left_without_reporting")
    assert [event["data"]["reason"] for event in crew.events("guard.blocked")] == ["agent_left_without_reporting"]
    assert crew.coordinator().reason("w1") == "hold blocked_without_in_progress"
    crew.move(task, "in_progress")
    assert crew.coordinator().starts() == ["w1"]


@pytest.mark.parametrize("way", ["lease", "coordinator", "person", "crash", "stopped"])
def test_ends_that_are_not_its_own_are_never_counted(crew: World, way: str):
    task = crew.task("w1")
    for _ in range(4):
        worker = crew.start("w1")
        worker.batch(f"part {crew.now}") if worker.action() == "create_subtasks" else None
        if way == "lease":
            crew.advance(91)
        elif way == "person":
            crew.owner.call("end_session", session_id=crew.sessions()[0]["session_id"])
        else:
            ends: dict[str, dict[str, Any]] = {
                "coordinator": {"error": "coordinator_stopped"},
                "crash": {"exit_code": 1},
                "stopped": {"signal": 15, "error": "stopped"},
            }
            crew.coordinator().exited(worker.launch_id, **ends[way])
        crew.advance(3700)
    assert crew.status(task) == "in_progress"


def test_an_end_that_was_reported_or_told_breaks_the_row(crew: World):
    """Three in a row: a manager that leaves to wait in between has not left without reporting."""
    task = crew.task("boss")
    for number in range(3):
        crew.start("boss").call("logout")
        boss = crew.start("boss")
        (part,) = boss.assigned({f"Part {number}": "w1"}, intent="new")
        boss.begin(part)
        boss.wait()
        crew.start("w1").report()
    crew.start("boss").call("logout")
    assert crew.status(task) == "in_progress"


@pytest.mark.parametrize(("way", "status"), [("paused", "in_progress"), ("ended by a person", "blocked")])
def test_an_end_by_order_begins_the_count_anew_and_one_by_a_person_does_not(crew: World, way: str, status: str):
    task = crew.task("w1")
    for _ in range(2):
        crew.start("w1").call("logout")
    worker = crew.start("w1")
    if way == "paused":
        crew.owner.call("pause_project", project_id=crew.project_id)
        worker.call("get_notifications")
        assert worker.next()["reason"] == "project_paused"
        worker.call("logout")
        crew.owner.call("resume_project", project_id=crew.project_id)
    else:
        crew.owner.call("end_session", session_id=crew.sessions()[0]["session_id"])
    crew.advance(121)
    crew.start("w1").call("logout")
    assert crew.status(task) == status


def test_who_leaves_because_it_was_told_is_not_counted(crew: World):
    task = crew.task("w1")
    for _ in range(4):
        worker = crew.start("w1")
        crew.owner.call("pause_project", project_id=crew.project_id)
        worker.call("get_notifications")
        assert worker.next()["reason"] == "project_paused"
        worker.call("logout")
        crew.owner.call("resume_project", project_id=crew.project_id)
        crew.advance(121)
    assert crew.status(task) == "in_progress"


def test_a_failed_task_is_retried_by_the_one_above_up_to_the_policy(crew: World):
    crew.task("boss")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Part": "w1"})
    for attempt in (1, 2, 3):
        boss.begin(part)
        boss.wait()
        assert crew.show(part)["attempt"] == attempt
        crew.start("w1").report("failed", summary="cannot")
        boss = crew.start("boss")
        assert boss.action() == "review_and_resolve_blocks"
        if attempt < 3:
            boss.set(part, "todo")
    refusal = boss.refused("update_task_status", "attemptsExhausted", task_id=part, status="todo")
    assert refusal["attempt"] == 3
    crew.move(part, "todo")
    assert crew.show(part)["attempt"] == 4


def test_a_retried_task_may_be_decomposed_anew(crew: World):
    crew.task("boss")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Part": "w1"})
    boss.begin(part)
    boss.wait()
    worker = crew.start("w1")
    (one,) = worker.batch("One")
    worker.set(one, "in_progress")
    worker.refused("create_task", "notNow", title="Two", description="x")
    worker.report("failed", summary="wrong plan")
    boss = crew.start("boss")
    boss.next()
    boss.set(part, "todo")
    boss.begin(part)
    worker = crew.start("w1")
    worker.call("create_task", title="Two", description="x")


@pytest.mark.pitfall("F74")
def test_every_status_path_leaves_one_event_with_its_actor(crew: World):
    """F69, F74."""
    task = crew.task("w1", status="backlog")
    for status in ("todo", "backlog", "todo", "in_progress", "todo", "in_progress", "blocked", "in_progress"):
        crew.move(task, status, "because")
    crew.start("w1").report()
    moves = [(event["kind"], event["actor_id"]) for event in crew.events(task_id=task) if "to" in event["data"]]
    assert moves == [
        ("task.readied", "owner"),
        ("task.drafted", "owner"),
        ("task.readied", "owner"),
        ("task.started", "owner"),
        ("task.put_back", "owner"),
        ("task.started", "owner"),
        ("task.blocked", "owner"),
        ("task.unblocked", "owner"),
        ("task.completed", "w1"),
    ]
