"""Acceptance checks: files that must exist and commands that must succeed before a reported success counts. They run
here, never on the server.

A check is `{"file": path}` (exists, inside the working directory) or `{"command": text or list}` (ends with 0 in its
time). All checks of an order run in parallel, each command in its own process group.
"""

from __future__ import annotations

import asyncio
import shlex
import stat
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from toryo import untrusted_files
from toryo.coordinator import logs, processes
from toryo.coordinator.launch_state import Stage
from toryo.coordinator.processes import Process
from toryo.coordinator.provider import StartFailure
from toryo.coordinator.sandbox import Walled

TIME_LIMIT = 600.0
"""Seconds for a command that names no `timeout_seconds`."""
END_WITHIN = 2.0
TAIL = 2000
LONGEST_NAME = 2000

Failures = list[dict[str, str]]
Wall = Callable[[Sequence[str]], Walled]
"""What is executed for a command. Raises StartFailure."""


async def failed(checks: tuple[dict[str, Any], ...], directory: Path, wall: Wall) -> Failures:
    """What did not hold: `[{"check": …, "message": …}]`, in the order of the checks; empty if all hold."""
    if not _there(directory):
        words = f"The working directory {directory} does not exist on this machine."
        return [{"check": _named(check), "message": words} for check in checks]
    messages = await asyncio.gather(*(_told(each, directory, wall) for each in checks))
    pairs = zip(checks, messages, strict=True)
    return [{"check": _named(check), "message": message} for check, message in pairs if message]


def _named(check: Mapping[str, Any]) -> str:
    """The name of a check: its file or command."""
    what = check.get("file") or check.get("command") or dict(check)
    return (shlex.join(map(str, what)) if isinstance(what, list) else str(what))[:LONGEST_NAME]


async def _told(check: Mapping[str, Any], directory: Path, wall: Wall) -> str | None:
    """An invalid check fails alone: the results of the others are still reported."""
    try:
        if "file" in check:
            return _missing(str(check["file"]), directory)
        if "command" in check:
            return await _unsuccessful(
                check["command"], float(check.get("timeout_seconds") or TIME_LIMIT), directory, wall
            )
        return "This check is neither a file nor a command."
    except (ArithmeticError, LookupError, OSError, TypeError, ValueError) as problem:
        return f"This check cannot be run: {type(problem).__name__}: {problem}"


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


async def _unsuccessful(command: Any, limit: float, directory: Path, wall: Wall) -> str | None:
    argv = ["/bin/sh", "-c", command] if isinstance(command, str) else [str(each) for each in command]
    with tempfile.NamedTemporaryFile(prefix="toryo-check-") as output:
        try:
            walled = wall(argv)
            try:
                process = processes.start(
                    walled.argv, cwd=directory, env=walled.env, output=output.fileno(), keep=walled.keep
                )
            finally:
                walled.close()
        except StartFailure as failure:
            return str(failure)
        in_time = await _ended(process, limit)
        tail = logs.tail_of(output.file, TAIL).strip()
        if not in_time:
            how = f"took longer than {limit:g} s and was stopped"
        elif process.signal is not None:
            how = f"was ended by signal {process.signal}"
        elif process.exit_code:
            how = f"ended with exit code {process.exit_code}"
        else:
            return None
        return f"The command {how}." + (f"\n{tail}" if tail else "")


async def _ended(process: Process, limit: float) -> bool:
    """Waits for the process, then ends the rest of its group; also when this is cancelled."""
    ended = asyncio.Event()
    process.watch(asyncio.get_running_loop(), ended.set)
    try:
        return await _within(ended, limit)
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
