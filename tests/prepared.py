"""`toryo …` in processes of their own that need not load Python's libraries first: that is most of what a start costs.

A process that has loaded them forks for each, and what it forks does what `python -m toryo …` does: with words, an
environment, a directory, stdin, stdout, stderr and an end of its own. Only /proc shows it with the environment and the
words of the process it comes from. What `toryo up` starts is forked from it likewise. `run` is for commands that end,
`Started` for servers and Coordinators. With TORYO_TEST_REAL_STARTS=1 nobody uses this.

This file is both sides: it is imported by who asks, and it is the program that forks.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any

REAL_STARTS = os.environ.get("TORYO_TEST_REAL_STARTS") == "1"
LIBRARIES = (
    *("toryo.cli.main", "toryo.client.blocking", "orjson", "yaml"),
    *("pydantic", "pydantic.main", "pydantic.networks", "typer.main", "typer.rich_utils", "rich.console", "rich.table"),
    *("httptools", "uvloop", "uvicorn", "uvicorn.protocols.http.httptools_impl", "uvicorn.lifespan.on"),
    *("toryo.server.app", "toryo.cli.up_down", "toryo.coordinator.main", "toryo.coordinator.providers"),
    *("sqlalchemy.dialects.sqlite", "sqlalchemy.dialects.postgresql", "psycopg"),
    *("toryo.storage.engine.sqlite", "toryo.storage.migrations", "toryo.operations.calls.catalogue:catalogue"),
    *("anyio._backends._asyncio", "httpx", "httpx2", "mcp.server", "toryo.server.mcp_sdk", "rich.progress"),
)
"""Modules, and what is called after one was loaded."""
READY = b"."
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def run(
    words: Sequence[str], environment: Mapping[str, str], cwd: Path, typed: str, timeout: float
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` with captured text. What takes longer is killed."""
    with (
        tempfile.TemporaryFile() as stdin,
        tempfile.TemporaryFile() as stdout,
        tempfile.TemporaryFile() as stderr,
    ):
        stdin.write(typed.encode())
        stdin.seek(0)
        process = _Forked(words, environment, cwd, [stdin, stdout, stderr])
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return subprocess.CompletedProcess([*words], code, _text(stdout), _text(stderr))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


class _Forked:
    """As much of a `subprocess.Popen` as tests of programs need."""

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        cwd: Path,
        files: Sequence[IO[Any]],
    ) -> None:
        self.args = [*words]
        self.returncode: int | None = None
        self._over = threading.Event()
        mine, its = socket.socketpair()
        with its:
            socket.send_fds(_forking(), [b"."], [its.fileno(), *(io.fileno() for io in files)])
        asked = {"words": self.args, "environment": dict(environment), "cwd": str(cwd)}
        mine.sendall(json.dumps(asked).encode())
        mine.shutdown(socket.SHUT_WR)
        answers = mine.makefile("r")
        self.pid = int(answers.readline())
        threading.Thread(target=self._await_end, args=(mine, answers), daemon=True).start()

    def _await_end(self, mine: socket.socket, answers: IO[str]) -> None:
        with mine, answers:
            self.returncode = int(answers.readline())
        self._over.set()

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if not self._over.wait(timeout):
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        assert self.returncode is not None, "it is over"
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Started(_Forked):
    """A `toryo …` that goes on, in a session of its own; what it prints, on stdout or stderr, is read from `stdout`."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], cwd: Path) -> None:
        read, write = os.pipe()
        self.stdout: IO[str] = os.fdopen(read, "r", encoding="utf-8", errors="replace")
        with Path(os.devnull).open("rb") as nothing, os.fdopen(write, "wb") as printed:
            super().__init__(words, environment, cwd, [nothing, printed, printed])


@cache
def _forking() -> socket.socket:
    """The way to a process that forks. It ends when nobody holds this end any more."""
    from tests.process_costs import for_others_too  # not there in the process that forks

    mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TORYO_", "XDG_"))}
    with its, for_others_too():
        process = subprocess.Popen(
            [sys.executable, "-P", __file__, str(its.fileno()), *LIBRARIES],
            env={**kept, "COLUMNS": "100", "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[its.fileno()],
        )
        assert mine.recv(1) == READY
    atexit.register(process.wait)
    atexit.register(mine.close)  # first: what is registered last is done first
    return mine


# --- the process that forks ------------------------------------------------------------------------------------------


def _fork_for_each(asking: socket.socket) -> None:
    """Returns in the process of each `toryo …`, and never in the one that forks."""
    asking.sendall(READY)
    while True:
        message, files, _, _ = socket.recv_fds(asking, 1, 4)
        if not message:
            _forget_ended()
            os._exit(0)
        if os.fork() == 0:
            asking.close()
            return _watch(files)
        for each in files:
            os.close(each)
        _forget_ended()


def _forget_ended() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _watch(files: list[int]) -> None:
    """Forks once more, for somebody must tell how it ended; returns in the process of the `toryo …`."""
    _dies_with_its_parent()
    os.setsid()  # ^C at the tests is for the tests
    asked = json.loads(_everything(files[0]))
    pid = os.fork()
    if pid == 0:
        return _become(asked, files)
    for each in files[1:]:
        os.close(each)
    os.write(files[0], f"{pid}\n".encode())
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.write(files[0], f"{status}\n".encode())
    os._exit(0)


def _everything(file: int) -> bytes:
    read = b""
    while piece := os.read(file, 65536):
        read += piece
    return read


def _become(asked: dict[str, Any], files: list[int]) -> None:
    """This process is the `toryo …` from now on."""
    _dies_with_its_parent()
    os.setsid()
    for number, each in enumerate(files[1:]):
        os.dup2(each, number)
    for each in files:
        os.close(each)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.path.insert(0, asked["cwd"])
    sys.argv = ["toryo", *asked["words"]]
    subprocess.Popen = _Forking  # type: ignore[misc]


class _Forking(subprocess.Popen[Any]):
    """Forks what `toryo up` and `toryo demo` start, from a process that has loaded all that it needs."""

    def _execute_child(self, args: Any, *rest: Any) -> None:
        if args[:3] != [sys.executable, "-m", "toryo"] or args[-1] != "--ends-with-stdin":
            super()._execute_child(args, *rest)  # type: ignore[misc]
            return
        _, _, _, keeps, _, environment, _, _, _, *pipes = rest[:15]
        sys.stdout.flush()
        sys.stderr.flush()
        self._child_created = True
        self.pid = os.fork()
        if self.pid == 0:
            _become_child(args[3:], environment, keeps, pipes)
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


def _become_child(words: list[str], environment: Mapping[str, str], keeps: Sequence[int], pipes: Sequence[int]) -> None:
    """Never returns."""
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    for standard, end in enumerate((pipes[0], pipes[3], pipes[5])):
        os.dup2(end, standard)
    kept = sorted({2, *keeps})
    for low, high in zip(kept, [*kept[1:], os.sysconf("SC_OPEN_MAX")], strict=True):
        os.closerange(low + 1, high)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["toryo", *words]
    _end(_run())


def _run() -> int:
    """What the `toryo …` ends with."""
    try:
        runpy.run_module("toryo", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)  # noqa: T201 - as Python does it
        return 1
    except BaseException:  # noqa: BLE001 - as Python does it
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _end(code: int) -> None:
    """As Python ends, except that it does not put away all that the process has loaded."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)


def _dies_with_its_parent() -> None:
    """A test run that is killed leaves nothing behind (Linux; elsewhere nothing happens)."""
    with contextlib.suppress(AttributeError, OSError):
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    for library in sys.argv[2:]:
        module, _, call = library.partition(":")
        loaded = importlib.import_module(module)
        if call:
            getattr(loaded, call)()
    gc.freeze()  # so that what is shared stays shared
    _fork_for_each(socket.socket(fileno=int(sys.argv[1])))
    _end(_run())
