"""Where worktrees are: their names and branches, what git knows of them, what each started from.

What a branch started from stands beside it in the repository's own configuration (`branch.<branch>.toryo-base`,
`.toryo-base-commit`, and `.toryo-directory` for where the project is in it), so that it goes when the branch goes.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from toryo.coordinator.worktrees.git import LONG, Git, Trouble, require

PREFIX = "toryo/"
BASE = "toryo-base"
BASE_COMMIT = "toryo-base-commit"
DIRECTORY = "toryo-directory"
LONGEST_NAME = 80


@dataclass(frozen=True)
class Worktree:
    """`base_branch` is the branch HEAD was on (None if on none), where it is to be merged. `base_commit` is what the
    work started from: HEAD's commit then, with the branches it was based on, whose changes count to the base."""

    path: Path
    branch: str
    base_branch: str | None
    base_commit: str
    repository: Path
    """The checkout it was made from: its topmost directory."""
    subdirectory: str = ""
    """Where in the repository the project's directory is."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What may surprise: known when it is made, not kept."""

    @property
    def working_directory(self) -> Path:
        return self.path / self.subdirectory

    @property
    def name(self) -> str:
        return self.path.name


@dataclass(frozen=True, slots=True)
class Checkout:
    """The repository as the project sees it."""

    git: Git
    top: Path
    subdirectory: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One checkout that git knows, the repository's own included."""

    path: Path
    branch: str | None
    locked: str | None


def find(repository: Path, directory: Path, name: str) -> Worktree | None:
    """The worktree of that name, also where only its branch is left; None where there is neither. Changes nothing."""
    checkout = opened(repository)
    path, branch = directory.resolve() / safe(name), branch_of(name)
    if entry_at(checkout.git, path) is None and tip(checkout.git, branch) is None:
        return None
    return described(checkout, path, branch)


def opened_at(path: Path) -> Worktree | None:
    """The worktree of ours in this directory, without knowing its repository; None where there is none, or where it
    has not the branch that would be ours (a person's worktree)."""
    git = Git(path).having(GIT_CEILING_DIRECTORIES=str(path.resolve().parent))
    branch = PREFIX + path.name
    if (path / ".git").is_dir() or not git.holds("rev-parse", "--git-dir") or tip(git, branch) is None:
        return None
    main = entries(git)[0].path
    below = git.ask("config", "--get", f"branch.{branch}.{DIRECTORY}")
    return described(Checkout(Git(main), main, below.text if below.code == 0 else ""), path.resolve(), branch)


def opened(repository: Path) -> Checkout:
    """Raises Trouble where no worktree can be made: no directory, no repository, a bare one, one without a commit."""
    require()
    git = Git(repository)
    if git("rev-parse", "--is-inside-work-tree") != "true":
        raise Trouble(
            f"{repository} is a bare repository (or inside of .git), where nobody can work: name a checkout of it as"
            " the project's working directory, or set isolation to none."
        )
    top = Path(git("rev-parse", "--show-toplevel"))
    if not git.holds("rev-parse", "--verify", "--quiet", "HEAD^{commit}"):
        raise Trouble(f"The repository {top} has no commit yet, so there is nothing to start from: commit once there.")
    return Checkout(Git(top), top, git("rev-parse", "--show-prefix").removesuffix("/"))


def inside(worktree: Worktree) -> Git | None:
    """Git in the worktree, None where its directory vanished. Never another repository: neither one above it nor one
    that an agent has put in its place (Trouble). A lost connection (`.git` deleted, repository moved) is mended."""
    if not worktree.path.is_dir():
        return None
    git = Git(worktree.path).having(GIT_CEILING_DIRECTORIES=str(worktree.path.resolve().parent))
    if not _belongs(git, worktree) and not (worktree.path / ".git").is_dir():
        Git(worktree.repository).ask("worktree", "repair", str(worktree.path))
    if _belongs(git, worktree):
        return git
    raise Trouble(
        f"{worktree.path} is no longer a worktree of {worktree.repository}: its .git was removed or replaced. Move the"
        f" directory away; the next start of the task makes it again from branch {worktree.branch}."
    )


def branch_of(name: str) -> str:
    return PREFIX + safe(name)


def safe(name: str) -> str:
    """The name itself where it can be a directory's and a branch's; else what can be of it, and a sum of it all."""
    fits = re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", name) and len(name) <= LONGEST_NAME
    if fits and ".." not in name and not name.endswith((".", ".lock")):
        return name
    words = re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[: LONGEST_NAME - 9].rstrip("-")
    return f"{words or 'task'}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:8]}"


def entries(git: Git) -> list[Entry]:
    """Every checkout of the repository; the first is its main one."""
    listed = git.must("worktree", "list", "--porcelain", "-z").output
    return [_entry(os.fsdecode(each)) for each in listed.split(b"\0\0") if each.strip(b"\0")]


def entry_at(git: Git, path: Path) -> Entry | None:
    return next((each for each in entries(git) if each.path == path), None)


def checkout_of(git: Git, branch: str) -> Path | None:
    """Where the branch is checked out, if anywhere: git lets it be in one place at a time."""
    return next((each.path for each in entries(git) if each.branch == branch and each.path.is_dir()), None)


def tip(git: Git, branch: str) -> str | None:
    """The branch's commit, or None where there is no such branch."""
    answer = git.ask("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}^{{commit}}")
    return answer.text if answer.code == 0 else None


def contains(git: Git, whole: str, part: str) -> bool:
    """Whether a commit is the other one, or one of its ancestors."""
    return git.holds("merge-base", "--is-ancestor", part, whole)


def current_branch(git: Git) -> str | None:
    answer = git.ask("symbolic-ref", "--quiet", "--short", "HEAD")
    return answer.text if answer.code == 0 else None


def joined(git: Git, ours: str, theirs: str) -> str | tuple[str, ...]:
    """The tree of two commits merged, without any checkout; or the files in which they conflict."""
    answer = git.ask("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs, seconds=LONG)
    if answer.code not in (0, 1) or not answer.names:
        answer = git.must("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
    tree, *files = answer.names
    return tuple(map(shown, files)) if answer.code == 1 else tree


def shown(name: str) -> str:
    """A file's name as text that can be sent on, whatever bytes it is of."""
    return os.fsencode(name).decode(errors="replace")


def signed(git: Git, name: str) -> Git:
    """Commits bear this name and an address that nobody can have."""
    return git.signed(*_signature(name))


def signing(name: str) -> dict[str, str]:
    """The same as variables, for who runs git itself: also where nobody has told git who is at work."""
    plain, address = _signature(name)
    people = ("AUTHOR", "COMMITTER")
    return {f"GIT_{who}_{what}": said for who in people for what, said in (("NAME", plain), ("EMAIL", address))}


def forget(git: Git, path: Path) -> None:
    """Removes a worktree's directory and what git knows of it. Only this one: a person's worktree on a disk that is
    not mounted just now stays known, which `git worktree prune` would not leave so."""
    if (path / ".git").is_dir():
        raise Trouble(f"{path} holds a repository of its own: look at it, and remove it by hand.")
    _clear(path)
    if entry_at(git, path) is not None:
        git("worktree", "remove", "--force", "--force", str(path))


def described(checkout: Checkout, path: Path, branch: str, notes: tuple[str, ...] = ()) -> Worktree:
    base_branch, base_commit = _noted(checkout.git, branch)
    if (path / ".gitmodules").is_file():
        notes = (*notes, "Submodules are not checked out in the worktree: git submodule update --init does it.")
    return Worktree(path, branch, base_branch, base_commit, checkout.top, checkout.subdirectory, notes)


def _noted(git: Git, branch: str) -> tuple[str | None, str]:
    """What the branch started from; for a branch that somebody else made, where it left HEAD."""
    commit = git.ask("config", "--get", f"branch.{branch}.{BASE_COMMIT}")
    if commit.code == 0:
        return git.ask("config", "--get", f"branch.{branch}.{BASE}").text or None, commit.text
    left = git.ask("merge-base", "HEAD", f"refs/heads/{branch}")
    return current_branch(git), left.text if left.code == 0 else git("rev-parse", "HEAD")


def _signature(name: str) -> tuple[str, str]:
    plain = " ".join(re.sub(r"[<>\x00-\x1f\x7f]", " ", name).split()) or "agent"
    return plain, f"{re.sub(r'[^A-Za-z0-9._-]+', '-', plain).strip('-.') or 'agent'}@toryo.invalid"


def _belongs(git: Git, worktree: Worktree) -> bool:
    question = ("rev-parse", "--path-format=absolute", "--git-common-dir")
    here = git.ask(*question)
    return here.code == 0 and here.text == Git(worktree.repository)(*question)


def _entry(words: str) -> Entry:
    facts = dict(line.partition(" ")[::2] for line in words.split("\0") if line)
    branch = facts.get("branch", "").removeprefix("refs/heads/") or None
    return Entry(Path(facts["worktree"]), branch, facts.get("locked"))


def _clear(path: Path) -> None:
    """Removes a directory with everything in it, write-protected directories too (caches of packages are)."""
    for parent, directories, _ in os.walk(path):
        for each in directories:
            below = Path(parent, each)
            if not below.is_symlink() and not os.access(below, os.W_OK | os.X_OK | os.R_OK):
                below.chmod(0o700)
    if path.is_dir():
        shutil.rmtree(path)
