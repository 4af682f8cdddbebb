"""`run_check`: a worker runs the checks of its task while it works; what they find decides nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.test_worktrees import Yard
from tests.stories import Answer, Process, World
from toryo.domain.coordinators import GONE_AFTER
from toryo.domain.errors import Code
from toryo.domain.times import SECOND
from toryo.operations.calls.dispatch import Outcome

CHECKS = [{"command": "pytest"}, {"command": ["make", "lint"], "timeout_seconds": 60}, {"file": "README"}]
FAILED = {"check": "pytest", "outcome": "failed", "exit_code": 1, "output": "x" * 5_000 + "1 failed"}
PASSED = {"check": "make lint", "outcome": "passed", "exit_code": 0, "output": "fine"}


@pytest.fixture
def yard(world: World) -> Yard:
    found = Yard(world)
    world.owner.call("edit_project", project_id=world.project_id, settings={"decomposition": "never"})
    return found


def at_work(yard: Yard, acceptance: Any = CHECKS, **options: Any) -> tuple[str, Process]:
    if options:
        yard.world.owner.call("edit_agent", agent_id="w1", provider_options=options)
    task = yard.world.task("w1", acceptance=acceptance)
    worker = yard.world.process(yard.launch("w1"))
    worker.sign_in()
    worker.call("report_model", provider="claude", model_id="model-1")
    worker.call("get_my_task")
    return task, worker


def asks(worker: Process, **how: Any) -> Outcome:
    return worker.world.perform("run_check", how, worker.credentials, may_wait=True)


def job_of(yard: Yard) -> Answer:
    [job] = yard.worktree_jobs()
    assert job["kind"] == "checks"
    return job


def runs(yard: Yard, worker: Process, *evidence: Answer, **how: Any) -> Answer:
    outcome = asks(worker, **how)
    assert outcome.later is not None, outcome.result
    yard.report(job_of(yard)["job_id"], done=True, evidence=list(evidence))
    found = asks(worker, **how)
    assert found.result is not None and not found.refused, found.result
    return dict(found.result)


def test_a_worker_runs_the_checks_of_its_task_as_a_report_of_success_would(yard: Yard) -> None:
    task, worker = at_work(yard)
    asks(worker)
    options = job_of(yard)["options"]
    assert options["checks"] == CHECKS
    assert options["provider_options"]["permissions"] == "edit" and options["unsandboxed"] is False
    assert options["worktree"] == f"/w/{task}/sub"
    assert (options["agent_id"], options["launch_id"], options["ai_type"]) == ("w1", worker.launch_id, "claude")
    assert {"network", "setup"} <= options.keys()


def test_what_they_find_is_told_in_brief_and_decides_nothing(yard: Yard) -> None:
    task, worker = at_work(yard)
    found = runs(yard, worker, FAILED, PASSED)
    assert found["passed"] is False
    failed, passed = found["results"]
    assert failed["output"].endswith("1 failed") and len(failed["output"]) <= 2_000
    assert passed == {"check": "make lint", "outcome": "passed"}
    shown = yard.world.owner.call("show_task", task_id=task)["task"]
    assert (shown["checks"], shown["check_results"], shown["check_failures"]) == ("none", [], [])
    assert runs(yard, worker, PASSED)["passed"] is True
    report = {"result": "success", "summary": "done"}
    outcome = yard.world.perform("report_completed", report, worker.credentials, may_wait=True)
    assert outcome.later is not None, "success still waits for its own checks"
    assert yard.world.status(task) == "in_progress"


def test_each_call_runs_them_again_but_one_that_did_not_wait_long_enough_gets_that_run(yard: Yard) -> None:
    _, worker = at_work(yard)
    assert "again" in worker.refused("run_check", Code.NOT_NOW)["instruction"]
    job = job_of(yard)
    assert "again" in worker.refused("run_check", Code.NOT_NOW)["instruction"]
    assert yard.worktree_jobs() == []
    yard.report(job["job_id"], done=True, evidence=[PASSED])
    assert worker.call("run_check")["passed"] is True
    assert asks(worker).later is not None
    assert job_of(yard)["job_id"] != job["job_id"]


def test_one_check_is_run_by_its_name(yard: Yard) -> None:
    _, worker = at_work(yard)
    assert "pytest, make lint, README" in worker.refused("run_check", Code.NOT_NOW, name="tests")["instruction"]
    asks(worker, name="make lint")
    options = job_of(yard)["options"]
    assert (options["checks"], options["required"]) == ([CHECKS[1]], 0)
    settings = {"required_checks": [CHECKS[1]]}
    yard.world.owner.call("edit_project", project_id=yard.world.project_id, settings=settings)
    asks(worker, name="make lint")
    options = job_of(yard)["options"]
    assert (options["checks"], options["required"]) == ([CHECKS[1]], 1)


def test_checks_that_cannot_run_there_are_told_with_the_reason_beside(yard: Yard) -> None:
    _, worker = at_work(yard)
    asks(worker)
    yard.report(job_of(yard)["job_id"], done=False, trouble="There is no sandbox.")
    refusal = worker.refused("run_check", Code.NOT_NOW)
    assert (refusal["message"], refusal["trouble"]) == ("The checks could not run.", "There is no sandbox.")
    assert asks(worker).later is not None, "the next call tries again"
    yard.world.now += GONE_AFTER + 1
    assert "away" in worker.refused("run_check", Code.NOT_NOW)["message"]


def test_a_task_without_checks_and_an_agent_that_only_reads_are_refused(yard: Yard) -> None:
    _, worker = at_work(yard, acceptance=[{"review": {"by": "w2"}}])
    assert worker.refused("run_check", Code.NOT_NOW)["message"] == "Your task has no checks."
    yard.world.owner.call("edit_agent", agent_id="w1", provider_options={"permissions": "read"})
    worker.refused("run_check", Code.PERMISSION_DENIED)


@pytest.mark.parametrize(
    ("permissions", "sandbox", "acceptance", "isolation", "listed"),
    [
        ("edit", True, CHECKS, "worktree", True),
        ("edit", False, CHECKS, "worktree", False),
        ("full", False, CHECKS, "worktree", True),
        ("read", True, CHECKS, "worktree", False),
        ("edit", True, [], "worktree", False),
        ("edit", True, CHECKS, "none", False),
    ],
)
def test_the_tool_is_listed_where_it_can_be_used(
    world: World, permissions: str, sandbox: bool, acceptance: Any, isolation: str, listed: bool
) -> None:
    world.crew(workers=1, decomposition="never", isolation=isolation)
    world.owner.call("edit_agent", agent_id="w1", provider_options={"permissions": permissions})
    world.task("w1", acceptance=acceptance)
    worker = world.start("w1")
    world.coordinator().claim(free_slots=0, sandbox=sandbox)
    names = {each.name for each in world.dispatcher.list_tools(worker.credentials)}
    assert ("run_check" in names) is listed
    world.advance(GONE_AFTER / SECOND + 1)  # what a machine has told holds while it is there
    names = {each.name for each in world.dispatcher.list_tools(worker.credentials)}
    assert ("run_check" in names) is (listed and permissions == "full")
