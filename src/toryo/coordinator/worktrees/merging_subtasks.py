"""Merging the work of subtasks' branches into a worktree: a manager sees what was done below its task, and reviews it.

As everywhere here the merge is made without a checkout first: what conflicts is left out and said, never forced.
"""

from __future__ import annotations

from collections.abc import Sequence

from toryo.check_names import some
from toryo.coordinator.worktrees import commits_and_diffs
from toryo.coordinator.worktrees.creating import alone
from toryo.coordinator.worktrees.git import LONG, Git, Trouble
from toryo.coordinator.worktrees.paths import Worktree, contains, inside, joined, tip


def bring(worktree: Worktree, branches: Sequence[str]) -> tuple[str, ...]:
    """Merges these branches into the worktree's own, where they do not conflict; returns the others.

    Does nothing, and reports it, if there are uncommitted changes: they are never moved.
    """
    git = inside(worktree)
    if git is None:
        return (f"The directory {worktree.path} is gone.",)
    with alone(worktree.path.parent):
        new = [
            (branch, commit)
            for branch in branches
            if (commit := tip(git, branch)) and not contains(git, "HEAD", commit)
        ]
        hindrance = commits_and_diffs.unkept(worktree) if new else ""
        if hindrance:
            return (f"The work of {', '.join(name for name, _ in new)} is not in {worktree.path}. {hindrance}",)
        return tuple(filter(None, (_one(git, worktree, name, commit) for name, commit in new)))


def _one(git: Git, worktree: Worktree, name: str, commit: str) -> str:
    """Empty if the merge succeeded."""
    head = git("rev-parse", "HEAD")
    tree = joined(git, head, commit)
    if isinstance(tree, tuple):
        return (
            f"{name} was not merged into {worktree.path}: both changed {some(tree)}. Merge it "
            f"there by hand (git merge {name}), or choose one of the two."
        )
    merged = git("commit-tree", tree, "-p", head, "-p", commit, given=f"Bring {name} into {worktree.branch}\n")
    try:
        git("merge", "--ff-only", "--quiet", "--no-stat", "--no-overwrite-ignore", merged, seconds=LONG)
    except Trouble as trouble:
        return f"{name} was not merged into {worktree.path}: {trouble}"
    return ""
