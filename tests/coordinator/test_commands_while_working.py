"""The commands of an agent without a shell: where it works, as long as it works, and in a sandbox or not at all."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from tests.coordinator.test_checks_while_working import Told
from tests.coordinator.test_task_worktrees import PROJECT
from tests.coordinator.test_tree_setup import starter
from tests.coordinator.test_worktrees import first, make, nobody, place, repository
from tests.repositories import Repository
from tests.sandboxes import sandboxed
from tests.test_provider_options import setting
from toryo.coordinator.config import Config, ProviderConfig
from toryo.coordinator.jobs import COMMAND, OVER, Jobs, _order_of
from toryo.coordinator.orders import WorktreeJob
from toryo.coordinator.process_start import NO_COMMANDS
from toryo.coordinator.providers import BUILT_IN
from toryo.coordinator.sandbox import Mode
from toryo.coordinator.worktrees import Worktree
from toryo.named_commands import TOLD
from toryo.operations.worktrees.coordinator_reports import ReportWorktreeJob

__all__ = ["first", "nobody", "place", "repository", "sandboxed"]

LAUNCH = "lch_1"


@pytest.fixture
def worktree(repository: Repository, place: Path) -> Worktree:
    return make(repository, place / PROJECT)


def jobs(place: Path, mode: Mode = Mode.BWRAP, at_work: str = LAUNCH) -> Jobs:
    return Jobs(Config(), cast("Any", None), starter(place, mode), cast("Any", None), {at_work})


def job(repository: Repository, worktree: Worktree | None, *words: str, permissions: str = "edit") -> WorktreeJob:
    options = {
        "command": list(words),
        "launch_id": LAUNCH,
        "agent_id": "ann",
        "ai_type": "claude",
        "provider_options": {"permissions": permissions, "commands": ["sh"]},
        "worktree": str(worktree.working_directory) if worktree is not None else None,
    }
    name, path = (worktree.name, str(worktree.path)) if worktree is not None else ("tsk_1", "")
    return WorktreeJob("job_1", COMMAND, name, PROJECT, path, "", str(repository.path), "ann", options)


def ran(jobs: Jobs, order: WorktreeJob) -> dict[str, Any]:
    answer = asyncio.run(jobs._command(order))
    ReportWorktreeJob.model_validate({"job_id": "job_1", **answer})  # as the server takes it
    return answer


def test_without_a_sandbox_none_runs(repository: Repository, place: Path, worktree: Worktree, tmp_path: Path) -> None:
    """Who may change a test and run it may run anything."""
    answer = ran(jobs(place, Mode.NONE), job(repository, worktree, "touch", f"{tmp_path}/ran"))
    assert (answer["done"], answer["trouble"]) == (False, NO_COMMANDS)
    assert not (tmp_path / "ran").exists()


def test_the_log_says_so_before_the_program_says_anything(place: Path) -> None:
    def notes(*, inside: bool, **options: Any) -> list[str]:
        return [*starter(place)._without_effect(setting("claude", options), BUILT_IN["claude"], inside=inside)]

    assert notes(inside=False, commands=["pytest"]) == [NO_COMMANDS]
    assert notes(inside=True, commands=["pytest"]) == notes(inside=False) == []


def test_the_log_says_which_argument_gives_the_program_less_than_it_promises(place: Path) -> None:
    def notes(**options: Any) -> list[str]:
        arguments = Config(ai_providers={"claude": ProviderConfig(cli_args=["--yolo"])})
        made = starter(place, config=arguments)
        return [*made._without_effect(setting("claude", options), BUILT_IN["claude"], inside=True)]

    [note] = notes(permissions="edit")
    assert note.startswith("--yolo of cli_args gives the program no more than the agent's permissions: edit.")
    assert notes(permissions="full") == []


def test_none_runs_for_an_agent_whose_process_is_over(repository: Repository, place: Path, worktree: Worktree) -> None:
    answer = ran(jobs(place, at_work="another"), job(repository, worktree, "touch", "late"))
    assert (answer["done"], answer["trouble"]) == (False, OVER)
    assert not (worktree.working_directory / "late").exists()


def test_one_goes_on_while_the_work_of_its_agent_is_checked(
    repository: Repository, place: Path, worktree: Worktree
) -> None:
    """The checks of a report end what its agent has tried of them, not what it runs."""

    async def story() -> dict[str, Any]:
        told = cast("Any", Told())
        jobs = Jobs(Config(), told, starter(place), told)
        order = replace(_order_of(job(repository, worktree, "make")), checks=({"file": "a"},))
        over = asyncio.Event()

        async def command() -> dict[str, Any]:
            await over.wait()
            return {"done": True}

        answer = asyncio.create_task(jobs._for_agent(job(repository, worktree, "make"), order, command(), OVER))
        await asyncio.sleep(0)  # it has begun
        await jobs._run_check(order)
        assert told.results == ["passed"]
        over.set()
        return await answer

    assert asyncio.run(story()) == {"done": True}


@pytest.mark.usefixtures("sandboxed")
def test_one_sees_and_changes_the_files_of_its_agent_and_nothing_else(
    repository: Repository, place: Path, worktree: Worktree, tmp_path: Path
) -> None:
    (worktree.working_directory / "mine").write_text("not committed\n")
    script = f"cat mine; echo by a command >made; touch {tmp_path}/out {repository.path}/out; exit 3"
    [found] = ran(jobs(place), job(repository, worktree, "sh", "-c", script))["evidence"]
    assert found["exit_code"] == 3 and found["output"].startswith("not committed\n")
    assert (worktree.working_directory / "made").read_text() == "by a command\n"
    assert not (tmp_path / "out").exists() and not (repository.path / "out").exists()


@pytest.mark.usefixtures("sandboxed")
def test_it_gets_its_words_as_they_are(repository: Repository, place: Path, worktree: Worktree) -> None:
    words = ("echo", "$(id)", "`id`", ";", "touch x", "*", "|", ">y", "a\nb")
    [found] = ran(jobs(place), job(repository, worktree, *words))["evidence"]
    assert found["output"] == "$(id) `id` ; touch x * | >y a\nb"
    assert not (worktree.working_directory / "y").exists()


@pytest.mark.usefixtures("sandboxed")
def test_why_one_was_stopped_stands_before_the_end_of_a_long_output(
    repository: Repository, place: Path, worktree: Worktree
) -> None:
    (worktree.working_directory / "loud").write_text("#!/bin/sh\nprintf '%09999d' 1; kill -9 $$\n")
    (worktree.working_directory / "loud").chmod(0o755)
    [found] = ran(jobs(place), job(repository, worktree, "./loud"))["evidence"]
    assert found["exit_code"] is None and len(found["output"]) == TOLD
    assert found["output"].startswith("The command was ended by signal 9.\n000") and found["output"].endswith("01")


@pytest.mark.usefixtures("sandboxed")
@pytest.mark.parametrize("isolated", [False, True], ids=["in the project", "in a worktree"])
def test_of_an_agent_that_reads_it_changes_nothing_where_it_works_either(
    repository: Repository, place: Path, worktree: Worktree, isolated: bool
) -> None:
    for directory in (repository.path, worktree.working_directory):
        (directory / "file").write_text("read me")
    order = job(repository, worktree if isolated else None, "sh", "-c", "cat file; touch made", permissions="read")
    [found] = ran(jobs(place), order)["evidence"]
    assert "read me" in found["output"] and found["exit_code"] != 0
    assert not (repository.path / "made").exists() and not (worktree.working_directory / "made").exists()


@pytest.mark.usefixtures("sandboxed")
def test_commands_of_one_agent_run_one_after_the_other_and_end_with_its_process(
    repository: Repository, place: Path, worktree: Worktree
) -> None:
    made, bell = (worktree.working_directory / name for name in ("made", "bell"))
    os.mkfifo(bell)
    begins = job(repository, worktree, "sh", "-c", "echo first >made; echo >bell; sleep 600; echo over >made")
    waits = job(repository, worktree, "sh", "-c", "echo second >made")

    async def story() -> list[dict[str, Any]]:
        found = jobs(place)
        running = [asyncio.create_task(found._command(each)) for each in (begins, waits)]
        await asyncio.to_thread(bell.read_text)
        await found.end_all_for("another")
        assert not any(each.done() for each in running)
        await found.end_all_for(LAUNCH)
        return await asyncio.gather(*running)

    answers = asyncio.run(story())
    assert [each["trouble"] for each in answers] == [OVER, OVER]
    assert made.read_text() == "first\n"
