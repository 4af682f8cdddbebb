"""The work of subtasks is in the tree of their task before that is checked or completed, whenever they end; what
conflicts is told and resolved, never dropped. With a server, a Coordinator and agents as real processes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios import thinking_lead
from tests.scenarios.sites import Bell, Gate, Site
from tests.scenarios.test_worktrees import SiteRepository

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]

Answer = dict[str, Any]


class Team:
    """A lead that thinks while its workers work, and may not change files itself."""

    def __init__(self, site: Site, parts: list[Answer], **settings: Any) -> None:
        self.site = site
        self.repository = SiteRepository(site, "house", **settings)
        self.gate: Gate = site.gate("thinking")
        self.bell: Bell = site.bell("started")
        plan = site.signals / "plan.json"
        plan.write_text(json.dumps(parts))
        words = [Path(thinking_lead.__file__), self.gate.path, self.bell.path, plan]
        self.program = {"cli_command": sys.executable, "cli_args": [str(each) for each in words]}
        site.hire("lead", "house", role="manager", provider="thinker")
        self.workers()

    def workers(self) -> None:
        for name in ("ann", "ben"):
            self.site.hire(name, "house", reports_to="lead")

    def begin(self, **more: Any) -> str:
        self.coordinator = self.site.coordinator(ai_providers={"thinker": self.program})
        return self.site.file("house", "Build", assignee_id="lead", status="in_progress", **more)

    def ids(self) -> dict[str, str]:
        return {title: str(task["task_id"]) for title, task in self.site.tasks("house").items()}

    def parts_done(self, *titles: str) -> None:
        for title in titles:
            self.site.until_status(self.ids()[title], "completed")
        gone = {self.ids()[title] for title in titles}

        def reported() -> bool:
            ended = {each["launch_id"] for each in self.site.history.of("launch.process_ended")}
            return all(start["launch_id"] in ended for start in self.site.history.starts() if start["task_id"] in gone)

        self.site.until("their processes are gone", reported)


def part(title: str, who: str, command: str, **more: Any) -> Answer:
    return {
        "local_id": title,
        "title": title,
        "description": title,
        "assignee_id": who,
        "context": {"command": command},
        **more,
    }


def test_what_ends_while_its_manager_is_at_work_is_in_the_tree_that_is_checked(site: Site) -> None:
    team = Team(site, [part("One", "ann", "echo 1 > one"), part("Two", "ben", "echo 2 > two")])
    task = team.begin(acceptance=[{"command": "test -e one && test -e two"}])
    team.bell.rung(1)
    team.parts_done("One", "Two")
    team.gate.open()
    site.until_status(task, "completed")
    site.until_idle()
    assert len(site.launches(task_id=task)) == 1, "its manager was at work all the time"
    assert team.repository.git("ls-tree", "--name-only", f"toryo/{task}").split() == ["a", "one", "two"]
    assert {each["path"] for each in team.repository.done(task, "diff")["files"]} == {"one", "two"}


def test_what_conflicts_is_told_and_resolved_and_all_of_it_is_merged(site: Site) -> None:
    team = Team(site, [part("One", "ann", "echo 1 > same"), part("Two", "ben", "echo 2 > same")])
    task = team.begin()
    team.bell.rung(1)
    team.parts_done("One", "Two")
    team.gate.open()
    site.until_status(task, "completed", "blocked", "failed")
    site.until_idle()
    assert team.repository.git("show", f"toryo/{task}:same").split() == ["1", "2"]
