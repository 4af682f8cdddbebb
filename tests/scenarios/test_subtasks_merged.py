"""The work of subtasks is in the tree of their task before that is checked or completed, whenever they end; what
conflicts is told and resolved, never dropped. With a server, a Coordinator and agents as real processes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios import thinking_lead
from tests.scenarios.sites import Bell, Gate, Site
from tests.scenarios.test_worktrees import SiteRepository

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]

Answer = dict[str, Any]


RESOLVES = "for each in $(grep -l '^<<<<<<<' *); do grep -v -e '^<<<' -e '^===' -e '^>>>' $each > x; mv x $each; done"
SCRIPT = {"tasks": [{"match": "Resolve the conflict.*", "run": RESOLVES}]}


class Team:
    """A lead that thinks while its workers work, and may not change files itself."""

    def __init__(self, site: Site, parts: list[Answer], provider: str = "script", **settings: Any) -> None:
        self.site = site
        self.repository = SiteRepository(site, "house", **settings)
        self.gate: Gate = site.gate("thinking")
        self.bell: Bell = site.bell("started")
        plan = site.signals / "plan.json"
        plan.write_text(json.dumps(parts))
        words = [Path(thinking_lead.__file__), self.gate.path, self.bell.path, plan]
        self.program = {"cli_command": sys.executable, "cli_args": [str(each) for each in words]}
        site.hire("lead", "house", role="manager", provider="thinker")
        options: dict[str, Any] = {"provider_options": {"script": SCRIPT}} if provider == "script" else {}
        for name in ("ann", "ben", "cat"):
            self.site.hire(name, "house", reports_to="lead", provider=provider, **options)

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


def test_what_conflicts_is_resolved_by_an_agent_without_git_and_all_of_it_is_merged(site: Site) -> None:
    """Its manager may neither edit nor run anything, and who resolves it edits files only."""
    team = Team(site, [part("One", "ann", "echo 1 > same"), part("Two", "ben", "echo 2 > same")])
    task = team.begin()
    team.bell.rung(1)
    team.parts_done("One", "Two")
    team.gate.open()
    site.until_status(task, "completed")
    site.until_idle()
    assert sorted(team.repository.git("show", f"toryo/{task}:same").split()) == ["1", "2"]
    ids = team.ids()
    (told,) = site.history.of("worktree.subtask_conflict", task_id=task)
    assert (told["data"]["subtask_id"], told["data"]["with"]) == (ids["Two"], [ids["One"]])
    assert told["data"]["resolved_by"] == ids["Resolve the conflict: Two"]
    merged = [each["task_id"] for each in team.repository.done(task, "merge")["merged"]]
    assert sorted(merged) == sorted(ids.values()), "the part that conflicts is merged with its resolution"
    assert sorted(team.repository.files()["same"].split()) == ["1", "2"]
    assert team.repository.branches() == ["main"]


def test_of_three_parts_two_conflict_and_the_merge_queue_merges_the_whole(site: Site) -> None:
    parts = [
        part("One", "ann", "echo 1 > same"),
        part("Two", "ben", "echo 2 > same"),
        part("Three", "cat", "echo 3 > three"),
    ]
    team = Team(site, parts, merge_queue="automatic", required_checks=[{"command": "test -e three || test -e same"}])
    task = team.begin(acceptance=[{"command": "test -e three && grep 1 same && grep 2 same"}])
    team.bell.rung(1)
    team.parts_done("One", "Two", "Three")
    team.gate.open()
    site.until_status(task, "completed")
    site.until("it is merged", lambda: team.repository.worktree(task)["state"] == "merged")
    site.until_idle()
    assert set(team.repository.files()) == {"a", "same", "three"}
    assert team.repository.branches() == ["main"]
    assert site.history.of("merge_queue.conflict") == []


def test_a_conflict_that_nobody_may_resolve_is_a_need_and_nothing_is_completed(site: Site) -> None:
    team = Team(site, [part("One", "ann", "echo 1 > same"), part("Two", "ben", "echo 2 > same")], provider="command")
    task = team.begin()
    team.bell.rung(1)
    team.parts_done("One", "Two")
    team.gate.open()
    site.until_status(task, "blocked")
    site.until_idle()
    solver = team.ids()["Resolve the conflict: Two"]
    needs = {each["task_id"]: each for each in site.people.rest("GET", "/needs-you")["items"]}
    assert needs[solver]["kind"] == "blocked_by_guard"
    begin, end = re.findall(r"`(.+?)`", needs[solver]["text"])
    environment = {**os.environ, **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "person@example.org")}
    begun = subprocess.run(begin, shell=True, env=environment, capture_output=True, check=False)
    assert begun.returncode == 1, "it conflicts"
    there = Path(team.repository.worktree(task)["path"])
    assert "<<<<<<<" in (there / "same").read_text()
    (there / "same").write_text("both\n")
    subprocess.run(f"{end} --quiet --no-edit", shell=True, cwd=there, env=environment, check=True)
    site.move(solver, "cancelled", "merged by hand")
    site.until_status(task, "completed")
    assert team.repository.git("show", f"toryo/{task}:same") == "both"
    site.until_idle()


def test_a_coordinator_and_a_server_that_are_killed_meanwhile_lose_nothing(site: Site) -> None:
    """A filter of the person's own holds git up while it writes the files of the merge."""
    team = Team(site, [part("One", "ann", "echo 1 > one"), part("Two", "ben", "echo 2 > two")])
    gate, bell, slow = site.gate(), site.bell(), site.directory / "slow"
    words = f"if [ -e '{slow}' ]; then echo merging > {bell}; {gate}; fi; cat"
    for name, run in (("smudge", words), ("clean", "cat")):
        config = Path(site.environment["HOME"]) / ".gitconfig"
        team.repository.git("config", "--file", str(config), f"filter.slow.{name}", run)
    team.repository.commit(__gitattributes="two filter=slow\n")
    task = team.begin(acceptance=[{"command": "test -e one && test -e two"}])
    team.bell.rung(1)
    team.parts_done("One", "Two")
    slow.touch()
    team.gate.open()
    bell.rung(1)
    team.coordinator.kill()
    site.server.kill()
    slow.unlink()
    gate.open()
    site.serve()
    team.coordinator.start().says("connected to")
    site.until_status(task, "completed")
    site.until_idle()
    assert {"one", "two"} <= set(team.repository.git("ls-tree", "--name-only", f"toryo/{task}").split())


def test_a_part_that_is_sent_back_is_changed_in_the_tree_of_the_whole_which_is_then_merged(site: Site) -> None:
    """It is bad at first; the check of the whole passes only with the change, and with what was built beside it."""
    better = "if test -e one; then test -e two && echo good > one; else echo bad > one; fi"
    parts = [
        part("One", "ann", better, back="It must be good."),
        part("Two", "ben", "echo 2 > two", dependencies=["One"], start="when_ready"),
    ]
    team = Team(site, parts, merge_queue="automatic", required_checks=[{"command": "grep -e bad -e good one"}])
    task = team.begin(acceptance=[{"command": "grep good one && test -e two"}])
    team.bell.rung(1)
    team.gate.open()
    site.until_status(task, "completed")
    site.until("it is merged", lambda: team.repository.worktree(task)["state"] == "merged")
    site.until_idle()
    ids = team.ids()
    changes = site.look(ids["Changes to: One"])
    assert (changes["assignee_id"], changes["created_by"], changes["parent_task_id"]) == ("ann", "lead", task)
    (asked,) = site.history.of("worktree.changes_requested")
    assert (asked["actor_id"], asked["task_id"], asked["data"]["in"]) == ("lead", ids["One"], changes["task_id"])
    assert team.repository.git("show", "main:one") == "good"
    assert set(team.repository.files()) == {"a", "one", "two"}
    assert team.repository.branches() == ["main"]
    _, looks, reports = sorted(site.launches(task_id=task), key=lambda each: str(each["launch_id"]))
    assert _calls(site, looks, after="request_changes") == ["get_next_action", "select_action", "get_next_action"]
    assert len(_calls(site, reports)) <= 8


def _calls(site: Site, launch: Answer, after: str = "authenticate") -> list[str]:
    """The tools that the lead has called after this one, until it has logged out."""
    text = site.people.rest("GET", f"/launches/{launch['launch_id']}/log")["text"]
    tools = [line.split()[0] for line in text.splitlines() if re.match(r"[a-z_]+ \{", line)]
    return tools[tools.index(after) + 1 : tools.index("logout")]
