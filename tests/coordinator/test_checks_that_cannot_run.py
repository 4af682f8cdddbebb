"""A check whose command is not found: what is wrong is the check if it does not run without the work either, and the
work if it does, or if the command is the work's to bring."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from tests.coordinator.test_task_worktrees import PROJECT
from tests.coordinator.test_tree_setup import evidence, evidence_of_all, starter
from tests.coordinator.test_worktrees import first, make, nobody, place, repository
from tests.repositories import Repository
from toryo.coordinator.acceptance_checks import IN_NEITHER, IN_NO_COMMIT, Evidence
from toryo.coordinator.config import Config
from toryo.coordinator.jobs import Jobs
from toryo.coordinator.orders import CheckOrder
from toryo.coordinator.sandbox import Mode
from toryo.coordinator.worktrees import Worktree

__all__ = ["first", "nobody", "place", "repository"]

NOWHERE = "no-such-program-anywhere"
Checked = Callable[..., Evidence]


@pytest.fixture
def worktree(repository: Repository, place: Path) -> Worktree:
    files = {"run": "#!/bin/sh\necho ok\n", "orphan": "#!/no/such/interpreter\n", "tool.env": "TOOL=true\n"}
    files |= {".gitignore": ".venv/\n"}
    for name, text in files.items():
        (repository.path / name).write_text(text)
        (repository.path / name).chmod(0o755)
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--message", "Tools")
    return make(repository, place / PROJECT)


@pytest.fixture
def check(repository: Repository, place: Path, worktree: Worktree) -> Checked:
    def checked(command: Any, mode: Mode = Mode.NONE) -> Evidence:
        return evidence(repository, place, worktree, {"command": command}, None, mode)

    return checked


@pytest.mark.parametrize(
    "command",
    [
        NOWHERE,
        f"cd . && VALUE=a/b {NOWHERE} --quick",
        f"/nowhere/venv/bin/python -m {NOWHERE}",
        [NOWHERE, "--quick"],
        "./orphan",
    ],
)
def test_a_check_that_does_not_run_without_the_work_either_is_an_error(check: Checked, command: Any) -> None:
    found = check(command)
    assert (found.outcome, found.failed) == ("error", True)
    assert found.output


def test_a_program_that_the_work_has_removed_or_broken_is_a_failure_of_the_work(
    check: Checked, worktree: Worktree
) -> None:
    assert check("./run").outcome == "passed"
    (worktree.path / "run").unlink()
    assert check("./run").outcome == "failed"
    (worktree.path / "tool.env").write_text(f"TOOL={NOWHERE}\n")
    found = check(". ./tool.env; $TOOL")
    assert (found.outcome, found.exit_code) == ("failed", 127)


def test_a_program_in_the_project_that_is_not_there_yet_is_for_the_work_to_bring(
    check: Checked, worktree: Worktree
) -> None:
    assert check("true; scripts/new --all").outcome == "failed"
    assert check("bash scripts/new --all").outcome == "failed"
    (worktree.path / "new").write_text("#!/bin/sh\n")
    assert check("./new").outcome == "failed", "nobody may execute it yet"


def test_a_program_that_git_ignores_is_in_no_commit_so_the_work_cannot_bring_it(
    check: Checked, worktree: Worktree
) -> None:
    """The virtual environment of a person's own checkout, for one."""
    found = check(".venv/bin/python -m pytest")
    assert (found.outcome, found.exit_code) == ("error", 127)
    assert found.output.endswith(IN_NO_COMMIT.format(program=".venv/bin/python"))
    assert check(".venv/bin/python -m pytest && scripts/new").outcome == "failed", "that one it can bring"


@pytest.mark.parametrize("command", ["scripts/new --all", ["bash", "scripts/new"]])
def test_what_a_check_of_the_project_runs_is_not_for_the_work_to_bring(
    repository: Repository, place: Path, worktree: Worktree, command: Any
) -> None:
    """Nobody was given it to do, so no agent is asked again and again."""
    checks = [{"command": command}, {"command": "exit 3"}, {"command": "scripts/new --own"}]
    found = evidence_of_all(repository, place, worktree, checks, required=2)
    assert [each.outcome for each in found] == ["error", "failed", "failed"]
    assert found[0].output.endswith(IN_NEITHER.format(program="scripts/new"))

    (worktree.path / "scripts").mkdir()
    new = worktree.path / "scripts" / "new"
    for text, outcome in (("exit 0", "passed"), ("exit 3", "failed"), (NOWHERE, "failed")):
        new.write_text(f"#!/bin/sh\n{text}\n")
        new.chmod(0o755)
        assert evidence_of_all(repository, place, worktree, checks[:1], required=1)[0].outcome == outcome


def test_other_failures_stay_failures_and_run_once(check: Checked) -> None:
    assert check("exit 3").outcome == "failed"
    assert check(f"{NOWHERE} || exit 1").outcome == "failed"


def test_the_work_is_checked_again_after_an_error(check: Checked, worktree: Worktree) -> None:
    (worktree.path / "done").write_text("yes\n")
    assert check(NOWHERE).outcome == "error"
    assert check("test -e done").outcome == "passed"


def test_without_a_worktree_a_command_that_is_not_found_is_an_error_too(tmp_path: Path) -> None:
    project = tmp_path / "plain"
    project.mkdir()
    checks = ({"command": NOWHERE}, {"command": "./new"}, {"command": "exit 1"}, {"command": "./new --own"})
    order = CheckOrder("chk_1", str(project), checks, "ann", PROJECT, ai_type="claude", required=2)
    jobs = Jobs(Config(), cast("Any", None), starter(tmp_path / "place", Mode.NONE), cast("Any", None))
    found = asyncio.run(jobs._checked(order))
    assert [each.outcome for each in found] == ["error", "error", "failed", "failed"]
    found = asyncio.run(jobs._checked(replace(order, working_directory=str(tmp_path / "elsewhere"))))
    assert {each.outcome for each in found} == {"error"}, "the project is not on this machine"


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
@pytest.mark.parametrize("command", [[NOWHERE], NOWHERE])
def test_in_the_sandbox_it_is_the_same_and_what_the_sandbox_hides_is_told(
    check: Checked, tmp_path: Path, command: Any
) -> None:
    assert check(command, mode=Mode.BWRAP).outcome == "error"
    hidden = tmp_path / "venv" / "python"
    hidden.parent.mkdir()
    hidden.write_text("#!/bin/sh\n")
    hidden.chmod(0o755)
    found = check(str(hidden), mode=Mode.BWRAP)
    assert found.outcome == "error" and "sandbox_read" in found.output
