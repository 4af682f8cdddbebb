"""Merging the work of subtasks' branches into a worktree: a manager sees what was done below its task, and reviews it.

As everywhere here the merge is made without a checkout first: what conflicts is left out and said, never forced.
"""

from __future__ import annotations

from collections.abc import Sequence

from toryo.check_names import some
from toryo.coordinator.worktrees import commits_and_diffs
from toryo.coordinator.worktrees.creating import alone
from toryo.coordinator.worktrees.git import Git, Trouble
from toryo.coordinator.worktrees.paths import Worktree, contains, inside, joined, tip
from toryo.coordinator.worktrees.repository import opened


def bring(worktree: Worktree, branches: Sequence[str]) -> tuple[str, ...]:
    """Merges these branches into the worktree's own, where they do not conflict; returns the others.

    Does nothing, and reports it, if there are uncommitted changes: they are never moved.
    """
    there = inside(worktree)
    if there is None:
        return (f"The directory {worktree.path} is gone.",)
    with alone(worktree.path.parent):
        git = opened(worktree.repository).git
        head = there("rev-parse", "HEAD")
        new = [
            (branch, commit) for branch in branches if (commit := tip(git, branch)) and not contains(git, head, commit)
        ]
        hindrance = commits_and_diffs.unkept(worktree) if new else ""
        if hindrance:
            return (f"The work of {', '.join(name for name, _ in new)} is not in {worktree.path}. {hindrance}",)
        return tuple(filter(None, (_one(git, there, worktree, name, commit) for name, commit in new)))


def _one(git: Git, there: Git, worktree: Worktree, name: str, commit: str) -> str:
    """Empty if the merge succeeded."""
    head = there("rev-parse", "HEAD")
    tree = joined(git, head, commit)
    if isinstance(tree, tuple):
        return (
            f"{name} was not merged into {worktree.path}: both changed {some(tree)}. Merge it "
            f"there by hand (git merge {name}), or choose one of the two."
        )
    merged = git("commit-tree", tree, "-p", head, "-p", commit, given=f"Bring {name} into {worktree.branch}\n")
    try:
        commits_and_diffs.bring(worktree, there, merged)
    except Trouble as trouble:
        return f"{name} was not merged into {worktree.path}: {trouble}"
    return ""
