"""`toryo …` in the process of the tests: for commands that ask, tell and end, at a tenth of what a fork costs.

What a process has for itself is the command's own while it runs, and as it was afterwards: stdin, stdout and stderr
(also for programs that it starts), the environment, the directory, the words, the local time. A command that goes on,
listens to signals or sets up logging gets a process (`can`). tests/cli/test_prepared.py compares both with
`python -m toryo`.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

import toryo
from toryo.cli import output
from toryo.cli.main import main

GO_ON = {"coordinator", "demo", "mcp", "open", "run", "server", "simulate", "up"}
"""Commands that are no guests in another process."""


def can(words: Sequence[str]) -> bool:
    """Only the main thread may change what belongs to the whole process."""
    goes_on = {*words[:1]} & GO_ON or [*words[:2]] == ["agent", "run"]
    asks = [*words[:2]] == ["coordinator", "check"]
    return (asks or not goes_on) and threading.current_thread() is threading.main_thread()


def run(
    words: Sequence[str], environment: Mapping[str, str], cwd: Path, typed: str
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` with captured text."""
    with (
        tempfile.TemporaryFile() as stdin,
        tempfile.TemporaryFile() as stdout,
        tempfile.TemporaryFile() as stderr,
    ):
        stdin.write(typed.encode())
        stdin.seek(0)
        with contextlib.ExitStack() as own:
            own.enter_context(contextlib.chdir(cwd))
            own.enter_context(_environment(environment))
            for number, (name, mode, file) in enumerate(
                (("stdin", "r", stdin), ("stdout", "w", stdout), ("stderr", "w", stderr))
            ):
                own.enter_context(_stream(number, name, mode, file))
            code = _code(words)
        return subprocess.CompletedProcess([*words], code, _text(stdout), _text(stderr))


def _code(words: Sequence[str]) -> int:
    """What the `toryo …` ends with."""
    before, sys.argv = sys.argv, [str(Path(toryo.__file__).with_name("__main__.py")), *words]
    _forget_streams()
    try:
        main([*words])
    except SystemExit as end:
        return int(str(end.code))
    except Exception:  # noqa: BLE001 - as Python does it
        sys.excepthook(*sys.exc_info())
    finally:
        sys.argv = before
        _forget_streams()
    return 1


def _forget_streams() -> None:
    for each in (output.console, output.messages):
        each.cache_clear()


@contextlib.contextmanager
def _stream(number: int, name: str, mode: str, file: IO[bytes]) -> Iterator[None]:
    """The file is what the process knows by this number, and Python by this name."""
    kept_stream = getattr(sys, name)
    if kept_stream is not None and mode == "w":
        kept_stream.flush()
    kept = os.dup(number)
    os.dup2(file.fileno(), number)
    errors = "backslashreplace" if number == 2 else "surrogateescape"
    try:
        with open(number, mode, encoding="utf-8", errors=errors, closefd=False) as stream:
            setattr(sys, name, stream)
            yield
    finally:
        setattr(sys, name, kept_stream)
        os.dup2(kept, number)
        os.close(kept)


@contextlib.contextmanager
def _environment(wanted: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    _change(before, wanted)
    try:
        yield
    finally:
        _change(dict(os.environ), before)


def _change(now: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    for name in now.keys() - wanted.keys():
        del os.environ[name]
    for name, value in wanted.items():
        if now.get(name) != value:
            os.environ[name] = value
    if now.get("TZ") != wanted.get("TZ"):
        time.tzset()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
