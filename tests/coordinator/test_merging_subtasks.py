"""Merging the work of subtasks' branches into a worktree, with real repositories: as far as it goes, else told."""

from __future__ import annotations

from tests.coordinator.test_worktrees import first, kept, make, nobody, place, repository, worked
from tests.repositories import Repository
from toryo.coordinator import worktrees
from toryo.coordinator.worktrees import Worktree

__all__ = ["first", "nobody", "place", "repository"]


def bring(worktree: Worktree, *names: str) -> tuple[str, ...]:
    return worktrees.bring(worktree, [worktrees.branch_of(name) for name in names])


def state(repository: Repository, worktree: Worktree) -> tuple[str, ...]:
    words = (("rev-parse", "HEAD"), ("status", "--porcelain"), ("diff", "HEAD"))
    return (*(repository.git(*word, at=worktree.path) for word in words), *repository.state())


def test_new_work_is_merged_and_its_files_are_there(repository, place):
    worked(repository, place, "t2", new="two\n")
    worktree = make(repository, place)
    assert bring(worktree, "t2") == ()
    assert (worktree.path / "new").read_text() == "two\n"
    assert repository.git("status", "--porcelain", at=worktree.path) == ""
    assert repository.git("symbolic-ref", "--short", "HEAD", at=worktree.path) == "toryo/t1"
    assert "new" not in repository.git("ls-tree", "--name-only", "main").split()


def test_own_work_stays_beside_what_is_brought(repository, place):
    worked(repository, place, "t2", new="two\n")
    worktree = worked(repository, place, own="mine\n")
    assert bring(worktree, "t2") == ()
    assert ((worktree.path / "own").read_text(), (worktree.path / "new").read_text()) == ("mine\n", "two\n")


def test_nothing_new_changes_nothing(repository, place):
    worked(repository, place, "t2", new="two\n")
    worktree = make(repository, place)
    bring(worktree, "t2")
    before = state(repository, worktree)
    assert bring(worktree, "t2") == ()
    assert bring(worktree) == ()
    assert state(repository, worktree) == before


def test_a_branch_that_is_gone_is_passed_over(repository, place):
    worktree = make(repository, place)
    before = state(repository, worktree)
    assert bring(worktree, "never") == ()
    assert state(repository, worktree) == before


def test_what_conflicts_is_left_out_and_named_with_the_next_step(repository, place):
    worked(repository, place, "t2", a="two\n")
    worktree = worked(repository, place, a="mine\n")
    before = state(repository, worktree)
    (note,) = bring(worktree, "t2")
    assert "toryo/t2 was not merged into" in note
    assert "both changed a" in note
    assert "git merge toryo/t2" in note
    assert state(repository, worktree) == before


def test_of_several_the_one_that_conflicts_is_left_out_and_the_others_are_brought(repository, place):
    worked(repository, place, "t2", a="two\n")
    worked(repository, place, "t3", a="three\n")
    worked(repository, place, "t4", new="four\n")
    worktree = make(repository, place)
    (note,) = bring(worktree, "t2", "t3", "t4")
    assert "toryo/t3 was not merged into" in note
    assert ((worktree.path / "a").read_text(), (worktree.path / "new").read_text()) == ("two\n", "four\n")


def test_uncommitted_changes_are_nobodys_to_move(repository, place):
    worked(repository, place, "t2", new="two\n")
    worktree = make(repository, place)
    (worktree.path / "a").write_text("half\n")
    before = state(repository, worktree)
    (note,) = bring(worktree, "t2")
    assert "toryo/t2" in note
    assert "uncommitted changes (a)" in note
    assert state(repository, worktree) == before
    kept(worktree)
    assert bring(worktree, "t2") == ()
    assert (worktree.path / "new").exists()


def test_an_ignored_file_in_the_way_is_not_overwritten(repository, place):
    worked(repository, place, "t2", new="two\n")
    repository.commit(__gitignore="new\n")
    worktree = make(repository, place)
    (worktree.path / "new").write_text("a secret\n")
    (note,) = bring(worktree, "t2")
    assert "toryo/t2 was not merged into" in note
    assert (worktree.path / "new").read_text() == "a secret\n"


def test_a_directory_that_is_gone_is_told(repository, place):
    worked(repository, place, "t2", new="two\n")
    worktree = make(repository, place)
    worktrees.discard(worktree)
    (note,) = bring(worktree, "t2")
    assert f"{worktree.path} is gone" in note
