"""How a task that `toryo run` follows stands, row by row, and what it passes on to those that wait for it."""

from __future__ import annotations

from typing import Any

import pytest

from toryo.cli.run import standing
from toryo.cli.run.standing import Seen, Stand


def task(task_id: str = "a", status: str = "todo", **more: Any) -> dict[str, Any]:
    found = {"task_id": task_id, "project_id": "shop", "assignee_id": "w1", "status": status, "dependencies": []}
    return {**found, "parent_task_id": None, "dependency_failed": False, **more}


def need(kind: str, **about: str | None) -> dict[str, Any]:
    return {"kind": kind, "task_id": None, "agent_id": None, "project_id": "shop", **about}


def stands(*tasks: dict[str, Any], **more: Any) -> dict[str, Stand]:
    seen = Seen({each["task_id"]: each for each in tasks}, **more)
    return standing.of(seen, [each["task_id"] for each in tasks])


def stand(status: str, review: str | None = None, also: dict[str, Any] | None = None, **more: Any) -> Stand:
    return stands(task("a", status, **(also or {})), worktrees={"a": {"review": review}}, **more)["a"]


@pytest.mark.parametrize(
    ("status", "review", "more", "expected"),
    [
        ("failed", None, {}, Stand.FAILED),
        ("cancelled", None, {}, Stand.FAILED),
        ("blocked", None, {"needs": [need("blocked", task_id="a")]}, Stand.FAILED),
        ("completed", None, {}, Stand.DONE),
        ("completed", None, {"working": {"a"}}, Stand.MOVES),
        ("completed", "in_merge_queue", {}, Stand.MOVES),
        ("completed", "in_merge_queue", {"needs": [need("merge_queue")]}, Stand.PERSON),
        ("completed", "changes_requested", {}, Stand.MOVES),
        ("completed", "to_review", {"needs": [need("review", task_id="a")]}, Stand.PERSON),
        ("completed", "in_pull_request", {}, Stand.PERSON),
        ("completed", None, {"needs": [need("merge_queue")]}, Stand.DONE),
        ("in_progress", None, {}, Stand.MOVES),
        ("in_progress", None, {"needs": [need("question", task_id="a")], "working": {"a"}}, Stand.PERSON),
        ("in_progress", None, {"needs": [need("message", task_id="a")]}, Stand.MOVES),
        ("in_progress", None, {"needs": [need("question", task_id="b")]}, Stand.MOVES),
        ("in_progress", None, {"needs": [need("agent_cannot_start", agent_id="w1")]}, Stand.PERSON),
        ("in_progress", None, {"needs": [need("agent_cannot_start", agent_id="w2")]}, Stand.MOVES),
        ("in_progress", None, {"conditions": [{"kind": "paused", "project_id": "shop"}]}, Stand.PERSON),
        ("in_progress", None, {"conditions": [{"kind": "paused", "project_id": "other"}]}, Stand.MOVES),
        ("in_progress", None, {"conditions": [{"kind": "quota_used_up", "project_id": "shop"}]}, Stand.MOVES),
        ("in_progress", None, {"needs": [need("budget_used_up")]}, Stand.PERSON),
        ("backlog", None, {}, Stand.PERSON),
        ("todo", None, {}, Stand.MOVES),
        ("todo", None, {"by_hand": {"a"}}, Stand.PERSON),
        ("todo", None, {"also": {"dependency_failed": True}}, Stand.FAILED),
    ],
)
def test_each_row(status: str, review: str | None, more: dict[str, Any], expected: Stand) -> None:
    assert stand(status, review, **more) is expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (task("a", "blocked"), Stand.FAILED),
        (task("a", "backlog"), Stand.PERSON),
        (task("a", "in_progress"), Stand.MOVES),
        (task("a", "completed"), Stand.MOVES),
    ],
)
def test_what_waits_for_another_task_stands_as_that_one(before: dict[str, Any], expected: Stand) -> None:
    found = stands(before, task("b", dependencies=["a"]), task("c", dependencies=["b"]))
    assert (found["b"], found["c"]) == (expected, expected)


def test_of_several_that_it_waits_for_the_one_that_does_not_move_holds_it() -> None:
    found = stands(task("a", "in_progress"), task("b", "backlog"), task("c", dependencies=["a", "b"]))
    assert found["c"] is Stand.PERSON


def test_a_manager_whose_parts_all_wait_for_a_person_waits_with_them() -> None:
    lead = task("lead", "in_progress")
    part = task("part", "backlog", parent_task_id="lead")
    assert stands(lead, part)["lead"] is Stand.PERSON
    assert stands(lead, part, task("other", "in_progress", parent_task_id="lead"))["lead"] is Stand.MOVES
    assert stands(lead, task("part", "failed", parent_task_id="lead"))["lead"] is Stand.MOVES, "it decides what follows"


def test_a_chain_is_as_long_as_it_likes() -> None:
    chain = [task("0", "backlog"), *(task(str(each), dependencies=[str(each - 1)]) for each in range(1, 3000))]
    assert set(stands(*chain).values()) == {Stand.PERSON}


def test_every_row_is_needed_and_says_what_it_is_about() -> None:
    assert len({row.what for row in standing.ROWS}) == len(standing.ROWS)
    assert all(row.what.endswith(".") for row in standing.ROWS)
