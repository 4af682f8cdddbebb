"""`toryo trace`: one request as a tree."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.conftest import Toryo
from toryo.cli import trace


def test_a_request_is_shown_as_a_tree_whichever_of_its_ids_is_named(server: Toryo, project: str) -> None:
    house = server.json("task", "add", "House", "--project", project)["task_id"]
    roof = server.json("task", "add", "Roof", "--project", project, "--parent", house)["task_id"]
    request = server.json("task", "show", house)["task"]["correlation_id"]
    for asked in (request, house, roof):
        lines = server("trace", asked, "--events").out.splitlines()
        assert lines[0].startswith(f"request {request}")
        assert lines[2].startswith("○ todo        House")
        assert "task.created by owner" in lines[3]
        assert lines[4].startswith("  ○ todo        Roof")
    document = server.json("trace", house)
    assert document["tasks"][0]["tasks"][0]["task_id"] == roof


def test_a_request_that_nobody_made_is_refused_with_what_to_give_instead(server: Toryo) -> None:
    ended = server("trace", "req-1")
    assert ended.code == 4
    assert "correlation_id of a task" in ended.err


RAN = {"check": "make test", "runs": 1}
FAILED = {"check": "make lint", "message": "The command ended with exit code 2."}


@pytest.mark.parametrize(
    ("check", "told"),
    [
        ({"passed": None, "failures": [], "evidence": []}, "not ended"),
        ({"passed": True, "failures": [], "evidence": [{**RAN, "outcome": "passed"}]}, "passed"),
        ({"passed": True, "failures": [], "evidence": [{**RAN, "outcome": "flaky"}]}, "passed (flaky: make test)"),
        (
            {"passed": False, "failures": [FAILED], "evidence": [{**RAN, "check": "make lint", "outcome": "failed"}]},
            "failed: make lint",
        ),
        ({"passed": False, "failures": [FAILED], "evidence": []}, "failed: make lint"),
    ],
)
def test_every_run_of_the_checks_of_a_task_is_in_its_tree(server: Toryo, project: str, check: Any, told: str) -> None:
    house = server.json("task", "add", "House", "--project", project)["task_id"]
    document = server.json("trace", house)
    document["tasks"][0]["checks"] = [{**check, "created_at": "2026-01-01T00:00:00Z"}]
    [line] = [each for each in trace.tree_lines(document) if "checks at" in each]
    assert line.endswith(f": {told}")
