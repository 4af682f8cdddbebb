"""Removing a worktree with its branch: once its work is merged (`remove`), or with all that is in it (`discard`).

What is refused, and what will be lost, is found out before anything is touched. Then the directory goes, the branch,
and last the note beside it, which says whose worktree it was: an interrupted removal is called again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toryo.check_names import some
from toryo.coordinator.worktrees import clean_checkouts, commits_and_diffs
from toryo.coordinator.worktrees.commits_and_diffs import Left
from toryo.coordinator.worktrees.creating import alone
from toryo.coordinator.worktrees.git import Git, Trouble
from toryo.coordinator.worktrees.launch_repositories import fetch
from toryo.coordinator.worktrees.paths import Worktree, checkout_of, contains, forget, inside, tip, unnote
from toryo.coordinator.worktrees.repository import Checkout, open_checkout
from toryo.coordinator.worktrees.vanished_directories import left_repository


@dataclass(frozen=True, slots=True)
class Discarded:
    """`commit` is the last one thrown away, None if there was none; `message` tells how to get it back."""

    branch: str
    commit: str | None
    message: str


def discard(worktree: Worktree, passing: Sequence[str] = ()) -> Discarded:
    """Removes directory and branch with all uncommitted work. Does nothing if they are already removed. `passing`:
    branches that keep nothing, because they are removed by themselves: those of reviews."""
    checkout = open_checkout(worktree.repository)
    with alone(worktree.path.parent):
        _refuse_in_use(checkout, worktree)
        commits, others = _thrown_away(checkout.git, worktree, passing), _others(worktree)
        _remove(checkout, worktree)
    gone = f" These existed nowhere else and are gone: {some(others)}." if others else ""
    if not commits:
        words = f"{worktree.branch} was removed. All of its commits are in other branches.{gone}"
        return Discarded(worktree.branch, None, words)
    words = (
        f"{worktree.branch} was discarded.{gone} Until git gc runs, this command in {worktree.repository} restores it:"
    )
    names = (worktree.branch, f"{worktree.branch}-astray")
    back = (f"git branch {name} {commit}" for name, commit in zip(names, commits, strict=False))
    return Discarded(worktree.branch, commits[0], f"{words} {'; '.join(back)}")


class Grown(Trouble):
    """It has more than what was merged of it."""


def remove(worktree: Worktree, *, force: bool = False, passing: Sequence[str] = (), merged: str | None = None) -> None:
    """Removes directory and branch after a merge. Raises Trouble if that would lose commits or uncommitted work.

    `passing`: as for `discard`. `force` gives up what `Kept.left_out` named (repositories inside, changes inside of
    submodules); nothing else. `merged`: the commit that was merged. Raises Grown if there is more.
    """
    checkout = open_checkout(worktree.repository)
    with alone(worktree.path.parent):
        left = commits_and_diffs.left(worktree)
        if merged is not None and (left.unkept or left.branch not in (None, merged)):
            raise Grown(f"{worktree.branch} has more than {merged[:10]}.")
        _refuse_in_use(checkout, worktree)
        _refuse_loss(checkout.git, worktree, left, passing, force=force)
        _remove(checkout, worktree)


def _refuse_in_use(checkout: Checkout, worktree: Worktree) -> None:
    place = checkout_of(checkout, worktree.branch)
    if place is not None and place != worktree.path:
        raise Trouble(f"{worktree.branch} is checked out in {place}. Switch to another branch there, then try again.")


def _refuse_loss(git: Git, worktree: Worktree, left: Left, passing: Sequence[str], *, force: bool) -> None:
    words, last = left.unkept, left.branch
    if left.others and not force:
        named = some(left.others)
        words = f"These files cannot be saved and exist nowhere else: {named}. Move away what you need."
    verified = () if force or words else clean_checkouts.found_only_here(worktree)
    if verified:
        words = (
            f"A check has verified {some(verified)}, which git ignores and which could not be kept with its result. "
            "Move it away, then try again."
        )
    if not words and last is not None and not _elsewhere(git, worktree, last, passing, still=True):
        words = f"{worktree.branch} has commits that are in no other branch. Merge it first, or discard it."
    if words:
        raise Trouble(f"{worktree.path} was not removed. {words}")


def _elsewhere(git: Git, worktree: Worktree, commit: str, passing: Sequence[str], *, still: bool = False) -> bool:
    """Whether another branch, or a HEAD that is on none, has this commit too. What was pushed for a pull request is
    the same branch: it may be gone there when that was closed. `still`: and whether its branch is still there."""
    form = "--format=%(objectname) %(refname)"
    lines = git("for-each-ref", f"--contains={commit}", form, "refs/heads", "refs/remotes").split("\n")
    names = {name: at for at, _, name in (line.partition(" ") for line in lines if line)}
    if still and names.get(f"refs/heads/{worktree.branch}", commit) != commit:
        return False
    own = {f"refs/heads/{each}" for each in (worktree.branch, *passing)}
    own |= {each for each in names if each.startswith("refs/remotes/") and each.endswith(f"/{worktree.branch}")}
    return bool(set(names) - own) or contains(git, "HEAD", commit)


def _thrown_away(git: Git, worktree: Worktree, passing: Sequence[str]) -> tuple[str, ...]:
    """The last commit that no other branch has, and that of an agent that left its branch. One if one has the other."""
    last = tip(git, worktree.branch)
    found = [commit for commit in dict.fromkeys((last, _head(worktree, last))) if commit is not None]
    found = [each for each in found if not _elsewhere(git, worktree, each, passing)]
    return tuple(each for each in found if not any(contains(git, other, each) for other in found if other != each))


def _others(worktree: Worktree) -> tuple[str, ...]:
    """What goes with it beside commits; of a directory that cannot be read nothing is known."""
    try:
        return commits_and_diffs.others(worktree)
    except (Trouble, OSError):
        return ()


def _head(worktree: Worktree, last: str | None) -> str | None:
    """What an agent has checked out, which the person's repository has from now on. What cannot be read or fetched is
    lost with the rest."""
    try:
        there = inside(worktree) or left_repository(worktree)
        head = last if there is None else there("rev-parse", "HEAD")
        if worktree.own and head is not None and head != last:
            fetch(open_checkout(worktree.repository), worktree.path, head, last)
    except Trouble:
        return last
    return head


def _remove(checkout: Checkout, worktree: Worktree) -> None:
    forget(checkout, worktree.path)
    deleted = checkout.git.ask("branch", "--quiet", "-D", worktree.branch)
    if deleted.code != 0 and tip(checkout.git, worktree.branch) is not None:
        raise Trouble(f"The branch {worktree.branch} was not removed: {deleted.errors}")
    unnote(worktree.path)
