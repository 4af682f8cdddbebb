"""`toryo task show` names the tasks in which agents review the work of a task, and the task that such a one reviews.
Nobody is told to start such a task: it starts by itself."""

from __future__ import annotations

from typing import Any, cast

import pytest

from toryo.cli import needs, tasks
from toryo.cli.command_context import Here

REVIEW = {"task_id": "tsk_2", "title": "Review: Add the tax", "status": "completed", "assignee_id": "rita"}
REVIEWED = {"task_id": "tsk_1", "title": "Add the tax", "status": "in_progress", "assignee_id": None}


@pytest.mark.parametrize(
    ("task", "line"),
    [
        ({"reviews": [REVIEW], "review_of": None}, "reviews Review: Add the tax (tsk_2, completed, rita)"),
        ({"reviews": [], "review_of": REVIEWED}, "review_of Add the tax (tsk_1, in_progress)"),
    ],
)
def test_both_name_the_other_with_its_state(
    task: dict[str, Any], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks._print_task({"id": "tsk_0", "title": "Look", "status": "in_progress", **task}, [])
    assert line in [" ".join(each.split()) for each in capsys.readouterr().out.splitlines()]


def test_of_a_task_without_a_review_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    tasks._print_task({"id": "tsk_0", "status": "todo", "reviews": [], "review_of": None}, [])
    assert "review" not in capsys.readouterr().out


WAITING = {
    "project_id": "shop",
    "status": "todo",
    "assignee_id": "rita",
    "approval": "approved",
    "parent_task_id": None,
    "task_id": "tsk_2",
    "title": "Review: Add the tax",
    "created_by": "system:toryo",
    "review_of": REVIEWED,
}
FOLLOW_UP = {**WAITING, "task_id": "tsk_3", "title": "Resolve the conflict: Add the tax", "review_of": None}


class Server:
    """Answers about a few tasks; those in lists do not say what they review."""

    def __init__(self, *tasks: dict[str, Any]) -> None:
        self.tasks = tasks

    def every(self, path: str, *_: object, **__: object) -> list[dict[str, Any]]:
        return [{key: value for key, value in each.items() if key != "review_of"} for each in self.tasks]

    def get(self, path: str, **_: object) -> dict[str, Any]:
        if path == "/projects":
            return {"projects": [{"project_id": "shop", "settings": {"start": "manual"}}]}
        found = [each for each in self.tasks if path == f"/tasks/{each['task_id']}"]
        return {"task": found[0]}


def test_a_review_that_waits_for_its_agent_is_not_called_not_started() -> None:
    assert needs._not_started(cast("Here", Server(WAITING)), ["shop"]) == []
    told, start = needs._not_started(cast("Here", Server(WAITING, FOLLOW_UP)), ["shop"])
    assert told.startswith("1 task is assigned but not started")
    assert "tsk_3" in start
    assert tasks.why(cast("Here", Server(WAITING)), WAITING) == [
        "It is a review. It starts by itself as soon as rita can do it."
    ]


def test_why_says_of_work_that_its_checks_are_running_whatever_its_agent_waits_for() -> None:
    task = {"status": "in_progress", "project_id": "shop", "assignee_id": None, "task_id": "tsk_1", "checks": "running"}
    told = tasks.why(cast("Here", Server(task)), task)
    assert told[0] == "Its checks are running."
