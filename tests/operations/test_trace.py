"""One task's story: what it waited for and why, who worked on it, what was checked, asked and merged, and its price."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories import Answer, Caller, Process, World
from toryo.domain.times import iso

FILE = [{"file": "hello.txt"}]
USED = {"input_tokens": 1000, "output_tokens": 50, "tool_calls": 4, "cost_usd": 0.25}


@pytest.fixture
def shop(world: World) -> World:
    """A crew whose tasks have worktrees."""
    world.crew(workers=2, isolation="worktree", decomposition="never", commands_from="managers")
    return world


def story(world: World, task: str, **more: Any) -> Answer:
    """The task as its trace tells it, without what is above."""
    (found,) = world.owner.call("show_trace", correlation_id=task, below=True, **more)["tasks"]
    assert isinstance(found, dict)
    return found


def causes(found: Answer) -> list[str]:
    return [each["cause"] for each in found["waits"]]


def report(world: World, process: Process) -> None:
    """Success is reported; the call waits for the checks."""
    world.perform("report_completed", {"result": "success", "summary": "Walls"}, process.credentials, may_wait=True)


def judge(world: World, *failures: Answer) -> None:
    (check,) = world.coordinator().claim(free_slots=0)["checks"]
    world.coordinator().call("report_check_result", check_id=check["check_id"], failures=list(failures))


def worked(world: World, process: Process) -> None:
    """The Coordinator tells of the worktree and of the end of the process."""
    said = {"path": "/w/t", "directory": "/w/t", "branch": "toryo/t", "base_branch": "main", "base_commit": "b0"}
    figures = {"head_commit": "h1", "commits": 1, "files_changed": 2, "insertions": 3, "deletions": 1}
    c1 = world.coordinator("c1")
    c1.call("report_worktree", launch_id=process.launch_id, **said, **figures)
    c1.exited(process.launch_id, exit_code=0, usage=USED)


def test_a_story_has_its_waits_launches_checks_result_review_merge_and_price(shop: World) -> None:
    task = shop.task("w1", status="todo", acceptance=FILE)
    filed = shop.now
    shop.advance(60)
    shop.move(task, "in_progress")
    started = shop.now
    shop.advance(30)
    first = shop.start("w1")
    shop.advance(60)
    report(shop, first)
    judge(shop, {"check": "hello.txt", "message": "is not there"})
    first.refused("report_completed", "checksFailed", result="success", summary="Walls")
    worked(shop, first)
    shop.advance(300)
    second = shop.start("w1")
    report(shop, second)
    judge(shop)
    second.report(summary="Walls")
    worked(shop, second)
    done = story(shop, task)
    assert causes(done)[:2] == ["not_started", "agent"]
    assert (done["waits"][0]["since"] <= iso(filed), done["waits"][0]["until"]) == (True, iso(started))
    assert causes(done)[-1] == "review"
    assert done["waits"][-1]["until"] is None
    assert [each["launch_id"] for each in done["launches"]] == [first.launch_id, second.launch_id]
    assert all(each["session"]["calls"] > 0 for each in done["launches"])
    assert [(each["passed"], each["failures"]) for each in done["checks"]] == [
        (False, [{"check": "hello.txt", "message": "is not there"}]),
        (True, []),
    ]
    assert (done["summary"], done["status"]) == ("Walls", "completed")
    assert (done["work"]["state"], done["work"]["insertions"]) == ("open", 3)
    shop.advance(600)
    shop.coordinator("c1").claim(free_slots=0)
    shop.owner.call("merge_task", task_id=task)
    (job,) = shop.coordinator("c1").claim(free_slots=0)["worktree_jobs"]
    merged = [{"task_id": task, "commit": "m1", "into": "main"}]
    shop.coordinator("c1").call("report_worktree_job", job_id=job["job_id"], done=True, merged=merged)
    after = story(shop, task)
    assert after["work"]["merged_commit"] == "m1"
    assert after["waits"][-1]["until"] == after["work"]["updated_at"]
    assert [each["kind"] for each in after["events"]][-1] == "worktree.merged"
    whole = shop.owner.call("show_trace", correlation_id=task)
    assert (whole["usage"]["launches"], whole["usage"]["cost_usd"]) == (2, 0.5)
    assert [each["usage"]["cost_usd"] for each in after["launches"]] == [0.25, 0.25]


def test_what_held_its_agent_is_told_with_the_row_and_the_facts_of_the_decision(shop: World) -> None:
    shop.owner.call("pause_project", project_id=shop.project_id)
    shop.coordinator().claim(free_slots=1)
    task = shop.task("w1", status="todo")
    shop.owner.call("resume_project", project_id=shop.project_id)
    shop.move(task, "in_progress")
    shop.owner.call("pause_project", project_id=shop.project_id)
    shop.coordinator().claim(free_slots=1)
    shop.advance(60)
    found = story(shop, task)
    (wait,) = [each for each in found["waits"] if each["reason"] == "project_paused"]
    assert (wait["cause"], wait["until"]) == ("agent", None)
    (decision,) = [each for each in found["decisions"] if each["sequence"] == wait["event"]]
    assert (decision["action"], decision["agent_id"], decision["rule"]) == ("hold", "w1", wait["rule"])
    assert decision["row"]
    assert decision["facts"]


def test_a_manager_that_left_to_wait_waits_for_its_subtasks_and_they_stand_below_it(world: World) -> None:
    world.crew(workers=2)
    main = world.task("boss", title="House")
    boss = world.start("boss")
    roof, _ = boss.assigned({"Roof": "w1", "Walls": "w2"})
    boss.begin(roof)
    boss.wait()
    world.advance(60)
    found = story(world, main)
    assert causes(found)[-1] == "subtasks"
    assert [each["title"] for each in found["tasks"]] == ["Roof", "Walls"]
    alone = story(world, roof)
    assert (alone["task_id"], alone["tasks"]) == (roof, [])
    (whole,) = world.owner.call("show_trace", correlation_id=roof)["tasks"]
    assert whole["task_id"] == main


def test_delegations_and_the_conversations_for_them_are_told_with_their_times(world: World) -> None:
    world.project(decomposition="never")
    world.worker("a")
    world.worker("b")
    task = world.task("a")
    asked = {"target_agent_id": "b", "purpose": "Ask for the colour."}
    world.start("a").call("delegate_to_chat_session", **asked)
    chat = world.start_chat("a")
    chat.fetch()
    (delegation,) = story(world, task)["delegations"]
    assert (delegation["purpose"], delegation["target_agent_id"]) == ("Ask for the colour.", "b")
    assert (delegation["status"], delegation["ended_at"]) == ("processing", None)
    assert delegation["created_at"] <= world.iso()


def test_who_does_not_see_the_project_learns_nothing_of_the_story(shop: World) -> None:
    task = shop.task("w1")
    stranger, worker = shop.member("eve"), shop.start("w1")
    for below in (False, True):
        stranger.refused("show_trace", "taskNotFound", correlation_id=task, below=below)
        for who in (worker, shop.nobody, shop.coordinator()):
            assert who.ask("show_trace", correlation_id=task, below=below).refused


def test_of_a_request_that_spans_projects_one_sees_the_tasks_of_ones_own(shop: World) -> None:
    other = shop.project(name="Hall", project_id="hall")

    def dig(project_id: str) -> str:
        asked = {"project_id": project_id, "types": ["dig"], "orchestrator": True}
        orchestrator = Caller(shop, shop.owner.call("make_api_key", **asked)["token"])
        shared = {"agent_type": "dig", "task_description": "Dig", "correlation_id": "req-7"}
        task: str = orchestrator.call("create_task", **shared)["task_id"]
        return task

    mine, theirs = dig(shop.project_id), dig(other)
    eve = shop.member("eve")
    shop.owner.call("add_member", project_id=other, agent_id="eve")
    assert {each["task_id"] for each in shop.owner.call("show_trace", correlation_id="req-7")["tasks"]} == {
        mine,
        theirs,
    }
    assert [each["task_id"] for each in eve.call("show_trace", correlation_id="req-7")["tasks"]] == [theirs]
    eve.refused("show_trace", "taskNotFound", correlation_id=mine, below=True)


def test_a_story_of_many_tasks_needs_few_statements_beyond_those_of_each_task(shop: World) -> None:
    main = shop.task("boss", title="House")

    def needed() -> int:
        with shop.statements() as ran:
            story(shop, main)
        return len(ran)

    shop.owner.call("file_task", project_id=shop.project_id, title="One", parent_task_id=main)
    few = needed()
    for title in ("Two", "Three", "Four", "Five", "Six"):
        shop.owner.call("file_task", project_id=shop.project_id, title=title, parent_task_id=main)
    assert needed() - few <= 5 * 6


def test_an_unknown_request_is_refused_with_what_to_give(shop: World) -> None:
    refusal = shop.owner.refused("show_trace", "taskNotFound", correlation_id="nothing", below=True)
    assert "correlation_id of a task" in refusal["instruction"]
