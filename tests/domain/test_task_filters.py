"""The line by which tasks are narrowed is understood as the dashboard understands it (web/src/api/filter.test.ts)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toryo.domain import task_filters

LINES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("task_filter_lines.json").read_text())


@pytest.mark.parametrize("said", LINES, ids=lambda said: said["line"] or "nothing")
def test_a_line_means_the_same_here_and_on_the_dashboard(said: dict[str, Any]) -> None:
    found = task_filters.parse(said["line"])
    assert {
        "status": [each.value for each in found.statuses],
        "assignee": list(found.assignees),
        "priority": [each.value for each in found.priorities],
        "queue": list(found.queues),
        "words": list(found.words),
    } == {name: value for name, value in said.items() if name != "line"}
