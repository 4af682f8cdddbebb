"""Repositories within a worktree: submodules, and what an agent has made or cloned there. Which of their commits are
nowhere else, so that these are brought to where they last, or the worktree stays.

Each is a repository like any other that an agent may write: our git reads none of its settings (`repository.py`).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from toryo.coordinator.worktrees.git import LONG, Git, Trouble
from toryo.coordinator.worktrees.launch_repositories import fetch_answer
from toryo.coordinator.worktrees.repository import Checkout, open_checkout

GITLINK = "160000"
KEPT = "refs/toryo/kept"
"""Refs in a person's submodule to the commits that the work of a task refers to."""
MOST_ENTRIES = 200_000
"""Directory entries that are looked at within what git ignores: installed packages are many files, no repositories."""


def links(git: Git) -> dict[str, str]:
    """The submodules and the commit of each."""
    listed = git.must("ls-files", "--format=%(objectmode) %(objectname) %(path)", "-z").names
    found = (each.split(" ", 2) for each in listed)
    return {path: commit for mode, commit, path in found if mode == GITLINK}


def has_unsaved(repository: Path) -> bool:
    """Whether it has commits that were not fetched from elsewhere (what has a tag was), or what is not committed. What
    cannot be read counts as having some."""
    if not os.path.lexists(repository / ".git"):
        return False
    try:
        checkout = open_checkout(repository)
        if checkout.top != repository:
            return True
        options = ("--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty")
        if checkout.git.must("status", *options, seconds=LONG).output:
            return True
        return bool(_own_commits(checkout.git, "HEAD", "--branches", "--glob=refs/stash", tags_last=True))
    except Trouble:
        return True


def has_own_branches(submodule: Path, persons: Path) -> bool:
    """Whether a submodule that is checked out has commits on any branch that the person's does not have."""
    if not os.path.lexists(submodule / ".git"):
        return False
    with contextlib.suppress(Trouble):
        git = open_checkout(submodule).git
        own = git("rev-list", "HEAD", "--branches", "--glob=refs/stash", "--not", "--remotes", seconds=LONG).split()
        if not own:
            return False
        if os.path.lexists(persons / ".git"):
            asked = "".join(f"{commit}\n" for commit in own)
            answers = open_checkout(persons).git.ask("cat-file", "--batch-check", given=asked).text.splitlines()
            return len(answers) != len(own) or any(each.endswith(" missing") for each in answers)
    return True


def _own_commits(git: Git, *tips: str, tags_last: bool = False) -> str:
    """The newest of these that no other repository is known to have."""
    known = ("--remotes", "--tags") if tags_last else ("--remotes",)
    return git("rev-list", "--max-count=1", *tips, "--not", *known, seconds=LONG)


def only_here(links: Mapping[str, str], git: Git, home: Checkout, keep_as: str | None = None) -> tuple[str, ...]:
    """Those of these submodules whose commit, which the work refers to, is nowhere but in the worktree. `keep_as`: it
    is brought to the person's own submodule first, if that is there, under this name."""
    return tuple(
        name
        for name, commit in links.items()
        if _is_only_here(git.directory / name, commit)
        and not _has(home.top / name, commit, git.directory / name, keep_as)
    )


def _is_only_here(submodule: Path, commit: str) -> bool:
    """Whether the submodule that is checked out has made this commit itself."""
    if not os.path.lexists(submodule / ".git"):
        return False
    try:
        checkout = open_checkout(submodule)
        if checkout.top != submodule or not checkout.git.holds("cat-file", "-e", f"{commit}^{{commit}}"):
            return False
        return bool(_own_commits(checkout.git, commit))
    except Trouble:
        return False


def _has(persons: Path, commit: str, submodule: Path, keep_as: str | None) -> bool:
    if not os.path.lexists(persons / ".git"):
        return False
    with contextlib.suppress(Trouble):
        own = open_checkout(persons)
        if own.top != persons:
            return False
        if own.git.holds("cat-file", "-e", f"{commit}^{{commit}}"):
            return True
        source = open_checkout(submodule).common / "objects"
        borrows = os.path.lexists(source / "info" / "alternates")  # from where, an agent has said
        if keep_as is not None and not borrows and fetch_answer(own, source, commit).code == 0:
            own.git("update-ref", f"{KEPT}/{keep_as}/{commit}", commit)
            return True
    return False


def ignored_repositories(git: Git) -> tuple[str, ...]:
    """Repositories within what git ignores that have what is nowhere else."""
    options = ("--others", "--ignored", "--exclude-standard", "--directory", "-z")
    names = [name for name in git.must("ls-files", *options, seconds=LONG).names if name.endswith("/")]
    found = sorted(set(_repositories([git.directory / name for name in names])))
    return tuple(f"{each.relative_to(git.directory)}/" for each in found if has_unsaved(each))


def _repositories(directories: Iterable[Path]) -> Iterator[Path]:
    left = MOST_ENTRIES
    for top in directories:
        for place, below, files in os.walk(top):
            if ".git" in below or ".git" in files:
                yield Path(place)
                below[:] = [each for each in below if each != ".git"]
            left -= len(below) + len(files)
            if left < 0:
                return
