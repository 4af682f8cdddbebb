"""The checks that a project requires are tried before anybody has worked: what passes for nobody is told to its owners,
and counts for no task."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.test_worktrees import Yard
from tests.stories import Answer, World

PYTEST = {"command": "pytest"}
PASSED = {"check": "pytest", "outcome": "passed", "exit_code": 0, "output": "fine"}
FAILED = {"check": "pytest", "outcome": "failed", "exit_code": 1, "output": "E   assert 1 == 2\n1 failed"}
UNABLE = {"check": "pytest", "outcome": "error", "exit_code": 127, "output": "pytest: not found"}


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
    assert (job["kind"], job["options"]["checks"]) == ("checks", [PYTEST])
    assert job["options"]["on_base"]
    answer(yard, job, PASSED)
    assert needs(yard) == []
    assert begin(yard, "w2") == []


@pytest.mark.parametrize("found", [FAILED, UNABLE])
def test_what_does_not_pass_there_is_told_to_the_owners_and_is_nobodys_failure(yard: Yard, found: Answer) -> None:
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


def test_they_are_tried_again_when_they_are_set_anew_and_the_need_is_gone_at_once(yard: Yard) -> None:
    (job,) = begin(yard)
    answer(yard, job, FAILED)
    requires(yard, [{"command": "make test"}])
    assert needs(yard) == []
    (job,) = begin(yard, "w2")
    assert job["options"]["checks"] == [{"command": "make test"}]


def test_where_they_failed_they_are_tried_again_on_another_commit_and_not_on_the_same(yard: Yard) -> None:
    (job,) = begin(yard)
    answer(yard, job, FAILED)
    assert begin(yard, "w2") == []
    assert needs(yard) != []
    yard.world.worker("w3")
    (job,) = begin(yard, "w3", base_commit="b1")
    answer(yard, job, PASSED)
    assert needs(yard) == []
    assert len(yard.world.events("project.checks_tried")) == 2


def test_what_could_not_be_tried_is_tried_with_the_next_work(yard: Yard) -> None:
    (job,) = begin(yard)
    yard.report(job["job_id"], done=False, trouble="its agent has reported")
    assert needs(yard) == []
    (job,) = begin(yard, "w2")
    assert job["options"]["on_base"]


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
