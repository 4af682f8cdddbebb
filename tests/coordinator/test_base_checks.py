"""What a project requires on a commit that nobody has worked on: in a checkout of its own, whatever becomes of the
work."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any, cast

import pytest

from tests.coordinator.test_task_worktrees import PROJECT
from tests.coordinator.test_tree_setup import starter
from tests.coordinator.test_worktrees import first, make, nobody, place, repository
from tests.repositories import Repository
from toryo.coordinator.config import Config
from toryo.coordinator.jobs import BASE_CHECKS, Jobs
from toryo.coordinator.orders import WorktreeJob
from toryo.coordinator.sandbox import Mode
from toryo.coordinator.worktrees import combining
from toryo.operations.worktrees.coordinator_reports import ReportWorktreeJob

__all__ = ["first", "nobody", "place", "repository"]


def tried(
    repository: Repository, place: Path, base: str, *checks: Any, mode: Mode = Mode.NONE, **more: Any
) -> dict[str, Any]:
    options = {"checks": list(checks), "agent_id": "ann", "launch_id": "lch_1", "tried": {"base": base}, **more}
    job = WorktreeJob("job_1", BASE_CHECKS, "t1", PROJECT, "", "", str(repository.path), "system", options)
    jobs = Jobs(Config(), cast("Any", None), starter(place, mode), cast("Any", None))
    answer = asyncio.run(jobs._base_checks(job))
    ReportWorktreeJob.model_validate({"job_id": "job_1", **answer})  # as the server takes it
    assert list((place / combining.PLACES).glob("*")) == [], "nothing stays"
    return answer


def outcomes(answer: dict[str, Any]) -> list[str]:
    return [each["outcome"] for each in answer["evidence"]]


def test_they_see_that_commit_and_nothing_of_the_work_nor_of_each_other(repository: Repository, place: Path) -> None:
    base = repository.git("rev-parse", "HEAD")
    worktree = make(repository, place / PROJECT)
    (worktree.path / "a").write_text("two\n")
    repository.commit(a="three\n")
    checks = [{"command": "grep -q one a && echo two >a"}, {"command": "grep -q one a"}]
    answer = tried(repository, place, base, *checks, {"command": "toryo-no-such-program"})
    assert outcomes(answer) == ["passed", "passed", "failed"]
    assert answer["evidence"][2]["exit_code"] == 127
    assert (worktree.path / "a").read_text() == "two\n"


def test_they_run_when_the_worktree_is_gone(repository: Repository, place: Path) -> None:
    worktree = make(repository, place / PROJECT)
    shutil.rmtree(worktree.path)
    assert outcomes(tried(repository, place, worktree.base_commit, {"command": "cat a"})) == ["passed"]


def test_they_are_set_up_on_that_commit(repository: Repository, place: Path) -> None:
    base = repository.git("rev-parse", "HEAD")
    repository.commit(a="three\n")
    setup = {"commands": ["cp a made"], "copies": []}
    assert outcomes(tried(repository, place, base, {"command": "grep one made"}, setup=setup)) == ["passed"]
    answer = tried(repository, place, base, {"command": "true"}, setup={"commands": ["echo why; exit 1"], "copies": []})
    assert outcomes(answer) == ["failed"]
    assert "why" in answer["evidence"][0]["output"]


@pytest.mark.parametrize("missing", ["commit", "repository"])
def test_where_they_cannot_be_tried_nothing_is_said_about_them(
    repository: Repository, place: Path, missing: str
) -> None:
    base = "0" * 40 if missing == "commit" else repository.git("rev-parse", "HEAD")
    if missing == "repository":
        shutil.rmtree(repository.path)
    answer = tried(repository, place, base, {"command": "true"})
    assert (answer["done"], bool(answer["trouble"])) == (False, True)


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_in_a_sandbox_they_write_nothing_outside(repository: Repository, place: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    command = f"echo started; touch {outside} {repository.path}/b2 2>/dev/null; true"
    base = repository.git("rev-parse", "HEAD")
    answer = tried(repository, place, base, {"command": command}, mode=Mode.BWRAP, provider_options={})
    assert outcomes(answer) == ["passed"], answer
    assert not outside.exists()
    assert not (repository.path / "b2").exists()
