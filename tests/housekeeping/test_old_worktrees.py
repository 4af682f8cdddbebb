"""Worktrees that nobody needs are cleaned up by their Coordinator; jobs of one that stays away are given up."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from tests.stories import Answer, World
from toryo.domain.times import SECOND
from toryo.domain.worktrees import CLEAN_AFTER, LOST_AFTER
from toryo.housekeeping import old_worktrees
from toryo.storage import schema
from toryo.storage.engine.statements import Statement

LONG = CLEAN_AFTER / SECOND + 60


@pytest.fixture
def yard(world: World) -> World:
    world.crew(workers=1, isolation="worktree")
    return world


def left(world: World, status: str = "cancelled", **figures: Any) -> str:
    """A task with a worktree in which nobody works any more."""
    task = world.task("w1")
    coordinator = world.coordinator()
    (launch,) = coordinator.claim(agent_ids=["w1"], free_slots=1)["start"]
    said = {"path": f"/w/{task}", "directory": f"/w/{task}", "branch": f"toryo/{task}", "base_commit": "b0"}
    coordinator.call("report_worktree", launch_id=launch["launch_id"], **said, **figures)
    coordinator.exited(launch["launch_id"], error="stopped")
    if status != "in_progress":
        world.move(task, status)
    return task


def worktree_jobs(world: World, **more: Any) -> list[Answer]:
    found: list[Answer] = world.coordinator().claim(free_slots=0, **more)["worktree_jobs"]
    return found


def later(world: World, seconds: float = LONG) -> list[Answer]:
    """A day later, with the Coordinator at work: what it is sent for."""
    world.advance(seconds)
    worktree_jobs(world)
    world.housekeep()
    return worktree_jobs(world)


def test_a_closed_task_without_changes_is_cleaned_after_a_day_and_once(yard: World):
    task = left(yard)
    assert later(yard, 3600) == []
    (job,) = later(yard)
    assert (job["kind"], job["task_id"], job["path"]) == ("clean", task, f"/w/{task}")
    yard.housekeep()
    assert worktree_jobs(yard, worktree_jobs=[job["job_id"]]) == []
    yard.coordinator().call("report_worktree_job", job_id=job["job_id"], done=True, gone=[task])
    assert yard.owner.call("show_worktree", task_id=task)["worktree"]["state"] == "discarded"
    assert later(yard) == []


@pytest.mark.parametrize(
    ("status", "figures"),
    [
        ("cancelled", {"commits": 1}),
        ("cancelled", {"files_changed": 1}),
        ("cancelled", {"trouble": "in the middle of a merge"}),
        ("blocked", {}),
    ],
)
def test_what_holds_work_and_what_is_not_over_is_left_alone(yard: World, status: str, figures: Answer):
    left(yard, status, **figures)
    assert later(yard) == []


def test_the_worktree_of_a_reviewer_goes_after_a_day_with_what_it_has_changed(yard: World):
    reviewed = yard.task("w1")
    yard.move(reviewed, "completed")
    task = left(yard, files_changed=2, commits=1)
    yard.database.write(
        lambda c: c.run(Statement(sa.update(schema.tasks).where(schema.tasks.c.id == task).values(review_of=reviewed)))
    )
    assert later(yard, 3600) == []
    (job,) = later(yard)
    assert (job["kind"], job["task_id"]) == ("discard", task)


def test_who_removes_work_is_told_which_branches_are_those_of_reviews_and_keep_nothing(yard: World):
    work = left(yard, commits=1)
    review = left(yard)
    yard.database.write(
        lambda c: c.run(Statement(sa.update(schema.tasks).where(schema.tasks.c.id == review).values(review_of=work)))
    )
    yard.owner.call("archive_project", project_id=yard.project_id)
    jobs = {job["task_id"]: job for job in later(yard, 60)}
    assert {task: job["kind"] for task, job in jobs.items()} == {work: "clean", review: "discard"}
    assert [job["options"]["reviews"] for job in jobs.values()] == [[review], [review]]


def test_of_an_archived_project_everything_is_looked_at_and_what_hinders_is_kept_and_not_asked_again(yard: World):
    task = left(yard, "in_progress", commits=1)
    yard.owner.call("archive_project", project_id=yard.project_id)
    (job,) = later(yard, 60)
    said = {"done": False, "task_id": task, "trouble": "It has commits that no other branch has."}
    yard.coordinator().call("report_worktree_job", job_id=job["job_id"], **said)
    found = yard.owner.call("show_worktree", task_id=task)["worktree"]
    assert (found["state"], found["trouble"]) == ("open", said["trouble"])
    assert later(yard) == []


@pytest.mark.parametrize("late", [False, True])
def test_once_an_archived_project_goes_on_people_are_told_of_the_work_and_not_why_it_was_not_removed(
    yard: World, late: bool
):
    task = left(yard, "completed", commits=1, files_changed=2, insertions=3)
    (before,) = yard.owner.call("needs_you")["items"]
    yard.owner.call("archive_project", project_id=yard.project_id)
    (job,) = later(yard, 60)
    said = {"done": False, "task_id": task, "trouble": "It has commits that no other branch has."}
    if not late:
        yard.coordinator().call("report_worktree_job", job_id=job["job_id"], **said)
        assert yard.owner.call("show_worktree", task_id=task)["worktree"]["trouble"] == said["trouble"]
    yard.owner.call("resume_project", project_id=yard.project_id)
    if late:
        yard.coordinator().call("report_worktree_job", job_id=job["job_id"], **said)
    (after,) = yard.owner.call("needs_you")["items"]
    assert (after["kind"], after["text"]) == ("review", before["text"])
    assert "+3" in after["text"]


def test_what_an_agent_could_not_keep_is_still_told_when_its_archived_project_goes_on(yard: World):
    task = left(yard, "completed", commits=1, trouble="In the middle of a merge.")
    for operation in ("archive_project", "resume_project"):
        yard.owner.call(operation, project_id=yard.project_id)
    (need,) = yard.owner.call("needs_you")["items"]
    assert (need["task_id"], need["text"]) == (task, "In the middle of a merge.")


def test_one_round_sends_a_bounded_number_and_nothing_to_a_coordinator_that_is_away(yard: World, monkeypatch):
    monkeypatch.setattr(old_worktrees, "MOST", 2)
    for _ in range(3):
        left(yard)
    yard.advance(LONG)
    yard.housekeep()
    assert yard.events("worktree.clean_asked") == []
    assert len(later(yard, 1)) == 2
    yard.housekeep()
    assert len(yard.events("worktree.clean_asked")) == 3


def test_a_worktree_job_is_given_up_when_its_coordinator_stays_away_and_counts_when_it_was_done_nevertheless(
    yard: World,
):
    task = left(yard, commits=1)
    job = yard.owner.call("merge_task", task_id=task)["job_id"]
    yard.advance(LOST_AFTER / SECOND - 60)
    yard.housekeep()
    assert yard.owner.call("show_worktree_job", job_id=job)["worktree_job"]["finished_at"] is None
    yard.advance(120)
    yard.housekeep()
    told = yard.owner.call("show_worktree_job", job_id=job)["worktree_job"]
    assert told["done"] is False
    assert "c1 has not called" in told["answer"]["trouble"]
    merged = [{"task_id": task, "commit": "m", "into": "main"}]
    yard.coordinator().call("report_worktree_job", job_id=job, done=True, merged=merged)
    assert yard.owner.call("show_worktree_job", job_id=job)["worktree_job"]["done"] is True
    assert yard.owner.call("show_worktree", task_id=task)["worktree"]["state"] == "merged"
