"""Several branches merged onto the newest commit of a target, as the merge queue needs it: made without any checkout,
checked out in a directory of its own, and only then moved to.

The result is one commit after the target's, by first parents: the merge itself, or, of several merges, one more merge
commit that holds them all (its tree is theirs). So every commit that the queue puts on the first-parent history of a
target is one that was checked out and checked. `merging` merges what a person orders.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toryo.coordinator.worktrees import commits_and_diffs, moved_bases
from toryo.coordinator.worktrees.creating import alone, check_out_detached
from toryo.coordinator.worktrees.git import Git, Trouble
from toryo.coordinator.worktrees.launch_repositories import let_go
from toryo.coordinator.worktrees.merging import TORYO, Person, moved, refuse_loss
from toryo.coordinator.worktrees.paths import (
    clear,
    contains,
    entry_at,
    joined,
    note,
    noted_repository,
    project_in,
    readable_name,
    tip,
    unnote,
)
from toryo.coordinator.worktrees.repository import Checkout, open_checkout

PLACES = ".merge-queue"
"""The directory, among the worktrees, in which combined results are checked out."""
TRAILER = "Toryo-Merge-Queue"
MOST_OTHERS = 5
MOST_PATHS = 400
"""Files of a conflict that are looked for: more would not fit into the arguments of git."""
MOST_SEARCHED = 100
"""Merges of a target that are searched for the other side of a conflict."""


@dataclass(frozen=True, slots=True)
class Work:
    """One branch, at the commit that is merged. `name` is that of its worktree. `covers`: it is not merged, only looked
    for: it is done as soon as the target contains it."""

    name: str
    branch: str
    commit: str
    title: str
    covers: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """What is merged or left out as a whole."""

    id: str
    works: tuple[Work, ...]
    person: Person = TORYO


@dataclass(frozen=True, slots=True)
class Other:
    commit: str
    subject: str
    name: str | None
    """The worktree that the commit has merged."""


@dataclass(frozen=True, slots=True)
class Clash:
    """`work`: the one that conflicts. `within`: the other side is not on the target, but in the same entry."""

    files: tuple[str, ...]
    others: tuple[Other, ...]
    work: str = ""
    within: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """An entry in the result: the commits before and after it, and the commit that has each of its works."""

    entry: Entry
    before: str
    after: str
    commits: Mapping[str, str]


@dataclass(frozen=True)
class Combined:
    """`commit` is what the target would become; that is `base` where there is nothing to merge."""

    base: str
    commit: str
    spans: tuple[Span, ...] = ()
    clashes: Mapping[str, Clash] = field(default_factory=dict)
    """Entries that conflict with the target, by id."""
    left_out: tuple[str, ...] = ()
    """Entries that conflict only with others before them."""
    unfit: Mapping[str, str] = field(default_factory=dict)
    """Why an entry cannot be merged at all, by id."""

    @property
    def new(self) -> tuple[Span, ...]:
        """Those that bring something."""
        return tuple(span for span in self.spans if span.after != span.before)


def combine(checkout: Checkout, target: str, entries: Sequence[Entry], said: str) -> Combined:
    """Merges the entries one after the other. Changes no branch. Raises Trouble if there is no such target."""
    git = checkout.git
    base = tip(git, target)
    if base is None:
        raise Trouble(
            f"There is no branch {target} in {checkout.top}. Create it (git branch {shlex.quote(target)} COMMIT), or "
            "remove the work from the merge queue and add it for another branch."
        )
    head, merges = base, 0
    spans: list[Span] = []
    clashes: dict[str, Clash] = {}
    left_out: list[str] = []
    unfit: dict[str, str] = {}
    for entry in entries:
        strange, merged = _unrelated(git, base, entry)
        if strange is not None:
            unfit[entry.id] = (
                f"{strange} and {target} have no commit in common. Merge it by hand (git merge "
                f"--allow-unrelated-histories {strange}), or discard the work."
            )
            continue
        made = _onto(git, head, entry, merged if head == base else {})
        if isinstance(made, Span):
            spans.append(made)
            merges += len(set(made.commits.values()) - {made.before}) if made.after != made.before else 0
            head = made.after
            continue
        alone_ = made if head == base else _onto(git, base, entry, merged)
        if isinstance(alone_, Span):
            left_out.append(entry.id)
        else:
            clashes[entry.id] = _clash(git, base, alone_)
    commit = head if head == base or merges == 1 else _together(git, base, head, spans, said)
    return Combined(base, commit, tuple(spans), clashes, tuple(left_out), unfit)


def _unrelated(git: Git, base: str, entry: Entry) -> tuple[str | None, dict[str, bool]]:
    """The branch of an entry that shares no history with the target; and of each commit whether the target has it."""
    merged: dict[str, bool] = {}
    for work in entry.works:
        if not work.covers:
            met = git.ask("merge-base", base, work.commit)
            if met.code != 0:
                return work.branch, merged
            merged[work.commit] = met.text == work.commit
    return None, merged


@dataclass(frozen=True, slots=True)
class _Stuck:
    """A work of an entry that conflicts, and those of the entry that were merged before it."""

    files: tuple[str, ...]
    work: Work
    before: tuple[Work, ...]


def _onto(git: Git, head: str, entry: Entry, merged: Mapping[str, bool]) -> Span | _Stuck:
    """The entry merged onto a commit. What a later work of it contains is not merged by itself where it conflicts: the
    conflict is resolved there. `merged`: of commits, whether that commit has them."""
    before, commits = head, {}
    signed = git.signed(entry.person.name, entry.person.email)
    late: list[Work] = []
    for place, work in enumerate(entry.works):
        known = merged.get(work.commit) if head == before else None
        if contains(git, head, work.commit) if known is None else known:
            commits[work.name] = head
        elif not work.covers:
            tree = joined(git, head, work.commit)
            if isinstance(tree, tuple):
                after = [other for other in entry.works[place + 1 :] if not other.covers]
                if any(contains(git, other.commit, work.commit) for other in after):
                    late.append(work)
                    continue
                return _Stuck(tree, work, entry.works[:place])
            words = f"{work.title} ({work.branch})\n\n{commits_and_diffs.TASK}: {work.name}\n"
            head = commits[work.name] = signed("commit-tree", tree, "-p", head, "-p", work.commit, given=words)
    commits |= {work.name: head for work in late}
    return Span(entry, before, head, commits)


def _clash(git: Git, base: str, stuck: _Stuck) -> Clash:
    """Its other side is on the target if it also conflicts with the target alone; else it is in the same entry."""
    work = stuck.work
    with_target = joined(git, base, work.commit)
    if isinstance(with_target, tuple):
        return Clash(stuck.files, _others(git, base, work, with_target), work.name)
    before = (each for each in stuck.before if not each.covers)
    beside = [each for each in before if isinstance(joined(git, each.commit, work.commit), tuple)]
    others = tuple(Other(each.commit, each.title, each.name) for each in beside[:MOST_OTHERS])
    return Clash(stuck.files, others, work.name, within=True)


def _together(git: Git, base: str, head: str, spans: Sequence[Span], said: str) -> str:
    """One commit for all of them: what lies between was not checked."""
    titles = [f"- {work.title} ({work.branch})" for span in spans for work in span.entry.works if not work.covers]
    subject = f"Merge {len(titles)} branches" if len(titles) != 1 else f"Merge {titles[0].removeprefix('- ')}"
    words = "\n".join([subject, "", *titles, "", f"{TRAILER}: {said}", ""])
    tree = git("rev-parse", f"{head}^{{tree}}")
    return git.signed(TORYO.name, TORYO.email)("commit-tree", tree, "-p", base, "-p", head, given=words)


def _others(git: Git, base: str, work: Work, files: Sequence[str]) -> tuple[Other, ...]:
    """What has changed these files on the target since the work left it: merges of other tasks, else commits."""
    met = git.ask("merge-base", base, work.commit)
    if met.code != 0:
        return ()
    paths = [f":(top,literal){file}" for file in files[:MOST_PATHS]]
    form = f"--format=%H%x1f%s%x1f%(trailers:key={commits_and_diffs.TASK},valueonly,separator=%x20)"
    range_ = (f"{met.text}..{base}",)
    merges = git("log", "--merges", f"--max-count={MOST_SEARCHED}", form, *range_)
    found: list[Other] = []
    for commit, subject, name in (line.split("\x1f") for line in merges.splitlines() if line.count("\x1f") == 2):
        if len(found) < MOST_OTHERS and name and not git.holds("diff", "--quiet", f"{commit}^1", commit, "--", *paths):
            found.append(Other(commit, readable_name(subject), name.split()[0]))
    if not found:
        plain = git("log", "--no-merges", f"--max-count={MOST_OTHERS}", form, *range_, "--", *paths)
        lines = (line.split("\x1f") for line in plain.splitlines() if line.count("\x1f") == 2)
        found = [Other(commit, readable_name(subject), None) for commit, subject, _ in lines]
    return tuple(found)


def diff_of(checkout: Checkout, span: Span, limit: int) -> commits_and_diffs.Diff:
    """What an entry brings to the target."""
    return commits_and_diffs.between(checkout.git, span.before, span.after, 0, limit, history=True)


# --- where it is checked ----------------------------------------------------------------------------------------------


def place(directory: Path, project_id: str, target: str) -> Path:
    """The directory for the results of one target. One at a time is checked there."""
    words = re.sub(r"[^A-Za-z0-9_]+", "-", target).strip("-")[:40] or "branch"
    return directory / PLACES / f"{project_id}-{words}-{hashlib.sha256(os.fsencode(target)).hexdigest()[:8]}"


def check_out(checkout: Checkout, path: Path, commit: str) -> Path:
    """Checks a commit out, on no branch, in place of whatever an earlier call left there; returns the project's
    directory in it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = _itself(path)
    with alone(path.parent):
        _drop(checkout, path)
        note(checkout, path, None, commit)
        check_out_detached(checkout, path, commit)
    return project_in(path, checkout.subdirectory)


def put_away(checkout: Checkout, path: Path) -> None:
    """Removes the directory again. Nothing in it is anybody's work."""
    if not path.parent.is_dir():
        return
    path = _itself(path)
    with alone(path.parent):
        _drop(checkout, path)


def sweep(directory: Path) -> None:
    """Removes what a Coordinator that was killed has left behind."""
    with contextlib.suppress(FileNotFoundError):
        for path in sorted((directory / PLACES).iterdir()):
            repository = noted_repository(path) if path.is_dir() and not path.name.startswith(".") else None
            if repository is None or not repository.is_dir():
                continue
            with contextlib.suppress(Trouble, OSError):
                put_away(open_checkout(repository), path)


def _itself(path: Path) -> Path:
    """Of a link in its place the link, not where it leads: that is nobody's to remove."""
    return path.parent.resolve() / path.name


def _drop(checkout: Checkout, path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    for attempt in range(3):
        try:
            clear(path)
            break
        except OSError:  # a process that a check has left behind still writes there
            time.sleep(0.1 * (attempt + 1))
    shutil.rmtree(path, ignore_errors=True)
    let_go(checkout, path)
    if entry_at(checkout, path) is not None:  # an older Toryo made it
        checkout.git("worktree", "remove", "--force", "--force", str(path))
    unnote(path)


# --- the target -------------------------------------------------------------------------------------------------------


def refuse_target(checkout: Checkout, target: str, combined: Combined, since: float | None) -> None:
    """Raises Trouble if the target could not be moved to the result now, so that nothing is checked for nothing.
    `since`: when the oldest of the work began."""
    if since is not None:
        moved_bases.refuse(checkout, target, since)
    refuse_loss(checkout, target, combined.base, combined.commit)


def land(checkout: Checkout, target: str, combined: Combined, directory: Path) -> bool:
    """Moves the target to the result; False if it is no longer where the result began. Raises Trouble."""
    with alone(directory):
        return moved(checkout, target, combined.commit, combined.base)
