"""A git worktree per task: made, its work kept, shown, merged or discarded. Knows git, and nothing of tasks or servers.

`making` makes worktrees and `places` finds them, `contents` keeps what an agent did and shows it, `ending` merges,
discards and removes, `disk` says what is used and what nobody knows; `git` runs the program. Every function blocks, for
at most the time limits of `git`: call them in a thread. What a repository may hold besides is left to git as it is set
up there: submodules are not checked out, filters (LFS) run as they would in any checkout. No hook runs.
"""

from toryo.coordinator.worktrees.bringing import bring
from toryo.coordinator.worktrees.contents import Diff, FileChange, Kept, diff, keep, unkept
from toryo.coordinator.worktrees.disk import Leftover, leftovers, size
from toryo.coordinator.worktrees.ending import (
    Conflict,
    Discarded,
    Merged,
    Nothing,
    discard,
    merge,
    merged_before,
    remove,
)
from toryo.coordinator.worktrees.git import Trouble
from toryo.coordinator.worktrees.making import make
from toryo.coordinator.worktrees.places import Worktree, branch_of, find, opened_at, safe, signing

__all__ = [
    "Conflict",
    "Diff",
    "Discarded",
    "FileChange",
    "Kept",
    "Leftover",
    "Merged",
    "Nothing",
    "Trouble",
    "Worktree",
    "branch_of",
    "bring",
    "diff",
    "discard",
    "find",
    "keep",
    "leftovers",
    "make",
    "merge",
    "merged_before",
    "opened_at",
    "remove",
    "safe",
    "signing",
    "size",
    "unkept",
]
