"""Creates a task's worktree: from which commit, on which branch, and how to continue an earlier call.

The branch is what counts: if the directory is missing, it is created again from the branch. A call continues where an
earlier one stopped. So the note of the base comes first, then the branch, then the directory with its repository
(`launch_repositories`), and the note says so when every file is there. `paths` finds a worktree again, `removing`
removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from toryo.coordinator.worktrees import commits_and_diffs, moved_bases, vanished_directories
from toryo.coordinator.worktrees.git import LONG, Git, Trouble
from toryo.coordinator.worktrees.launch_repositories import create, hold, repository_of
from toryo.coordinator.worktrees.paths import (
    PREFIX,
    Worktree,
    branch_of,
    checkout_of,
    commits_at,
    contains,
    current_branch,
    described,
    entry_at,
    forget,
    inside,
    is_own,
    joined,
    note,
    noted,
    project_in,
    safe,
    unnote,
)
from toryo.coordinator.worktrees.repository import Checkout, open_checkout
from toryo.coordinator.worktrees.views import tell_base, tips_of

HALF_MADE = "initializing"
"""Why git locked a worktree of an older Toryo that it was still making."""


def make(
    repository: Path, directory: Path, name: str, bases: Sequence[str] = (), brings: Sequence[str] = ()
) -> Worktree:
    """The worktree `directory/<safe name>` on branch `toryo/<safe name>`, as it is if there is one.

    A new one starts from the repository's HEAD, or from those of the branches `bases` whose work HEAD has not got,
    merged into one another (and into HEAD, if that has the work of another one of them). It knows these and `brings`
    by name. Raises Trouble, and leaves nothing behind.
    """
    checkout = open_checkout(repository)
    directory = directory.resolve()
    with alone(directory):
        return _settled(checkout, directory / safe(name), branch_of(name), bases, [*bases, *brings])


@contextlib.contextmanager
def alone(directory: Path, seconds: float = LONG) -> Iterator[None]:
    """Excludes other creation, merging or removal of worktrees of this directory. Released when the process ends. The
    directory itself is locked, so there is no lock file to clean up.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)  # the contents of a private project stay private
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _locked(descriptor, directory, time.monotonic() + seconds)
        yield
    finally:
        os.close(descriptor)


def _settled(checkout: Checkout, path: Path, branch: str, bases: Sequence[str], brings: Sequence[str]) -> Worktree:
    found = entry_at(checkout, path)
    if found is not None and (not path.is_dir() or found.locked == HALF_MADE):
        forget(checkout, path)
        found = None
    if found is not None or (is_own(path) and path.is_dir()):
        return _taken(checkout, path, branch, brings=brings)
    saved = ""
    if is_own(path):
        saved = vanished_directories.save(described(checkout, path, branch))
    elif noted(path) and repository_of(path).is_dir():  # its maker was killed before every file was there
        forget(checkout, path)
    refs = commits_at(checkout.git, *(f"refs/heads/{each}" for each in (branch, PREFIX.rstrip("/"), *bases)))
    _refuse_occupied(checkout, path, branch, conflicts=f"refs/heads/{PREFIX.rstrip('/')}" in refs)
    refuse_filters(checkout)
    fresh = f"refs/heads/{branch}" not in refs
    tips = [(each, refs.get(f"refs/heads/{each}")) for each in bases]
    notes = _branch_off(checkout, path, branch, tips) if fresh else ()
    try:
        _check_out(checkout, path, branch, brings, kept=fresh)
    except BaseException:
        _undo(checkout, path, branch if fresh else None)
        raise
    return _taken(checkout, path, branch, (*notes, saved) if saved else notes)


def _check_out(checkout: Checkout, path: Path, branch: str, brings: Sequence[str], *, kept: bool) -> None:
    """Noted as its own when every file is there. What it starts from is kept for it first. `kept`: it is, since the
    branch was made."""
    before = described(checkout, path, branch)
    start = before.base_commit
    if not kept:
        tips = tips_of(checkout, before)
        assert tips.last is not None
        start = tips.last
        note(checkout, path, before.base_branch, before.base_commit)
        orders = _kept(path, start, (tips.base or start) if before.base_branch else None)
        checkout.git("update-ref", "--stdin", given="\n".join([*orders, ""]))
    create(checkout, path, start, branch, [*([before.base_branch] if before.base_branch else []), *brings])
    note(checkout, path, before.base_branch, before.base_commit, own=True)


def _kept(path: Path, start: str, base: str | None) -> list[str]:
    """What is kept for a worktree that starts there, for `git update-ref --stdin`."""
    return hold(path, {"start": start, "branch": start, **({"base": base} if base is not None else {})})


def check_out_detached(checkout: Checkout, path: Path, commit: str) -> None:
    """A commit, on no branch, in an empty place."""
    refuse_filters(checkout)
    orders = hold(path, {"start": commit})
    checkout.git("update-ref", "--stdin", given="\n".join([*orders, ""]))
    create(checkout, path, commit, None)


def _taken(
    checkout: Checkout, path: Path, branch: str, notes: tuple[str, ...] = (), brings: Sequence[str] | None = None
) -> Worktree:
    """`brings`: the worktree was there already, and is told what these branches are now."""
    worktree = described(checkout, path, branch, notes)
    there = inside(worktree)
    note(checkout, path, worktree.base_branch, worktree.base_commit, own=worktree.own)
    project_in(path, worktree.subdirectory)
    if worktree.own and brings is not None and there is not None:
        tell_base(checkout, worktree, there, brings)
        commits_and_diffs.catch_up(worktree)
    return worktree


_Tips = Sequence[tuple[str, str | None]]


def _branch_off(checkout: Checkout, path: Path, branch: str, bases: _Tips) -> tuple[str, ...]:
    """A new branch and the note of its base (first, so that no branch is ever without). Returns what may surprise."""
    git = checkout.git
    head, current = _head(git)
    start = _start(git, head, bases)
    _refuse_missing(checkout, start)
    note(checkout, path, current, start)
    try:
        orders = [f"create refs/heads/{branch} {start}", *_kept(path, start, head if current is not None else None)]
        git("update-ref", "-m", "toryo: task starts", "--stdin", given="\n".join([*orders, ""]))
    except Trouble:
        unnote(path)
        raise
    changed = len(git.must("status", "--porcelain", "-z", "--untracked-files=no", "--no-renames").names)
    words = f"{checkout.top} has uncommitted changes (files: {changed}), which are not in the worktree."
    return (words,) if changed else ()


def _head(git: Git) -> tuple[str, str | None]:
    """The commit of HEAD, and the branch that it is on."""
    head, *names = git("rev-parse", "HEAD", "--symbolic-full-name", "HEAD").split("\n")
    if not names:  # a ref of another kind is called HEAD, too
        return head, current_branch(git)
    return head, names[0].removeprefix("refs/heads/") if names[0].startswith("refs/heads/") else None


def _start(git: Git, head: str, bases: _Tips) -> str:
    """HEAD, or the commits of the bases. HEAD is one of these if it already has the work of one of them: that branch
    was merged, and perhaps removed."""
    new = [(each, commit) for each, commit in bases if commit is not None and not contains(git, head, commit)]
    if len(new) < len(bases) or not new:
        new.append(("HEAD", head))
    (first, start), *others = new
    for name, commit in others:
        start = _with(git, start, commit, first, name)
    return start


def _with(git: Git, start: str, commit: str, first: str, name: str) -> str:
    if contains(git, start, commit):
        return start
    if contains(git, commit, start):
        return commit
    tree = joined(git, start, commit)
    if isinstance(tree, tuple):
        raise Trouble(
            f"The branches that this task builds on conflict: {name} cannot be merged with {first}, because of "
            f"{', '.join(tree)}. Merge or discard one of these tasks first, then start again."
        )
    words = f"Merge {name}, on which this work is based, too\n"
    return git("commit-tree", tree, "-p", start, "-p", commit, given=words)


def _refuse_missing(checkout: Checkout, start: str) -> None:
    there = f"{start}:{checkout.subdirectory}"
    if checkout.subdirectory and not checkout.git.holds("rev-parse", "--verify", "--quiet", there):
        raise Trouble(
            f"{checkout.top / checkout.subdirectory} has no committed files in the repository {checkout.top}, so "
            "its worktree would be empty. Commit the files first, or run git init in that directory."
        )


def _refuse_occupied(checkout: Checkout, path: Path, branch: str, *, conflicts: bool) -> None:
    elsewhere = checkout_of(checkout, branch)
    if elsewhere is not None:
        raise Trouble(
            f"The branch {branch} is checked out in {elsewhere}. Switch to another branch there, then try again."
        )
    if path.is_symlink() or (path.exists() and (not path.is_dir() or any(path.iterdir()))):
        raise Trouble(f"{path} exists and is not a worktree of {checkout.top}. Move it away, then try again.")
    if not noted(path):  # a branch that a person has made is gone on with; an agent's would be the work of another
        moved_bases.refuse(checkout, branch, 0)
    if conflicts:
        raise Trouble("A branch named toryo conflicts with branches named toryo/…. Rename it (git branch -m).")


def refuse_filters(checkout: Checkout) -> None:
    """Without its filter a file would be another one: in the worktree, and in what is committed there."""
    missing = checkout.filters()
    if missing:
        raise Trouble(
            f"The filter {missing[0]} is configured only in {checkout.common / 'config'}, and Toryo does not run "
            "programs that a repository's own configuration names. If you trust it, configure it for your user: "
            f"git lfs install (for lfs), or git config --global filter.{missing[0]}.clean …. Otherwise remove it "
            "there."
        )


def _undo(checkout: Checkout, path: Path, branch: str | None) -> None:
    """Nothing is left of an attempt; what fails here must not hide why it failed."""
    with contextlib.suppress(Trouble, OSError):
        forget(checkout, path)
        if branch is not None:
            checkout.git("branch", "--quiet", "-D", branch)
            unnote(path)


def _locked(descriptor: int, directory: Path, until: float) -> None:
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as held:
            if time.monotonic() > until:
                raise Trouble(f"Other processes keep creating worktrees in {directory}. Try again later.") from held
        time.sleep(0.02)
