"""The checks of a task while its agent works: on its work so far, in a sandbox or not at all, and without a trace in
what decides about the work."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from pathlib import Path
from typing import Any, cast

import pytest

from tests.coordinator.test_task_worktrees import PROJECT
from tests.coordinator.test_tree_setup import starter
from tests.coordinator.test_worktrees import first, make, nobody, place, repository
from tests.repositories import Repository
from toryo.coordinator.acceptance_checks import Evidence
from toryo.coordinator.config import Config
from toryo.coordinator.jobs import CHECKS, NO_SANDBOX, REPORTED, Jobs
from toryo.coordinator.orders import CheckOrder, WorktreeJob
from toryo.coordinator.sandbox import Mode
from toryo.coordinator.whole_threads import to_its_end
from toryo.coordinator.worktrees import Worktree, clean_checkouts
from toryo.operations.worktrees.coordinator_reports import ReportWorktreeJob

__all__ = ["first", "nobody", "place", "repository"]


@pytest.fixture
def worktree(repository: Repository, place: Path) -> Worktree:
    repository.commit(__gitignore="report\n")
    return make(repository, place / PROJECT)


def job_of(repository: Repository, worktree: Worktree, *checks: Any, **more: Any) -> WorktreeJob:
    options = {
        "checks": list(checks),
        "agent_id": "ann",
        "launch_id": "lch_1",
        "ai_type": "claude",
        "provider_options": {"permissions": "edit"},
        "worktree": str(worktree.working_directory),
        **more,
    }
    return WorktreeJob(
        "job_1", CHECKS, worktree.name, PROJECT, str(worktree.path), "", str(repository.path), "ann", options
    )


def tried(
    repository: Repository, place: Path, worktree: Worktree, *checks: Any, mode: Mode = Mode.NONE, **more: Any
) -> dict[str, Any]:
    jobs = Jobs(Config(), cast("Any", None), starter(place, mode), cast("Any", None))
    return asyncio.run(jobs._tried(job_of(repository, worktree, *checks, **more)))


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


class Told:
    """Takes the results of checks that count."""

    leaving = False

    def __init__(self) -> None:
        self.results: list[str] = []

    async def until_told(self, _name: str, tell: Any) -> None:
        await tell()

    async def report_check(self, _check_id: str, evidence: list[Evidence], _artifacts: Any) -> None:
        self.results += [each.outcome for each in evidence]


@pytest.mark.parametrize("ends", ["report", "agent"])
def test_the_checks_of_a_report_and_the_end_of_the_agent_end_what_it_has_tried(
    repository: Repository, place: Path, worktree: Worktree, tmp_path: Path, ends: str
) -> None:
    """What it finds is advice only: what counts does not wait for it, and runs on nothing that it leaves."""
    bells = [tmp_path / "begun", tmp_path / "other"]
    for bell in bells:
        os.mkfifo(bell)
    (worktree.path / "work").write_text("done\n")
    long = "echo >{}; trap 'echo late >work' TERM; sleep 600 & wait; echo over >>work"
    orders = [
        job_of(repository, worktree, {"command": long.format(bells[0])}, unsandboxed=True),
        job_of(repository, worktree, {"command": "exit 0"}, unsandboxed=True),  # waits for the first one
    ]
    other = make(repository, place / PROJECT, "tsk_other")
    beside = job_of(repository, other, {"command": long.format(bells[1])}, unsandboxed=True, launch_id="lch_2")
    counts = CheckOrder(
        "chk_1",
        str(repository.path),
        ({"command": "test $(cat work) = done"},),
        "ann",
        PROJECT,
        "lch_1",
        worktree=str(worktree.working_directory),
        worktree_task_id=worktree.name,
        worktree_path=str(worktree.path),
        ai_type="claude",
    )

    async def story() -> list[dict[str, Any]]:
        told = cast("Any", Told())
        jobs = Jobs(Config(), told, starter(place), told)
        running = [asyncio.create_task(jobs._tried(each)) for each in orders]
        alone = asyncio.create_task(jobs._tried(beside))
        for bell in bells:
            await asyncio.to_thread(bell.read_text)
        if ends == "report":
            await jobs._run_check(counts)
            assert told.results == ["passed"]
        else:
            await jobs.end_all_for("lch_1")
        assert not alone.done(), "that of another task goes on"
        await jobs.end_all_for("lch_2")
        return await asyncio.gather(*running, alone)

    answers = asyncio.run(story())
    assert [(each["done"], each["trouble"]) for each in answers] == [(False, REPORTED)] * 3


def test_nothing_is_kept_of_what_has_run(repository: Repository, place: Path, worktree: Worktree) -> None:
    async def story() -> int:
        jobs = Jobs(Config(), cast("Any", None), starter(place), cast("Any", None))
        orders = [job_of(repository, worktree, {"command": "true"}, unsandboxed=True) for _ in range(2)]
        answers = await asyncio.gather(*map(jobs._tried, orders))
        assert [each["done"] for each in answers] == [True, True]
        return len(jobs._lanes) + len(jobs._for_agents)

    assert asyncio.run(story()) == 0


def test_what_was_begun_in_a_thread_has_ended_when_its_caller_is_cancelled() -> None:
    """What comes next uses the same directory."""
    began, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        began.set()
        assert go_on.wait(10)
        ended.set()

    async def story() -> None:
        running = asyncio.create_task(to_its_end(work))
        await asyncio.to_thread(began.wait, 10)
        for _ in range(2):
            running.cancel()
            for _ in range(9):
                await asyncio.sleep(0)
            assert not running.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert ended.is_set()

    asyncio.run(story())


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_in_a_sandbox_they_run_and_reach_nothing_else(
    repository: Repository, place: Path, worktree: Worktree, tmp_path: Path
) -> None:
    check = {"command": f"touch {tmp_path}/ran; echo fine"}
    answer = tried(repository, place, worktree, check, mode=Mode.BWRAP)
    assert [each["outcome"] for each in answer["evidence"]] == ["passed"]
    assert not (tmp_path / "ran").exists()
