"""`toryo task show` names the tasks in which agents review the work of a task, and the task that such a one reviews."""

from __future__ import annotations

from typing import Any

import pytest

from toryo.cli import tasks

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
