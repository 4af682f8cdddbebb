"""Runs git: one directory, its own environment, limits of time and output, errors that name the next step.

Nothing is asked (no prompt, no pager, no editor), no hook runs, nothing is fetched (except by `remotes`), and the
user's settings that would change what our commands do or print are overruled. What another git holds locked, or is
just making, is tried again, for a while. Which repository git works on, and that it does not read that repository's
configuration, is decided in `repository`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

OLDEST = (2, 38)
"""The first that merges without a checkout (`merge-tree --write-tree`)."""
TIME_LIMIT = 120.0
LONG = 1800.0
"""Seconds for what touches every file: checking out, staging."""
LOCKED_FOR = 15.0
"""Seconds during which a command that another git blocks is tried again."""
PAUSE = 0.05
END_WITHIN = 5.0
MOST_OUTPUT = 128 * 1024 * 1024
"""Bytes that are read of an answer; agents can make a repository of any size."""
MOST_ERRORS = 64 * 1024
MOST_AT_ONCE = 64 * 1024

SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.safecrlf=false",
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.quotePath=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "core.askPass=",
    "core.sshCommand=false",
    "credential.helper=",
    "protocol.allow=never",
    "gc.auto=0",
    "maintenance.auto=false",
    "rerere.enabled=false",
    "submodule.recurse=false",
    "diff.ignoreSubmodules=dirty",
    "status.showStash=false",
    "status.submoduleSummary=false",
    "merge.verifySignatures=false",
    "log.showSignature=false",
    "commit.gpgSign=false",
    "advice.addEmbeddedRepo=false",
    "advice.graftFileDeprecated=false",
)
OFFLINE = frozenset({"core.sshCommand=false", "credential.helper=", "protocol.allow=never"})
"""Settings without which git reaches remotes as the user has configured it."""
INHERITED = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"})
"""Where this machine keeps git and its settings; every other GIT_* may point at another repository."""
OWN = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "GIT_EDITOR": ":",
    "GIT_SEQUENCE_EDITOR": ":",
    "GIT_PAGER": "cat",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_MERGE_AUTOEDIT": "no",
    "GIT_REFLOG_ACTION": "toryo: merge",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_PROTOCOL_FROM_USER": "0",
    "PYTHONSAFEPATH": "1",
    "GIT_AUTHOR_NAME": "Toryo",
    "GIT_AUTHOR_EMAIL": "toryo@toryo.invalid",
    "GIT_COMMITTER_NAME": "Toryo",
    "GIT_COMMITTER_EMAIL": "toryo@toryo.invalid",
}

_BLOCKED = re.compile(r"(\.lock'|could not lock .*): File exists|failed to read .*/worktrees/[^/]+/commondir: ")
"""Another git holds a lock, or is making or removing a worktree: git can list none of them for a moment."""
NEXT_STEPS = (
    (
        "No space left on device",
        "The disk is full. Free some space, for example by removing worktrees of closed tasks.",
    ),
    (
        "Disk quota exceeded",
        "The disk quota is used up. Free some space, for example by removing worktrees of closed tasks.",
    ),
    (
        "dubious ownership",
        "Run the Coordinator as the owner of the repository, or add the repository to git's safe.directory.",
    ),
    ("Permission denied", "Give the user that runs the Coordinator permission to read and write there."),
    ("not a git repository", "Run git init there and commit once, or set the project's isolation to none."),
    ("unrelated histories", "The branches have no common commit. Merge them by hand (--allow-unrelated-histories)."),
    ("missing blob object", "This is a partial clone, and Toryo does not fetch. Fetch all objects there first."),
    ("promisor remote", "This is a partial clone, and Toryo does not fetch. Fetch all objects there first."),
    ("File exists", "If no git process is running there, remove the lock file that git names."),
)


class Trouble(Exception):
    """What cannot be done with git here, and the next step."""


@dataclass(frozen=True, slots=True)
class Answer:
    code: int
    output: bytes
    errors: str

    @property
    def text(self) -> str:
        return os.fsdecode(self.output).removesuffix("\n")

    @property
    def names(self) -> list[str]:
        """The parts between NUL bytes; file names may contain any other byte."""
        return [os.fsdecode(part) for part in self.output.split(b"\0") if part]


@dataclass(frozen=True)
class Git:
    """Git in one directory. `variables` are added to the environment: which repository, another index, who commits.
    `needs` is what must stay there as long as this is used."""

    directory: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    needs: object = field(default=None, compare=False, repr=False)
    network: bool = False

    def having(self, **variables: str) -> Git:
        return Git(self.directory, {**self.variables, **variables}, self.needs, self.network)

    def online(self) -> Git:
        """The same with the network. The address must be one that no program runs for: https or ssh; a local one only
        where the user's own configuration puts it in place of such an address."""
        allowed = {"GIT_ALLOW_PROTOCOL": "file:https:ssh", "SSH_ASKPASS_REQUIRE": "never"}
        return Git(self.directory, {**self.variables, **allowed}, self.needs, network=True)

    def signed(self, name: str, email: str) -> Git:
        """The author of commits, so that no user.name needs to be configured."""
        return self.having(
            GIT_AUTHOR_NAME=name, GIT_AUTHOR_EMAIL=email, GIT_COMMITTER_NAME=name, GIT_COMMITTER_EMAIL=email
        )

    def __call__(self, *arguments: str, given: str = "", seconds: float = TIME_LIMIT) -> str:
        """The output of git, without the last end of line. Raises Trouble if it fails."""
        return self.must(*arguments, given=given, seconds=seconds).text

    def must(self, *arguments: str, given: str = "", seconds: float = TIME_LIMIT) -> Answer:
        answer = self.ask(*arguments, given=given, seconds=seconds)
        if answer.code != 0:
            raise Trouble(explain(answer.errors or answer.text, arguments, self.directory))
        return answer

    def holds(self, *arguments: str) -> bool:
        """Whether a question that git answers by its exit code is answered with yes."""
        return self.ask(*arguments).code == 0

    def ask(
        self, *arguments: str, given: str = "", seconds: float = TIME_LIMIT, still: Callable[[], bool] | None = None
    ) -> Answer:
        """Git's answer, also of a failure. Retries while another git blocks it, because then nothing has happened; but
        not once that other git has changed what this is for (`still`)."""
        until = time.monotonic() + LOCKED_FOR
        while True:
            answer = self._once(arguments, os.fsencode(given), seconds)
            if answer.code == 0 or not _BLOCKED.search(answer.errors) or time.monotonic() > until:
                return answer
            time.sleep(PAUSE)
            if still is not None and not still():
                return answer

    def beginning(self, most: int, *arguments: str, seconds: float = TIME_LIMIT) -> bytes:
        """The first bytes of what git prints; it is ended when it has more to say."""
        return self._run(arguments, b"", seconds, most)[1]

    def _once(self, arguments: tuple[str, ...], given: bytes, seconds: float) -> Answer:
        code, output, errors = self._run(arguments, given, seconds, MOST_OUTPUT + 1)
        if len(output) > MOST_OUTPUT:
            raise Trouble(
                f"git {arguments[0]} in {self.directory} printed more than {MOST_OUTPUT >> 20} MB, because too "
                "many files have changed. Remove or ignore files that do not belong there."
            )
        return Answer(code, output, errors.decode(errors="replace").strip())

    def _run(self, arguments: tuple[str, ...], given: bytes, seconds: float, most: int) -> tuple[int, bytes, bytes]:
        """Exit code, output up to the limit, and errors. Raises Trouble if it does not end in time."""
        with contextlib.ExitStack() as opened:
            try:
                errors = opened.enter_context(tempfile.TemporaryFile())
                words = opened.enter_context(tempfile.TemporaryFile()) if given else None
            except OSError as problem:
                raise Trouble(f"git needs a writable temporary directory: {problem.strerror}.") from problem
            if words is not None:
                words.write(given)
                words.seek(0)
            until = time.monotonic() + seconds
            with self._start(
                arguments, subprocess.DEVNULL if words is None else words.fileno(), errors.fileno()
            ) as git:
                try:
                    output = _read(git, most, until)
                    if len(output) < most:
                        _wait(git, until)
                except (TimeoutError, subprocess.TimeoutExpired) as late:
                    _end(git, late=True)
                    said = f"git {arguments[0]} in {self.directory} took longer than {seconds:g} s and was stopped."
                    raise Trouble(f"{said} Try again when the machine is less busy.") from late
                finally:
                    _end(git)
            return git.returncode, output, os.pread(errors.fileno(), MOST_ERRORS, 0)

    def _start(self, arguments: tuple[str, ...], given: int, errors: int) -> subprocess.Popen[bytes]:
        wanted = (each for each in SETTINGS if not self.network or each not in OFFLINE)
        settings = [word for each in wanted for word in ("-c", each)]
        try:
            return subprocess.Popen(
                ["git", "--no-pager", *settings, *arguments],
                cwd=self.directory,
                env=environment(os.environ) | dict(self.variables),
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        except NotADirectoryError as problem:
            raise Trouble(f"{self.directory} is not a directory. Choose the directory of a repository.") from problem
        except FileNotFoundError as missing:
            raise Trouble(_not_there(self.directory)) from missing
        except OSError as problem:
            raise Trouble(f"git cannot be run in {self.directory}: {problem.strerror}.") from problem


def environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """Without what would point git at another repository or have it run something, and with words of git that can be
    recognised. Programs are looked for in absolute directories only: git works where agents write."""
    kept = {name: value for name, value in inherited.items() if not name.startswith("GIT_") or name in INHERITED}
    kept.pop("LANGUAGE", None)
    path = kept.get("PATH", os.defpath).split(os.pathsep)
    kept["PATH"] = os.pathsep.join(each for each in path if os.path.isabs(each))  # noqa: PTH117 - an empty one is none
    return {**kept, **OWN}


def explain(words: str, arguments: tuple[str, ...], directory: Path) -> str:
    """Git's error message, and the next step if it is known."""
    said = " ".join(line.strip() for line in words.splitlines() if line.strip())[:1500].rstrip(".")
    step = next((step for sign, step in NEXT_STEPS if sign in said), "")
    return f"git {arguments[0]} failed in {directory}: {said or 'git printed no error message'}. {step}".strip()


def require() -> None:
    """Raises Trouble if git is missing or too old."""
    version = _version(os.environ.get("PATH", os.defpath))
    if version < OLDEST:
        found, wanted = (".".join(map(str, each)) for each in (version, OLDEST))
        raise Trouble(f"git {found} is too old for worktrees. Install git {wanted} or newer.")


@functools.lru_cache(maxsize=8)
def _version(path: str) -> tuple[int, ...]:  # noqa: ARG001 - asked again where PATH is another one
    numbers = re.findall(r"\d+", Git(Path("/"))("version"))
    return tuple(int(number) for number in numbers[:2])


def _not_there(directory: Path) -> str:
    if not directory.exists():
        return f"The directory {directory} does not exist. Create it, or choose another."
    return "git was not found. Install it, or set the project's isolation to none."


def _read(process: subprocess.Popen[bytes], most: int, until: float) -> bytes:
    """What it prints, up to that many bytes. Raises TimeoutError if it has more to say at that time."""
    assert process.stdout is not None
    descriptor, output = process.stdout.fileno(), bytearray()
    ready = select.poll()
    ready.register(descriptor, select.POLLIN)
    while len(output) < most:
        if not ready.poll(max(0.0, until - time.monotonic()) * 1000):
            raise TimeoutError
        part = os.read(descriptor, min(MOST_AT_ONCE, most - len(output)))
        if not part:
            break
        output += part
    return bytes(output)


def _wait(process: subprocess.Popen[bytes], until: float) -> None:
    """Python's own wait with a time limit looks again and again; this one sleeps until it has ended, where it can."""
    with contextlib.suppress(OSError, AttributeError):  # Linux only, and not in every sandbox
        descriptor = os.pidfd_open(process.pid)
        try:
            ended = select.poll()
            ended.register(descriptor, select.POLLIN)
            ended.poll(max(0.0, until - time.monotonic()) * 1000)
        finally:
            os.close(descriptor)
    process.wait(max(0.0, until - time.monotonic()))


def _end(process: subprocess.Popen[bytes], *, late: bool = False) -> None:
    """Interrupts git first, so that it removes its lock files; then ends it with its children (filters). `late`: these
    may still be there when git is gone."""
    if process.poll() is not None and not late:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(END_WITHIN)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
