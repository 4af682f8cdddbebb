"""A program that ends well in the middle of its task is reminded once, in the session it had; then it counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.stories import Answer, Process, World
from toryo.first_prompt import reminder

REPORT = ("report_completed", "get_next_action")


def left(world: World, process: Process, **more: Any) -> Answer:
    """The process has ended by itself, without a failure, and its program could be resumed."""
    told = {"exit_code": 0, "resumable": True, **more}
    return world.coordinator().exited(process.launch_id, **told)


def ends(world: World, task_id: str) -> int:
    """How many ends without a report the task counts: it takes three to block it."""
    count = 0
    while world.status(task_id) == "in_progress":
        count += 1
        world.coordinator().exited(world.start("w1").launch_id, exit_code=0)
    return 3 - count


def test_who_left_in_the_middle_of_its_task_is_reminded_and_its_session_and_launch_live_on(crew: World):
    task = crew.task("w1")
    process = crew.start("w1")
    answer = left(crew, process)
    assert answer["released"] == []
    assert answer["reminder"] == reminder("w1", "en")
    assert all(each in answer["reminder"] for each in REPORT)
    assert [session["launch_id"] for session in crew.sessions()] == [process.launch_id]
    assert [launch["state"] for launch in crew.launches()] == ["signed_in"]
    assert crew.events("launch.reminded")[0]["launch_id"] == process.launch_id
    assert process.action() == "create_subtasks", "the same credential, and nothing was lost"
    process.report()
    assert crew.status(task) == "completed"


def test_the_reminder_is_in_the_projects_language(world: World):
    world.crew(workers=1, language="ja")
    world.task("w1")
    assert "報告せずに" in left(world, world.start("w1"))["reminder"]


def test_it_is_reminded_once_per_launch_and_then_it_counts(crew: World):
    task = crew.task("w1")
    process = crew.start("w1")
    left(crew, process)
    answer = left(crew, process)
    assert "reminder" not in answer
    assert len(answer["released"]) == 1
    assert crew.sessions() == []
    assert ends(crew, task) == 1


def test_after_three_launches_that_were_reminded_in_vain_the_task_is_blocked(crew: World):
    task = crew.task("w1")
    for _ in range(3):
        assert crew.status(task) == "in_progress"
        process = crew.start("w1")
        assert "reminder" in left(crew, process)
        left(crew, process)
    assert crew.status(task) == "blocked"
    assert crew.events("guard.blocked")[-1]["data"]["reason"] == "agent_left_without_reporting"


def test_nobody_is_started_beside_the_one_that_is_reminded(crew: World):
    crew.task("w1")
    left(crew, crew.start("w1"))
    assert crew.coordinator().starts() == []
    assert crew.coordinator("other").starts() == []
    assert crew.why("w1") == "hold already_running"


def reported(_: World, process: Process) -> None:
    process.report()


def withdrawn(crew: World, process: Process) -> None:
    crew.move(process.call("get_my_task")["task"]["task_id"], "blocked", "wait")


def reassigned(crew: World, process: Process) -> None:
    task_id = process.call("get_my_task")["task"]["task_id"]
    crew.owner.call("edit_task", task_id=task_id, assignee_id="w2")


def paused(crew: World, _: Process) -> None:
    crew.owner.call("pause_project", project_id=crew.project_id)


def told_so(crew: World, process: Process) -> None:
    withdrawn(crew, process)
    process.call("get_notifications")
    assert process.action() == "exit"


def logged_out(_: World, process: Process) -> None:
    process.call("logout")


def run_away(crew: World, process: Process) -> None:
    for _ in range(200):
        if crew.events("guard.runaway") or process.ask("get_next_action").result["action"] == "exit":  # type: ignore[index]
            return
    raise AssertionError("it did not trip the guard")


def deactivated(crew: World, _: Process) -> None:
    crew.owner.call("deactivate_agent", agent_id="w1")


def out_of_quota(crew: World, _: Process) -> None:
    crew.task("w2")
    other = crew.start("w2")
    crew.coordinator().exited(other.launch_id, exit_code=1, error="quota", quota_reset_seconds=600)


def lease_over(crew: World, _: Process) -> None:
    crew.advance(3600)


@pytest.mark.parametrize(
    "before",
    [reported, withdrawn, reassigned, paused, told_so, logged_out, run_away, deactivated, out_of_quota, lease_over],
)
def test_who_should_not_go_on_is_not_reminded(crew: World, before: Callable[[World, Process], None]):
    crew.task("w1")
    process = crew.start("w1")
    before(crew, process)
    assert "reminder" not in left(crew, process)
    assert not [session for session in crew.sessions() if session["launch_id"] == process.launch_id]


@pytest.mark.parametrize(
    "how",
    [
        {"resumable": False},
        {"exit_code": 1},
        {"exit_code": 1, "error": "crashed"},
        {"error": "stopped"},
        {"error": "coordinator_stopped"},
        {"error": "rate_limited", "quota_reset_seconds": 5},
        {"exit_code": None, "signal": 9},
    ],
)
def test_an_end_that_was_a_failure_or_cannot_be_gone_on_with_is_not_reminded(crew: World, how: Answer):
    crew.task("w1")
    process = crew.start("w1")
    told = {name: each for name, each in {"exit_code": 0, "resumable": True, **how}.items() if each is not None}
    assert "reminder" not in crew.coordinator().exited(process.launch_id, **told)
    assert crew.sessions() == []


def test_a_process_that_never_signed_in_is_not_reminded(crew: World):
    crew.task("w1")
    assert "reminder" not in left(crew, crew.started("w1"))
    assert crew.why("w1") == "hold cooling_down"


def test_a_chat_is_not_reminded(crew: World):
    crew.say("w1", "Hello?")
    chat = crew.start_chat("w1")
    assert "reminder" not in left(crew, chat)


def test_leases_hold_while_it_is_resumed_and_its_coordinator_renews_them(crew: World):
    crew.task("w1")
    process = crew.start("w1")
    left(crew, process)
    for _ in range(10):
        crew.advance(40)
        crew.coordinator().claim(running=[process.launch_id])
    assert process.action() == "create_subtasks"


def test_if_the_coordinator_dies_before_it_resumes_the_lease_runs_out_and_the_agent_is_started_anew(crew: World):
    task = crew.task("w1")
    process = crew.start("w1")
    left(crew, process)
    successor = crew.coordinator("successor")
    assert successor.starts() == []
    crew.advance(91)
    (launch,) = successor.claim()["start"]
    successor.exited(launch["launch_id"], error="coordinator_stopped")
    assert ends(crew, task) == 0, "nothing of that was the agent's doing"


def test_a_coordinator_that_leaves_instead_gives_it_back_and_nothing_counts(crew: World):
    task = crew.task("w1")
    process = crew.start("w1")
    left(crew, process)
    crew.coordinator().exited(process.launch_id, error="coordinator_stopped")
    assert crew.sessions() == []
    assert crew.coordinator("next").reason("w1") == "start has_in_progress_task"
    crew.coordinator().exited(crew.launches()[0]["launch_id"], error="coordinator_stopped")
    assert ends(crew, task) == 0


def test_a_reminded_process_that_fails_is_judged_by_its_failure(crew: World):
    crew.task("w1")
    process = crew.start("w1")
    left(crew, process)
    crew.coordinator().exited(process.launch_id, exit_code=1, error="rate_limited", quota_reset_seconds=100)
    assert crew.why("w1") == "hold cooling_down"


def test_what_it_used_before_and_after_is_counted_once(crew: World):
    crew.task("w1")
    process = crew.start("w1")
    left(crew, process, usage={"input_tokens": 10, "output_tokens": 1})
    crew.coordinator().exited(process.launch_id, exit_code=0, usage={"input_tokens": 30, "output_tokens": 4})
    shown = crew.owner.call("read_launch_log", launch_id=process.launch_id)["launch"]["usage"]
    assert (shown["input_tokens"], shown["output_tokens"]) == (30, 4)
