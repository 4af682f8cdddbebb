"""What is in a worktree, as the Coordinator sees it: by a HEAD and an index that no agent writes.

An agent's own index can hide changes (`skip-worktree`, `assume-unchanged`, times that were set back), and its
`info/exclude` whole files. So the index here is the Coordinator's, from the day the worktree was made; which files are
excluded is what the person's repository and the `.gitignore` files say. Of the agent's index three things are taken:
which files it has added although they are ignored, which it no longer tracks, and which are missing because of its
sparse checkout.

A view is a copy: several can be looked at once. `saved` keeps what was learned of unchanged files.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from toryo import untrusted_files
from toryo.coordinator.worktrees.git import LONG, Git, Trouble
from toryo.coordinator.worktrees.launch_repositories import fetch, held, hold, looking, refresh, repository_of, seen_of
from toryo.coordinator.worktrees.paths import Worktree, checkout_of, commits_at, contains, current_branch, tip
from toryo.coordinator.worktrees.repository import Checkout, open_checkout

ATTEMPTS = 5
LARGEST_FILE = 4 * 1024**3
"""Bytes: a larger one is nothing for a repository, and takes minutes to be read."""


@dataclass(frozen=True, slots=True)
class Tips:
    """Where the branches of a worktree are in the person's repository. `last`: the task's; `base`: that of which it was
    made. `held`: what is kept there for the worktree, by name."""

    last: str | None
    base: str | None
    held: Mapping[str, str]

    @property
    def placed(self) -> bool:
        """Whether the branch is where it was brought from the worktree: nobody else has moved it."""
        return self.last is not None and self.held.get("branch") == self.last

    def follows(self, git: Git, commit: str) -> bool:
        """Whether nothing of people's is lost if the branch goes to this commit: an agent may write the history of its
        own branch again (amend, rebase)."""
        return self.last is None or self.placed or contains(git, commit, self.last)


@dataclass(frozen=True, slots=True)
class Own:
    """The same in the repository in which the agent writes. `current`: the task's branch is checked out there."""

    last: str | None
    base: str | None
    current: bool


@dataclass(frozen=True)
class View:
    """`git` works in the worktree. `there` is the agent's git; `head` the commit that it has checked out, which the
    person's repository has, too. `tips` and `own`: the branches as they were when it began."""

    home: Checkout
    there: Git
    git: Git
    place: Path
    worktree: Worktree
    head: str
    tips: Tips
    own: Own
    changed: bool = False
    """Whether the index, before anything is staged, is another than that of `head`."""
    conflicts: bool | None = None
    """Whether the agent's index has what is not resolved; None where that could not be told."""
    skipped: tuple[str, ...] = ()
    """What is missing because of the agent's sparse checkout."""

    @property
    def index(self) -> Path:
        return self.place / "index"

    @property
    def now(self) -> str:
        """The commit that is checked out now."""
        return untrusted_files.text(self.place / "HEAD").strip()

    @property
    def unmerged(self) -> bool:
        return bool(self.there("ls-files", "--unmerged")) if self.conflicts is None else self.conflicts

    @property
    def repository(self) -> Path:
        """The git directory in which the agent writes."""
        own = repository_of(self.worktree.path)
        return own if self.worktree.own else self.home.directory_of(self.worktree.path) or own

    def at(self, commit: str) -> View:
        """The same with another HEAD."""
        (self.place / "HEAD").write_text(f"{commit}\n")
        return replace(self, head=commit)

    def save(self) -> None:
        """The next view begins with this index, but looks for itself what the agent's sparse checkout leaves out then:
        changes in such a file would not be seen."""
        index = self.index
        if self.skipped:
            index = Path(shutil.copy2(index, self.place / "saved"))
            git = self.git.having(GIT_INDEX_FILE=str(index))
            left = set(self.skipped).intersection(git.must("ls-files", "-z").names)
            git("update-index", "--no-skip-worktree", "-z", "--stdin", given="\0".join(left))
        _replaced(index, seen_of(self.worktree.path) / "index")

    def follow(self, commit: str) -> None:
        """Brings the agent's repository to a commit of the task's branch, whose files are those of the worktree."""
        branch = f"refs/heads/{self.worktree.branch}"
        last = self.own.last if self.worktree.own else tip(self.there, self.worktree.branch)
        if last != commit:  # not over what has come there meanwhile
            self.there("update-ref", "-m", "toryo: kept", branch, commit, *filter(None, [last]))
        if not self.own.current:
            self.there("symbolic-ref", "HEAD", branch)
        self.follow_index()

    def follow_index(self) -> None:
        _replaced(self.index, self.repository / "index")


@contextlib.contextmanager
def view(
    worktree: Worktree, there: Git, *, objects: Path | None = None, keeps: bool = False, tells: bool = True
) -> Iterator[View]:
    """Fetches what the agent has committed, too, and moves the task's branch there if it is in nobody's way. New
    objects go to the person's repository (`keeps`), to another place that leads there (`objects`), or are forgotten:
    what no ref keeps, an agent must not build on. `tells`: the worktree is told where its base branch is now."""
    home = open_checkout(worktree.repository)
    tips, own = tips_of(home, worktree), _own_of(there, worktree)
    head, tips, own = _head(home, worktree, there, tips, own)
    if tells:
        _tell_base(home, worktree, there, tips, own)
    with tempfile.TemporaryDirectory(prefix="toryo-view-") as name:
        place = Path(name)
        (place / "HEAD").write_text(f"{head}\n")
        seen = seen_of(worktree.path)
        (place / "info").mkdir()
        for each in ("info/sparse-checkout", "index"):
            with contextlib.suppress(FileNotFoundError):  # with its time, by which git finds what changed just then
                shutil.copy2(seen / each, place / each)
        git = looking(home, worktree.path, place)
        if not keeps:
            git = git.having(GIT_OBJECT_DIRECTORY=str(objects or _forgotten(home, place / "objects")))
        found = View(home, there, git, place, worktree, head, tips, own)
        found.git("read-tree", "-m", "-i", head, seconds=LONG)
        yield _follow_index(found)


def _forgotten(home: Checkout, objects: Path) -> Path:
    (objects / "info").mkdir(parents=True)
    (objects / "info" / "alternates").write_bytes(os.fsencode(f"{home.common / 'objects'}\n"))
    return objects


def _branches(worktree: Worktree) -> tuple[str, str]:
    """The refs of its branch and of its base branch; the latter is empty if it has none."""
    base = worktree.base_branch
    return f"refs/heads/{worktree.branch}", f"refs/heads/{base}" if base is not None else ""


def tips_of(home: Checkout, worktree: Worktree) -> Tips:
    branch, base = _branches(worktree)
    kept = f"{held(worktree.path)}/"
    names = [f"{kept}{each}" for each in ("start", "branch", "head", "base")] if worktree.own else []
    found = commits_at(home.git, *filter(None, (branch, base, *names)))
    return Tips(
        found.get(branch),
        found.get(base),
        {ref.removeprefix(kept): commit for ref, commit in found.items() if ref.startswith(kept)},
    )


def _own_of(there: Git, worktree: Worktree) -> Own:
    branch, base = _branches(worktree)
    form = "--format=%(objectname) %(objecttype) %(refname) %(HEAD)"
    answer = there.ask("for-each-ref", form, *filter(None, (branch, base)))
    if answer.code != 0:  # what one of them names is missing
        last, current = tip(there, worktree.branch), current_branch(there) == worktree.branch
        return Own(last, tip(there, worktree.base_branch) if worktree.base_branch is not None else None, current)
    lines = (line.split(" ", 3) for line in answer.text.split("\n") if line)
    found = {ref: (commit, f"{kind} {mark}") for commit, kind, ref, mark in lines}
    last, said = found.get(branch, (None, ""))
    return Own(last, found.get(base, (None, ""))[0], current=said == "commit *")


def _head(home: Checkout, worktree: Worktree, there: Git, tips: Tips, own: Own) -> tuple[str, Tips, Own]:
    """The commit that the agent has checked out. Where it deleted its branch, that stands there again."""
    last, head = tips.last, own.last if own.current else None
    if head is None or head != last:
        answer = there.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if answer.code != 0 and worktree.own and last is not None:
            there("symbolic-ref", "HEAD", f"refs/heads/{worktree.branch}")
            there("update-ref", "-m", "toryo: restored", f"refs/heads/{worktree.branch}", last)
            return last, tips, replace(own, last=last, current=True)
        if answer.code != 0:
            raise Trouble(f"{worktree.path} has no commit checked out (HEAD). Switch to {worktree.branch} there.")
        head = answer.text
    if worktree.own and head != last:
        if last is None or not contains(home.git, last, head):
            fetch(home, worktree.path, head, last)
        if own.current:
            with contextlib.suppress(Trouble):
                if advance(home, worktree, head, tips):
                    tips = replace(tips, last=head, held={**tips.held, "branch": head})
    return head, tips, own


def advance(home: Checkout, worktree: Worktree, commit: str, tips: Tips | None = None) -> bool:
    """Moves the task's branch in the person's repository; False if people have committed to it what this commit has
    not. Raises Trouble if it is checked out there. `tips`: as they were just now."""
    branch = f"refs/heads/{worktree.branch}"
    for _ in range(ATTEMPTS):
        now, tips = tips or tips_of(home, worktree), None
        if now.last == commit:
            return True
        if not now.follows(home.git, commit):
            return False
        place = checkout_of(home, worktree.branch)
        if place is not None and place != worktree.path:
            raise Trouble(
                f"{worktree.branch} is checked out in {place}. Switch to another branch there, then try again."
            )
        orders = [f"update {branch} {commit} {now.last}" if now.last else f"create {branch} {commit}"]
        orders += hold(worktree.path, {"branch": commit}) if worktree.own else []
        moved = home.git.ask("update-ref", "-m", "toryo: kept", "--stdin", given="\n".join([*orders, ""]))
        if moved.code == 0:
            return True
    raise Trouble(f"{worktree.branch} cannot be moved to {commit[:10]}: {moved.errors}")


def tell_base(home: Checkout, worktree: Worktree, there: Git, branches: Sequence[str] = ()) -> None:
    """The worktree's repository knows what its base branch is now, and can merge it."""
    _tell_base(home, worktree, there, tips_of(home, worktree), _own_of(there, worktree), branches)


def _tell_base(
    home: Checkout, worktree: Worktree, there: Git, tips: Tips, own: Own, branches: Sequence[str] = ()
) -> None:
    base, now = worktree.base_branch, tips.base
    if base is None or now is None or not worktree.own:
        return
    if branches or own.base != now:
        home.git("update-ref", "--stdin", given="\n".join([*hold(worktree.path, {"base": now}), ""]))
        refresh(home, there, [base, *branches])


def _follow_index(found: View) -> View:
    answer = found.there.ask("diff-index", "--cached", "--name-status", "-z", "--no-renames", found.head, seconds=LONG)
    parts = iter(answer.names if answer.code == 0 else [])
    changes = list(zip(parts, parts, strict=False))
    gone = [name for status, name in changes if status == "D" and os.path.lexists(found.git.directory / name)]
    added = [name for status, name in changes if status == "A"]
    there = [name for name in added if fits(found.git.directory / name) and os.path.lexists(found.git.directory / name)]
    if gone:  # any other file that is there is added again: the index of an agent's git may be an old one
        ignored = found.git.ask("check-ignore", "--no-index", "-z", "--stdin", given="\0".join(gone)).names
        links = [name for name in gone if (found.git.directory / name).is_dir()]
        found.git("update-index", "--force-remove", "-z", "--stdin", given="\0".join([*ignored, *links]))
    if there:
        found.git.ask("update-index", "--add", "-z", "--stdin", given="\0".join(there), seconds=LONG)
    sparse = (found.repository / "info" / "sparse-checkout").exists()
    skipped = _follow_sparse(found) if sparse else ()
    conflicts = any(status == "U" for status, _ in changes) if answer.code == 0 else None
    return replace(found, changed=bool(gone or there), conflicts=conflicts, skipped=skipped)


def _follow_sparse(found: View) -> tuple[str, ...]:
    """What is missing because the agent did not want it checked out is not deleted. Its names."""
    missing = set(found.git.must("ls-files", "--deleted", "-z").names)
    skipped = [each[2:] for each in found.there.must("ls-files", "-t", "-z").names if each.startswith("S ")]
    both = tuple(name for name in skipped if name in missing)
    if both:
        found.git("update-index", "--skip-worktree", "-z", "--stdin", given="\0".join(both))
    return both


def fits(file: Path) -> bool:
    """Whether it can be committed: a regular file that is not too large, or a link. True for what is gone."""
    try:
        found = file.lstat()
    except OSError:  # removed, or a directory above it is now a file: an ordinary change
        return True
    kind = stat.S_IFMT(found.st_mode)
    return kind in (stat.S_IFLNK, stat.S_IFDIR) or (kind == stat.S_IFREG and found.st_size <= LARGEST_FILE)


def _replaced(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(prefix=".index-", dir=target.parent)
    os.close(descriptor)
    shutil.copy2(source, draft)
    Path(draft).replace(target)
