"""Merging the work of subtasks' branches into a worktree, with real repositories: as far as it goes, else told."""

from __future__ import annotations

import pytest

from tests.coordinator.test_worktrees import first, kept, make, nobody, place, repository, worked
from tests.repositories import Repository
from toryo.coordinator import worktrees
from toryo.coordinator.worktrees import Brought, Trouble, Worktree, clean_checkouts

__all__ = ["first", "nobody", "place", "repository"]

pytestmark = pytest.mark.deep


def outcomes(worktree: Worktree, *names: str) -> tuple[Brought, ...]:
    return worktrees.bring(worktree, [worktrees.branch_of(name) for name in names])


def bring(worktree: Worktree, *names: str) -> tuple[str, ...]:
    """What is said of those that were not merged."""
    return tuple(words for each in outcomes(worktree, *names) if (words := each.words(worktree)))


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


def test_a_branch_that_is_not_there_changes_nothing_and_is_told(repository, place):
    worktree = make(repository, place)
    before = state(repository, worktree)
    (note,) = bring(worktree, "never")
    assert "There is no branch toryo/never" in note
    assert state(repository, worktree) == before


def test_what_conflicts_is_left_out_and_named_with_the_next_step(repository, place):
    worked(repository, place, "t2", a="two\n")
    worktree = worked(repository, place, a="mine\n")
    before = state(repository, worktree)
    (note,) = bring(worktree, "t2")
    assert "toryo/t2 was not merged into" in note
    assert "it conflicts in a" in note
    assert state(repository, worktree) == before


def test_of_several_the_one_that_conflicts_is_left_out_and_the_others_are_brought(repository, place):
    worked(repository, place, "t2", a="two\n")
    worked(repository, place, "t3", a="three\n")
    worked(repository, place, "t4", new="four\n")
    worktree = make(repository, place)
    (note,) = bring(worktree, "t2", "t3", "t4")
    assert "toryo/t3 was not merged into" in note
    assert "(with toryo/t2)" in note, "the other side is named"
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


def test_a_conflict_that_is_resolved_in_a_third_branch_is_none(repository, place):
    worked(repository, place, "t2", a="two\n")
    worked(repository, place, "t3", a="three\n")
    solver = make(repository, place, "t4", "toryo/t3")
    assert [each.begun for each in begin(solver, "t2")] == [True]
    (solver.path / "a").write_text("two\nthree\n")
    assert kept(solver).trouble == ""
    worktree = make(repository, place)
    assert [each.merged for each in outcomes(worktree, "t2", "t3", "t4")] == [True, True, True]
    assert (worktree.path / "a").read_text() == "two\nthree\n"


# --- conflicts that are to be resolved --------------------------------------------------------------------------------


def begin(worktree: Worktree, *names: str) -> tuple[Brought, ...]:
    return worktrees.begin(worktree, [worktrees.branch_of(name) for name in names])


def test_a_merge_is_begun_with_marks_in_the_files_and_everything_else_is_merged(repository, place):
    worked(repository, place, "t2", a="two\n", new="new\n")
    worktree = worked(repository, place, a="mine\n")
    (found,) = begin(worktree, "t2")
    assert (found.begun, found.files) == (True, ("a",))
    assert (worktree.path / "a").read_text().splitlines() == [
        "<<<<<<< toryo/t1",
        "mine",
        "=======",
        "two",
        ">>>>>>> toryo/t2",
    ]
    assert (worktree.path / "new").read_text() == "new\n"
    assert repository.git("status", "--porcelain", at=worktree.path) == ""


def test_what_does_not_conflict_is_merged_at_once(repository, place):
    worked(repository, place, "t2", new="two\n")
    worktree = worked(repository, place, a="mine\n")
    (found,) = begin(worktree, "t2")
    assert (found.begun, found.merged) == (False, True)
    assert kept(worktree).trouble == ""
    assert (worktree.path / "new").exists()


def test_while_marks_are_left_nothing_is_checked_merged_or_built_on(repository, place):
    worked(repository, place, "t2", a="two\n")
    worktree = worked(repository, place, a="mine\n")
    begin(worktree, "t2")
    (worktree.path / "a").write_text("<<<<<<< toryo/t1\nmine\ntwo\n")
    with pytest.raises(Trouble, match="conflict marks are left in a"):
        clean_checkouts.check_out(worktree, None)
    assert "conflict marks are left in a" in kept(worktree).trouble
    (note,) = bring(make(repository, place, "t3"), "t1")
    assert "conflict marks are left in a" in note
    (worktree.path / "a").write_text("both\n")
    clean_checkouts.check_out(worktree, None)
    assert kept(worktree).trouble == ""
    assert bring(make(repository, place, "t3"), "t1") == ()


def test_who_resolves_it_needs_no_git_and_the_history_has_one_merge_without_marks(repository, place):
    worked(repository, place, "t2", a="two\n")
    worktree = worked(repository, place, a="mine\n")
    sides = repository.git("rev-parse", "toryo/t1", "toryo/t2").split()
    begin(worktree, "t2")
    (worktree.path / "a").write_text("both\n")
    assert kept(worktree).trouble == ""
    assert repository.git("rev-parse", "toryo/t1^1", "toryo/t1^2").split() == sides
    assert repository.git("show", "toryo/t1:a") == "both"
    assert repository.git("status", "--porcelain", at=worktree.path) == ""
    assert repository.git("rev-parse", "HEAD", at=worktree.path) == repository.git("rev-parse", "toryo/t1")
    assert kept(worktree).committed is False


def test_an_agent_may_commit_the_merge_itself(repository, place):
    worked(repository, place, "t2", a="two\n")
    worktree = worked(repository, place, a="mine\n")
    begin(worktree, "t2")
    (worktree.path / "a").write_text("both\n")
    repository.git("commit", "--quiet", "--all", "--message", "Both", at=worktree.path)
    assert kept(worktree).trouble == ""
    assert repository.git("log", "-1", "--format=%s", "toryo/t1") == "Both"


def test_a_file_that_speaks_of_such_marks_is_not_taken_for_one(repository, place):
    repository.commit(guide=">>>>>>> toryo/t2\n")
    worked(repository, place, "t2", a="two\n")
    worktree = worked(repository, place, a="mine\n")
    begin(worktree, "t2")
    (worktree.path / "a").write_text("both\n")
    assert kept(worktree).trouble == ""


def test_a_second_conflict_waits_until_the_first_is_resolved(repository, place):
    worked(repository, place, "t2", a="two\n")
    worked(repository, place, "t3", a="three\n")
    worktree = worked(repository, place, a="mine\n")
    assert [each.branch for each in begin(worktree, "t2", "t3")] == ["toryo/t2"]
    assert begin(worktree, "t3") == ()
    (worktree.path / "a").write_text("both\n")
    kept(worktree)
    (found,) = begin(worktree, "t3")
    assert (found.branch, found.begun) == ("toryo/t3", True)


def test_a_side_that_was_deleted_conflicts_and_either_decision_counts(repository, place):
    worktree = make(repository, place, "t2")
    (worktree.path / "a").unlink()
    kept(worktree)
    mine = worked(repository, place, a="mine\n")
    (found,) = begin(mine, "t2")
    assert (found.begun, found.files) == (True, ("a",))
    assert kept(mine).trouble == ""
    assert bring(make(repository, place, "t3"), "t1", "t2") == ()


def test_a_merge_that_was_killed_while_its_files_were_written_is_begun_again_as_one(repository, place):
    worked(repository, place, "t2", a="two\n", new="new\n")
    worktree = worked(repository, place, a="mine\n")
    before = repository.git("rev-parse", "toryo/t1")
    begin(worktree, "t2")
    marks = (worktree.path / "a").read_text()
    for where in (None, worktree.path):  # neither the branch nor the agent's repository was moved yet
        repository.git("update-ref", "refs/heads/toryo/t1", before, at=where)
    (worktree.path / "new").unlink()
    (found,) = begin(worktree, "t2")
    assert (found.begun, found.trouble) == (True, "")
    assert ((worktree.path / "a").read_text(), (worktree.path / "new").read_text()) == (marks, "new\n")
    assert repository.git("rev-parse", "toryo/t1^1") == before
