"""An agent's work in its worktree: commits it, so that nothing is lost, and shows it, with uncommitted changes.

Repositories that an agent made or cloned inside its worktree are left out and named: git would record them by the id of
a commit that exists nowhere else. The same applies to files larger than `LARGEST_FILE`, to pipes and devices, and to
uncommitted changes inside a submodule. Git never looks into a submodule by itself: it would run programs that the
configuration there names, and agents write there.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from toryo.check_names import some
from toryo.coordinator.worktrees import conflict_marks, inner_repositories, moved_bases, vanished_directories
from toryo.coordinator.worktrees.git import LONG, TIME_LIMIT, Answer, Git, Trouble, explain
from toryo.coordinator.worktrees.launch_repositories import fetch, hold, said, unknown_refs
from toryo.coordinator.worktrees.moved_bases import MovedBase
from toryo.coordinator.worktrees.paths import (
    Worktree,
    contains,
    current_branch,
    inside,
    readable_name,
    tip,
    with_author,
)
from toryo.coordinator.worktrees.repository import content, open_checkout
from toryo.coordinator.worktrees.views import View, advance, fits, view

DIFF = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--find-renames", "--submodule=short")
COMPARED = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--submodule=short")
INDEX = "--cached"
TASK = "Toryo-Task"
"""The line in a merge's message that identifies it later, also without the branch and the directory."""
PREFIXES = ("--src-prefix=a/", "--dst-prefix=b/")
REVERSED_PREFIXES = ("--src-prefix=b/", "--dst-prefix=a/")
"""The same under `-R`."""
STATUSES = {"A": "added", "D": "deleted", "M": "modified", "R": "renamed", "C": "copied", "T": "type changed"}
MOST_REFUSED = 20
"""Files that git may refuse to add one by one; more of them are refused for another reason, such as a full disk."""
UNFINISHED = {
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
}


@dataclass(frozen=True, slots=True)
class Kept:
    """`committed`: whether there was anything to commit. The figures are of everything since the base."""

    head_commit: str
    commits: int
    files_changed: int
    insertions: int
    deletions: int
    committed: bool
    trouble: str = ""
    """Why something was left as it is, and the next step; empty where everything is on the branch now."""
    left_out: tuple[str, ...] = ()
    """Repositories inside of the worktree, submodules with uncommitted changes, files that are too large or are none:
    these cannot be kept from here."""
    moved_base: MovedBase | None = None
    """The branch that it would be merged into was moved by neither a person nor Toryo."""


@dataclass(frozen=True, slots=True)
class Loose:
    """Names of what is not committed: of the worktree's own files, and what only another repository can keep."""

    own: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileChange:
    """`status`: added, deleted, modified, renamed, copied, type changed. Lines are 0 where a file is `binary`."""

    path: str
    old_path: str | None
    status: str
    insertions: int
    deletions: int
    binary: bool


@dataclass(frozen=True, slots=True)
class Diff:
    """From `base` to the present files, committed or not. `head`: last commit; `truncated`: the patch only."""

    patch: str
    files: tuple[FileChange, ...]
    truncated: bool
    head: str
    base: str
    history: str = ""
    """The patch of every commit from `base` to `head`, each after a line that says `commit` and its id, and its message
    with a space before each line. A merge has what is in none of its parents. Only where it was asked for."""
    history_truncated: bool = False


def keep(worktree: Worktree, message: str, author_name: str) -> Kept:
    """Commits what is changed or new (what is ignored is not), and brings the branch to it.

    In the middle of a merge or rebase nothing is touched: `trouble` says so. An agent that left its branch is brought
    back with its commits, unless its branch has others that these do not have.
    """
    there = inside(worktree)
    if there is None:
        words = f"The directory {worktree.path} is gone. Only the commits on its branch are kept."
        words = vanished_directories.save(worktree) or words
        return _kept(open_checkout(worktree.repository).git, worktree, None, trouble=words)
    _refuse_unborn(there, worktree)
    with view(worktree, there, keeps=True) as found:
        if words := in_the_middle(found):
            return _kept(found.git, worktree, found.head, trouble=words)
        done, loose, trouble = _kept_there(found, message, author_name)
        left_out = (*loose.others, *_own_refs(done))
        figures = _kept(
            done.git,
            worktree,
            done.now,
            committed=done.head != found.head,
            trouble=trouble,
            left_out=left_out,
            base_tip=done.tips.base,
        )
        return replace(figures, moved_base=moved_base(worktree))


def commit(worktree: Worktree, message: str, author_name: str) -> str:
    """As `keep`; only its `trouble`."""
    there = inside(worktree)
    if there is None:
        return keep(worktree, message, author_name).trouble
    _refuse_unborn(there, worktree)
    with view(worktree, there, keeps=True) as found:
        return in_the_middle(found) or _kept_there(found, message, author_name)[2]


def _kept_there(found: View, message: str, author_name: str) -> tuple[View, Loose, str]:
    """The view with its new commit, what is not in that, and what could not be done."""
    worktree = found.worktree
    staged = _stage(found)
    head = commit_of(found, message, author_name, staged=staged is None)
    done, has = found.at(head), {found.head, head}
    resolved = head != found.head and conflict_marks.begun_in(worktree.path) is not None
    if resolved and not contains(found.git, head, found.head):  # the merge that was begun there
        found.there("update-ref", "-m", "toryo: merged", "HEAD", head)
        has.remove(found.head)
        done = replace(done, own=replace(done.own, last=head)) if done.own.current else done
    trouble = _bring_back(done, has, moved=head != found.head)
    done.save()
    links = inner_repositories.links(done.git) if staged is None else staged
    nowhere_else = inner_repositories.only_here(links, done.git, done.home, worktree.name)
    trouble = trouble or _unpublished(worktree, nowhere_else)
    loose = _uncommitted(done.git, links)
    trouble = trouble or _not_added(worktree, loose.own)
    return done, loose, trouble or conflict_marks.words(worktree.path, done.git, done.now)


def moved_base(worktree: Worktree) -> MovedBase | None:
    """Whether the branch that its work would be merged into was moved by neither a person nor Toryo."""
    if not worktree.own or worktree.base_branch is None:
        return None
    return moved_bases.moved_by_nobody(open_checkout(worktree.repository), worktree.base_branch, worktree.made_at)


def diff(worktree: Worktree, context: int = 3, limit: int = 1_000_000, *, history: bool = False) -> Diff:
    """The changes that a merge would make: from the base of the work to the present files. The agent's index does not
    change. A patch of more than `limit` characters is cut at the end of a line; the list of files is whole. `history`:
    with those of each commit."""
    there = inside(worktree)
    if there is None:
        git = open_checkout(worktree.repository).git
        return _diff(git, worktree, None, f"refs/heads/{worktree.branch}", context, limit, history=history)
    _refuse_unborn(there, worktree)
    with view(worktree, there) as found:
        _stage(found)
        return staged(found, context, limit, history=history)


def staged(found: View, context: int, limit: int, *, history: bool = False) -> Diff:
    """The changes that a merge would make, after `snapshot`."""
    return _diff(found.git, found.worktree, found.head, INDEX, context, limit, history=history)


def touched(worktree: Worktree, most: int) -> tuple[str, ...]:
    """The paths whose contents differ from the base of the work, committed or not: the first `most` in order. Two
    commands that read what git has noted of the files; nothing is staged or written."""
    there = inside(worktree)
    if there is None:
        return ()
    _refuse_unborn(there, worktree)
    options = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all")
    with view(worktree, there) as found:
        git, base = found.git, _base(found.git, worktree, found.head, found.tips.base)
        loose = [line[3:].removesuffix("/") for line in git.must("status", *options, seconds=LONG).names]
        done = git.must("diff", "--name-only", "--no-renames", "-z", *COMPARED, base, found.head, "--").names
    return tuple(sorted({readable_name(name) for name in (*loose, *done)})[:most])


def merged_diff(
    repository: Path, name: str, commit: str, since: str, head: str | None, context: int = 3, limit: int = 1_000_000
) -> Diff | None:
    """The changes that came with a merge, after the worktree is gone. `commit` is the merge of this name; where it is
    none (the branch already had everything), what was done from `since` to `head`. None if the repository does not
    have these commits."""
    git = open_checkout(repository).git
    body = git.ask("log", "--max-count=1", "--format=%P%n%B", "--end-of-options", commit)
    parents, _, message = body.text.partition("\n")
    if len(parents.split()) == 2 and f"{TASK}: {name}" in message.splitlines():
        before, after = parents.split()[0], commit
    else:
        before, after = since, head or ""
    if not all(each and git.holds("cat-file", "-e", f"{each}^{{commit}}") for each in (before, after)):
        return None
    return _between(git, [before, after], context, limit, head=after, base=before)


def between(git: Git, before: str, after: str, context: int, limit: int, *, history: bool = False) -> Diff:
    """The changes from one commit to another, with the attributes of the first."""
    with _as_of(git, before) as aside:
        found = _between(aside, [before, after], context, limit, head=after, base=before)
        return _with_history(aside, found, limit) if history else found


def history_of(worktree: Worktree, commit: str, limit: int) -> tuple[str, bool]:
    """`Diff.history` of the work up to a commit, and whether it is longer."""
    git = open_checkout(worktree.repository).git
    base = _base(git, worktree, commit)
    with _as_of(git, base) as aside:
        return _history(aside, base, commit, limit)


@dataclass(frozen=True, slots=True)
class Left:
    """What is in a worktree and nowhere else. `unkept`: the changes that are not on its branch, and the next step;
    empty if there are none. `others`: if there are none, what would go with the directory, as in `Kept.left_out`, and
    repositories with own commits that are submodules, or that git ignores. `branch`: the commit of its branch."""

    unkept: str = ""
    others: tuple[str, ...] = ()
    branch: str | None = None


def unkept(worktree: Worktree, *, tells: bool = False) -> str:
    """The changes in the worktree that are not on its branch, and the next step; empty if there are none. `tells`: as
    for a view."""
    there = inside(worktree)
    if there is None:
        return vanished_directories.save(worktree)
    with view(worktree, there, tells=tells) as found:
        links = inner_repositories.links(found.git)
        return _unkept(found, links, _uncommitted(found.git, links))


def left(worktree: Worktree) -> Left:
    """Everything that is lost with it, at one look."""
    there = inside(worktree)
    if there is None:
        words = vanished_directories.save(worktree)
        return Left(words, branch=tip(open_checkout(worktree.repository).git, worktree.branch))
    with view(worktree, there, tells=False) as found:
        links = inner_repositories.links(found.git)
        loose = _uncommitted(found.git, links)
        words = _unkept(found, links, loose)
        return Left(words, () if words else _others(found, links, loose), found.tips.last)


def _unkept(found: View, links: Mapping[str, str], loose: Loose) -> str:
    worktree, changed = found.worktree, loose.own
    words = f"{worktree.path} has uncommitted changes ({some(changed)}). Commit them first." if changed else ""
    words = in_the_middle(found) or words or _astray(found)
    return words or _unpublished(worktree, inner_repositories.only_here(links, found.git, found.home))


def others(worktree: Worktree) -> tuple[str, ...]:
    """`Left.others`, whether there are changes or not."""
    there = inside(worktree)
    if there is None:
        return vanished_directories.names(worktree)
    with view(worktree, there, tells=False) as found:
        links = inner_repositories.links(found.git)
        return _others(found, links, _uncommitted(found.git, links))


def _others(found: View, links: Mapping[str, str], loose: Loose) -> tuple[str, ...]:
    own = [each for each in links if _own_branches(found, each)]
    names = (
        *loose.others,
        *map(readable_name, own),
        *map(readable_name, inner_repositories.ignored_repositories(found.git)),
    )
    return (*dict.fromkeys(names), *_own_refs(found))


def _own_branches(found: View, submodule: str) -> bool:
    """Whether it has commits that neither its remote nor the person's submodule has."""
    return inner_repositories.has_own_branches(found.git.directory / submodule, found.home.top / submodule)


def _not_added(worktree: Worktree, names: tuple[str, ...]) -> str:
    if not names:
        return ""
    words = f"git could not add {some(names)} in {worktree.path}; everything else was committed."
    return f"{words} Run git add there to see why, or remove it, then try again."


def _unpublished(worktree: Worktree, submodules: tuple[str, ...]) -> str:
    """Who merges this would refer to commits that nobody else has."""
    if not submodules:
        return ""
    named = some([readable_name(each) for each in submodules])
    return (
        f"The submodule {named} is at a commit that exists only in {worktree.path}. Push it from there (git push), or "
        f"check the submodule out in {worktree.repository} as well, then try again."
    )


def bring(worktree: Worktree, there: Git, commit: str) -> None:
    """Moves a worktree without changes, and its branch, forward to a commit. Raises Trouble if a file is in the way."""
    with view(worktree, there, keeps=True) as found:
        _forward(found, commit)


def go_on(worktree: Worktree, there: Git, commit: str) -> bool:
    """Ends a move forward to this commit that was killed in the middle; False if files have been changed otherwise."""
    with view(worktree, there, keeps=True) as found:
        _stage(found)
        options = ("diff-tree", "-r", "--name-only", "--no-renames", "-z")
        tree = found.git("write-tree")
        changed = set(found.git.must(*options, found.head, tree).names)
        if changed & set(found.git.must(*options, tree, commit).names):
            return False
        found.git("reset", "--hard", "--quiet", commit, seconds=LONG)
        found.at(commit)
        advance(found.home, worktree, commit, found.tips)
        found.follow(commit)
        found.save()
        return True


def catch_up(worktree: Worktree) -> None:
    """Brings a worktree without changes to what people have committed to its branch."""
    there = inside(worktree)
    last = tip(open_checkout(worktree.repository).git, worktree.branch)
    if there is None or last is None or there.ask("rev-parse", "HEAD").text == last:
        return
    with view(worktree, there, keeps=True) as found:
        if not contains(found.git, last, found.head) or in_the_middle(found):
            return
        if not _uncommitted(found.git, inner_repositories.links(found.git)).own:
            _forward(found, last)


def unfinished(git: Git, *, unmerged: bool) -> str:
    """In the middle of what somebody is, and the next step. `unmerged`: whether the index there has conflicts."""
    directory = Path(git.variables["GIT_DIR"])
    doing = next((words for name, words in UNFINISHED.items() if (directory / name).exists()), "")
    if not doing and unmerged:
        doing = "resolving conflicts"
    words = f"{git.directory} is in the middle of {doing}. Finish or abort that there first."
    return words if doing else ""


def in_the_middle(found: View) -> str:
    """In the middle of what its agent is, and the next step."""
    return unfinished(found.there, unmerged=found.unmerged)


def _refuse_unborn(git: Git, worktree: Worktree) -> None:
    """Raises Trouble if somebody has deleted the branch that is checked out: a commit would begin another history."""
    if worktree.own or git.holds("rev-parse", "--verify", "--quiet", "HEAD"):
        return
    log = Path(git("rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"))
    lines = content(log).decode(errors="replace").splitlines() if log.is_file() else []
    last = re.match(r"[0-9a-f]+ ([0-9a-f]{7,64}) ", lines[-1] if lines else "")
    commit = last[1] if last is not None else "COMMIT"
    raise Trouble(
        f"The branch {worktree.branch} was deleted. Restore it (git branch {worktree.branch} {commit}, in "
        f"{worktree.repository}), then try again."
    )


def _stage(found: View) -> Mapping[str, str] | None:
    """Everything but what is left out. Of a submodule the commit that is checked out there. The submodules, if there
    was nothing to stage."""
    git = found.git
    links = inner_repositories.links(git)
    # New or changed, but cannot be committed: other repositories, large files, pipes and devices.
    options = ("--others", "--modified", "--exclude-standard", "--deduplicate", "-z")
    names = set(git.must("ls-files", *options, seconds=LONG).names) - set(links)
    if not names and not links:
        return links
    unfit = [name.removesuffix("/") for name in names if name.endswith("/") or not fits(git.directory / name)]
    paths = "\0".join([".", *(f":(top,literal,exclude){each}" for each in (*unfit, *links))])
    refusal = _add(git, paths)
    if refusal.code != 0:
        _add_each(git, sorted(names - set(unfit)), refusal, [])
    if links:
        git.ask("update-index", "--remove", "-z", "--stdin", given="\0".join(links))
    return None


def _add(git: Git, paths: str) -> Answer:
    options = ("--all", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul")
    return git.ask("add", *options, given=paths, seconds=LONG)


def _add_each(git: Git, names: Sequence[str], refusal: Answer, refused: list[str]) -> None:
    """One file that git cannot add does not lose the others: halves, until what is left is one that it refuses. Raises
    Trouble if that many are refused: then it is not for what they are."""
    if not names or _add(git, "\0".join(f":(top,literal){each}" for each in names)).code == 0:
        return
    if len(names) > 1:
        middle = len(names) // 2
        _add_each(git, names[:middle], refusal, refused)
        _add_each(git, names[middle:], refusal, refused)
        return
    refused.extend(names)
    if len(refused) > MOST_REFUSED:
        raise Trouble(explain(refusal.errors, ("add",), git.directory))


def snapshot(found: View, message: str, author_name: str, *, dated_as_head: bool = False) -> str:
    """The commit that has all changes; the agent's own if there are no more. `dated_as_head`: the same changes are the
    same commit, whenever it is made."""
    staged = _stage(found) is None
    return commit_of(found, message, author_name, staged=staged, dated_as_head=dated_as_head)


def commit_of(found: View, message: str, author_name: str, *, staged: bool, dated_as_head: bool = False) -> str:
    """The commit of what is staged, if anything is."""
    if not staged and not found.changed:
        return found.head
    tree = found.git("write-tree")
    if tree == found.git("rev-parse", f"{found.head}^{{tree}}"):
        return found.head
    last = found.tips.last
    if (
        last is not None
        and last != found.head
        and contains(found.git, last, found.head)
        and found.git("rev-parse", f"{last}^{{tree}}") == tree
    ):
        return last  # a Coordinator that was killed has committed it
    lines = (line.rstrip() for line in message.replace("\0", "").strip().splitlines())
    words = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) or f"Work of {author_name}"
    parents = [word for each in _parents(found, tree) for word in ("-p", each)]
    git = with_author(found.git, author_name)
    if dated_as_head:
        at = found.git("show", "--no-patch", "--format=@%ct +0000", found.head)
        git = git.having(GIT_AUTHOR_DATE=at, GIT_COMMITTER_DATE=at)
    return git("commit-tree", tree, *parents, given=f"{words}\n")


def _parents(found: View, tree: str) -> tuple[str, ...]:
    """A resolved conflict is one merge: the commit with the marks is left out of the history."""
    begun = conflict_marks.begun_in(found.worktree.path)
    resolved = begun is not None and begun.commit == found.head
    if begun is None or not resolved or conflict_marks.marked_files(found.worktree.path, found.git, tree):
        return (found.head,)
    return (begun.ours, begun.theirs)


def _hold(found: View) -> None:
    """A commit that only a worktree's repository names stays in the person's, where its files are."""
    if found.worktree.own and found.head not in (found.tips.held.get("head"), found.tips.held.get("branch")):
        orders = hold(found.worktree.path, {"head": found.head})
        found.home.git("update-ref", "--stdin", given="\n".join([*orders, ""]))


def _bring_back(found: View, has: Collection[str], *, moved: bool) -> str:
    """Moves the branch to the agent's HEAD; or, without new commits, HEAD to the branch. Returns what it cannot do.
    `has`: commits that its HEAD contains."""
    worktree, there = found.worktree, found.there
    last, own = found.tips.last, found.own.last
    if worktree.own and own is not None and own != last and own not in has:
        _hold(found)
        fetch(found.home, worktree.path, own, last)
    if own is not None and found.tips.placed:
        last = None  # nobody but its agent has worked on the branch
    tips = [each for each in (last, own) if each is not None]
    if all(each in has or contains(found.git, found.head, each) for each in tips):
        moves = False
        try:
            moves = advance(found.home, worktree, found.head, found.tips) and found.tips.last != found.head
        finally:
            if not moves:
                _hold(found)
        if moved or not found.own.current:
            found.follow(found.head)
        return ""
    _hold(found)
    ahead = [each for each in tips if all(contains(found.git, each, other) for other in (found.head, *tips))]
    if ahead and not moved:
        try:
            _forward(found, ahead[0])
        except Trouble as trouble:
            return str(trouble)
        return ""
    if moved:
        there("update-ref", "-m", "toryo: kept", "HEAD", found.head)
        found.follow_index()
    return _astray(found)


def _forward(found: View, commit: str) -> None:
    found.git("merge", "--ff-only", "--quiet", "--no-stat", "--no-overwrite-ignore", commit, seconds=LONG)
    found.at(commit)
    advance(found.home, found.worktree, commit, found.tips)
    found.follow(commit)
    found.save()


def _astray(found: View) -> str:
    """Commits that are in the worktree and not on its branch."""
    worktree, last = found.worktree, found.tips.last
    if last is not None and contains(found.git, last, found.head):
        return ""
    where = current_branch(found.there) or "no branch"
    if where == worktree.branch and last is not None:
        return (
            f"{worktree.branch} has other commits in {worktree.repository} than in {worktree.path}. Merge them there: "
            f"git merge {last[:10]}."
        )
    return (
        f"{worktree.path} is on {where}, with commits that are not in {worktree.branch}. Switch to "
        f"{worktree.branch} there and merge {found.git('rev-parse', '--short', found.head)} into it."
    )


def _own_refs(found: View) -> tuple[str, ...]:
    known = {found.head, found.tips.last, *found.tips.held.values()}
    return tuple(map(said, unknown_refs(found.home, found.there, known))) if found.worktree.own else ()


def _kept(
    git: Git,
    worktree: Worktree,
    head: str | None,
    *,
    committed: bool = False,
    trouble: str = "",
    left_out: tuple[str, ...] = (),
    base_tip: str | None = None,
) -> Kept:
    head = head or git("rev-parse", f"refs/heads/{worktree.branch}")
    base = _base(git, worktree, head, base_tip)
    figures = git("diff", "--shortstat", *DIFF, base, head, "--")
    files, insertions, deletions = (_figure(figures, each) for each in ("file", "insertion", "deletion"))
    return Kept(
        head_commit=head,
        commits=int(git("rev-list", "--count", f"{base}..{head}")),
        files_changed=files,
        insertions=insertions,
        deletions=deletions,
        committed=committed,
        trouble=trouble,
        left_out=left_out,
    )


def _figure(words: str, what: str) -> int:
    """Of ` 2 files changed, 1 insertion(+)`."""
    found = re.search(rf"(\d+) {what}", words)
    return int(found[1]) if found else 0


def _base(git: Git, worktree: Worktree, head: str, now: str | None = None) -> str:
    """The commit where the work left its base branch: its start, or the last merge of one into the other.
    So commits from the base branch, and those that it already has, are not shown as the worktree's own. `now`: where
    the base branch is, if that is known."""
    if now is None and worktree.base_branch is not None:
        now = tip(git, worktree.base_branch)
    if now is None:
        return worktree.base_commit
    met = git.ask("merge-base", now, head)
    return met.text if met.code == 0 and contains(git, met.text, worktree.base_commit) else worktree.base_commit


def _diff(git: Git, worktree: Worktree, head: str | None, to: str, context: int, limit: int, *, history: bool) -> Diff:
    """With the attributes of the base. What is there is compared in reverse, because the base is the index."""
    head = head or git("rev-parse", to)
    base, after = _base(git, worktree, head), git("write-tree") if to == INDEX else to
    with _as_of(git, base) as aside:
        range_ = ["-R", *REVERSED_PREFIXES, INDEX, after]
        found = _between(aside, range_, context, limit, head=head, base=base)
        return _with_history(aside, found, limit) if history else found


@contextlib.contextmanager
def _as_of(git: Git, base: str) -> Iterator[Git]:
    """Git that compares with the attributes of this commit: otherwise, an agent that writes `* -diff` into
    .gitattributes hides its lines from reviewers, from the limits on its changes and from the search for secrets.

    Git reads attributes from the working directory and from the index. So it gets an empty one and the base as index.
    """
    with tempfile.TemporaryDirectory(prefix="toryo-base-") as place:
        empty = Path(place) / "empty"
        empty.mkdir()
        variables = {**git.variables, "GIT_INDEX_FILE": str(Path(place) / "index"), "GIT_WORK_TREE": str(empty)}
        aside = Git(empty, variables, git.needs)
        aside("read-tree", base)
        yield aside


def _with_history(git: Git, found: Diff, limit: int) -> Diff:
    history, truncated = _history(git, found.base, found.head, limit)
    return replace(found, history=history, history_truncated=truncated)


def _history(git: Git, base: str, head: str, limit: int) -> tuple[str, bool]:
    """One command, whatever the number of commits."""
    what = (
        "--format=tformat:commit %H%n%w(0,1,1)%B%w(0,0,0)",
        "--diff-merges=dense-combined",
        "--patch",
        "--unified=0",
    )
    arguments = ("log", *what, *PREFIXES, *DIFF, f"{base}..{head}", "--")
    return _beginning(git, limit, *arguments, seconds=LONG)


def _between(git: Git, range_: list[str], context: int, limit: int, *, head: str, base: str) -> Diff:
    arguments = ("diff", "--patch", f"--unified={context}", *PREFIXES, *DIFF, *range_, "--")
    patch, truncated = _beginning(git, limit, *arguments)
    names = git.must("diff", "--name-status", "-z", *DIFF, *range_, "--").names
    lines = dict(_lines(git.must("diff", "--numstat", "-z", *DIFF, *range_, "--").output))
    changes = tuple(_change(*status, *lines[status[1]]) for status in _statuses(iter(names)))
    return Diff(patch, changes, truncated, head=head, base=base)


def _beginning(git: Git, limit: int, *arguments: str, seconds: float = TIME_LIMIT) -> tuple[str, bool]:
    """What git prints, and whether it was cut."""
    return _cut(git.beginning(4 * limit + 1, *arguments, seconds=seconds), limit)


def _cut(output: bytes, limit: int) -> tuple[str, bool]:
    """Whole lines of at most `limit` characters. A character takes up to four bytes, so what was read is enough."""
    text = output.decode(errors="replace")
    if len(text) <= limit and len(output) <= 4 * limit:
        return text, False
    return text[: text.rfind("\n", 0, limit) + 1], True


def _statuses(names: Iterator[str]) -> Iterator[tuple[str, str, str | None]]:
    """Status, path, old path. Of a rename git names both, the old one first."""
    for status in names:
        first = next(names)
        yield (status[0], next(names), first) if status[0] in "RC" else (status[0], first, None)


def _lines(output: bytes) -> Iterator[tuple[str, tuple[str, str]]]:
    """Path, lines added and deleted ("-" for a binary file). Of a rename the path is empty and both names follow."""
    answers = iter(output.split(b"\0"))
    for answer in answers:
        if answer:
            added, deleted, path = answer.split(b"\t", 2)
            name = path or (next(answers), next(answers))[1]
            yield os.fsdecode(name), (os.fsdecode(added), os.fsdecode(deleted))


def _change(status: str, path: str, old_path: str | None, added: str, deleted: str) -> FileChange:
    binary = added == "-"
    return FileChange(
        path=readable_name(path),
        old_path=None if old_path is None else readable_name(old_path),
        status=STATUSES.get(status, "modified"),
        insertions=0 if binary else int(added),
        deletions=0 if binary else int(deleted),
        binary=binary,
    )


def _uncommitted(git: Git, links: Iterable[str]) -> Loose:
    """What `git status` tells, without renames, so that each line has one name; and what cannot be kept from here."""
    options = ("--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
    found = [_name(line) for line in git.must("status", *options, seconds=LONG).names]
    own = [each for each in found if not each.endswith("/") and fits(git.directory / each)]
    others = sorted(set(found) - set(own))
    changed = [each for each in links if _changed_inside(git.directory / each)]
    return Loose(tuple(map(readable_name, own)), tuple(map(readable_name, (*others, *changed))))


def _name(line: str) -> str:
    """A new name that ends with a slash, although every file is named, is a repository: git does not look into it."""
    return line[2:] if line.startswith("? ") else line.split(" ", 10 if line.startswith("u ") else 8)[-1]


def _changed_inside(submodule: Path) -> bool:
    """Whether a submodule that is checked out has what it has not committed. It is a repository like any other."""
    if not os.path.lexists(submodule / ".git"):
        return False
    try:
        checkout = open_checkout(submodule)
        if checkout.top != submodule:
            return True
        options = ("--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty")
        return bool(checkout.git.must("status", *options, seconds=LONG).output)
    except Trouble:
        return True
