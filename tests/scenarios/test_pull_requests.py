"""Pull requests with a server, a Coordinator and commands as real processes, a bare remote and a program that answers
as `gh` does: what a person approves is pushed and opened, also by a Coordinator that was killed in between, and counts
as merged after somebody has merged it there.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.pull_request_services import Service, with_only
from tests.scenarios.sites import Site
from tests.scenarios.test_worktrees import SiteRepository

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]


def test_approved_work_becomes_a_pull_request_and_is_merged_when_it_is_merged_there(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "gitconfig"
    settings.touch()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    repository = SiteRepository(site, "shop", pull_requests="open")
    service = Service(tmp_path / "service", repository, "https://github.com/shop/till.git", "gh")
    with_only(monkeypatch, service.bin)
    site.environment |= {name: os.environ[name] for name in ("PATH", "GIT_CONFIG_GLOBAL")}
    site.hire("ann", "shop")
    coordinator = site.coordinator()
    task = repository.order("ann", "--force", "echo new > new.txt")
    site.until_status(task, "completed")
    site.until_idle()

    service.set(stops_after_creation=True)
    job = repository.ask(task, "merge")
    site.until("the pull request is open", lambda: service.pulls)
    coordinator.kill()
    service.set(stops_after_creation=False)
    coordinator.start().says("connected to")
    answer = repository.answer(job)
    assert answer["done"], answer
    url = "https://github.com/shop/till/pull/1"
    assert answer["answer"]["pull_request"] == {"url": url, "number": 1, "state": "open"}
    assert len(service.pulls) == 1, "it was opened once"
    assert service.pulls[0]["title"] == "--force"
    assert service.branches() == ["main", f"toryo/{task}"]
    assert repository.files() == {"a": "one\n"}
    assert repository.worktree(task)["review"] == "in_pull_request"
    shown = site.people.rest("GET", f"/tasks/{task}")["task"]["pull_request"]
    assert shown["url"] == url

    commit = service.merge(tmp_path)
    site.until("the merge is noticed", lambda: repository.worktree(task)["state"] == "merged", within=200)
    found = repository.worktree(task)
    assert (found["merged_commit"], found["pull_request"]["state"]) == (commit, "merged")
    assert repository.files() == {"a": "one\n", "new.txt": "new\n"}
    assert repository.branches() == ["main"]
    patch = repository.done(task, "diff")
    assert [each["path"] for each in patch["files"]] == ["new.txt"]
