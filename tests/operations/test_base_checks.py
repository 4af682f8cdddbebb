"""The commands that a project requires are tried before anybody has worked: its owners are told of what fails there,
and no task fails by it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.test_worktrees import Yard
from tests.stories import Answer, World
from toryo.domain.acceptance import TRIED_AGAIN_AFTER
from toryo.domain.times import SECOND

PYTEST, LINT = {"command": "pytest"}, {"command": "make lint"}
PASSED = {"check": "pytest", "outcome": "passed", "exit_code": 0, "output": "fine"}
FAILED = {"check": "pytest", "outcome": "failed", "exit_code": 1, "output": "E   assert 1 == 2\n1 failed"}
UNABLE = {"check": "pytest", "outcome": "error", "exit_code": 127, "output": "pytest: not found"}
NO_LINT = {"check": "make lint", "outcome": "failed", "exit_code": 2, "output": "no rule"}


@pytest.fixture
def yard(world: World) -> Yard:
    found = Yard(world)
    requires(found, [PYTEST, {"file": "README"}])
    return found


def requires(yard: Yard, checks: Any, **more: Any) -> None:
    settings = {"required_checks": checks, "decomposition": "never", **more}
    yard.world.owner.call("edit_project", project_id=yard.world.project_id, settings=settings)


def begin(yard: Yard, agent: str = "w1", **how: Any) -> list[Answer]:
    """A task begins in a new worktree; the jobs that its Coordinator gets."""
    if agent not in yard.world.passkeys:
        yard.world.worker(agent)
    yard.world.task(agent)
    yard.launch(agent, **how)
    return yard.worktree_jobs()


def needs(yard: Yard) -> list[Answer]:
    found = yard.world.owner.call("needs_you")["items"]
    return [each for each in found if "before any work" in each["title"]]


def answer(yard: Yard, job: Answer, *evidence: Answer) -> None:
    yard.report(job["job_id"], done=True, evidence=list(evidence))


def test_they_run_on_what_the_first_work_begins_with_and_once_where_they_pass(yard: Yard) -> None:
    (job,) = begin(yard)
    assert (job["kind"], job["options"]["checks"]) == ("base_checks", [PYTEST])
    assert job["options"]["tried"]["base"] == "b0"
    answer(yard, job, PASSED)
    yard.world.advance(TRIED_AGAIN_AFTER / SECOND + 1)
    assert needs(yard) == begin(yard, "w2", base_commit="b1") == []


@pytest.mark.parametrize("found", [FAILED, UNABLE])
def test_what_fails_there_is_told_to_the_owners_and_is_nobodys_failure(yard: Yard, found: Answer) -> None:
    (job,) = begin(yard)
    answer(yard, job, found)
    (need,) = needs(yard)
    assert need["task_id"] is None
    assert "pytest" in need["text"]
    assert f"| {found['output'].splitlines()[-1]}" in need["text"].splitlines()
    assert [each["name"] for each in need["actions"]] == ["correct_project"]
    (event,) = yard.world.events("project.checks_tried")
    assert event["task_id"] is None
    shown = yard.world.owner.call("show_task", task_id=job["task_id"])["task"]
    assert (shown["checks"], shown["check_failures"]) == ("none", [])


def test_what_the_work_has_corrected_does_not_fail_any_more(yard: Yard) -> None:
    requires(yard, [PYTEST, LINT])
    task = yard.world.task("w1")
    launch = yard.launch("w1")
    (job,) = yard.worktree_jobs()
    answer(yard, job, FAILED, NO_LINT)
    process = yard.world.process(launch)
    process.sign_in()
    process.call("report_model", provider="claude", model_id="model-1")
    process.call("get_my_task")
    yard.world.perform("report_completed", {"result": "success", "summary": "x"}, process.credentials, may_wait=True)
    (check,) = yard.c1.claim(free_slots=0)["checks"]
    results = [PASSED, NO_LINT]
    failures = [{"check": "make lint", "message": "no rule"}]
    yard.c1.call("report_check_result", check_id=check["check_id"], failures=failures, results=results)
    (need,) = needs(yard)
    assert ("make lint" in need["text"], "pytest" in need["text"]) == (True, False)
    assert yard.world.status(task) == "in_progress"


def test_the_need_is_gone_when_they_are_set_anew_or_no_task_has_a_worktree_any_more(yard: Yard) -> None:
    (job,) = begin(yard)
    answer(yard, job, FAILED)
    requires(yard, [PYTEST], isolation="none")
    assert needs(yard) == []
    requires(yard, [PYTEST], isolation="worktree")
    assert len(needs(yard)) == 1
    requires(yard, [{"command": "make test"}])
    assert needs(yard) == []
    (job,) = begin(yard, "w2")
    assert job["options"]["checks"] == [{"command": "make test"}]


def test_where_they_failed_they_are_tried_again_on_another_commit_and_later_on_the_same(yard: Yard) -> None:
    (job,) = begin(yard)
    answer(yard, job, FAILED)
    assert begin(yard, "w2") == []
    (job,) = begin(yard, "w3", base_commit="b1")
    assert len(needs(yard)) == 1, "until something else is known"
    answer(yard, job, FAILED)
    yard.world.advance(TRIED_AGAIN_AFTER / SECOND + 1)
    yard.c1.claim(free_slots=0)
    (job,) = begin(yard, "w4", base_commit="b1")
    answer(yard, job, PASSED)
    assert needs(yard) == []
    assert len(yard.world.events("project.checks_tried")) == 3


def test_what_could_not_be_tried_says_nothing_and_is_tried_again_later(yard: Yard) -> None:
    (job,) = begin(yard)
    yard.report(job["job_id"], done=False, trouble="This Coordinator does not know the worktree job base_checks.")
    assert needs(yard) == begin(yard, "w2") == []
    yard.world.advance(TRIED_AGAIN_AFTER / SECOND + 1)
    yard.c1.claim(free_slots=0)
    (job,) = begin(yard, "w3")
    assert job["kind"] == "base_checks"


def test_an_answer_about_checks_that_were_set_anew_meanwhile_changes_nothing(yard: Yard) -> None:
    (late,) = begin(yard)
    requires(yard, [{"command": "make test"}])
    job = next(each for each in begin(yard, "w2") if each["job_id"] != late["job_id"])
    answer(yard, job, {**PASSED, "check": "make test"})
    answer(yard, late, FAILED)
    assert needs(yard) == []
    assert begin(yard, "w3") == []


def test_two_that_begin_at_once_try_them_once(yard: Yard) -> None:
    begin(yard)
    assert begin(yard, "w2") == []


def test_work_that_begins_with_the_work_of_others_says_nothing_about_the_branch(yard: Yard) -> None:
    requires(yard, [])
    first = yard.worked("w1")
    requires(yard, [PYTEST])
    yard.world.task("w2", dependencies=[first])
    yard.launch("w2")
    assert yard.worktree_jobs() == []


@pytest.mark.parametrize("checks", [[], [{"file": "README"}], [{"diff": {"max_files": 3}}], [{"review": {}}]])
def test_only_commands_are_tried(yard: Yard, checks: Any) -> None:
    requires(yard, checks)
    assert begin(yard) == []
