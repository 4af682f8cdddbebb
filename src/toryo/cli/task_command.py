"""A command as the handler of a queue agent: its input, the meaning of its exit, and cleaning up after it.

The task is JSON on its stdin; JSON on its stdout is the result, any other text is a text result. It gets none of the
agent's secrets: neither its key nor any TORYO_* variable except those that identify the task.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import IO, Any, Self

import orjson

from toryo.agents.env_vars import LIBRARIES
from toryo.client import Retry, TaskFailed

TRY_AGAIN = 75
"""The exit code that sysexits.h calls EX_TEMPFAIL."""
LARGEST = 8_000_000
"""Bytes of output that are taken as a result; the server's own limit is lower."""
TAIL = 4_000
"""Characters of stderr that tell why it failed."""
END_WITHIN = 3.0
LINGER = 0.5
"""Seconds to read what is still in the pipes once the command itself has ended."""
_WATCH = """
import os, signal, sys
running = set()
for line in sys.stdin:
    told = set(map(int, line[1:].split()))
    running = running | told if line[0] == "+" else told
for each in running:
    try:
        os.killpg(each, signal.SIGKILL)
    except OSError:
        pass
"""
"""A process that is told what runs, and ends that when it hears no more: the agent is gone, however it ended. In one of
its own, because an agent that is killed can no longer do anything, and a command may have started others. A command
tells it of itself (`+`) before it runs, so that there is no moment in which it is not known; the agent, what runs."""
_SECRETS = frozenset({"AGENT_PASSKEY"})


class TaskCommand:
    """`with TaskCommand(["./worker"], os.environ) as work: work(task)`; ends all its processes on exit, also if this
    process is killed."""

    def __init__(self, words: Sequence[str], environ: Mapping[str, str], secret: Collection[str | None] = ()) -> None:
        self._words = list(words)
        hidden = {each for each in secret if each}
        self._environ = {
            name: value
            for name, value in environ.items()
            if not name.startswith("TORYO_") and name not in _SECRETS and value not in hidden
        }
        self._running: set[subprocess.Popen[bytes]] = set()
        self._telling = threading.Lock()
        self._watch: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._watch = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _WATCH],
            env={name: value for name, value in os.environ.items() if name in LIBRARIES},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        for process in list(self._running):
            _end_group(process)
        if self._watch is not None and self._watch.stdin is not None:
            self._watch.stdin.close()
            self._watch.wait()

    def __call__(self, task: Mapping[str, Any]) -> Any:
        """The result of a run for this task. Raises Retry or TaskFailed."""
        child = self._start(task)
        limit = float(task["timeout_seconds"])
        try:
            said = _Said(child, orjson.dumps(task))
            in_time = _wait(child, limit)
        finally:
            _end_group(child)
            with self._telling:
                self._running.discard(child)
                self._tell_watch()
        said.close()
        if not in_time:
            raise TaskFailed(said.why(f"The command took longer than {limit:g} seconds and was stopped."))
        return _result(child.returncode, said)

    def _tell_watch(self) -> None:
        assert self._watch is not None and self._watch.stdin is not None, "it is entered"
        with contextlib.suppress(OSError, ValueError):
            self._watch.stdin.write(f"= {' '.join(str(each.pid) for each in self._running)}\n".encode())

    def _start(self, task: Mapping[str, Any]) -> subprocess.Popen[bytes]:
        named = {"TORYO_TASK_ID": task["task_id"], "TORYO_CORRELATION_ID": task.get("correlation_id") or ""}
        assert self._watch is not None and self._watch.stdin is not None, "it is entered"
        watch = self._watch.stdin.fileno()

        def tell_of_itself() -> None:
            with contextlib.suppress(OSError):
                os.write(watch, b"+%d\n" % os.getpid())

        with self._telling:  # what is told of all that runs leaves out nothing that is just being started
            try:
                child = subprocess.Popen(
                    self._words,
                    env={**self._environ, **named},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                    preexec_fn=tell_of_itself,  # noqa: PLW1509 - one system call, which takes no lock
                )
                self._running.add(child)
                return child
            except OSError as problem:
                raise TaskFailed(f"The command could not be started: {problem}") from None
            finally:
                self._tell_watch()


class _Said:
    """Tells a child its task and hears what it says, all at once: three pipes, a thread each."""

    def __init__(self, child: subprocess.Popen[bytes], task: bytes) -> None:
        assert child.stdin is not None and child.stdout is not None and child.stderr is not None, "as asked for"
        self.out, self._err = bytearray(), bytearray()
        self.too_much = False
        self._pipes = (child.stdin, child.stdout, child.stderr)
        self._threads = [
            _thread(_write, child.stdin, task),
            _thread(_read, child.stdout, self._hear),
            _thread(_read, child.stderr, self._pass_on),
        ]

    def close(self) -> None:
        """Whatever it left in the background may hold a pipe: that is not waited for."""
        for each in self._threads:
            each.join(LINGER)
        for thread, pipe in zip(self._threads, self._pipes, strict=True):
            if not thread.is_alive():
                with contextlib.suppress(OSError):
                    pipe.close()

    def why(self, problem: str) -> str:
        """What went wrong, and the end of what it said about it."""
        said = bytes(self._err).decode("utf-8", "replace")[-TAIL:].strip()
        return f"{problem}\n\n{said}" if said else problem

    def _hear(self, piece: bytes) -> None:
        self.too_much = self.too_much or len(self.out) + len(piece) > LARGEST
        if not self.too_much:
            self.out += piece

    def _pass_on(self, piece: bytes) -> None:
        sys.stderr.buffer.write(piece)
        sys.stderr.buffer.flush()
        self._err += piece
        del self._err[: -4 * TAIL]


def _result(code: int, said: _Said) -> Any:
    if code == TRY_AGAIN:
        raise Retry(said.why("The command asked for another attempt (exit code 75)."))
    if code < 0:
        raise TaskFailed(said.why(f"The command was ended by {signal.Signals(-code).name}."))
    if code:
        raise TaskFailed(said.why(f"The command ended with exit code {code}."))
    if said.too_much:
        raise TaskFailed(f"The command printed more than {LARGEST:,} bytes. Write large results to files.")
    try:
        return orjson.loads(said.out)
    except orjson.JSONDecodeError:
        # As text that can be stored; nothing said is no result.
        return bytes(said.out).decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}").strip("\n") or None


def _wait(child: subprocess.Popen[bytes], limit: float) -> bool:
    try:
        child.wait(limit)
    except subprocess.TimeoutExpired:
        return False
    return True


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """Also what it left in the background: a command is over when it is over."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGTERM)
        if child.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(END_WITHIN)
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _thread(work: Callable[..., None], *arguments: Any) -> threading.Thread:
    made = threading.Thread(target=work, args=arguments, daemon=True)
    made.start()
    return made


def _write(pipe: IO[bytes], task: bytes) -> None:
    """A command need not read its task."""
    with contextlib.suppress(OSError):
        pipe.write(task)
        pipe.close()


def _read(pipe: IO[bytes], hear: Callable[[bytes], None]) -> None:
    with contextlib.suppress(OSError, ValueError):
        while piece := os.read(pipe.fileno(), 65_536):
            hear(piece)
