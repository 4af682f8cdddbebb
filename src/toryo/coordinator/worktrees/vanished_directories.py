"""What the repository of a worktree has whose directory is gone: removed by hand, or moved away as Toryo has advised.

Such a repository goes with the branch, or is made again. What is only there is brought to the person's repository
first: the task's branch goes to what its agent committed to it; all else is kept under `refs/toryo/lost/NAME`, which
nothing of Toryo's removes. What was not committed went with the directory.
"""

from __future__ import annotations

from toryo.coordinator.worktrees.git import Git
from toryo.coordinator.worktrees.launch_repositories import fetch, git_of, said, unknown_refs
from toryo.coordinator.worktrees.paths import Worktree, contains, is_own, tip
from toryo.coordinator.worktrees.repository import open_checkout
from toryo.coordinator.worktrees.views import advance, tips_of

LOST = "refs/toryo/lost"


def left_repository(worktree: Worktree) -> Git | None:
    """Git in the repository of a worktree whose directory is gone; None if there is none."""
    if worktree.path.is_dir() or not is_own(worktree.path):
        return None
    return git_of(open_checkout(worktree.repository), worktree.path)


def names(worktree: Worktree) -> tuple[str, ...]:
    """The branches, stashes … that are only there."""
    there = left_repository(worktree)
    if there is None:
        return ()
    return tuple(map(said, unknown_refs(open_checkout(worktree.repository), there, ())))


def save(worktree: Worktree) -> str:
    """Saves what is only there, and says what was not on the task's branch; empty if everything was, or if there is
    nothing to be saved. Raises Trouble if something cannot be saved: then it stays where it is."""
    there = left_repository(worktree)
    if there is None:
        return ""
    home = open_checkout(worktree.repository)
    tips = tips_of(home, worktree)
    last, own = tips.last, tip(there, worktree.branch)
    out = there.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    head = out.text if out.code == 0 else None
    found = {commit: said(name) for name, commit in unknown_refs(home, there, ()).items()}
    found = {**{each: "what was checked out" for each in (own, head) if each is not None}, **found}
    found = {each: name for each, name in found.items() if last is None or not contains(home.git, last, each)}
    for each in found:
        fetch(home, worktree.path, each, last)
    new = head if head is not None and (own is None or contains(home.git, head, own)) else own
    if new in found and advance(home, worktree, new, tips):
        found = {each: name for each, name in found.items() if not contains(home.git, new, each)}
    if not found:
        return ""
    refs = {f"{LOST}/{worktree.name}/{each[:12]}": each for each in found}
    home.git("update-ref", "--stdin", given="".join(f"update {ref} {each}\n" for ref, each in refs.items()))
    told = ", ".join(f"{found[each]} ({ref})" for ref, each in refs.items())
    return (
        f"The directory {worktree.path} is gone, and its repository had commits that are not on {worktree.branch}. "
        f"They are kept in {worktree.repository}: {told}. Merge what you need into {worktree.branch} there (git merge)."
    )
