"""Runs one command for an agent: streams its output, keeps the end of it, and ends the whole process group."""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from toryo.agents.env_vars import SANDBOXED

TAIL = 4000
"""Characters of output that are kept for the summary."""
LINGER = 0.5
"""Seconds to read what is still in the pipe after the command itself has ended."""
END_WITHIN = 3.0

Command = str | Sequence[str]


class Ran(NamedTuple):
    """How a command ended. `tail` is the end of its output; `problem` says why it failed, None if it did not."""

    tail: str
    problem: str | None = None

    @property
    def ok(self) -> bool:
        return self.problem is None

    def words(self) -> str:
        """For a report: the problem first, then the output, in at most that many characters."""
        text = "\n\n".join(each for each in (self.problem, self.tail.strip()) if each)
        if len(text) <= TAIL:
            return text
        head = f"{self.problem}\n\n…" if self.problem else ""
        return head + text[-(TAIL - len(head)) :]


def run(command: Command, directory: Path, env: Mapping[str, str], timeout_seconds: float | None = None) -> Ran:
    """Runs a text in the shell, a list as it is. Never raises for what the command does."""
    argv = ["/bin/sh", "-c", command] if isinstance(command, str) else [str(each) for each in command]
    if not argv:
        return Ran("", "The command is empty.")
    try:
        child = subprocess.Popen(
            argv,
            cwd=directory,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            bufsize=0,
        )
    except (OSError, ValueError) as problem:
        if isinstance(problem, OSError) and problem.errno == errno.E2BIG:
            return Ran("", "The command is too long for this machine to start it. Put it into a file, and run that.")
        return Ran("", f"The command could not be started: {problem}")
    try:
        in_time, tail = _follow(child, timeout_seconds)
    finally:
        _end_group(child)
    why = _problem(child.returncode, in_time, timeout_seconds)
    return Ran(tail if why is None else _explained(tail, directory), why)


def _explained(tail: str, directory: Path) -> str:
    """With what the sandbox may have to do with a failure. In the log, the Coordinator says it."""
    if not os.environ.get(SANDBOXED):
        return tail
    from toryo import sandbox_signs  # most commands succeed

    return "\n".join([tail.rstrip(), *sandbox_signs.sign_lines(tail, directory)])


def _problem(code: int | None, in_time: bool, limit: float | None) -> str | None:
    if not in_time:
        return f"The command took longer than {limit:g} seconds and was stopped."
    if code is not None and code < 0:
        return f"The command was ended by {signal.Signals(-code).name}."
    return f"The command ended with exit code {code}." if code else None


def _follow(child: subprocess.Popen[bytes], limit: float | None) -> tuple[bool, str]:
    """Shows output until the command has ended or its time is up; what it left in the background is not waited for."""
    assert child.stdout is not None, "it is a pipe, as asked for"
    give_up = None if limit is None else time.monotonic() + limit
    kept = bytearray()
    with selectors.DefaultSelector() as waiting:
        waiting.register(child.stdout, selectors.EVENT_READ)
        notice = _notice(child, waiting)
        try:
            in_time = _read_until_end(child, waiting, notice, kept, give_up)
        finally:
            if notice is not None:
                os.close(notice)
    return in_time, bytes(kept).decode("utf-8", "replace")[-TAIL:]


def _read_until_end(
    child: subprocess.Popen[bytes],
    waiting: selectors.BaseSelector,
    notice: int | None,
    kept: bytearray,
    give_up: float | None,
) -> bool:
    output = child.stdout
    linger: float | None = None
    while True:
        ready = [key.fileobj for key, _ in waiting.select(_pause(give_up, linger))]
        if output in ready and not _show(child, kept):
            return _wait(child, give_up)
        now = time.monotonic()
        if linger is None and child.poll() is not None:
            linger = now + LINGER
            if notice is not None:
                waiting.unregister(notice)
        elif linger is not None and (now >= linger or not ready):
            return True
        if give_up is not None and now >= give_up:
            return linger is not None


def _pause(*until: float | None) -> float:
    """At most a moment, for machines that give no notice of an end."""
    soonest = min((each for each in until if each is not None), default=None)
    return 0.2 if soonest is None else max(0.0, min(0.2, soonest - time.monotonic()))


def _wait(child: subprocess.Popen[bytes], give_up: float | None) -> bool:
    """The output is closed; the command itself may still run."""
    try:
        child.wait(None if give_up is None else max(0.0, give_up - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    return True


def _show(child: subprocess.Popen[bytes], kept: bytearray) -> bool:
    """Passes on what has come; says whether there may be more."""
    data = os.read(child.stdout.fileno(), 65536) if child.stdout is not None else b""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    kept += data
    del kept[: -4 * TAIL]
    return bool(data)


def _notice(child: subprocess.Popen[bytes], waiting: selectors.BaseSelector) -> int | None:
    with contextlib.suppress(AttributeError, OSError):
        notice = os.pidfd_open(child.pid)
        waiting.register(notice, selectors.EVENT_READ)
        return notice
    return None


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """Also what it left in the background: a command is over when it is over."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGTERM)
        if child.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(END_WITHIN)
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    if child.stdout is not None:
        child.stdout.close()
