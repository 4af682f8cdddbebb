"""A person's order to merge a task's work: a worktree's branch is merged into its base branch, or into another one.

The merge is made without any checkout, so a conflict leaves everything as it was. Only its result moves the
branch. If the branch is checked out, git's own fast-forward moves it, which refuses to overwrite uncommitted changes.
`merging_subtasks` merges the work of subtasks into a worktree; `removing` removes a worktree.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from toryo.check_names import some
from toryo.coordinator.worktrees import commits_and_diffs, moved_bases
from toryo.coordinator.worktrees.creating import alone
from toryo.coordinator.worktrees.git import LONG, Git, Trouble
from toryo.coordinator.worktrees.paths import (
    Worktree,
    checkout_of,
    contains,
    current_branch,
    entries,
    joined,
    noted_checkout_of,
    readable_name,
    safe,
    signature,
    tip,
)
from toryo.coordinator.worktrees.repository import Checkout, content, git_directory_of, open_checkout

UNMERGED = frozenset({"DD", "AU", "UD", "UA", "DU", "AA", "UU"})
"""How `git status` marks what is still to be resolved."""
ATTEMPTS = 5
"""How often a merge is repeated because the branch moved on."""


@dataclass(frozen=True, slots=True)
class Merged:
    """`commit` is the merge, on branch `into`; `target` the checkout that has it now, None if the branch has none."""

    commit: str
    target: Path | None
    into: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """Branch `into` already has all of it; `commit` is the head of `into`."""

    commit: str
    into: str
    message: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Nothing was changed. `message` names the files and the next step."""

    files: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True)
class Person:
    """The person who merges: their name and address are in the merge commit."""

    name: str
    email: str


TORYO = Person("Toryo", "toryo@toryo.invalid")


def person(person_id: str, name: str = "", email: str = "") -> Person:
    """Their name and address, if known; otherwise an address that cannot exist."""
    plain, address = signature(person_id)
    known = re.fullmatch(r"[^@\s<>\x00-\x1f]+@[^@\s<>\x00-\x1f]+", email)
    return Person(signature(name)[0] if name.strip() else plain, email if known else address)


def merge(
    worktree: Worktree,
    message: str,
    into: str | None = None,
    person: Person = TORYO,
    accepts: str | None = None,
    only: str | None = None,
) -> Merged | Nothing | Conflict:
    """Merges the branch (`--no-ff`) into its base branch or another one. Only commits are merged: call `keep` first.
    The message also contains the worktree's name. `accepts`: the commit to which nobody has moved the target, if a
    person has looked at it. `only`: the commit that was looked at; another one is not merged.

    Raises Trouble, and changes nothing, if the worktree has uncommitted changes, if uncommitted changes in the branch's
    checkout would be overwritten, and if the branch does not exist.
    """
    checkout = open_checkout(worktree.repository)
    checkout = replace(checkout, git=checkout.git.signed(person.name, person.email))
    target = into or worktree.base_branch
    if target is None:
        raise Trouble(
            f"{worktree.branch} was not started from a branch (detached HEAD). Choose the branch to merge into."
        )
    if target == worktree.branch:
        raise Trouble(f"{target} cannot be merged into itself. Choose another branch.")
    for each in (target, worktree.branch):
        if tip(checkout.git, each) is None:
            raise Trouble(f"There is no branch {each} in {worktree.repository}. Create it, or choose another.")
    if worktree.own:
        if accepts is not None:
            moved_bases.accept(checkout, target, accepts, worktree.made_at)
        moved_bases.refuse(checkout, target, worktree.made_at)
    words = commits_and_diffs.unkept(worktree, tells=True)  # what conflicts is resolved there
    if words:
        raise Trouble(f"{worktree.branch} cannot be merged yet. {words}")
    with alone(worktree.path.parent):
        for _ in range(ATTEMPTS):
            outcome = _attempt(checkout, worktree, target, message, only)
            if outcome is not None:
                return outcome
    raise Trouble(f"The branch {target} changed {ATTEMPTS} times during the merge. Try again.")


def merged_before(repository: Path, name: str, into: str, since: str) -> Merged | None:
    """The merge of a removed worktree into this branch, at this commit or later; None if there is none."""
    checkout = open_checkout(repository)
    git = checkout.git
    if tip(git, into) is None:
        return None
    line = f"--grep=^{commits_and_diffs.TASK}: {re.escape(safe(name))}$"
    range_ = [f"refs/heads/{into}", "--not", since]
    found = git.ask("log", "--merges", "--max-count=1", "--format=%H", "--extended-regexp", line, *range_, seconds=LONG)
    return Merged(found.text, checkout_of(checkout, into), into) if found.text else None


def _attempt(
    checkout: Checkout, worktree: Worktree, target: str, message: str, only: str | None
) -> Merged | Nothing | Conflict | None:
    """None if the branch has moved in the meantime."""
    git = checkout.git
    old, new = git("rev-parse", f"refs/heads/{target}"), git("rev-parse", f"refs/heads/{worktree.branch}")
    if only not in (None, new):
        raise Trouble(
            f"{worktree.branch} has changed in this moment: something in {worktree.path} has committed {new[:10]}. "
            "Nothing was merged. Try again: what is there now is looked at first."
        )
    if contains(git, old, new):
        return Nothing(old, target, f"{target} already contains everything of {worktree.branch}.")
    tree = joined(git, old, new)
    if isinstance(tree, tuple):
        return Conflict(tree, _conflict(worktree, target, tree))
    said = message.replace("\0", "").strip() or f"Merge {worktree.branch} into {target}"
    words = f"{said}\n\n{commits_and_diffs.TASK}: {worktree.name}"
    commit = git("commit-tree", tree, "-p", old, "-p", new, given=f"{words}\n")
    return Merged(commit, checkout_of(checkout, target), target) if moved(checkout, target, commit, old) else None


def moved(checkout: Checkout, target: str, commit: str, old: str) -> bool:
    """Moves a branch forward, with its checkout if it has one; False if it is no longer at `old`. Raises Trouble."""
    there = _checked_out(checkout, target)
    return _move(checkout, target, commit, old) if there is None else _forward(there, target, commit, old)


def _checked_out(checkout: Checkout, target: str) -> Git | None:
    """Git where the branch is checked out; None if it is nowhere. Raises Trouble if it is where nobody can look now:
    the files there would stay behind the branch, and the next commit there would take the merge back."""
    place = noted_checkout_of(checkout, target)
    if place is None:
        return None
    if place == checkout.common:
        raise Trouble(
            f"{target} is checked out in the main checkout of {place}, and nothing in {checkout.top} says where that "
            "is. Switch to another branch there, or make the main checkout the project's working directory."
        )
    directory, there = checkout.directory_of(place), checkout.at(place)
    if there is None or git_directory_of((place / ".git").resolve()) != directory:
        raise Trouble(
            f"{target} is checked out in {place}, which is missing or no longer connected with {checkout.top}. Nothing "
            "was merged. Mount the disk, or run git worktree repair there; if it is gone for good, run git worktree "
            f"prune in {checkout.top}. Then merge again."
        )
    return there


def refuse_loss(checkout: Checkout, target: str, old: str, commit: str) -> None:
    """Raises Trouble if the branch cannot be moved because of what somebody has not committed, or of a rebase."""
    there = _checked_out(checkout, target)
    if there is None:
        _refuse_rebase(checkout, target)
        return
    options = ("--porcelain", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all")
    lines = there.must("status", *options, seconds=LONG).names
    words = commits_and_diffs.unfinished(there, unmerged=any(line[:2] in UNMERGED for line in lines))
    if words:
        raise Trouble(words)
    coming = set(there.must("diff", "--name-only", "--no-renames", "-z", old, commit, "--").names)
    own = {line[3:] for line in lines}
    if both := sorted(coming & own):
        raise Trouble(_overwrites(target, there.directory, tuple(map(readable_name, both))))


def _conflict(worktree: Worktree, target: str, files: tuple[str, ...]) -> str:
    return (
        f"{worktree.branch} and {target} conflict in {some(files)}. Nothing was merged. Merge "
        f"{target} into {worktree.branch} in {worktree.path}, resolve the conflict and commit, then merge again."
    )


def _move(checkout: Checkout, target: str, commit: str, old: str) -> bool:
    """Moves a branch that is not checked out, if it has not moved meanwhile."""
    _refuse_rebase(checkout, target)
    git = checkout.git
    moved = git.ask("update-ref", "-m", "toryo: merge", f"refs/heads/{target}", commit, old)
    if moved.code != 0 and tip(git, target) == old:
        raise Trouble(f"{target} cannot be updated to the merge: {moved.errors}")
    return moved.code == 0


def _forward(git: Git, target: str, commit: str, old: str) -> bool:
    """Moves a branch with its checkout. Git checks everything before it changes anything; ignored files are kept,
    too."""

    def still() -> (
        bool
    ):  # from an older commit, to which somebody went back, and on another branch it would succeed, too
        return git.ask("for-each-ref", "--format=%(objectname)%(HEAD)", f"refs/heads/{target}").text == f"{old}*"

    if not still():
        return False
    options = ("--ff-only", "--quiet", "--no-stat", "--no-autostash", "--no-squash", "--no-overwrite-ignore")
    merged = git.ask("merge", *options, commit, seconds=LONG, still=still)
    if merged.code == 0:
        _refuse_other(git, target, commit)
        return True
    if not still():
        return False
    left = _taken_back(git, old, commit)
    raise Trouble(f"{_hindered(git, target, merged.errors)}{left}")


def _taken_back(git: Git, old: str, commit: str) -> str:
    """Git checks files out before it moves the branch. Where it could not do that (a lock that a killed git left), they
    are brought back: the person's next commit would have them, and not the merge. Says what could not be."""
    options = ("--name-only", "--no-renames", "-z")
    coming = set(git.must("diff-tree", "-r", *options, old, commit).names)
    others = set(git.must("diff-index", "--cached", *options, commit).names)
    if not coming or coming & others or git.ask("read-tree", "-m", "-u", commit, old, seconds=LONG).code == 0:
        return ""
    return (
        f" The files of the merge are staged in {git.directory} and could not be taken back: look at git status there."
    )


def _refuse_other(git: Git, target: str, commit: str) -> None:
    """Raises Trouble if a checkout has moved another branch, to which somebody has switched in the very moment."""
    now = tip(git, target)
    if now is not None and contains(git, now, commit):
        return
    other = current_branch(git) or "HEAD"
    raise Trouble(
        f"{target} was not merged into: somebody switched to {other} in {git.directory} at that moment, and {other} "
        f"was moved to the merge {commit[:10]} instead. Move {other} back there (git reset --keep "
        f"{shlex.quote(other)}@{{1}}), then merge again."
    )


def _hindered(git: Git, target: str, errors: str) -> str:
    files = tuple(line.strip() for line in errors.splitlines() if line.startswith("\t"))
    if not files:
        words = " ".join(errors.split())
        return f"{target} is checked out in {git.directory} and cannot be merged into there: {words}"
    return _overwrites(target, git.directory, files)


def _overwrites(target: str, directory: Path, files: tuple[str, ...]) -> str:
    return (
        f"Merging into {target} would overwrite uncommitted changes in {directory}: {some(files)}. "
        "Nothing was merged. Commit, stash or remove them there, then merge again."
    )


def _refuse_rebase(checkout: Checkout, branch: str) -> None:
    """A branch that is just being rebased is checked out nowhere, and would be overwritten at the end of that."""
    for entry in entries(checkout):
        directory = checkout.common if entry.path == checkout.common else checkout.directory_of(entry.path)
        for kind in ("rebase-merge", "rebase-apply"):
            if directory is not None and _says(directory / kind / "head-name") == f"refs/heads/{branch}":
                raise Trouble(
                    f"{branch} is being rebased in {entry.path}. Finish or abort the rebase, then merge again."
                )


def _says(file: Path) -> str:
    try:
        return content(file).decode(errors="replace").strip()
    except OSError:
        return ""
