"""The checks of a task while its agent works: on its work so far, in a sandbox or not at all, and without a trace in
what decides about the work."""

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
from toryo.coordinator.jobs import CHECKS, NO_SANDBOX, Jobs
from toryo.coordinator.orders import WorktreeJob
from toryo.coordinator.sandbox import Mode
from toryo.coordinator.worktrees import Worktree, clean_checkouts
from toryo.operations.worktrees.coordinator_reports import ReportWorktreeJob

__all__ = ["first", "nobody", "place", "repository"]


@pytest.fixture
def worktree(repository: Repository, place: Path) -> Worktree:
    repository.commit(__gitignore="report\n")
    return make(repository, place / PROJECT)


def tried(
    repository: Repository, place: Path, worktree: Worktree, *checks: Any, mode: Mode = Mode.NONE, **more: Any
) -> dict[str, Any]:
    options = {
        "checks": list(checks),
        "agent_id": "ann",
        "launch_id": "lch_1",
        "ai_type": "claude",
        "provider_options": {"permissions": "edit"},
        "worktree": str(worktree.working_directory),
        **more,
    }
    job = WorktreeJob(
        "job_1", CHECKS, worktree.name, PROJECT, str(worktree.path), "", str(repository.path), "ann", options
    )
    jobs = Jobs(Config(), cast("Any", None), starter(place, mode), cast("Any", None))
    return asyncio.run(jobs._tried(job))


def test_they_run_on_the_work_so_far_and_leave_no_trace_in_what_counts(
    repository: Repository, place: Path, worktree: Worktree
) -> None:
    (worktree.path / "new").write_text("not committed\n")
    (worktree.path / "report").write_text("ignored by git\n")
    checks = ({"command": "test -e new", "artifacts": ["new"]}, {"command": "exit 3"}, {"file": "report"})
    answer = tried(repository, place, worktree, *checks, unsandboxed=True)
    assert answer["done"] is True
    assert [each["outcome"] for each in answer["evidence"]] == ["passed", "failed", "passed"]
    assert all("files" not in each for each in answer["evidence"])
    ReportWorktreeJob.model_validate({"job_id": "job_1", **answer})  # as the server takes it
    answer = tried(repository, place, worktree, checks[0], unsandboxed=True)
    assert [each["outcome"] for each in answer["evidence"]] == ["passed"]
    (worktree.path / "new").write_text("other\n")
    assert clean_checkouts.changed_since(worktree) is None, "nothing has passed that counts"
    assert clean_checkouts.found_only_here(worktree) == ()


def test_without_a_sandbox_they_do_not_run_unless_a_person_allows_the_agent_everything(
    repository: Repository, place: Path, worktree: Worktree, tmp_path: Path
) -> None:
    answer = tried(repository, place, worktree, {"command": f"touch {tmp_path}/ran"})
    assert (answer["done"], answer["trouble"]) == (False, NO_SANDBOX)
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_in_a_sandbox_they_run_and_reach_nothing_else(
    repository: Repository, place: Path, worktree: Worktree, tmp_path: Path
) -> None:
    check = {"command": f"touch {tmp_path}/ran; echo fine"}
    answer = tried(repository, place, worktree, check, mode=Mode.BWRAP)
    assert [each["outcome"] for each in answer["evidence"]] == ["passed"]
    assert not (tmp_path / "ran").exists()
