"""Merging other branches into a worktree: the work of its subtasks (`bring`), and what its own work conflicts with
(`begin`).

As everywhere here the merge is made without a checkout first. `bring` leaves out what conflicts, and says so. `begin`
puts it into the files with git's marks, for an agent that is to resolve it (`conflict_marks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toryo.check_names import some
from toryo.coordinator.worktrees import commits_and_diffs, conflict_marks
from toryo.coordinator.worktrees.conflict_marks import Begun
from toryo.coordinator.worktrees.creating import alone
from toryo.coordinator.worktrees.git import Git, Trouble
from toryo.coordinator.worktrees.paths import PREFIX, Worktree, contains, inside, joined, joined_with_marks, tip
from toryo.coordinator.worktrees.repository import open_checkout
from toryo.coordinator.worktrees.views import tell_base


@dataclass(frozen=True, slots=True)
class Brought:
    """What became of one branch. `commit`: where it stands, None if it is not there. `files`: where it conflicts.
    `others`: those of the other branches that it conflicts with; none where it conflicts with the worktree's own work.
    `trouble`: what else prevents the merge."""

    branch: str
    commit: str | None = None
    files: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    trouble: str = ""
    begun: bool = False

    @property
    def merged(self) -> bool:
        return self.commit is not None and not self.files and not self.trouble

    def words(self, worktree: Worktree) -> str:
        """For the log of a launch; empty if the worktree has all of it."""
        if self.begun:
            return f"{self.branch} conflicts in {some(self.files)}. The conflicts are marked in these files."
        if self.files:
            against = f" (with {', '.join(self.others)})" if self.others else ""
            return f"{self.branch} was not merged into {worktree.path}: it conflicts in {some(self.files)}{against}."
        return f"{self.branch} was not merged into {worktree.path}: {self.trouble}" if self.trouble else ""


def bring(worktree: Worktree, branches: Sequence[str]) -> tuple[Brought, ...]:
    """Merges these branches into the worktree's own, where they do not conflict; what became of each.

    Does nothing, and reports it, if there are uncommitted changes: they are never moved.
    """
    there = inside(worktree)
    if there is None:
        return tuple(Brought(each, trouble=f"The directory {worktree.path} is gone.") for each in branches)
    with alone(worktree.path.parent):
        home = open_checkout(worktree.repository)
        git = home.git
        found = {branch: _looked_at(git, worktree, branch) for branch in branches}
        head = there("rev-parse", "HEAD")
        new = [each for each in found.values() if each.merged and not contains(git, head, str(each.commit))]
        hindrance = commits_and_diffs.unkept(worktree) if new else ""
        if hindrance:
            return tuple(replace(each, trouble=hindrance) if each in new else each for each in found.values())
        while new:  # what conflicts may be resolved in one of the others
            for each in new:
                found[each.branch] = _one(git, there, worktree, each)
            conflicting = [each for each in new if found[each.branch].files]
            if len(conflicting) == len(new):
                break
            new = conflicting
        if any(each.files for each in found.values()):  # a person can merge them there by hand
            tell_base(home, worktree, there, branches)
        merged = [each for each in found.values() if each.merged]
        return tuple(_against(git, each, merged) if each.files else each for each in found.values())


def begin(worktree: Worktree, branches: Sequence[str]) -> tuple[Brought, ...]:
    """Merges these branches into the worktree's own; the first that conflicts is begun with marks in the files, and
    those after it wait. Does nothing while marks of an earlier one are left, or changes are not committed."""
    there = inside(worktree)
    if there is None:
        return ()
    told: list[Brought] = []
    with alone(worktree.path.parent):
        git = open_checkout(worktree.repository).git
        for branch in branches:
            each = _looked_at(git, worktree, branch)
            head = there("rev-parse", "HEAD")
            if not each.merged or contains(git, head, str(each.commit)):
                told.append(each)
                continue
            if conflict_marks.marked_files(worktree.path, git, head):
                break
            if hindrance := commits_and_diffs.unkept(worktree):
                told.append(_again(git, there, worktree, each) or replace(each, trouble=hindrance))
                break
            each = _one(git, there, worktree, each)
            if each.files:
                told.append(_begun(git, there, worktree, each))
                break
            told.append(each)
    return tuple(told)


def has_all_of(worktree: Worktree, other: Worktree) -> bool:
    """Whether the worktree's branch contains that of another one."""
    git = open_checkout(worktree.repository).git
    own, commit = tip(git, worktree.branch), tip(git, other.branch)
    return own is not None and commit is not None and contains(git, own, commit)


def _looked_at(git: Git, worktree: Worktree, branch: str) -> Brought:
    commit = tip(git, branch)
    if commit is None:
        return Brought(branch, trouble=f"There is no branch {branch} in {worktree.repository}.")
    own = branch.startswith(PREFIX)
    unfinished = own and conflict_marks.words(worktree.path.parent / branch.removeprefix(PREFIX), git, commit)
    return Brought(branch, commit, trouble=unfinished or "")


def _one(git: Git, there: Git, worktree: Worktree, each: Brought) -> Brought:
    head, commit = there("rev-parse", "HEAD"), str(each.commit)
    if contains(git, head, commit):
        return replace(each, files=())
    tree = joined(git, head, commit)
    if isinstance(tree, tuple):
        return replace(each, files=tree)
    message = f"Bring {each.branch} into {worktree.branch}\n"
    merged = git("commit-tree", tree, "-p", head, "-p", commit, given=message)
    try:
        commits_and_diffs.bring(worktree, there, merged)
    except Trouble as trouble:
        return replace(each, files=(), trouble=str(trouble))
    return replace(each, files=())


def _against(git: Git, each: Brought, merged: Sequence[Brought]) -> Brought:
    """With the branches on the other side of its conflict."""
    commit = str(each.commit)
    others = [other.branch for other in merged if isinstance(joined(git, str(other.commit), commit), tuple)]
    return replace(each, others=tuple(others))


def _again(git: Git, there: Git, worktree: Worktree, each: Brought) -> Brought | None:
    """The merge that was begun there, if a Coordinator was killed while it wrote the files; None: they are others."""
    begun, head = conflict_marks.begun_in(worktree.path), there("rev-parse", "HEAD")
    if begun is None or (begun.ours, begun.theirs) != (head, each.commit):
        return None
    _, files = joined_with_marks(git, begun.ours, begun.theirs)
    return replace(each, files=files, begun=True) if commits_and_diffs.go_on(worktree, there, begun.commit) else None


def _begun(git: Git, there: Git, worktree: Worktree, each: Brought) -> Brought:
    ours, theirs = there("rev-parse", "HEAD"), str(each.commit)
    names = [branch if tip(git, branch) == commit and git("rev-parse", branch) == commit else commit
             for branch, commit in ((worktree.branch, ours), (each.branch, theirs))]  # fmt: skip
    tree, _ = joined_with_marks(git, names[0], names[1])
    message = f"Begin to merge {each.branch} into {worktree.branch}: conflicts are marked in the files\n"
    commit = git("commit-tree", tree, "-p", ours, "-p", theirs, given=message)
    conflict_marks.note(worktree.path, Begun(commit, ours, theirs, names[0], names[1]))
    try:
        commits_and_diffs.bring(worktree, there, commit)
    except Trouble as trouble:
        return replace(each, trouble=str(trouble))
    return replace(each, begun=True)
