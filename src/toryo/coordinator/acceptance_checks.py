"""Acceptance checks: files that must exist, commands that must succeed, and limits on the changes before a reported
success counts. They run here, never on the server.

A check is `{"file": path}` (exists, inside the working directory), `{"command": text or list}` (ends with 0 in its
time; with `retries`, one of several runs does), or `{"diff": limits}` (`diff_limits.py`). All checks of an order run in
parallel, each command in its own process group. After its last run, the files that it left are collected
(`artifacts.py`).

A command runs what an agent wrote, and could change what another one looks at. Where the directory can be made new
(`Renew`), commands run one after the other, each run in a new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shlex
import stat
import tempfile
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from toryo import sandbox_signs, untrusted_files
from toryo.check_limits import MOST_RETRIES, TAIL, TIME_LIMIT, TOLD
from toryo.check_names import name_of
from toryo.coordinator import diff_limits, logs, network_limits, processes
from toryo.coordinator.artifacts import Collected, File
from toryo.coordinator.launch_state import Stage
from toryo.coordinator.processes import Process
from toryo.coordinator.provider import StartFailure
from toryo.coordinator.sandbox import Walled
from toryo.coordinator.worktrees import Diff, Trouble
from toryo.output_redaction import Mask

MOST_OUTPUT = 64_000_000
"""Bytes that a command may print."""
LOOK_AT_OUTPUT = 0.5
"""Seconds between two looks at how much it has printed."""
END_WITHIN = 2.0

NOT_RUN = (126, 127)
"""How a shell ends where a command cannot be executed, or is not found."""
_NOT_EXECUTED = re.compile(r"^bwrap: execvp .*", re.MULTILINE)
"""What bubblewrap says of a command that is no shell's."""
IN_NO_COMMIT = "Git ignores {program}, so no commit has it. The project's worktree_setup can install it."
IN_NEITHER = "The project requires this check, but {program} is neither in the work nor in what it started from."
_NEXT_COMMAND = re.compile(r"[;&|()]+")
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_BEFORE_A_COMMAND = _SHELLS | {"env", "exec", "time", "nice", "nohup", "command", "if", "then", "!", "do", "else"}

Wall = Callable[[Sequence[str]], Walled]
"""What is executed for a command. Raises StartFailure."""
Collect = Callable[[Sequence[str], float], Collected]
"""The files below the directory that match these patterns; the command was started at this time. Blocks."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """Where files are that git ignores, if checks run in a clean checkout, and how what is verified there is kept: it
    goes with the worktree."""

    directory: Path
    collect: Collect


Renew = Callable[[], Awaitable[None]]
"""Brings the directory back to what it was before the first command. Raises StartFailure, Trouble or OSError."""
Changes = Callable[[], Diff]
"""The changes of the task, for limits on them. Blocks. Raises Trouble."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """How one check ended. `outcome`: passed, failed, flaky (failed, then passed) or error (it cannot run, whatever the
    work is). `exit_code`: of the last run, None where no program ended by itself. `output`: what was found, or the end
    of what the command printed.
    """

    check: str
    outcome: str
    seconds: float
    runs: int = 1
    exit_code: int | None = None
    output: str = ""
    files: tuple[File, ...] = ()
    """What the command left; `left_out` says what is missing, or older."""
    left_out: tuple[str, ...] = ()
    unable: bool = False
    """Its command was not found, or could not be executed: the work may be why, or the check itself."""

    def told(self) -> dict[str, Any]:
        """As it is reported, but for what it left."""
        told = asdict(self)
        del told["files"], told["left_out"], told["unable"]
        return told

    @property
    def failed(self) -> bool:
        """Whether it keeps the work from counting."""
        return self.outcome in ("failed", "error")

    @property
    def message(self) -> str:
        """What an agent is told of a failure: why, and the end of the output."""
        why, _, rest = self.output.partition("\n")
        return f"{why}\n{rest[-TOLD:]}" if rest else why


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one check. `why` is empty if it passed."""

    why: str = ""
    exit_code: int | None = None
    output: str = ""
    unable: bool = False


async def evidence(
    checks: tuple[dict[str, Any], ...],
    directory: Path,
    wall: Wall,
    changes: Changes,
    mask: Mask,
    collect: Collect | None = None,
    ignored: Ignored | None = None,
    renew: Renew | None = None,
) -> list[Evidence]:
    """How each check ended, in their order; without `collect`, without files."""
    if not _there(directory):
        words = f"The working directory {directory} does not exist on this machine."
        return [replace(each, outcome="error") for each in all_failed(checks, words)]
    beside = [directory, *([ignored.directory] if ignored is not None else [])]

    runs = 0

    async def run(check: Mapping[str, Any]) -> Run:
        nonlocal runs
        if renew is not None and "command" in check:
            runs += 1
            if runs > 1:
                await renew()
        return await _run(check, beside, wall, changes)

    async def judged(check: Mapping[str, Any]) -> Evidence:
        found = await _evidence(check, run, mask, collect)
        return found if ignored is None or found.failed else await _with_ignored(check, directory, ignored, found)

    if renew is None:
        return list(await asyncio.gather(*map(judged, checks)))
    ended: dict[int, Evidence] = {}
    for number, check in sorted(enumerate(checks), key=lambda each: "command" in each[1]):
        ended[number] = await judged(check)
    return [ended[number] for number in range(len(checks))]


def all_failed(checks: Sequence[Mapping[str, Any]], words: str) -> list[Evidence]:
    return [Evidence(name_of(check), "failed", 0.0, output=words) for check in checks]


async def _evidence(
    check: Mapping[str, Any], run: Callable[[Mapping[str, Any]], Awaitable[Run]], mask: Mask, collect: Collect | None
) -> Evidence:
    began = time.time()
    judged = await _judged(check, run, mask)
    patterns = check.get("artifacts")
    if collect is None or "command" not in check or not isinstance(patterns, list) or not patterns:
        return judged
    try:
        found = await asyncio.to_thread(collect, patterns, began)
    except (ArithmeticError, LookupError, OSError, TypeError, ValueError) as problem:
        found = Collected((), (f"The files cannot be collected: {type(problem).__name__}: {problem}.",))
    return replace(judged, files=found.files, left_out=found.left_out)


async def _with_ignored(check: Mapping[str, Any], directory: Path, ignored: Ignored, found: Evidence) -> Evidence:
    """With the file that has been verified, if no commit has it."""
    if "file" not in check or _missing(str(check["file"]), directory) is None:
        return found
    name = str(check["file"]).removeprefix("./").rstrip("/")
    whole = f"/{name}/**" if await asyncio.to_thread((ignored.directory / name).is_dir) else f"/{name}"
    kept = await asyncio.to_thread(ignored.collect, [whole], 0.0)
    notes = (*kept.left_out, f"What is not kept is only in {ignored.directory}.") if kept.left_out else ()
    return replace(found, files=kept.files, left_out=notes)


async def _judged(
    check: Mapping[str, Any], run_once: Callable[[Mapping[str, Any]], Awaitable[Run]], mask: Mask
) -> Evidence:
    """Runs a check, again after a failure if it may. An invalid check fails alone: the results of the others are still
    reported."""
    began = time.monotonic()
    again, runs, run = _retries(check), 0, Run()
    while runs == 0 or (run.why and runs <= again):
        runs += 1
        try:
            run = await run_once(check)
        except (StartFailure, Trouble) as problem:
            run = Run(str(problem))
        except (ArithmeticError, LookupError, OSError, TypeError, ValueError) as problem:
            run = Run(f"This check cannot be run: {type(problem).__name__}: {problem}")
    outcome = "failed" if run.why else "flaky" if runs > 1 else "passed"
    output = mask("\n".join(filter(None, (run.why, run.output))))
    seconds = round(time.monotonic() - began, 3)
    return Evidence(name_of(check), outcome, seconds, runs, run.exit_code, output, unable=run.unable)


async def cannot_run(
    check: Mapping[str, Any],
    found: Evidence,
    base: Path | None,
    wall: Wall,
    changes: Changes,
    mask: Mask,
    ignored: Callable[[Sequence[str]], Collection[str]] | None = None,
    unbrought: Collection[str] = (),
) -> Evidence:
    """Of a check whose command was not found: the same as an error, if its command is not found either in what the work
    started from (`base`, None: there is no such directory). A program with a path in the project is for the work to
    bring, but for those that git ignores there (`ignored`, of these paths; blocks), and for `unbrought`: what a check
    of the project names, and the work lacks.
    """
    if not found.failed or not found.unable:
        return found
    missing = missing_programs(check, base)
    not_kept = await asyncio.to_thread(ignored, missing) if missing and ignored is not None else ()
    if any(each not in not_kept and each not in unbrought for each in missing):
        return found
    if base is not None:
        run = partial(_run, places=[base], wall=wall, changes=changes)
        before = await _judged({**check, "retries": 0}, run, mask)
        if not before.unable:
            return found
    elsewhere = "cd" in _programs(check["command"])
    said = {each: IN_NO_COMMIT if each in not_kept else IN_NEITHER for each in missing if not elsewhere}
    told = (words.format(program=each) for each, words in said.items())
    return replace(found, outcome="error", output="\n".join([found.output, *told]))


def missing_programs(check: Mapping[str, Any], directory: Path | None) -> list[str]:
    """The programs that its command names by a path in the project, and that are not there."""
    named = filter(_in_project, _programs(check["command"])) if "command" in check else ()
    return [each for each in named if directory is None or not os.path.lexists(directory / each)]


def _in_project(program: str) -> bool:
    return "/" in program and not program.startswith(("/", "~", "$"))


def _programs(command: Any) -> Iterator[str]:
    """The first word of each simple command, or the script that its shell runs."""
    words: Iterable[str] = map(str, command)
    if isinstance(command, str):
        words = lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
    first = True
    with contextlib.suppress(ValueError):  # a quotation without its end: the shell says so
        for word in words:
            if _NEXT_COMMAND.fullmatch(word):
                first = True
            elif first and "=" not in word.partition("/")[0] and word not in _BEFORE_A_COMMAND:
                first = False
                yield word


def _retries(check: Mapping[str, Any]) -> int:
    given = check.get("retries")
    return min(given, MOST_RETRIES) if isinstance(given, int) and "command" in check else 0


async def _run(check: Mapping[str, Any], places: Sequence[Path], wall: Wall, changes: Changes) -> Run:
    if "file" in check:
        missing = [_missing(str(check["file"]), each) for each in places]
        return Run((None if None in missing else missing[-1]) or "")
    if "command" in check:
        return await execute(check["command"], float(check.get("timeout_seconds") or TIME_LIMIT), places[0], wall)
    if isinstance(check.get("diff"), Mapping):
        try:
            return Run(await asyncio.to_thread(_broken, check["diff"], changes))
        except Trouble as trouble:
            return Run(f"The changes cannot be checked. {trouble}")
    return Run("This check is neither a file, a command nor a limit on the changes. Update the Coordinator.")


def _there(directory: Path) -> bool:
    return directory.is_dir()


def _missing(name: str, directory: Path) -> str | None:
    try:
        path = untrusted_files.real(directory / name)
        if not path.is_relative_to(untrusted_files.real(directory)):
            return f"{name} is outside the working directory."
        kind = path.lstat().st_mode
    except FileNotFoundError:
        return f"{name} is missing in {directory}."
    except OSError as problem:
        return f"{name} cannot be read: {problem.strerror}."
    return None if stat.S_ISREG(kind) or stat.S_ISDIR(kind) else f"{name} is neither a file nor a directory."


def _broken(limits: Mapping[str, Any], changes: Changes) -> str:
    return " ".join(diff_limits.broken(limits, changes()))


async def execute(command: Any, limit: float, directory: Path, wall: Wall, kept: int = TAIL) -> Run:
    """Runs a command to its end; `kept`: characters of its output."""
    argv = ["/bin/sh", "-c", command] if isinstance(command, str) else [str(each) for each in command]
    with tempfile.NamedTemporaryFile(prefix="toryo-check-") as output:
        refusals = None
        try:
            walled = wall(argv)
            refusals = walled.refusals
            try:
                process = processes.start(
                    walled.argv,
                    cwd=directory,
                    env=walled.env,
                    output=output.fileno(),
                    keep=walled.keep,
                    sandboxed=walled.sandboxed,
                )
            finally:
                walled.close()
            stopped = await _ended(process, limit, output.fileno())
        except StartFailure as failure:
            return Run(str(failure), unable=True)
        finally:
            refused = network_limits.refused_hosts(refusals).lines if refusals is not None else []
        failed = bool(stopped) or process.exit_code != 0
        signs = sandbox_signs.sign_lines(logs.tail_of(output.file, sandbox_signs.LOOKED_AT), directory)
        said = [*refused, *(signs if failed and process.sandboxed else ())]
        tail = "\n".join(filter(None, (logs.tail_of(output.file, kept).strip(), *said)))
        if stopped:
            return Run(stopped, output=tail)
        if process.signal is not None:
            return Run(f"The command was ended by signal {process.signal}.", output=tail)
        why = f"The command ended with exit code {process.exit_code}." if process.exit_code else ""
        unable = process.exit_code in NOT_RUN or bool(process.exit_code and _NOT_EXECUTED.search(tail))
        return Run(why, process.exit_code, tail, unable)


async def _ended(process: Process, limit: float, output: int) -> str:
    """Waits for the process, then ends the rest of its group; also when this is cancelled. Why it was stopped: empty if
    it ended by itself."""
    ended, until = asyncio.Event(), time.monotonic() + limit
    process.watch(asyncio.get_running_loop(), ended.set)
    try:
        while not await _within(ended, max(0.0, min(LOOK_AT_OUTPUT, until - time.monotonic()))):
            if os.fstat(output).st_size > MOST_OUTPUT:
                return f"The command printed more than {MOST_OUTPUT // 1_000_000} MB and was stopped."
            if time.monotonic() >= until:
                return f"The command took longer than {limit:g} s and was stopped."
        return ""
    finally:
        if process.group_alive:
            process.signal_group(Stage.TERMINATE)
            if not process.over:
                await _within(ended, END_WITHIN)
            process.signal_group(Stage.KILL)


async def _within(event: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    return True
