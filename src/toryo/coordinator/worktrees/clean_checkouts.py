"""A clean checkout of the commit that would be merged now, for checks: of its agent's directory it has what is in that
commit, and nothing else.

It stands beside the worktree (`.checks/NAME`), with a repository of its own, is brought to the next commit by what
differs, and goes with the worktree.

A project can have it prepared (`tree_setup`). What the set-up made there is kept for the next check as long as it is
exactly as the set-up left it: a check runs what an agent wrote, and could leave something for the next one. Which files
these are is recorded where no check can write; all others that are not in the commit are removed. The set-up runs what
an agent wrote, too, so nothing of it is kept once the work no longer contains each change that it had then.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from toryo.coordinator.worktrees import commits_and_diffs, conflict_marks
from toryo.coordinator.worktrees.commits_and_diffs import Diff
from toryo.coordinator.worktrees.creating import alone, refuse_filters
from toryo.coordinator.worktrees.git import LONG, Git, Trouble
from toryo.coordinator.worktrees.launch_repositories import begin, fill, git_of, repository_of, seen_of
from toryo.coordinator.worktrees.paths import Worktree, check_place, clear, inside, project_in, readable_name, tip
from toryo.coordinator.worktrees.repository import Checkout, open_checkout
from toryo.coordinator.worktrees.views import view

LOCK_FILES = re.compile(
    r"package-lock\.json|package\.json|pnpm-lock\.yaml|yarn\.lock|poetry\.lock|uv\.lock|pyproject\.toml|"
    r"requirements.*\.txt|Cargo\.lock|go\.sum|Gemfile\.lock|composer\.lock"
)
"""Files that say what is installed. Where one of them differs, the set-up runs again."""
RECORD = "prepared.json"
PASSED = "passed"
ONLY_HERE = "only-here.json"

_State = list[int]


@dataclass(frozen=True, slots=True)
class Clean:
    """`working_directory`: the project's directory in it. `commit`: the worktree's branch with what is not committed
    yet; `tree`: its contents. `changes`: what a merge of it would bring. `due`: for what it has to be set up before
    commands run in it; empty if it is."""

    top: Path
    working_directory: Path
    commit: str
    tree: str
    changes: Diff | None
    due: str = ""
    changed: tuple[str, ...] = ()
    """Each file that differs from the work's base, and how, if it has to be set up."""


def check_out(worktree: Worktree, limit: int | None, prepared_by: str = "") -> Clean:
    """`limit`: how many characters of the changes are asked for, if any. `prepared_by`: names the set-up that the
    commands need, if any. Raises Trouble. While the commands of an earlier call run in it, the caller must not call
    this again."""
    checkout, place = open_checkout(worktree.repository), check_place(worktree.path)
    with alone(place.parent):
        refuse_filters(checkout)
        begin(checkout, place, worktree.base_commit)
        there, objects = inside(worktree), repository_of(place) / "objects"
        if there is None:
            commit = tip(checkout.git, worktree.branch) or worktree.base_commit
            if words := conflict_marks.words(worktree.path, checkout.git, commit):
                raise Trouble(words)
            changes = commits_and_diffs.diff(worktree, 0, limit, history=True) if limit is not None else None
        else:
            with view(worktree, there, objects=objects) as found:
                if words := commits_and_diffs.in_the_middle(found):
                    raise Trouble(words)
                commit = commits_and_diffs.snapshot(found, "Work to be checked", "Toryo", dated_as_head=True)
                if words := conflict_marks.words(worktree.path, found.git, commit):
                    raise Trouble(words)
                changes = commits_and_diffs.staged(found, 0, limit, history=True) if limit is not None else None
        begun = repository_of(place)
        (begun / "HEAD").write_text(f"{commit}\n")
        tree = git_of(checkout, place)("rev-parse", f"{commit}^{{tree}}")
        key = ""
        changed: tuple[str, ...] = ()
        if prepared_by:
            key = _key(git_of(checkout, place), commit, prepared_by)
            changed = _changed(git_of(checkout, place), worktree.base_commit, commit)
        prepared = bool(key) and _brought(checkout, place, commit, key, changed)
        if not prepared:
            if _record_of(place).exists() or key:
                _empty(place)
            fill(checkout, place, commit, clean=True)
    working = project_in(place, worktree.subdirectory)
    return Clean(place, working, commit, tree, changes, "" if prepared else key, changed)


def settle(worktree: Worktree, clean: Clean) -> None:
    """It has been set up: what that made is kept. What is in the commit is again as it is there."""
    checkout, place = open_checkout(worktree.repository), clean.top
    with alone(place.parent):
        fill(checkout, place, clean.commit)
        tracked = _tracked(checkout, place)
        made = {name: state for name, state in _states(place).items() if name not in tracked}
        draft = _record_of(place).with_suffix(".new")
        draft.write_text(json.dumps({"key": clean.due, "changed": clean.changed, "made": made}))
        draft.replace(_record_of(place))


def to_base(worktree: Worktree, clean: Clean) -> Path | None:
    """Brings the checkout to what the work started from, and returns the project's directory there; None if that has
    none. What a set-up made stays. The next `check_out` brings it to the work again. Raises Trouble or OSError."""
    checkout, place = open_checkout(worktree.repository), clean.top
    with alone(place.parent):
        fill(checkout, place, clean.changes.base if clean.changes is not None else worktree.base_commit)
    working = place / worktree.subdirectory
    return project_in(place, worktree.subdirectory) if working.is_dir() else None


def ignored_paths(worktree: Worktree, clean: Clean, names: Sequence[str]) -> frozenset[str]:
    """Which of these paths, from the project's directory, git ignores in the checkout as it is now."""
    checkout = open_checkout(worktree.repository)
    paths = {os.path.normpath(PurePosixPath(worktree.subdirectory, each)): each for each in names}
    within = [each for each in paths if not each.startswith("..")]
    found = git_of(checkout, clean.top).ask("check-ignore", "--no-index", "-z", "--stdin", given="\0".join(within))
    return frozenset(paths[each] for each in found.names if each in paths)


# --- what has passed --------------------------------------------------------------------------------------------------


def note(worktree: Worktree, clean: Clean, *, passed: bool, only_here: Sequence[str] = ()) -> None:
    """How the checks have ended that ran there, for `changed_since`, and what they have verified that neither a commit
    nor the server has, for `found_only_here`. Raises Trouble or OSError."""
    forget(worktree)
    if not passed:
        return
    if only_here:
        _only_here(worktree).write_text(json.dumps(list(only_here)))
    _passed(worktree).write_text(clean.tree)


def forget(worktree: Worktree) -> None:
    """Work begins in it again."""
    _passed(worktree).unlink(missing_ok=True)
    _only_here(worktree).unlink(missing_ok=True)


def found_only_here(worktree: Worktree) -> tuple[str, ...]:
    """What checks have verified, is still in the worktree, and is nowhere else."""
    with contextlib.suppress(OSError, ValueError):
        names = json.loads(_only_here(worktree).read_bytes())
        return tuple(each for each in names if os.path.lexists(worktree.working_directory / each))
    return ()


def changed_since(worktree: Worktree, commit: str | None = None) -> tuple[str, ...] | None:
    """The files of a commit (of the branch, if none is named) that are not as they were when they passed; None if all
    are, or if nothing has passed. Raises Trouble or OSError."""
    try:
        passed = _passed(worktree).read_bytes().decode()
    except FileNotFoundError:
        return None
    checkout = open_checkout(worktree.repository)
    now = checkout.git("rev-parse", f"{commit or f'refs/heads/{worktree.branch}'}^{{tree}}")
    if now == passed:
        return None
    # What has passed is known where it was checked.
    git = git_of(checkout, check_place(worktree.path))
    changed = git.ask("diff-tree", "-r", "--name-only", "--no-renames", "-z", passed, now, seconds=LONG)
    return tuple(map(readable_name, changed.names)) if changed.code == 0 else ()


def _passed(worktree: Worktree) -> Path:
    """Where no agent and no check can write."""
    return seen_of(check_place(worktree.path)) / PASSED


def _only_here(worktree: Worktree) -> Path:
    return seen_of(check_place(worktree.path)) / ONLY_HERE


# --- what a set-up made -----------------------------------------------------------------------------------------------


def _key(git: Git, commit: str, prepared_by: str) -> str:
    entries = git.must("ls-tree", "-r", "-z", commit, seconds=LONG).names
    locks = [each for each in entries if LOCK_FILES.fullmatch(PurePosixPath(each.partition("\t")[2]).name)]
    return hashlib.sha256(os.fsencode("\0".join([prepared_by, *locks]))).hexdigest()


def _changed(git: Git, base: str, commit: str) -> tuple[str, ...]:
    """Of each file its name, its contents and its mode, before and after."""
    words = git.must("diff-tree", "-r", "--raw", "--no-renames", "--no-abbrev", "-z", base, commit, seconds=LONG).names
    return tuple(map("".join, zip(words[::2], words[1::2], strict=True)))


def _brought(checkout: Checkout, place: Path, commit: str, key: str, changed: Sequence[str]) -> bool:
    """Brings the prepared checkout to the commit; False if it is another one, or not as the set-up left it, or if the
    set-up has seen a change that is gone."""
    try:
        record = json.loads(_record_of(place).read_bytes())
        made: Mapping[str, _State] = record["made"]
        states = _states(place)
        if record["key"] != key or any(states.get(name) != state for name, state in made.items()):
            return False
        if not set(record["changed"]).issubset(changed):
            return False
        fill(checkout, place, commit)
        tracked = _tracked(checkout, place)
        for name in reversed(list(_states(place))):
            if name not in made and name not in tracked:
                _remove(place / name)
    except (OSError, ValueError, LookupError, TypeError):
        return False
    return True


def _remove(path: Path) -> None:
    if stat.S_ISDIR(path.lstat().st_mode):
        path.rmdir()
    else:
        path.unlink()


def _tracked(checkout: Checkout, place: Path) -> set[str]:
    """With the directories that these are in."""
    names = git_of(checkout, place).must("ls-files", "-z").names
    return {*names, *(str(each) for name in names for each in PurePosixPath(name).parents)}


def _states(place: Path) -> dict[str, _State]:
    """Everything that is there, a directory before what is in it. Nobody can set the time of a file's last change."""
    found: dict[str, _State] = {}
    for name, state in _below(str(place), ""):
        directory = stat.S_ISDIR(state.st_mode)
        times = [] if directory else [state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino]
        found[name] = [state.st_mode, *times]
    found.pop(".git", None)
    return found


def _below(directory: str, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(directory) as entries:
        for entry in entries:
            yield prefix + entry.name, entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                yield from _below(entry.path, f"{prefix}{entry.name}/")


def _record_of(place: Path) -> Path:
    return seen_of(place) / RECORD


def _empty(place: Path) -> None:
    _record_of(place).unlink(missing_ok=True)
    if place.is_symlink():
        place.unlink()
    with contextlib.suppress(FileNotFoundError):
        clear(place)
