"""A team of three on one repository with the merge queue, and a Coordinator that is killed in the middle of a check.
The team's whole story is told in tests/browser/test_whole_team.py, a short one in test_stories.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.sites import Site
from tests.scenarios.test_worktrees import SiteRepository

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]

TESTS = 'for each in test_*.sh; do sh "$each" || { echo "$each failed"; exit 1; }; done'
RESOLVES = "git merge main || true; echo 50 > rate; git add --all; git commit --quiet --message 'Both rates'"
REPAIRS = "git merge --quiet main; echo 'test -s rate' > test_cat.sh; git add --all; git commit --quiet -m 'Any rate'"
SCRIPT = {
    "tasks": [
        {"match": "Resolve the conflict with main: .+", "run": RESOLVES},
        {"match": "Fix the failed checks: .+", "run": REPAIRS},
    ]
}


class Team:
    """Ann, Ben and Cat, whose work is queued by itself; the queue is paused until `go`."""

    def __init__(self, site: Site, checks: list[dict[str, Any]], **settings: Any) -> None:
        self.site = site
        self.repository = SiteRepository(site, "shop", merge_queue="automatic", required_checks=checks, **settings)
        (self.repository.path / "test_first.sh").write_text("test -s rate\n")
        self.repository.commit(rate="10\n")
        for each in ("ann", "ben", "cat"):
            site.hire(each, "shop", provider="script", provider_options={"script": SCRIPT})
        self.post("/projects/shop/merge-queue/pause")

    def post(self, path: str, body: Any = None) -> Any:
        return self.site.people.rest("POST", path, body or {})

    def queue(self) -> dict[str, Any]:
        found: dict[str, Any] = self.site.people.rest("GET", "/projects/shop/merge-queue")["merge_queue"]
        return found

    def done(self, *tasks: str) -> None:
        for each in tasks:
            self.site.until_status(each, "completed")

    def go(self) -> None:
        self.post("/projects/shop/merge-queue/resume")

    def until_merged(self, *tasks: str) -> None:
        def states() -> bool:
            return all(self.repository.worktree(each)["state"] == "merged" for each in tasks)

        self.site.until("everything is merged", lambda: states() and not self.queue()["entries"], within=200)
        self.site.until_idle()

    def main_is_green(self, command: str, tmp_path: Path) -> int:
        """Runs the tests at every commit of the first-parent history of main; how many there are."""
        root = self.repository.git("rev-list", "--max-parents=0", "main")  # it had no tests yet
        assert self.repository.failing(command, tmp_path, commits=f"{root}..main") == []
        return int(self.repository.git("rev-list", "--first-parent", "--count", "main"))


def test_a_coordinator_that_is_killed_in_the_middle_of_a_check_merges_everything_once_when_it_is_back(
    site: Site, tmp_path: Path
) -> None:
    bell, gate = site.bell(), site.gate()
    # Only on the combined result, which has the work of both.
    command = f"if [ -e one ] && [ -e two ]; then echo there > {bell}; {gate}; fi"
    team = Team(site, [{"command": command}])
    coordinator = site.coordinator()
    one, two = (team.repository.order(who, what, f"echo x > {what}") for who, what in (("ann", "one"), ("ben", "two")))
    team.done(one, two)
    site.until("both wait", lambda: len(team.queue()["entries"]) == 2)
    team.go()
    bell.rung(1)
    coordinator.kill()
    assert [each["state"] for each in team.queue()["entries"]] == ["checking", "checking"]
    assert "one" not in team.repository.files()
    gate.open()
    coordinator.start().says("connected to")
    team.until_merged(one, two)
    merges = team.repository.git("log", "--format=%(trailers:key=Toryo-Task,valueonly)", "main").split()
    assert sorted(merges) == sorted([one, two])
    assert len(team.repository.git("worktree", "list").splitlines()) == 1
    assert team.repository.git("status", "--porcelain") == ""
