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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from toryo.coordinator.worktrees.git import LONG, Git, Trouble
from toryo.coordinator.worktrees.launch_repositories import fetch, held, hold, looking, refresh, repository_of, seen_of
from toryo.coordinator.worktrees.paths import Worktree, checkout_of, contains, current_branch, tip
from toryo.coordinator.worktrees.repository import Checkout, open_checkout

ATTEMPTS = 5
LARGEST_FILE = 4 * 1024**3
"""Bytes: a larger one is nothing for a repository, and takes minutes to be read."""


@dataclass(frozen=True)
class View:
    """`git` works in the worktree. `there` is the agent's git; `head` the commit that it has checked out, which the
    person's repository has, too."""

    home: Checkout
    there: Git
    git: Git
    place: Path
    worktree: Worktree
    head: str

    @property
    def index(self) -> Path:
        return self.place / "index"

    @property
    def last(self) -> str | None:
        """Where the task's branch is."""
        return tip(self.home.git, self.worktree.branch)

    @property
    def repository(self) -> Path:
        """The git directory in which the agent writes."""
        own = repository_of(self.worktree.path)
        return own if self.worktree.own else self.home.directory_of(self.worktree.path) or own

    def at(self, commit: str) -> View:
        """The same with another HEAD."""
        (self.place / "HEAD").write_text(f"{commit}\n")
        return View(self.home, self.there, self.git, self.place, self.worktree, commit)

    def save(self) -> None:
        """The next view begins with this index."""
        _replaced(self.index, seen_of(self.worktree.path) / "index")

    def follow(self, commit: str) -> None:
        """Brings the agent's repository to a commit of the task's branch, whose files are those of the worktree."""
        branch = f"refs/heads/{self.worktree.branch}"
        if tip(self.there, self.worktree.branch) != commit:
            self.there("update-ref", "-m", "toryo: kept", branch, commit)
        if current_branch(self.there) != self.worktree.branch:
            self.there("symbolic-ref", "HEAD", branch)
        self.follow_index()

    def follow_index(self) -> None:
        _replaced(self.index, self.repository / "index")


@contextlib.contextmanager
def view(worktree: Worktree, there: Git, *, objects: Path | None = None, keeps: bool = False) -> Iterator[View]:
    """Fetches what the agent has committed, too, and moves the task's branch there if it is in nobody's way. New
    objects go to the person's repository (`keeps`), to another place that leads there (`objects`), or are forgotten:
    what no ref keeps, an agent must not build on."""
    home = open_checkout(worktree.repository)
    head = _head(home, worktree, there)
    tell_base(home, worktree, there)
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
        found = View(home, there, git, place, worktree, head)
        found.git("read-tree", "-m", "-i", head, seconds=LONG)
        _follow_index(found)
        yield found


def _forgotten(home: Checkout, objects: Path) -> Path:
    (objects / "info").mkdir(parents=True)
    (objects / "info" / "alternates").write_bytes(os.fsencode(f"{home.common / 'objects'}\n"))
    return objects


def _head(home: Checkout, worktree: Worktree, there: Git) -> str:
    """The commit that the agent has checked out. Where it deleted its branch, that stands there again."""
    last = tip(home.git, worktree.branch)
    answer = there.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if answer.code != 0 and worktree.own and last is not None:
        there("symbolic-ref", "HEAD", f"refs/heads/{worktree.branch}")
        there("update-ref", "-m", "toryo: restored", f"refs/heads/{worktree.branch}", last)
        return last
    if answer.code != 0:
        raise Trouble(f"{worktree.path} has no commit checked out (HEAD). Switch to {worktree.branch} there.")
    head = answer.text
    if worktree.own and head != last:
        if last is None or not _known(home.git, last, head):
            fetch(home, worktree.path, head, last)
        if current_branch(there) == worktree.branch:
            with contextlib.suppress(Trouble):
                advance(home, worktree, head)
    return head


def _known(git: Git, last: str, head: str) -> bool:
    return git.holds("cat-file", "-e", f"{head}^{{commit}}") and contains(git, last, head)


def advance(home: Checkout, worktree: Worktree, commit: str) -> bool:
    """Moves the task's branch in the person's repository; False if people have committed to it what this commit has
    not. Raises Trouble if it is checked out there."""
    branch = f"refs/heads/{worktree.branch}"
    for _ in range(ATTEMPTS):
        last = tip(home.git, worktree.branch)
        if last == commit:
            return True
        if not follows(home, worktree, commit, last):
            return False
        place = checkout_of(home, worktree.branch)
        if place is not None and place != worktree.path:
            raise Trouble(
                f"{worktree.branch} is checked out in {place}. Switch to another branch there, then try again."
            )
        orders = [f"update {branch} {commit} {last}" if last else f"create {branch} {commit}"]
        orders += hold(worktree.path, {"branch": commit}) if worktree.own else []
        moved = home.git.ask("update-ref", "-m", "toryo: kept", "--stdin", given="\n".join([*orders, ""]))
        if moved.code == 0:
            return True
    raise Trouble(f"{worktree.branch} cannot be moved to {commit[:10]}: {moved.errors}")


def follows(home: Checkout, worktree: Worktree, commit: str, last: str | None) -> bool:
    """Whether nothing of people's is lost if the branch goes from `last` to this commit: an agent may write the history
    of its own branch again (amend, rebase)."""
    return last is None or is_placed(home, worktree, last) or contains(home.git, commit, last)


def is_placed(home: Checkout, worktree: Worktree, last: str) -> bool:
    """Whether the branch is where it was brought from the worktree: nobody else has moved it."""
    if not worktree.own:
        return False
    return home.git.ask("rev-parse", "--verify", "--quiet", f"{held(worktree.path)}/branch").text == last


def tell_base(home: Checkout, worktree: Worktree, there: Git, branches: Sequence[str] = ()) -> None:
    """The worktree's repository knows what its base branch is now, and can merge it."""
    base = worktree.base_branch
    now = tip(home.git, base) if base is not None else None
    if base is None or now is None or not worktree.own:
        return
    if branches or tip(there, base) != now:
        home.git("update-ref", "--stdin", given="\n".join([*hold(worktree.path, {"base": now}), ""]))
        refresh(home, there, [base, *branches])


def _follow_index(found: View) -> None:
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
    if (found.repository / "info" / "sparse-checkout").exists():
        _follow_sparse(found)


def _follow_sparse(found: View) -> None:
    """What is missing because the agent did not want it checked out is not deleted."""
    missing = set(found.git.must("ls-files", "--deleted", "-z").names)
    skipped = [each[2:] for each in found.there.must("ls-files", "-t", "-z").names if each.startswith("S ")]
    both = [name for name in skipped if name in missing]
    if both:
        found.git("update-index", "--skip-worktree", "-z", "--stdin", given="\0".join(both))


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
