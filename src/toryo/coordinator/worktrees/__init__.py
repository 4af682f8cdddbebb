"""One git worktree per task: creates it, commits, shows, merges or discards its work. Knows nothing of tasks or
servers.

`creating` creates worktrees and `paths` finds them. `launch_repositories` has the repository that each has of its own,
`views` how the Coordinator sees what its agent has left there. `commits_and_diffs` commits an agent's work and shows
it, `clean_checkouts` checks it out to be checked, `moved_bases` finds what nobody has merged.
`vanished_directories` saves what is left of one whose directory is gone.
`remotes` pushes a branch for a pull request. `merging_subtasks` merges the work of subtasks into a worktree, or begins
a merge there that conflicts (`conflict_marks`),
`merging` a task's work into a branch when a person orders it. `removing` removes and discards. `disk` finds used
space and unknown directories. `repository` limits what git sees of a person's repository; `git` runs the program.
Every function blocks, at most for the time limits of `git`: call them in a thread. Submodules are not checked out. No
hook runs, and no program that the repository or a worktree names: filters (LFS) and merge drivers are those of the
user's own configuration.
"""

from toryo.coordinator.worktrees.commits_and_diffs import (
    Diff,
    FileChange,
    Kept,
    commit,
    diff,
    keep,
    merged_diff,
    moved_base,
    touched,
    unkept,
)
from toryo.coordinator.worktrees.creating import make
from toryo.coordinator.worktrees.disk import Leftover, leftovers, size
from toryo.coordinator.worktrees.git import Trouble
from toryo.coordinator.worktrees.merging import Conflict, Merged, Nothing, Person, merge, merged_before, person
from toryo.coordinator.worktrees.merging_subtasks import Brought, begin, bring, has_all_of
from toryo.coordinator.worktrees.moved_bases import BaseTrouble, MovedBase
from toryo.coordinator.worktrees.paths import (
    PREFIX,
    Worktree,
    branch_of,
    find,
    merged_text,
    noted_repository,
    opened_at,
    possible,
    safe,
    signing,
    trouble,
)
from toryo.coordinator.worktrees.removing import Discarded, Grown, discard, remove

__all__ = [
    "PREFIX",
    "BaseTrouble",
    "Brought",
    "Conflict",
    "Diff",
    "Discarded",
    "FileChange",
    "Grown",
    "Kept",
    "Leftover",
    "Merged",
    "MovedBase",
    "Nothing",
    "Person",
    "Trouble",
    "Worktree",
    "begin",
    "branch_of",
    "bring",
    "commit",
    "diff",
    "discard",
    "find",
    "has_all_of",
    "keep",
    "leftovers",
    "make",
    "merge",
    "merged_before",
    "merged_diff",
    "merged_text",
    "moved_base",
    "noted_repository",
    "opened_at",
    "person",
    "possible",
    "remove",
    "safe",
    "signing",
    "size",
    "touched",
    "trouble",
    "unkept",
]
