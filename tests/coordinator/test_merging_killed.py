"""kill -9 of a Coordinator before and after each git command of a merge, by a person or by the merge queue: the target
branch has all of the work or none of it, never half, and the next Coordinator brings the same job to its end, once.
"""

from __future__ import annotations

import os
import shutil
import signal
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.coordinator.test_queue_merges import batch, run
from tests.coordinator.test_task_worktrees import PROJECT, job, since
from tests.coordinator.test_worktrees import first, make, nobody, place, repository, worked
from tests.reliability.counting import injected
from tests.repositories import Repository
from toryo.coordinator import task_worktrees
from toryo.coordinator.worktrees import combining
from toryo.coordinator.worktrees.git import Git

__all__ = ["first", "nobody", "place", "repository"]

FILES = {"new": "two\n", "a": "changed\n"}
EVERY = int(os.environ.get("TORYO_TEST_MERGE_KILLS_EVERY", "16"))
"""Each so-manyth moment, and the last ones, when the worktree is removed; 1 is for those who have time."""
LAST = 8


def chosen(moments: int) -> list[int]:
    return sorted({*range(1, moments + 1, EVERY), *range(moments + 1 - LAST, moments + 1)})


@pytest.mark.parametrize("few", [True, pytest.param(False, marks=pytest.mark.deep)])
def test_a_merge_that_is_killed_at_any_git_command_is_done_by_the_next_coordinator_and_once(
    repository: Repository, place: Path, tmp_path: Path, few: bool
) -> None:
    worktree = make(repository, place / PROJECT, "t1")
    for name, text in FILES.items():
        (worktree.path / name).write_text(text)
    order = job(repository, place, "merge", order=since(repository, place, "t1"))
    before = repository.git("rev-parse", "main")
    kept = _copied(tmp_path / "kept", repository.path, place)

    do = partial(task_worktrees.run, order, place)
    moments = _killed_at(do, 10_000)
    assert moments > 2 * EVERY, "a merge is several git commands"
    _is_merged(repository, before)
    for moment in {moments // 2, moments - 2} if few else chosen(moments):
        _restored(kept, repository.path, place)
        assert _killed_at(do, moment) == -1, "it was killed"
        injected("Coordinator killed in a merge")
        _is_whole(repository, before)
        answer = task_worktrees.run(order, place)
        assert answer["done"], (moment, answer)
        assert [each["task_id"] for each in answer["merged"]] == ["t1"]
        _is_merged(repository, before)


@pytest.mark.deep
def test_a_batch_of_the_queue_that_is_killed_at_any_git_command_is_merged_by_the_next_coordinator_and_once(
    repository: Repository, place: Path, tmp_path: Path
) -> None:
    for name in ("t1", "t2"):
        worked(repository, place / PROJECT, name, **{name: "x\n"})
    order = batch(repository, place, "t1", "t2", checks=[{"command": "test -e t1 && test -e t2"}])
    before = repository.git("rev-parse", "main")
    kept = _copied(tmp_path / "kept", repository.path, place)

    do = partial(run, order, place)
    moments = _killed_at(do, 10_000)
    for moment in chosen(moments):
        _restored(kept, repository.path, place)
        assert _killed_at(do, moment) == -1, "it was killed"
        injected("Coordinator killed in a merge")
        assert repository.git("rev-parse", "main") == before or _has_both(repository, before)
        combining.sweep(place)
        answer = do()
        assert sorted(each["task_id"] for each in answer["merged"]) == ["t1", "t2"], (moment, answer)
        assert answer["done"], (moment, answer)
        assert _has_both(repository, before), moment
        assert repository.git("status", "--porcelain") == ""
        assert repository.git("for-each-ref", "--format=%(refname:short)", "refs/heads") == "main"
        assert len(repository.git("worktree", "list").splitlines()) == 1


@pytest.mark.deep
def test_merging_the_work_of_subtasks_goes_on_after_a_kill_at_any_git_command_and_nothing_is_lost(
    repository: Repository, place: Path, tmp_path: Path
) -> None:
    directory = place / PROJECT
    for name, files in {"p1": {"a": "left\n"}, "p2": {"a": "right\n"}, "p3": {"new": "three\n"}}.items():
        worked(repository, directory, name, **files)
    worktree = make(repository, directory, "t1")
    (worktree.path / "own").write_text("not committed\n")
    order = job(repository, place, "merge_subtasks", subtasks=["p1", "p2", "p3"])
    kept = _copied(tmp_path / "kept", repository.path, place)

    do = partial(task_worktrees.run, order, place)
    moments = _killed_at(do, 10_000)
    for moment in chosen(moments)[::3]:
        _restored(kept, repository.path, place)
        assert _killed_at(do, moment) == -1, "it was killed"
        injected("Coordinator killed in a merge")
        answer = do()
        assert answer["done"], (moment, answer)
        conflicts: dict[str, list[str]] = {each["task_id"]: each["files"] for each in answer["answer"]["subtasks"]}
        assert conflicts == {"p1": [], "p2": ["a"], "p3": []}, moment
        listed = repository.git("ls-tree", "--name-only", "toryo/t1").split()
        assert {"a", "new", "own"} <= set(listed), moment
        assert repository.git("show", "toryo/t1:a") == "left"
        assert repository.git("status", "--porcelain", at=worktree.path) == ""


@pytest.mark.deep
def test_a_begun_merge_is_begun_once_whenever_it_is_killed(repository: Repository, place: Path, tmp_path: Path) -> None:
    directory = place / PROJECT
    for name, files in {"p1": {"a": "left\n"}, "p2": {"a": "right\n"}}.items():
        worked(repository, directory, name, **files)
    kept = _copied(tmp_path / "kept", repository.path, place)
    start = task_worktrees.Place("t1", bases=("p1",), merges=("toryo/p2",))

    def do() -> dict[str, Any]:
        made = task_worktrees.make(start, PROJECT, repository.path, place)
        return {"done": True, "path": made.path}

    moments = _killed_at(do, 10_000)
    for moment in chosen(moments):
        _restored(kept, repository.path, place)
        assert _killed_at(do, moment) == -1, "it was killed"
        injected("Coordinator killed in a merge")
        path = do()["path"]
        marks = (path / "a").read_text().splitlines()
        assert (marks[0], marks[-1]) == ("<<<<<<< toryo/t1", ">>>>>>> toryo/p2"), moment
        assert len(repository.git("rev-list", "--merges", "toryo/p1..toryo/t1").split()) == 1, moment


def _has_both(repository: Repository, before: str) -> bool:
    """In one commit of the first-parent history."""
    there = {"t1", "t2"} <= set(repository.git("ls-tree", "--name-only", "main").split())
    return there and repository.git("rev-parse", "main^1") == before


def _is_whole(repository: Repository, before: str) -> None:
    """`main` is where it was, or has the whole work."""
    if repository.git("rev-parse", "main") != before:
        assert {name: repository.git("show", f"main:{name}") + "\n" for name in FILES} == FILES


def _is_merged(repository: Repository, before: str) -> None:
    _is_whole(repository, before)
    assert len(repository.git("rev-list", "--merges", f"{before}..main").split()) == 1
    assert repository.git("status", "--porcelain") == ""
    assert {name: (repository.path / name).read_text() for name in FILES} == FILES
    assert repository.git("for-each-ref", "--format=%(refname:short)", "refs/heads") == "main"
    assert len(repository.git("worktree", "list").splitlines()) == 1


def _killed_at(do: Callable[[], dict[str, Any]], moment: int) -> int:
    """Runs the job in a process that is killed at that moment; -1 if it was, else how many moments there are."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        passed = 0
        original = Git.ask

        def happens() -> None:
            nonlocal passed
            passed += 1
            if passed == moment:
                os.kill(os.getpid(), signal.SIGKILL)

        def ask(git: Git, *words: Any, **how: Any) -> Any:
            happens()
            answer = original(git, *words, **how)
            happens()
            return answer

        try:
            with patch.object(Git, "ask", ask):
                answer = do()
            os.write(write, str(passed if answer["done"] else 0).encode())
        except BaseException:  # noqa: BLE001 - only the parent may go on with the tests
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as told:
        count = told.read()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in (0, -signal.SIGKILL), status
    return int(count) if status == 0 else -1


def _copied(to: Path, *directories: Path) -> Path:
    for each in directories:
        shutil.copytree(each, to / each.name, symlinks=True)
    return to


def _restored(kept: Path, *directories: Path) -> None:
    for each in directories:
        shutil.rmtree(each, ignore_errors=True)
        shutil.copytree(kept / each.name, each, symlinks=True)
