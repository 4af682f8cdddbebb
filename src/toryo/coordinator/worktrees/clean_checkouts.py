"""A clean checkout of the commit that would be merged now, for checks: of its agent's directory it has what is in that
commit, and nothing else.

It stands beside the worktree (`.checks/NAME`), with a repository of its own, is brought to the next commit by what
differs, and goes with the worktree.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from toryo.coordinator.worktrees import commits_and_diffs
from toryo.coordinator.worktrees.commits_and_diffs import Diff
from toryo.coordinator.worktrees.creating import alone, refuse_filters
from toryo.coordinator.worktrees.git import Trouble
from toryo.coordinator.worktrees.launch_repositories import begin, fill, repository_of
from toryo.coordinator.worktrees.paths import Worktree, check_place, inside, tip
from toryo.coordinator.worktrees.repository import opened
from toryo.coordinator.worktrees.views import view


@dataclass(frozen=True, slots=True)
class Clean:
    """`working_directory`: the project's directory in it. `commit`: the worktree's branch with what is not committed
    yet. `changes`: what a merge of it would bring."""

    top: Path
    working_directory: Path
    commit: str
    changes: Diff | None


def check_out(worktree: Worktree, limit: int | None) -> Clean:
    """`limit`: how many characters of the changes are asked for, if any. Raises Trouble. While the commands of an
    earlier call run in it, the caller must not call this again."""
    checkout, place = opened(worktree.repository), check_place(worktree.path)
    with alone(place.parent):
        refuse_filters(checkout)
        begin(checkout, place, worktree.base_commit)
        there, objects = inside(worktree), repository_of(place) / "objects"
        if there is None:
            commit = tip(checkout.git, worktree.branch) or worktree.base_commit
            changes = commits_and_diffs.diff(worktree, 0, limit) if limit is not None else None
        else:
            with view(worktree, there, objects=objects) as found:
                if words := commits_and_diffs.unfinished(there):
                    raise Trouble(words)
                commit = commits_and_diffs.snapshot(found, "Work to be checked", "Toryo")
                changes = commits_and_diffs.staged(found, 0, limit) if limit is not None else None
        begun = repository_of(place)
        (begun / "HEAD").write_text(f"{commit}\n")
        fill(checkout, place, commit, clean=True)
    working = place / checkout.subdirectory
    working.mkdir(parents=True, exist_ok=True)
    return Clean(place, working, commit, changes)
