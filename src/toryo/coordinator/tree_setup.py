"""How a new tree is made ready for what runs in it: files that git ignores are copied from the person's directory, then
the project's set-up commands run in the sandbox.

Only people say what that is (`worktree_setup`, `worktree_copy`). A tree is an agent's worktree, once before its first
program; the clean checkout of a check, again when what is installed may have changed (`worktrees/clean_checkouts.py`);
or the result that the merge queue checks.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toryo import untrusted_files
from toryo.coordinator import acceptance_checks
from toryo.coordinator.acceptance_checks import Wall
from toryo.coordinator.whole_threads import to_its_end
from toryo.coordinator.worktrees import Trouble, Worktree
from toryo.coordinator.worktrees.launch_repositories import seen_of
from toryo.coordinator.worktrees.repository import open_checkout
from toryo.output_redaction import Mask
from toryo.path_patterns import TooMuchWork, Work, matches

TIME_LIMIT = 1800.0
"""Seconds for one command."""
MOST_FILES = 10_000
MOST_BYTES = 100_000_000
MOST_STEPS = 30_000_000
DEEPEST = 40
PORTION = 1 << 20
DONE = "set-up"
"""Beside what is seen of a worktree, where its agent does not write: it was set up."""


class SetupFailed(Exception):
    """Why the tree could not be made ready, and the end of the command's output. Neither the agent nor its work is to
    blame."""


@dataclass(frozen=True, slots=True)
class Setup:
    """`commands`: each for a shell. `copies`: patterns, as in .gitignore, from the project's directory."""

    commands: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.commands or self.copies)

    @staticmethod
    def read(given: Any) -> Setup:
        """From an order; empty for an older server."""
        found: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        return Setup(tuple(map(str, found.get("commands") or ())), tuple(map(str, found.get("copies") or ())))

    def name(self, project: Path) -> str:
        """Another one for other commands, or other files to copy. Raises Trouble or SetupFailed."""
        files = [[name, found.st_size, found.st_mtime_ns] for name, found in _ignored(project, self.copies)]
        return hashlib.sha256(json.dumps([self.commands, self.copies, files]).encode()).hexdigest()


async def run(setup: Setup, project: Path, directory: Path, wall: Wall, mask: Mask) -> None:
    """Makes the tree ready in which `directory` is the project's. Raises SetupFailed."""
    try:
        await to_its_end(copy, setup, project, directory)
    except (Trouble, OSError) as problem:
        raise SetupFailed(mask(f"The files of worktree_copy cannot be copied. {problem}")) from problem
    for command in setup.commands:
        ended = await acceptance_checks.execute(command, TIME_LIMIT, directory, wall)
        if ended.why:
            why = ended.why.removeprefix("The command ")
            said = f"The set-up command `{command}` {why if why != ended.why else f'cannot be run. {why}'}"
            raise SetupFailed(mask("\n".join(filter(None, (said, ended.output)))))


def is_done(worktree: Worktree) -> bool:
    return (seen_of(worktree.path) / DONE).is_file()


def mark_done(worktree: Worktree) -> None:
    seen_of(worktree.path).mkdir(parents=True, exist_ok=True)
    (seen_of(worktree.path) / DONE).touch()


# --- what is copied ---------------------------------------------------------------------------------------------------


def copy(setup: Setup, project: Path, directory: Path) -> None:
    """Copies what git ignores in the person's directory and the patterns match. Nothing that is there is replaced, and
    no link is followed, on either side. Raises SetupFailed, Trouble or OSError."""
    room = MOST_BYTES
    for name, _ in _ignored(project, setup.copies):
        room -= _copied(project, directory, name, room)


def _ignored(project: Path, patterns: tuple[str, ...]) -> list[tuple[str, os.stat_result]]:
    """Regular files by their path in the project's directory. In an ignored directory, only where a pattern begins with
    its name."""
    if not patterns:
        return []
    found: list[tuple[str, os.stat_result]] = []
    try:
        for name, state in _matching(project, patterns, Work(MOST_STEPS)):
            found.append((name, state))
            if len(found) > MOST_FILES:
                raise SetupFailed(f"worktree_copy matches more than {MOST_FILES} files. Name fewer.")
    except TooMuchWork:
        raise SetupFailed("There are too many files to compare with worktree_copy. Name their directory.") from None
    if sum(state.st_size for _, state in found) > MOST_BYTES:
        raise SetupFailed(f"worktree_copy matches more than {MOST_BYTES // 1_000_000} MB. Name fewer files.")
    return sorted(found, key=lambda each: each[0])


def _matching(project: Path, patterns: tuple[str, ...], work: Work) -> Iterator[tuple[str, os.stat_result]]:
    checkout = open_checkout(project)
    prefix = f"{checkout.subdirectory}/" if checkout.subdirectory else ""
    words = ("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
    for listed in checkout.git.must(*words).names:
        if not listed.startswith(prefix):
            continue
        name = listed.removeprefix(prefix)
        if name.endswith("/"):
            if any(_leads_to(each, name.rstrip("/"), work) for each in patterns):
                yield from _below(project, name.rstrip("/"), patterns, work, 0)
        elif any(matches(each, name, work) for each in patterns):
            yield from _regular(project / name, name)


def _below(
    project: Path, name: str, patterns: tuple[str, ...], work: Work, depth: int
) -> Iterator[tuple[str, os.stat_result]]:
    with contextlib.suppress(OSError), os.scandir(project / name) as entries:
        for entry in sorted(entries, key=lambda each: each.name):
            inner = f"{name}/{entry.name}"
            work.spend(1)
            if entry.is_dir(follow_symlinks=False):
                if entry.name != ".git" and depth < DEEPEST:
                    yield from _below(project, inner, patterns, work, depth + 1)
            elif any(matches(each, inner, work) for each in patterns):
                yield from _regular(Path(entry.path), inner)


def _regular(path: Path, name: str) -> Iterator[tuple[str, os.stat_result]]:
    with contextlib.suppress(OSError):
        state = path.lstat()
        if stat.S_ISREG(state.st_mode):
            yield name, state


def _leads_to(pattern: str, directory: str, work: Work) -> bool:
    """Whether a pattern names this directory, or what is in it."""
    named = pattern.removeprefix("/").split("/")
    within = directory.split("/")
    return matches(pattern, directory, work) or (len(named) > len(within) and named[: len(within)] == within)


def _copied(project: Path, directory: Path, name: str, room: int) -> int:
    """How many bytes; none where something is in its place."""
    *between, own = name.split("/")
    with contextlib.ExitStack() as opened_:
        above = untrusted_files.directory_beneath(project, *between)
        opened_.callback(os.close, above)
        source = untrusted_files.open_regular(own, untrusted_files.READING | os.O_NOFOLLOW, directory=above)
        opened_.callback(os.close, source)
        below = _made(directory, between)
        opened_.callback(os.close, below)
        mode = stat.S_IMODE(os.fstat(source).st_mode) & 0o755 | 0o600
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            target = os.open(own, flags, mode, dir_fd=below)
        except FileExistsError:
            return 0
        opened_.callback(os.close, target)
        size = 0
        while part := os.read(source, PORTION):
            size += len(part)
            if size > room:
                raise OSError(errno.EFBIG, f"{name} grew while it was copied")
            while part:
                part = part[os.write(target, part) :]
        return size


def _made(directory: Path, names: list[str]) -> int:
    """A descriptor of a directory below this one, made where it is missing. Follows no link."""
    at = untrusted_files.directory_beneath(directory)
    for each in names:
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(each, 0o755, dir_fd=at)
            inner = untrusted_files.directory_beneath(at, each)
        finally:
            os.close(at)
        at = inner
    return at
