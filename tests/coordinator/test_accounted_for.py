"""Before a worktree goes, everything in it is accounted for by kind: what exists nowhere else is brought to where it
lasts, or the worktree stays and says why. To merge and to clean up are two steps with two results."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.coordinator.test_task_worktrees import PROJECT, job, launch, order
from tests.coordinator.test_worktrees import first, make, nobody, place, repository
from tests.repositories import Repository
from toryo.coordinator import task_worktrees
from toryo.coordinator.worktrees import Worktree

__all__ = ["first", "nobody", "place", "repository"]

FILES = ("-c", "protocol.file.allow=always")


@pytest.fixture
def library(repository: Repository, tmp_path: Path) -> Repository:
    """A repository that the project has as a submodule, `lib`."""
    made = Repository(tmp_path / "library")
    made.commit("library", f="1\n")
    repository.git(*FILES, "submodule", "--quiet", "add", str(made.path), "lib")
    repository.commit("with a library")
    return made


def ended(worktree: Worktree) -> dict[str, Any]:
    return task_worktrees.keep(worktree, launch())


def merged(repository: Repository, place: Path) -> dict[str, Any]:
    return task_worktrees.run(job(repository, place, "merge", order=order(place, "t1")), place)


def discarded(repository: Repository, place: Path) -> dict[str, Any]:
    return task_worktrees.run(job(repository, place, "discard"), place)


def checked_out(repository: Repository, worktree: Worktree) -> Path:
    repository.git(*FILES, "submodule", "--quiet", "update", "--init", at=worktree.path)
    return worktree.path / "lib"


def committed(repository: Repository, at: Path, name: str = "s") -> str:
    repository.git("checkout", "--quiet", "-B", "work", at=at)
    return repository.commit("only here", at=at, **{name: "s\n"})


def test_a_commit_of_a_submodule_is_brought_to_the_persons_own(repository, place, library):
    worktree = make(repository, place / PROJECT)
    commit = committed(repository, checked_out(repository, worktree))
    assert ended(worktree)["trouble"] is None
    assert merged(repository, place)["done"] is True
    assert not worktree.path.exists()
    repository.git("submodule", "--quiet", "update")
    repository.git("gc", "--quiet", "--prune=now", at=repository.path / "lib")
    assert repository.git("rev-parse", "HEAD", at=repository.path / "lib") == commit


def test_nothing_is_merged_that_refers_to_a_commit_which_only_the_worktree_has(repository, place, library):
    repository.git("submodule", "--quiet", "deinit", "--all", "--force")
    before = repository.git("rev-parse", "main")
    worktree = make(repository, place / PROJECT)
    lib = checked_out(repository, worktree)
    commit = committed(repository, lib)
    repository.git("tag", "v1", at=lib)  # which is nowhere else either
    assert "The submodule lib is at a commit that exists only in" in ended(worktree)["trouble"]
    for kind in ("merge", "clean"):
        answer = task_worktrees.run(job(repository, place, kind, order=order(place, "t1")), place)
        assert answer["done"] is False
        assert "lib" in answer["trouble"]
    assert repository.git("rev-parse", "main") == before
    assert repository.git("rev-parse", "HEAD", at=lib) == commit
    repository.git("push", "--quiet", "origin", "work", at=lib)
    assert merged(repository, place)["done"] is True
    assert not worktree.path.exists()


def other_branch(repository: Repository, worktree: Worktree) -> str:
    lib = checked_out(repository, worktree)
    commit = repository.git("rev-parse", "HEAD", at=lib)
    committed(repository, lib)
    repository.git("checkout", "--quiet", "--detach", commit, at=lib)
    return "lib"


def nested(repository: Repository, worktree: Worktree) -> str:
    there = worktree.path / "sub"
    there.mkdir()
    repository.git("init", "--quiet", at=there)
    repository.commit("nested", at=there, n="n\n")
    return "sub/"


def ignored(repository: Repository, worktree: Worktree) -> str:
    there = worktree.path / "build" / "deep" / "sub"
    there.mkdir(parents=True)
    (worktree.path / ".gitignore").write_text("build/\n")
    repository.git("init", "--quiet", at=there)
    repository.commit("nested", at=there, n="n\n")
    return "build/deep/sub/"


def stash(repository: Repository, worktree: Worktree) -> str:
    (worktree.path / "a").write_text("stashed\n")
    repository.git("stash", "--quiet", at=worktree.path)
    return "git stash"


def _beside(repository: Repository, worktree: Worktree, *keep: str) -> None:
    commit = repository.git("rev-parse", "HEAD", at=worktree.path)
    repository.commit("beside", at=worktree.path, beside="1\n")
    repository.git(*keep, at=worktree.path)
    repository.git("reset", "--quiet", "--hard", commit, at=worktree.path)


def tag(repository: Repository, worktree: Worktree) -> str:
    _beside(repository, worktree, "tag", "mine")
    return "tag mine"


def branch(repository: Repository, worktree: Worktree) -> str:
    _beside(repository, worktree, "branch", "mine")
    return "branch mine"


def notes(repository: Repository, worktree: Worktree) -> str:
    repository.git("notes", "add", "-m", "a note", at=worktree.path)
    return "refs/notes/commits"


KINDS: dict[str, Callable[[Repository, Worktree], str]] = {
    "another branch of a submodule": other_branch,
    "a repository": nested,
    "a repository that git ignores": ignored,
    "a stash": stash,
    "a branch": branch,
    "a tag": tag,
    "a note": notes,
}


@pytest.mark.parametrize("kind", KINDS)
def test_work_is_merged_and_the_worktree_stays_with_what_is_nowhere_else(repository, place, library, kind):
    worktree = make(repository, place / PROJECT)
    name = KINDS[kind](repository, worktree)
    (worktree.path / "good").write_text("good\n")
    ended(worktree)
    answer = merged(repository, place)
    (one,) = answer["merged"]
    assert (answer["done"], one["into"]) == (True, "main")
    assert repository.git("show", "main:good") == "good"
    assert name in one["kept"]
    assert "was not removed" in one["kept"]
    assert worktree.path.is_dir()
    again = merged(repository, place)
    assert again["done"] is True
    said = discarded(repository, place)["answer"]["message"]
    assert f"existed nowhere else and are gone: {name}" in said
    assert not worktree.path.exists()


def test_what_was_cloned_and_not_changed_keeps_no_worktree(repository, place, tmp_path):
    origin = Repository(tmp_path / "origin")
    origin.commit("origin", f="1\n")
    repository.commit("ignores", __gitignore="build/\n")
    worktree = make(repository, place / PROJECT)
    (worktree.path / "build").mkdir()
    repository.git("clone", "--quiet", str(origin.path), "build/clone", at=worktree.path)
    (worktree.path / "good").write_text("good\n")
    ended(worktree)
    assert "kept" not in merged(repository, place)["merged"][0]
    assert not worktree.path.exists()


def test_a_discarded_worktree_without_anything_else_says_so(repository, place):
    worktree = make(repository, place / PROJECT)
    ended(worktree)
    said = discarded(repository, place)["answer"]["message"]
    assert said == "toryo/t1 was removed. All of its commits are in other branches."


# --- files that git does not add as they are --------------------------------------------------------------------------


@pytest.mark.parametrize("whose", ["the agent's", "the person's"])
def test_work_outside_of_a_sparse_checkout_is_kept(repository, place, whose):
    for directory in ("x", "y"):
        (repository.path / directory).mkdir()
        (repository.path / directory / "a").write_text("1\n")
    repository.commit("directories")
    if whose == "the person's":
        repository.git("sparse-checkout", "set", "x")
    worktree = make(repository, place / PROJECT)
    if whose == "the agent's":
        repository.git("sparse-checkout", "set", "x", at=worktree.path)
    (worktree.path / "x" / "a").write_text("2\n")
    (worktree.path / "y").mkdir(exist_ok=True)
    (worktree.path / "y" / "c").write_text("new\n")
    assert ended(worktree)["trouble"] is None
    assert "kept" not in merged(repository, place)["merged"][0]
    files = {each: repository.git("show", f"main:{each}") for each in ("x/a", "y/a", "y/c")}
    assert files == {"x/a": "2", "y/a": "1", "y/c": "new"}


@pytest.mark.parametrize("many", [1, 40])
def test_a_file_that_cannot_be_added_loses_no_other(repository, place, many):
    worktree = make(repository, place / PROJECT)
    (worktree.path / ".gitattributes").write_text("*.wide working-tree-encoding=UTF-16\n")
    (worktree.path / "bad.wide").write_text("no mark of the byte order\n")
    for number in range(many):
        (worktree.path / f"good-{number}").write_text("good\n")
    (worktree.path / "a").unlink()
    said = ended(worktree)
    assert "bad.wide" in said["trouble"]
    listed = repository.git("ls-tree", "-r", "--name-only", "toryo/t1").split()
    assert {f"good-{number}" for number in range(many)} < set(listed)
    assert {"bad.wide", "a"}.isdisjoint(listed)
    shown = task_worktrees.run(job(repository, place, "diff"), place)["answer"]["files"]
    assert len(shown) == many + 2
    answer = merged(repository, place)
    assert answer["done"] is False
    assert "bad.wide" in answer["trouble"]
    (worktree.path / "bad.wide").unlink()
    assert merged(repository, place)["done"] is True


def test_git_is_what_says_so(tmp_path):
    """The story above needs a git that refuses such a file."""
    made = Repository(tmp_path / "project")
    (made.path / ".gitattributes").write_text("*.wide working-tree-encoding=UTF-16\n")
    (made.path / "bad.wide").write_text("no mark\n")
    done = subprocess.run(["git", "add", "."], cwd=made.path, capture_output=True, check=False)
    assert done.returncode != 0
