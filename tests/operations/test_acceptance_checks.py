"""Acceptance checks: run by a Coordinator when success is reported, told when they fail, never taken for granted."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.operations.test_worktrees import Yard
from tests.stories import Answer, Caller, Process, World
from toryo.domain import acceptance
from toryo.domain.coordinators import GONE_AFTER
from toryo.domain.errors import Code
from toryo.domain.projects import Settings
from toryo.domain.times import SECOND
from toryo.operations.calls.dispatch import Outcome
from toryo.operations.calls.grants import Door
from toryo.workflow.guard_limits import Limits

FILE = [{"file": "hello.txt"}]


pytestmark = pytest.mark.crew(workers=2, decomposition="never", commands_from="managers")


def reporting(worker: Process, *, may_wait: bool = True, **report: Any) -> Outcome:
    asked: Answer = {"result": "success", "summary": "done", **report}
    return worker.world.perform("report_completed", asked, worker.credentials, may_wait=may_wait)


def checks(world: World, coordinator_id: str = "c1") -> list[Answer]:
    found: list[Answer] = world.coordinator(coordinator_id).claim(free_slots=0)["checks"]
    return found


def judge(world: World, check: Answer, *failures: tuple[str, str]) -> Answer:
    told = [{"check": name, "message": message} for name, message in failures]
    return world.coordinator().call("report_check_result", check_id=check["check_id"], failures=told)


def test_success_waits_for_the_checks_and_then_completes(crew: World):
    task = crew.task("w1", acceptance=[*FILE, {"command": "make test", "timeout_seconds": 60}])
    worker = crew.start("w1")
    outcome = reporting(worker)
    assert outcome.later is not None
    assert outcome.later.topics == {f"check:{task}"}
    assert crew.status(task) == "in_progress"
    (check,) = checks(crew)
    assert check["checks"] == [{"file": "hello.txt"}, {"command": "make test", "timeout_seconds": 60}]
    assert (check["agent_id"], check["launch_id"]) == ("w1", worker.launch_id)
    assert (check["project_id"], check["working_directory"]) == (crew.project_id, "/srv/house")
    crew.hints.clear()
    judge(crew, check)
    assert any(f"check:{task}" in hint for hint in crew.hints)
    outcome = reporting(worker)
    assert outcome.result is not None
    assert (outcome.refused, outcome.result["action"]) == (False, "exit")
    assert crew.status(task) == "completed"


def test_a_check_tells_which_sandbox_its_agent_has(crew: World):
    options = {"sandbox": "bwrap", "sandbox_network": False}
    crew.owner.call("edit_agent", agent_id="w1", provider_options=options)
    crew.task("w1", acceptance=FILE)
    worker = crew.start("w1")
    reporting(worker)
    (check,) = checks(crew)
    assert options.items() <= check["provider_options"].items()
    assert check["ai_type"]


def test_one_who_may_not_wait_longer_is_told_to_come_again(crew: World):
    crew.task("w1", acceptance=FILE)
    worker = crew.start("w1")
    refusal = worker.refused("report_completed", "notNow", result="success", summary="done")
    assert "report_completed" in refusal["instruction"]


@pytest.mark.parametrize("failures", [(), (("hello.txt", "is not there"),)], ids=["they pass", "one fails"])
def test_an_agent_whose_checks_take_long_leaves_and_is_started_again_only_if_one_fails(crew: World, failures: Any):
    task = crew.task("w1", acceptance=FILE)
    following = crew.task("w1", status="todo", start="when_ready")
    worker = crew.start("w1")
    reporting(worker)
    (check,) = checks(crew)
    crew.advance(acceptance.PATIENCE / SECOND - 1)
    assert reporting(worker).later is not None
    assert crew.status(following) == "todo", "it waits for its checks, and has its place"
    crew.advance(1)
    told = reporting(worker)
    assert told.result is not None and (told.refused, told.result["action"]) == (False, "exit")
    assert reporting(worker).result == told.result, "who has not heard it asks again"
    assert (crew.status(task), crew.status(following)) == ("in_progress", "in_progress"), "its line goes on meanwhile"
    crew.move(following, "completed")
    assert crew.why("w1") == "hold checking"
    judge(crew, check, *failures)
    if not failures:
        shown = crew.owner.call("show_task", task_id=task)["task"]
        assert (shown["status"], shown["summary"]) == ("completed", "done")
        assert not crew.why("w1").startswith("start")
    else:
        assert crew.start("w1").next()["failed_checks"][0]["message"] == "is not there"


def test_an_agent_whose_long_checks_fail_each_time_is_not_started_for_ever(crew: World):
    task = crew.task("w1", acceptance=FILE)
    for _ in range(Limits().idle_launches):
        worker = crew.start("w1")
        reporting(worker)
        (check,) = checks(crew)
        crew.advance(acceptance.PATIENCE / SECOND)
        assert reporting(worker).later is None
        judge(crew, check, ("hello.txt", "is not there"))
    assert crew.coordinator().starts(agent_ids=["w1"]) == []
    assert (crew.status(task), crew.show(task)["blocked_reason"]) == ("blocked", "no_progress")


def test_nor_is_a_manager_to_whom_its_failed_checks_are_news(crew: World):
    task = crew.task("boss", acceptance=FILE)
    crew.task("w1", parent_task_id=task)
    crew.start("w1").report()
    for _ in range(3 * Limits().idle_launches):
        launches = crew.coordinator().claim(agent_ids=["boss"], free_slots=1)["start"]
        if not launches:
            break
        boss = crew.process(launches[0])
        boss.sign_in()
        boss.call("get_my_task")
        reporting(boss)
        (check,) = checks(crew)
        crew.advance(acceptance.PATIENCE / SECOND)
        assert reporting(boss).later is None
        judge(crew, check, ("hello.txt", "is not there"))
    assert (crew.status(task), crew.show(task)["blocked_reason"]) == ("blocked", "no_progress")


def test_who_unblocks_what_a_guard_has_blocked_reads_which_check_its_reports_kept_failing(crew: World):
    task = crew.task("w1", acceptance=FILE)
    printed = "\n".join(("a banner", *(f"line {number}" for number in range(3))))
    for _ in range(2):
        worker = crew.start("w1")
        reporting(worker)
        (check,) = checks(crew)
        judge(crew, check, ("hello.txt", printed))
        for _ in range(Limits().same_answers + 1):
            worker.next()
        said = crew.owner.call("needs_you")["items"][0]["text"]
        assert "Its last report failed the check “hello.txt”.\n| line 0\n| line 1\n| line 2" in said
        assert "a banner" not in said
        crew.advance(121)
    assert (crew.status(task), crew.show(task)["blocked_reason"]) == ("blocked", "stopped_twice")
    (why, _) = crew.owner.call("why", agent_id="w1")["decisions"]
    assert "Its last report failed the check “hello.txt”.\n| line 0" in why["explanation"]
    crew.move(task, "in_progress")
    assert not [each for each in crew.owner.call("needs_you")["items"] if "hello.txt" in each["text"]], (
        "it begins again"
    )


def test_a_person_is_told_once_of_all_checks_that_wait_for_a_coordinator(crew: World):
    """Their agents have left, and are held: nobody else would say so."""
    tasks = [crew.task(each, acceptance=FILE) for each in ("w1", "w2")]
    for each in ("w1", "w2"):
        reporting(crew.start(each))
    crew.advance((GONE_AFTER + acceptance.PATIENCE) / SECOND)
    (need,) = crew.owner.call("needs_you")["items"]
    assert (need["kind"], need["task_id"] in tasks) == ("stuck", True)
    assert "No Coordinator is running. Its acceptance checks have not run." in need["text"]
    assert need["actions"][0]["command"] == "toryo doctor"
    checks(crew)
    assert crew.owner.call("needs_you")["items"] == []


def test_whoever_waits_for_checks_as_it_is_told_is_no_runaway(crew: World):
    """Of its own subtask: it goes on only when that is completed. Each call has waited as long as a call may."""
    crew.owner.call("edit_project", project_id=crew.project_id, settings={"decomposition": "required"})
    crew.task("w1")
    worker = crew.start("w1")
    parts = [{"local_id": "a", "title": "Greeting", "description": "x", "acceptance": FILE}]
    one = worker.call("create_tasks_batch", tasks=parts)["local_id_to_real_id"]["a"]
    worker.set(one, "in_progress")
    done = {"task_id": one, "status": "completed"}
    for again in [True] * (Limits().refusals + 1):
        asked = crew.dispatcher.perform_async(
            "update_task_status", done, worker.credentials, door=Door.OWN, again=again
        )
        outcome = asyncio.run(asked)
        assert outcome.result is not None and outcome.result["error"] == "notNow"
    assert crew.events("session.runaway") == []
    for _ in range(Limits().refusals):
        worker.refused("update_task_status", "notNow", **done)
    assert crew.events("session.runaway") != [], "whoever does not wait is one"


def test_what_failed_is_told_mended_and_checked_again(crew: World):
    task = crew.task("w1", acceptance=FILE)
    worker = crew.start("w1")
    reporting(worker)
    (check,) = checks(crew)
    judge(crew, check, ("hello.txt", "is not there"))
    refusal = worker.refused("report_completed", "checksFailed", result="success", summary="done")
    assert refusal["failed_checks"] == [{"check": "hello.txt", "message": "is not there"}]
    assert "“hello.txt”" in refusal["instruction"]
    said = worker.next()
    assert (said["action"], said["state"]) == ("execute_task", "fixing_checks")
    assert said["failed_checks"] == refusal["failed_checks"]
    assert "“hello.txt”" in said["instruction"]
    assert reporting(worker).later is not None
    (second,) = checks(crew)
    assert second["check_id"] != check["check_id"]
    judge(crew, second)
    worker.report()
    assert crew.status(task) == "completed"


def test_a_check_is_handed_out_once_and_to_the_coordinator_of_its_launch(crew: World):
    crew.task("w1", acceptance=FILE)
    worker = crew.start("w1")
    reporting(worker)
    assert checks(crew, "another") == []
    assert len(checks(crew)) == 1
    assert checks(crew) == []


@pytest.mark.parametrize("taken", [True, False])
def test_a_check_whose_coordinator_died_is_run_by_another_after_a_while(crew: World, taken: bool):
    crew.task("w1", acceptance=FILE)
    worker = crew.start("w1")
    reporting(worker)
    if taken:
        checks(crew)
    crew.advance(80)
    assert checks(crew, "another") == []
    crew.advance(11)
    assert len(checks(crew, "another")) == 1


@pytest.mark.parametrize("taken", [True, False])
def test_a_check_of_a_worktree_is_run_only_where_that_is_and_people_hear_that_it_waits(world: World, taken: bool):
    """No other machine has the files: its checks would fail there, and the agent be blamed."""
    yard = Yard(world)
    world.owner.call("edit_project", project_id=world.project_id, settings={"decomposition": "never"})
    task, beside = world.task("w1", acceptance=FILE), world.task("w2", acceptance=FILE)
    workers = [world.process(yard.launch(agent_id)) for agent_id in ("w1", "w2")]
    for worker in workers:
        worker.sign_in()
        worker.call("report_model", provider="claude", model_id="model-1")
        worker.call("get_my_task")
        reporting(worker)
    if taken:
        assert len(checks(world)) == 2
    for _ in range(5):
        world.advance(GONE_AFTER / SECOND / 2)
        assert checks(world, "c2") == []

    (need,) = [each for each in world.owner.call("needs_you")["items"] if each["kind"] == "stuck"]
    assert need["task_id"] in (task, beside)
    assert "the machine of Coordinator c1" in need["text"] and "checks have not run" in need["text"]
    assert need["actions"][0]["command"] == "toryo doctor"
    home = world.owner.call("show_overview")
    found = world.owner.call("show_conditions")["conditions"]
    (told,) = [each for each in found if each["kind"] == "coordinator_gone"]
    assert told["text"].endswith("2 tasks wait.") and home["queue"]["held_in_all"] == 2
    assert "Coordinator c1" in home["queue"]["held"][0]["explanation"]

    assert {check["worktree_task_id"] for check in checks(world)} == {task, beside}, "it is there again"
    assert world.owner.call("needs_you")["items"] == []


def reported_from_a_worktree(world: World) -> tuple[str, Process]:
    """A task whose worker in a worktree has reported success: its checks wait."""
    yard = Yard(world)
    world.owner.call("edit_project", project_id=world.project_id, settings={"decomposition": "never"})
    task = world.task("w1", acceptance=FILE)
    worker = world.process(yard.launch("w1"))
    worker.sign_in()
    worker.call("report_model", provider="claude", model_id="model-1")
    worker.call("get_my_task")
    reporting(worker)
    return task, worker


def test_put_back_it_is_begun_again_by_another_coordinator(world: World):
    task, worker = reported_from_a_worktree(world)
    world.advance(acceptance.PATIENCE / SECOND)
    assert reporting(worker).later is None, "it leaves"
    other = world.coordinator("c2")
    assert other.starts(agent_ids=["w1"]) == []
    (need,) = world.owner.call("needs_you")["items"]
    assert need["actions"][1]["command"] == f"toryo task move {task} todo"
    world.move(task, "todo")
    world.move(task, "in_progress")
    assert other.starts(agent_ids=["w1"]) == ["w1"]


@pytest.mark.parametrize("end", ["todo", "cancelled"])
@pytest.mark.parametrize("taken", [False, True])
def test_a_check_for_which_nobody_waits_any_more_is_over(world: World, end: str, taken: bool):
    task, _ = reported_from_a_worktree(world)
    if taken:
        assert len(checks(world)) == 1
    world.move(task, end)
    world.advance(2 * GONE_AFTER / SECOND)
    assert checks(world) == []
    assert world.owner.call("show_task", task_id=task)["task"]["checks"] != "running"
    with world.statements() as before:
        world.coordinator().claim(free_slots=0)
    assert not any("worktrees" in each for each in before), "nothing is looked up for it any more"


def test_so_is_the_check_of_a_process_that_was_started_by_hand_in_it(world: World):
    yard = Yard(world)
    world.owner.call("edit_project", project_id=world.project_id, settings={"decomposition": "never"})
    task = world.task("w1", acceptance=FILE)
    yard.ended(yard.launch("w1"))
    by_hand = world.nobody.call("authenticate", agent_id="w1", passkey=world.passkeys["w1"])
    session = Caller(world, None, by_hand["session_token"])
    session.call("report_model", provider="claude", model_id="model-1")
    session.call("get_my_task")
    session.refused("report_completed", "notNow", result="success", summary="done")
    assert checks(world, "c2") == []
    assert [check["worktree_task_id"] for check in checks(world)] == [task]


def test_a_result_that_comes_twice_or_too_late_changes_nothing(crew: World):
    task = crew.task("w1", acceptance=FILE)
    worker = crew.start("w1")
    reporting(worker)
    (check,) = checks(crew)
    judge(crew, check)
    judge(crew, check, ("hello.txt", "vanished"))
    assert crew.show(task)["checks"] == "passed"
    crew.coordinator().refused("report_check_result", "validationError", check_id="chk_none", failures=[])


def test_a_check_of_an_earlier_start_does_not_pass_the_next_one(crew: World):
    task = crew.task("w1", acceptance=FILE)
    worker = crew.start("w1")
    reporting(worker)
    (check,) = checks(crew)
    crew.move(task, "todo")
    crew.move(task, "in_progress")
    judge(crew, check)
    assert crew.show(task)["checks"] == "none"


def test_blocked_and_failed_need_no_checks(crew: World):
    task = crew.task("w1", acceptance=FILE)
    crew.start("w1").report("failed", summary="cannot")
    assert crew.status(task) == "failed"
    assert checks(crew) == []


def test_without_a_coordinator_a_person_confirms(crew: World):
    task = crew.task("w1", acceptance=FILE)
    worker = crew.start("w1")
    reporting(worker)
    crew.owner.call("confirm_checks", task_id=task, passed=False, message="not nice")
    worker.refused("report_completed", "checksFailed", result="success", summary="done")
    reporting(worker)
    crew.owner.call("confirm_checks", task_id=task, passed=True)
    worker.report()
    assert crew.status(task) == "completed"


def test_no_path_completes_a_task_whose_checks_have_not_passed(crew: World):
    task = crew.task("w1", acceptance=FILE)
    assert "confirm" in crew.owner.refused("move_task", "notNow", task_id=task, status="completed")["instruction"]
    crew.owner.call("confirm_checks", task_id=task, passed=True)
    crew.move(task, "completed")


def test_success_with_open_subtasks_is_refused_before_anything_is_checked(crew: World):
    """A pass that was got before the work was done would be worth nothing."""
    crew.owner.call("edit_project", project_id=crew.project_id, settings={"decomposition": "required"})
    task = crew.task("w1", acceptance=FILE)
    worker = crew.start("w1")
    worker.batch("One", "Two")
    worker.refused("report_completed", "subtasksOpen", result="success", summary="done")
    assert checks(crew) == []
    assert crew.show(task)["checks"] == "none"


def test_checks_that_were_changed_after_they_passed_are_run_anew(crew: World):
    task = crew.task("w1", acceptance=FILE)
    crew.owner.call("confirm_checks", task_id=task, passed=True)
    crew.owner.call("edit_task", task_id=task, acceptance=[{"file": "other.txt"}])
    worker = crew.start("w1")
    assert reporting(worker).later is not None
    assert checks(crew)[0]["checks"] == [{"file": "other.txt"}]


def test_a_manager_is_told_what_failed_and_adds_a_task_that_mends_it(crew: World):
    main = crew.task("boss", acceptance=FILE)
    boss = crew.start("boss")
    (part,) = boss.assigned({"Part": "w1"})
    boss.begin(part)
    boss.wait()
    crew.start("w1").report()
    boss = crew.start("boss")
    assert boss.action() == "report_completion"
    reporting(boss)
    judge(crew, checks(crew)[0], ("hello.txt", "is not there"))
    boss.refused("report_completed", "checksFailed", result="success", summary="done")
    said = boss.next()
    assert (said["action"], said["failed_checks"][0]["check"]) == ("situational_awareness", "hello.txt")
    (mend,) = boss.assigned({"Mend it": "w2"})
    boss.begin(mend)
    boss.wait()
    crew.start("w2").report()
    boss = crew.start("boss")
    assert boss.action() == "report_completion"
    reporting(boss)
    judge(crew, checks(crew)[0])
    boss.report()
    assert crew.status(main) == "completed"


def test_a_subtask_with_checks_is_completed_once_they_pass(crew: World):
    """A worker's own subtask is finished by update_task_status: success is reported there."""
    crew.owner.call("edit_project", project_id=crew.project_id, settings={"decomposition": "required"})
    crew.task("w1")
    worker = crew.start("w1")
    task = {"local_id": "a", "title": "Greeting", "description": "x", "acceptance": FILE}
    one = worker.call("create_tasks_batch", tasks=[task])["local_id_to_real_id"]["a"]
    worker.set(one, "in_progress")
    done = {"task_id": one, "status": "completed"}
    assert crew.perform("update_task_status", done, worker.credentials, may_wait=True).later is not None
    assert "update_task_status" in worker.refused("update_task_status", "notNow", **done)["instruction"]
    judge(crew, checks(crew)[0], ("hello.txt", "is not there"))
    refusal = worker.refused("update_task_status", "checksFailed", **done)
    assert refusal["failed_checks"][0]["check"] == "hello.txt"
    assert refusal["next"]["action"] == "execute_subtask"
    assert crew.perform("update_task_status", done, worker.credentials, may_wait=True).later is not None
    judge(crew, checks(crew)[0])
    assert worker.set(one, "completed")["new_status"] == "completed"


def test_workers_write_no_commands_and_managers_only_where_the_project_lets_them(world: World):
    world.crew(workers=1)
    world.task("boss")
    boss = world.start("boss")
    command = {"title": "Build", "description": "x", "acceptance": [{"command": "make"}]}
    in_context = {"title": "Build", "description": "x", "context": {"command": "make"}}
    for asked in (command, in_context):
        assert "commands_from" in boss.refused("create_task", "permissionDenied", **asked)["message"]
    world.owner.call("edit_project", project_id=world.project_id, settings={"commands_from": "managers"})
    boss.call("create_task", **command)
    world.task("w1")
    worker = world.start("w1")
    for asked in (command, in_context):
        worker.refused("create_task", "permissionDenied", **asked)
    worker.refused("request_task", "permissionDenied", title="x", assignee_id="boss", context={"command": "make"})


REQUIRED = [{"command": "make test", "retries": 1}]


def requiring(world: World, *checks: Any) -> None:
    world.owner.call("edit_project", project_id=world.project_id, settings={"required_checks": list(checks)})


def evidence(check: str = "make test", outcome: str = "passed", **more: Any) -> Answer:
    return {"check": check, "outcome": outcome, "runs": 1, "seconds": 1.5, "exit_code": 0, "output": "ok", **more}


def told(world: World, check: Answer, *results: Answer, failures: Any = ()) -> Answer:
    return world.coordinator().call(
        "report_check_result", check_id=check["check_id"], failures=list(failures), results=list(results)
    )


def test_a_success_must_pass_what_its_project_requires_then_its_own_each_once(crew: World):
    requiring(crew, *REQUIRED, *FILE)
    task = crew.task("w1", acceptance=[*FILE, {"command": "make docs"}])
    worker = crew.start("w1")
    wanted = [*REQUIRED, *FILE, {"command": "make docs"}]
    assert worker.call("get_my_task")["task"]["acceptance"] == wanted
    assert crew.show(task)["required_checks"] == [*REQUIRED, *FILE]
    assert reporting(worker).later is not None
    (check,) = checks(crew)
    assert (check["checks"], check["required"]) == (wanted, len([*REQUIRED, *FILE]))
    told(crew, check, evidence())
    worker.report()
    assert crew.status(task) == "completed"


def test_a_task_without_checks_of_its_own_does_not_complete_before_those_of_its_project(crew: World):
    task = crew.task("w1")
    worker = crew.start("w1")
    requiring(crew, *REQUIRED)  # also while it is under way
    worker.refused("report_completed", "notNow", result="success", summary="done")
    assert "confirm" in crew.owner.refused("move_task", "notNow", task_id=task, status="completed")["instruction"]
    (check,) = checks(crew)
    told(crew, check, evidence(outcome="failed", exit_code=2, output="1 failed"))
    refusal = worker.refused("report_completed", "checksFailed", result="success", summary="done")
    assert refusal["failed_checks"] == [{"check": "make test", "message": "1 failed"}]
    assert worker.next()["state"] == "fixing_checks"
    crew.owner.call("confirm_checks", task_id=task, passed=True)
    worker.report()
    assert crew.status(task) == "completed"


def test_what_the_project_requires_does_not_concern_an_agents_own_parts_nor_people(crew: World):
    crew.owner.call("edit_project", project_id=crew.project_id, settings={"decomposition": "required"})
    requiring(crew, *REQUIRED)
    crew.task("w1")
    worker = crew.start("w1")
    one, two = worker.batch("One", "Two")
    for part in (one, two):
        worker.set(part, "in_progress")
        worker.set(part, "completed")
    assert checks(crew) == []
    crew.agent("lena", "worker", kind="human", provider=None)
    by_hand = crew.task("lena", title="By hand")
    crew.move(by_hand, "completed")
    assert crew.show(by_hand)["required_checks"] == []


def test_a_request_that_an_agent_makes_for_itself_is_no_part_and_must_pass(crew: World):
    """Else an agent could have its work counted by asking for it itself."""
    requiring(crew, *REQUIRED)
    crew.task("w1")
    worker = crew.start("w1")
    asked = worker.call("request_task", title="More", description="x", assignee_id="w1")
    crew.owner.call("approve_task", task_id=asked["task_id"])
    assert crew.show(asked["task_id"])["required_checks"] == REQUIRED


def test_a_manager_reports_success_once_the_checks_passed_on_the_whole(crew: World):
    requiring(crew, *REQUIRED)
    main = crew.task("boss")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Part": "w1"})
    boss.begin(part)
    boss.wait()
    worker = crew.start("w1")
    reporting(worker)
    told(crew, checks(crew)[0], evidence())
    worker.report()
    boss = crew.start("boss")
    reporting(boss)
    (check,) = checks(crew)
    assert check["checks"] == REQUIRED
    told(crew, check, evidence())
    boss.report()
    assert crew.status(main) == "completed"


def test_the_evidence_of_each_check_is_shown_with_the_task_and_kept_with_every_attempt(crew: World):
    task = crew.task("w1", acceptance=[*REQUIRED, *FILE])
    worker = crew.start("w1")
    reporting(worker)
    first = [evidence(outcome="failed", runs=2, exit_code=1, output="E  assert 1 == 2"), evidence("hello.txt")]
    told(crew, checks(crew)[0], *first)
    worker.refused("report_completed", "checksFailed", result="success", summary="done")
    assert crew.show(task)["check_results"] == first
    reporting(worker)
    second = [evidence(outcome="flaky", runs=2), evidence("hello.txt", exit_code=None, output="")]
    told(crew, checks(crew)[0], *second)
    assert crew.show(task)["check_results"] == second
    (passed,) = crew.events("task.checks_passed")
    assert passed["data"]["flaky"] == ["make test"]
    (traced,) = crew.owner.call("show_trace", correlation_id=task, below=True)["tasks"]
    assert [each["evidence"] for each in traced["checks"]] == [first, second]


def test_a_result_that_contradicts_itself_does_not_pass(crew: World):
    task = crew.task("w1", acceptance=REQUIRED)
    worker = crew.start("w1")
    reporting(worker)
    told(crew, checks(crew)[0], evidence(outcome="failed", output="no"))
    assert crew.show(task)["checks"] == "failed"
    assert crew.show(task)["check_failures"] == [{"check": "make test", "message": "no"}]


def test_a_coordinator_that_knows_only_failures_is_still_understood(crew: World):
    task = crew.task("w1", acceptance=FILE)
    worker = crew.start("w1")
    reporting(worker)
    judge(crew, checks(crew)[0], ("hello.txt", "is not there"))
    (shown,) = crew.show(task)["check_results"]
    assert (shown["check"], shown["outcome"], shown["output"]) == ("hello.txt", "failed", "is not there")


def test_limits_on_changes_reach_the_coordinator_as_they_were_written(crew: World):
    limits = {"diff": {"max_files": 3, "forbidden_paths": ["infra/**"], "forbid_secrets": True}}
    crew.task("w1", acceptance=[limits])
    worker = crew.start("w1")
    reporting(worker)
    (check,) = checks(crew)
    assert check["checks"] == [limits]


@pytest.mark.parametrize(
    "wrong",
    [
        {"diff": {}},
        {"diff": {"forbid_secrets": False}},
        {"diff": {"max_files": -1}},
        {"diff": {"max_lines": "many"}},
        {"diff": {"forbidden_paths": []}},
        {"diff": {"colour": 1}},
        {"command": "make", "retries": 6},
        {"file": "a", "retries": 1},
    ],
)
def test_a_check_that_means_nothing_is_refused(crew: World, wrong: Any):
    crew.owner.refused("file_task", "validationError", project_id=crew.project_id, title="x", acceptance=[wrong])


def test_a_file_that_can_only_lie_outside_of_the_working_directory_is_refused_at_once(crew: World) -> None:
    refusal = crew.owner.refused(
        "file_task", "validationError", project_id=crew.project_id, title="T", acceptance=[{"file": "../report.txt"}]
    )
    assert "leaves the working directory" in refusal["message"]
    crew.task("w1", acceptance=[{"file": "a/../report.txt"}])


@pytest.mark.parametrize("file", ["..", "../report.txt", "a/../../report.txt"])
def test_of_a_project_too_but_what_an_earlier_version_stored_is_still_read(crew: World, file: str) -> None:
    required = [{"command": "make"}, {"file": file}]
    settings = {"required_checks": required}
    refusal = crew.owner.refused("edit_project", "validationError", project_id=crew.project_id, settings=settings)
    assert refusal["message"].endswith(f"In check 2, {file!r} leaves the working directory.")
    assert Settings().changed(settings).values()["required_checks"] == required
    crew.owner.call("edit_project", project_id=crew.project_id, settings={"required_checks": [{"file": "report.txt"}]})


@pytest.mark.parametrize(
    ("check", "told"),
    [
        ({"comand": "make"}, "Check 2 has an unknown key 'comand'. Did you mean command?"),
        ({"diff": {"max_fils": 3}}, "Check 2 has an unknown key 'max_fils'. Did you mean max_files?"),
        ({"command": "make", "file": "a"}, "Check 2 needs exactly one of: file, command, diff, review."),
        ({"command": "make", "retries": 9}, "In check 2, retries is not a whole number from 0 to 5."),
        ({"review": {"by": "w2", "round": 1}}, "Check 2 has an unknown key 'round'. Did you mean rounds?"),
    ],
)
def test_what_is_wrong_with_a_check_of_a_task_is_told_in_one_sentence(crew: World, check: Answer, told: str) -> None:
    refusal = crew.owner.refused(
        "file_task", "validationError", project_id=crew.project_id, title="T", acceptance=[{"file": "a"}, check]
    )
    assert told in refusal["message"]
    assert "Check." not in refusal["message"]
    assert len(refusal["errors"]) == 1


# --- checks that cannot run -------------------------------------------------------------------------------------------


def unable(world: World, check: Answer, *more: Answer) -> None:
    """The Coordinator's report: the first check cannot run, neither here nor on what the work started from."""
    name = check["checks"][0]["command"]
    found = {"check": name, "outcome": "error", "exit_code": 127, "output": f"/bin/sh: {name}: not found"}
    failures = [{"check": each["check"], "message": each["output"]} for each in (found, *more)]
    world.coordinator().call(
        "report_check_result", check_id=check["check_id"], failures=failures, results=[found, *more]
    )


def asked(world: World) -> list[Answer]:
    found: list[Answer] = world.owner.call("list_questions", project_id=world.project_id, state="open")["questions"]
    return found


def stuck(world: World, agent: str = "w1", command: str = "pytst", **more: Any) -> tuple[str, Process]:
    """A task whose success waits for a check that cannot run; its agent has left."""
    task = world.task(agent, acceptance=[{"command": command}], **more)
    worker = world.start(agent)
    assert reporting(worker, summary="All is built.").later is not None
    [check] = checks(world)
    unable(world, check)
    outcome = reporting(worker, summary="All is built.")
    assert outcome.result is not None and not outcome.refused
    assert outcome.result["action"] == "exit"
    return task, worker


def test_a_check_that_cannot_run_is_a_question_to_a_person_and_no_failure_of_the_agent(crew: World) -> None:
    task, _ = stuck(crew)
    shown = crew.owner.call("show_task", task_id=task)["task"]
    assert (shown["status"], shown["checks"], shown["check_failures"]) == ("in_progress", "in_review", [])
    assert [each["outcome"] for each in shown["check_results"]] == ["error"]
    [question] = asked(crew)
    assert question["task_id"] == task and question["options"] == ["Run the checks again", "Return it to the agent"]
    assert "“pytst”" in question["question"] and "| /bin/sh: pytst: not found" in question["question"]
    [need] = [each for each in crew.owner.call("needs_you")["items"] if each["task_id"] == task]
    assert (need["kind"], need["questions"][0]["question"]) == ("question", question["question"])
    assert need["title"] == f"A check cannot run: {shown['title']} (w1)", "the question stands below"
    assert crew.why("w1") == "hold in_review"
    [traced] = crew.owner.call("show_trace", correlation_id=shown["correlation_id"])["tasks"][0]["checks"]
    assert traced["passed"] is False, "what cannot run has not passed"
    kinds = {event["kind"] for event in crew.events()}
    assert "question.asked" in kinds and not kinds & {"task.checks_failed", "review.requested"}


def test_run_again_after_the_correction_it_completes_the_task_without_its_agent(crew: World) -> None:
    task, _ = stuck(crew)
    crew.owner.call("answer_question", question_id=asked(crew)[0]["question_id"], choices=["Run the checks again"])
    assert not crew.why("w1").startswith("start")
    [check] = checks(crew)
    judge(crew, check)
    shown = crew.owner.call("show_task", task_id=task)["task"]
    assert (shown["status"], shown["summary"]) == ("completed", "All is built.")
    assert asked(crew) == []


def test_what_still_cannot_run_is_asked_again_and_what_fails_then_reaches_the_agent(crew: World) -> None:
    task, _ = stuck(crew)
    for _ in range(2):
        crew.owner.call("answer_question", question_id=asked(crew)[0]["question_id"], choices=["Run the checks again"])
        [check] = checks(crew)
        unable(crew, check)
    assert len(asked(crew)) == 1
    crew.owner.call("answer_question", question_id=asked(crew)[0]["question_id"], choices=["Run the checks again"])
    [check] = checks(crew)
    judge(crew, check, ("pytst", "1 failed"))
    assert crew.status(task) == "in_progress"
    worker = crew.start("w1")
    assert worker.next()["failed_checks"] == [{"check": "pytst", "message": "1 failed"}]


def test_an_answer_counts_for_every_task_that_waits_for_the_same_check(crew: World) -> None:
    first, _ = stuck(crew, "w1")
    second, _ = stuck(crew, "w2")
    crew.worker("w3")
    third, _ = stuck(crew, "w3")
    other, _ = stuck(crew, "boss", command="mypi")
    needs = [each["title"] for each in crew.owner.call("needs_you")["items"] if each["kind"] == "question"]
    assert sorted(needs) == [
        "A check cannot run: Build the house (boss)",
        "A check cannot run: Build the house (w1) and 2 more",
    ], "one for all three"
    [question] = [each for each in asked(crew) if each["task_id"] == first]
    crew.owner.call("answer_question", question_id=question["question_id"], choices=["Run the checks again"])
    assert [each["task_id"] for each in asked(crew)] == [other]
    answered = [each["task_id"] for each in crew.events() if each["kind"] == "question.answered"]
    assert answered == [first, second, third], "each once"
    for check in checks(crew):
        judge(crew, check)
    assert [crew.status(each) for each in (first, second, third, other)] == [*["completed"] * 3, "in_progress"]


def test_a_person_returns_it_to_the_agent_in_their_own_words(crew: World) -> None:
    stuck(crew)
    question = asked(crew)[0]["question_id"]
    crew.owner.refused(
        "answer_question", Code.VALIDATION_ERROR, question_id=question, choices=["Return it to the agent"]
    )
    crew.owner.call(
        "answer_question", question_id=question, choices=["Return it to the agent"], text="Add pytest to the project."
    )
    worker = crew.start("w1")
    assert worker.next()["failed_checks"] == [{"check": "pytst", "message": "Add pytest to the project."}]


def test_a_person_confirms_the_checks_in_its_place(crew: World) -> None:
    task, _ = stuck(crew)
    crew.owner.call("confirm_checks", task_id=task, passed=True)
    assert asked(crew) == []


def test_where_another_check_fails_the_agent_is_told_that_one_only(crew: World) -> None:
    crew.task("w1", acceptance=[{"command": "pytst"}, {"command": "make lint"}])
    worker = crew.start("w1")
    reporting(worker)
    [check] = checks(crew)
    unable(crew, check, {"check": "make lint", "outcome": "failed", "exit_code": 1, "output": "E501"})
    refused = reporting(worker).result
    assert refused is not None and refused["failed_checks"] == [{"check": "make lint", "message": "E501"}]
    assert asked(crew) == []


def test_after_an_error_the_review_follows(crew: World) -> None:
    task = crew.task("w1", acceptance=[{"command": "pytst"}, {"review": {"by": "w2"}}])
    worker = crew.start("w1")
    reporting(worker, summary="Built.")
    [check] = checks(crew)
    unable(crew, check)
    reporting(worker, summary="Built.")
    crew.owner.call("answer_question", question_id=asked(crew)[0]["question_id"], choices=["Run the checks again"])
    [check] = checks(crew)
    judge(crew, check)
    reviewer = crew.start("w2")
    assert reviewer.next()["state"] == "reviewing"
    reviewer.call("submit_review", verdict="approve", summary="Fine.")
    assert crew.status(task) == "completed"
