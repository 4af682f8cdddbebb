"""A merge that was begun in a worktree: git's marks stand in the files until its agent has resolved the conflict.

It is a commit with both sides as its parents, so an agent needs neither git nor a shell to go on from there, and
nothing is lost if a process is killed. Which merge was begun is noted beside the worktree, where its agent cannot
write. What still holds the marks is not checked, merged or built on (`marked_files`). `merging_subtasks` begins such a
merge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from toryo.check_names import some
from toryo.coordinator.worktrees.git import LONG, Git
from toryo.coordinator.worktrees.paths import annotate, noted, readable_name

BEGUN = "begun"


@dataclass(frozen=True, slots=True)
class Begun:
    """`commit` has the marks; `ours` and `theirs` are its parents, with the names that stand in the marks."""

    commit: str
    ours: str
    theirs: str
    our_name: str
    their_name: str


def begun_in(path: Path) -> Begun | None:
    """The merge that was begun last in the worktree at this path."""
    found = noted(path).get(BEGUN)
    fields = Begun.__dataclass_fields__
    if not isinstance(found, Mapping) or not all(isinstance(found.get(name), str) for name in fields):
        return None
    return Begun(**{name: found[name] for name in fields})


def note(path: Path, begun: Begun) -> None:
    annotate(path, BEGUN, asdict(begun))


def marked_files(path: Path, git: Git, tree: str) -> tuple[str, ...]:
    """The files in which marks of the begun merge are left, at this commit or tree. A file that has had such lines on
    one of both sides is not counted."""
    begun = begun_in(path)
    if begun is None:
        return ()
    left = _with_marks(git, begun, tree)
    if left:
        left -= _with_marks(git, begun, begun.ours) | _with_marks(git, begun, begun.theirs)
    return tuple(map(readable_name, sorted(left)))


def words(path: Path, git: Git, tree: str) -> str:
    """That marks are left, and the next step; empty if there are none."""
    files = marked_files(path, git, tree)
    return f"The merge is not finished: conflict marks are left in {some(files)}. Resolve them there." if files else ""


def _with_marks(git: Git, begun: Begun, tree: str) -> set[str]:
    marks = (f"<<<<<<< {begun.our_name}", f">>>>>>> {begun.their_name}")
    patterns = [word for mark in marks for word in ("-e", mark)]
    options = ("--files-with-matches", "--full-name", "--null", "--text", "--fixed-strings")
    answer = git.ask("grep", *options, *patterns, tree, "--", seconds=LONG)
    return {name.removeprefix(f"{tree}:") for name in answer.names} if answer.code == 0 else set()
