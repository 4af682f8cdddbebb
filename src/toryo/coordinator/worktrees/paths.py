"""Where worktrees are: their names, branches and base commits.

A file beside the worktree, which its agent cannot write (`.NAME.json`), records the project's directory, the base
branch and the base commit, and that the worktree has a repository of its own (`launch_repositories`). It is removed
with the branch. A worktree of an older Toryo is one of the person's repository (`git worktree add`), and stays one
until it is removed. (An even older one noted the base in the repository's configuration, `branch.<branch>.toryo-base`
and `.toryo-base-commit`, where it is still found.)
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toryo.coordinator.worktrees.git import LONG, Git, Trouble
from toryo.coordinator.worktrees.launch_repositories import git_of, let_go, repository_of
from toryo.coordinator.worktrees.repository import LARGEST, Checkout, connect, content, git_directory_of, open_checkout

PREFIX = "toryo/"
LONGEST_NAME = 80
CHECKS = ".checks"


@dataclass(frozen=True)
class Worktree:
    """`base_branch` is the branch HEAD was on (None if on none), where it will be merged. `base_commit` is what the
    work started from: HEAD's commit then, with the branches it was based on, whose changes count to the base."""

    path: Path
    branch: str
    base_branch: str | None
    base_commit: str
    repository: Path
    """The checkout it was made from: its topmost directory."""
    subdirectory: str = ""
    """Where in the repository the project's directory is."""
    own: bool = False
    """Whether it has a repository of its own."""
    made_at: float = field(default=0.0, compare=False)
    """When, in seconds since the epoch; 0 where nothing is noted."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What may surprise: known when it is made, not kept."""
    brought: tuple[Any, ...] = field(default=(), compare=False)
    """What became of the branches that were merged into it when it was made (`merging_subtasks.Brought`)."""

    @property
    def working_directory(self) -> Path:
        return self.path / self.subdirectory

    @property
    def name(self) -> str:
        return self.path.name


@dataclass(frozen=True, slots=True)
class Entry:
    """One checkout that git knows, the repository's own included."""

    path: Path
    branch: str | None
    locked: str | None


def find(repository: Path, directory: Path, name: str) -> Worktree | None:
    """The worktree of that name, also if only its branch is left; None if there is neither. Changes nothing."""
    checkout = open_checkout(repository)
    path, branch = directory.resolve() / safe(name), branch_of(name)
    if not is_own(path) and entry_at(checkout, path) is None and tip(checkout.git, branch) is None:
        return None
    return described(checkout, path, branch)


def possible(repository: Path) -> bool:
    """Whether worktrees can be made of what is in this directory."""
    return not trouble(repository)


def trouble(repository: Path) -> str:
    """What prevents worktrees there, and what to do about it; empty if nothing does."""
    try:
        open_checkout(repository)
    except Trouble as found:
        return str(found)
    return ""


def opened_at(path: Path, project: Path | None = None) -> Worktree | None:
    """Our worktree in this directory; None if there is none (a person's worktree, or one whose repository is
    gone). Its repository is noted beside it; that of a worktree without a note, which an older Toryo made, is looked
    for in the project's directory."""
    repository = noted_repository(path) or project
    if repository is None or not repository.is_dir():
        return None
    checkout, branch, path = open_checkout(repository), PREFIX + path.name, path.resolve()
    known = is_own(path) or entry_at(checkout, path) is not None
    return described(checkout, path, branch) if known and tip(checkout.git, branch) is not None else None


def is_own(path: Path) -> bool:
    """Whether the worktree at this path has a repository of its own, with every file checked out."""
    return noted(path).get("own") is True and repository_of(path).is_dir()


def inside(worktree: Worktree) -> Git | None:
    """Git in the worktree, as its agent has left it; None if its directory is missing. Never in another repository,
    neither one above it nor one that an agent put there (Trouble). A lost connection (`.git` deleted, repository moved)
    is repaired."""
    if not worktree.path.is_dir():
        return None
    checkout = open_checkout(worktree.repository)
    directory = repository_of(worktree.path) if worktree.own else checkout.directory_of(worktree.path)
    there = directory is not None and directory.is_dir() and not worktree.path.is_symlink()
    if there and directory is not None and _connected(worktree.path, directory):
        return git_of(checkout, worktree.path) if worktree.own else checkout.at(worktree.path)
    raise Trouble(
        f"{worktree.path} is no longer a worktree of {worktree.repository}: its .git was removed or replaced. "
        f"Move the directory away. The next launch of the task creates it again from branch {worktree.branch}."
    )


def project_in(path: Path, subdirectory: str) -> Path:
    """The project's directory in a checkout; made if it is missing. Raises Trouble if something in the work leads out
    of the checkout there: the next program would work in another directory, perhaps the person's own."""
    working = path / subdirectory
    there = working.resolve()
    if not there.is_relative_to(path.resolve()):
        raise Trouble(
            f"{working} leads to {there}, because the work has put a link in its place. Nothing is run there. Remove "
            "the link in the worktree of the task and restore the directory (git checkout), then commit."
        )
    working.mkdir(parents=True, exist_ok=True)
    return working


def check_place(path: Path) -> Path:
    """Where the work in a worktree is checked out to be checked."""
    return path.parent / CHECKS / path.name


def merged_text(worktree: Worktree, name: str) -> str:
    """The text of a file of the project on the base branch, as people have merged it. Raises Trouble."""
    git = open_checkout(worktree.repository).git
    branch = worktree.base_branch
    commit = (tip(git, branch) if branch is not None else None) or worktree.base_commit
    path = os.path.normpath(name)
    where = f"{branch or 'its base'} (commit {commit[:10]})"
    if Path(path).is_absolute() or path.split("/")[0] == "..":
        raise Trouble(f"{name} is outside of the project's directory.")
    found = git.ask("ls-tree", "-z", commit, "--", f":(top,literal){Path(worktree.subdirectory) / path}").names
    if not any(each.startswith("100") for each in found):
        raise Trouble(f"There is no file {name} on {where}. An agent with a worktree follows what is committed there.")
    text = git.beginning(LARGEST + 1, "cat-file", "blob", found[0].split()[2])
    if len(text) > LARGEST:
        raise Trouble(f"{name} on {where} is larger than {LARGEST >> 20} MB.")
    return text.decode(errors="replace")


def branch_of(name: str) -> str:
    return PREFIX + safe(name)


def safe(name: str) -> str:
    """The name itself if it is valid for a directory and a branch; else its valid part and a hash of the whole name."""
    fits = re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", name) and len(name) <= LONGEST_NAME
    if fits and ".." not in name and not name.endswith((".", ".lock")):
        return name
    words = re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[: LONGEST_NAME - 9].rstrip("-")
    return f"{words or 'task'}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:8]}"


def entries(checkout: Checkout) -> list[Entry]:
    """Every checkout of the repository; the first is its main one, if it has one. A main checkout of which nobody here
    knows where it is has the path of the repository's git directory, where no file is ever checked out."""
    listed = checkout.git.must("worktree", "list", "--porcelain", "-z").output
    main, *others = (_entry(os.fsdecode(part)) for part in listed.split(b"\0\0") if part.strip(b"\0"))
    return others if checkout.bare else [replace(main, path=checkout.main or checkout.common), *others]


def entry_at(checkout: Checkout, path: Path) -> Entry | None:
    if not checkout.notes(path):
        return None
    return next((entry for entry in entries(checkout) if entry.path == path), None)


def checkout_of(checkout: Checkout, branch: str) -> Path | None:
    """Where the branch is checked out, if anywhere: git lets it be in one place at a time."""
    path = noted_checkout_of(checkout, branch)
    return path if path is not None and path.is_dir() else None


def noted_checkout_of(checkout: Checkout, branch: str) -> Path | None:
    """The same, whether its directory is there just now or not."""
    return next((entry.path for entry in entries(checkout) if entry.branch == branch), None)


def tip(git: Git, branch: str) -> str | None:
    """The branch's commit; None if there is no branch of exactly this name."""
    return _at(git, f"refs/heads/{branch}")


def commits_at(git: Git, *refs: str) -> dict[str, str]:
    """The commit of each of these refs that there is, by its exact name."""
    answer = git.ask("for-each-ref", "--format=%(objectname) %(objecttype) %(refname)", *refs)
    if answer.code != 0:  # a ref names what is missing: the others are there nevertheless
        return {ref: commit for ref in refs if (commit := _at(git, ref)) is not None}
    lines = (line.split(" ", 2) for line in answer.text.split("\n") if line)
    return {ref: commit for commit, _, ref in lines if ref in refs}


def _at(git: Git, ref: str) -> str | None:
    answer = git.ask("show-ref", "--verify", "--hash", ref)
    return answer.text if answer.code == 0 else None


def contains(git: Git, whole: str, part: str) -> bool:
    """Whether a commit is the other one, or one of its ancestors."""
    return whole == part or git.holds("merge-base", "--is-ancestor", part, whole)


def current_branch(git: Git) -> str | None:
    answer = git.ask("symbolic-ref", "--quiet", "--short", "HEAD")
    return answer.text if answer.code == 0 else None


def joined_with_marks(git: Git, ours: str, theirs: str) -> tuple[str, tuple[str, ...]]:
    """The tree of two commits merged, with git's marks where they conflict, and these files. The names of the commits
    stand in the marks as they are given."""
    answer = git.ask("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs, seconds=LONG)
    if answer.code not in (0, 1) or not answer.names:
        answer = git.must("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
    tree, *files = answer.names
    return tree, tuple(map(readable_name, files)) if answer.code == 1 else ()


def joined(git: Git, ours: str, theirs: str) -> str | tuple[str, ...]:
    """The tree of two commits merged, without any checkout; or the files in which they conflict."""
    tree, files = joined_with_marks(git, ours, theirs)
    return files or tree


def readable_name(name: str) -> str:
    """A file's name as valid text, whatever bytes it consists of."""
    return os.fsencode(name).decode(errors="replace")


def with_author(git: Git, name: str) -> Git:
    """The author of commits, with an address that cannot exist."""
    return git.signed(*signature(name))


def signing(name: str) -> dict[str, str]:
    """The same as environment variables, for programs that run git themselves: git may have no author configured."""
    plain, address = signature(name)
    people = ("AUTHOR", "COMMITTER")
    return {f"GIT_{who}_{what}": said for who in people for what, said in (("NAME", plain), ("EMAIL", address))}


def forget(checkout: Checkout, path: Path) -> None:
    """Removes a worktree's directory and what git knows of it. Only this one: a person's worktree on a disk that is
    not mounted just now stays known, which `git worktree prune` would not leave so."""
    if path.is_symlink() or (path / ".git").is_dir():
        raise Trouble(f"{path} contains another repository. Check it, then remove it by hand.")
    both = (path, check_place(path))
    for each in both:
        clear(each)
    let_go(checkout, *both)
    with contextlib.suppress(OSError):
        check_place(path).parent.rmdir()
    if entry_at(checkout, path) is not None:
        checkout.git("worktree", "remove", "--force", "--force", str(path))


def described(checkout: Checkout, path: Path, branch: str, notes: tuple[str, ...] = ()) -> Worktree:
    base_branch, base_commit = _base(checkout, path, branch)
    if (path / ".gitmodules").is_file():
        notes = (
            *notes,
            "Submodules are not checked out in the worktree. Check them out with git submodule update --init.",
        )
    own, made_at = is_own(path), noted(path).get("made_at")
    since = float(made_at) if isinstance(made_at, (int, float)) else 0.0
    return Worktree(path, branch, base_branch, base_commit, checkout.top, checkout.subdirectory, own, since, notes)


def note(checkout: Checkout, path: Path, base_branch: str | None, base_commit: str, *, own: bool = False) -> None:
    """What the worktree belongs to and starts from; whole or not at all. `own`: it has a repository of its own, and
    every file is there."""
    facts = {
        "repository": str(checkout.top / checkout.subdirectory),
        "base_branch": base_branch,
        "base_commit": base_commit,
        "made_at": noted(path).get("made_at") or time.time(),
        **({"own": True} if own else {}),
    }
    _write(path, {**noted(path), "own": False, **facts})


def annotate(path: Path, name: str, fact: Any) -> None:
    """Adds a fact to the record beside a worktree; it stays until the worktree is removed."""
    _write(path, {**noted(path), name: fact})


def _write(path: Path, facts: Mapping[str, Any]) -> None:
    draft = path.with_name(f".{path.name}.json.new")
    draft.write_text(json.dumps(facts))
    draft.replace(_note_of(path))


def noted(path: Path) -> Mapping[str, Any]:
    """The record beside a worktree; empty if there is none."""
    try:
        found = json.loads(content(_note_of(path)))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def noted_repository(path: Path) -> Path | None:
    found = noted(path).get("repository")
    return Path(found) if isinstance(found, str) else None


def unnote(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        _note_of(path).unlink()


def _note_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.json")


def _base(checkout: Checkout, path: Path, branch: str) -> tuple[str | None, str]:
    """The commit from which the branch started; for a branch that Toryo did not make, where it left HEAD."""
    git, facts = checkout.git, noted(path)
    if facts:
        return facts.get("base_branch"), str(facts.get("base_commit"))
    commit = checkout.config.get(f"branch.{branch}.toryo-base-commit")
    if commit is not None:
        return checkout.config.get(f"branch.{branch}.toryo-base"), commit
    left = git.ask("merge-base", "HEAD", f"refs/heads/{branch}")
    return current_branch(git), left.text if left.code == 0 else git("rev-parse", "HEAD")


def _connected(path: Path, directory: Path) -> bool:
    """Whether the worktree's `.git` names its git directory; it may do nothing else. A missing one, or one that names a
    missing directory, is written again."""
    file = path / ".git"
    named = git_directory_of(file)
    if named == directory.resolve():
        return not file.is_dir()
    if os.path.lexists(file) and (named is None or named.exists()):
        return False
    connect(path, directory)
    return True


def signature(name: str) -> tuple[str, str]:
    plain = " ".join(re.sub(r"[<>\x00-\x1f\x7f]", " ", name).split()) or "agent"
    return plain, f"{re.sub(r'[^A-Za-z0-9._-]+', '-', plain).strip('-.') or 'agent'}@toryo.invalid"


def _entry(words: str) -> Entry:
    facts = dict(line.partition(" ")[::2] for line in words.split("\0") if line)
    branch = facts.get("branch", "").removeprefix("refs/heads/") or None
    return Entry(Path(facts["worktree"]), branch, facts.get("locked"))


def clear(path: Path) -> None:
    """Removes a directory with everything in it, write-protected directories too (caches of packages are)."""
    for parent, directories, _ in os.walk(path):
        for directory in directories:
            below = Path(parent, directory)
            if not below.is_symlink() and not os.access(below, os.W_OK | os.X_OK | os.R_OK):
                below.chmod(0o700)
    if path.is_dir():
        shutil.rmtree(path)
