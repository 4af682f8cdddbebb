"""The server that `toryo run` uses: the one that runs from the data directory, or else a `toryo up` that it starts,
which goes on when the command ends. If that one ends by itself (its Coordinator was killed), it is started again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path

from toryo import data_directories, process_locks
from toryo.cli import output, up_down, waiting
from toryo.cli.child_processes import READY_WITHIN_SECONDS, UPGRADING
from toryo.cli.command_context import Here
from toryo.cli.exit_codes import Failure, ServerAway
from toryo.cli.reconnecting import Patient

LOG, MARK = "run.log", "run.pid"
"""In the data directory: what the processes print, and the process id of the `toryo up` that was started here."""
MOST_RESTARTS = 3
LOOK_SECONDS = 0.1
LAST_WORDS = 10
MOST_READ = 64 * 1024
"""Bytes at the end of the log."""


class Background:
    """`toryo up` from a data directory, as a process of its own."""

    def __init__(self, place: Path, max_concurrent: int | None = None) -> None:
        self.place = place
        self._more = [] if max_concurrent is None else ["--max-concurrent", str(max_concurrent)]
        self._restarts = 0

    @property
    def log(self) -> Path:
        return self.place / LOG

    @property
    def own(self) -> bool:
        """Whether what runs, or ran last, was started by `toryo run`, by this one or an earlier one."""
        mark, lock = self.place / MARK, self.place / process_locks.UP_LOCK
        return mark.is_file() and process_locks.pid_in(mark) == process_locks.pid_in(lock) != 0

    @property
    def runs(self) -> bool:
        return next(process_locks.holders(self.place), None) is not None

    def start(self) -> None:
        """Starts it, and waits for the server and its Coordinator. Raises Failure with its last words."""
        command = [sys.executable, "-m", "toryo", "up", "--data-dir", str(self.place), "--port", "0", "--no-open"]
        self.place.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.log.touch(mode=0o600)
        with self.log.open("ab") as log:
            if not self._restarts:  # what was printed before this command began is of no use to it
                log.truncate(0)
            begins = log.seek(0, os.SEEK_END)
            process = subprocess.Popen(
                [*command, *self._more],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        (self.place / MARK).write_text(f"{process.pid}\n", "utf-8")
        self._until(lambda: process_locks.server(self.place) is not None, process, begins)
        there = Here(data_dir=self.place)
        self._until(lambda: any(not each["seconds_ago"] for each in _coordinators(there)), process, begins)

    def again(self) -> None:
        """Starts it once more if it has ended by itself. Raises ServerAway if it does not stay."""
        if self.runs or not self.own:
            return
        if self._restarts == MOST_RESTARTS:
            raise ServerAway(f"The server and its Coordinator have ended {MOST_RESTARTS + 1} times.", self._why())
        self._restarts += 1
        output.say(*_last(self.log, 0)[-1:], "The server and its Coordinator have ended. Starting them again.")
        self.start()

    def stop(self) -> None:
        """Ends it, if `toryo run` has started it."""
        if self.own and self.runs:
            up_down.stop(self.place)
            (self.place / MARK).unlink(missing_ok=True)

    def _until(self, there: Callable[[], bool], process: subprocess.Popen[bytes], begins: int) -> None:
        limit = time.monotonic() + READY_WITHIN_SECONDS
        with waiting.notice("the server and its Coordinator"):
            while not there():
                lines = _last(self.log, begins)
                late = time.monotonic() >= limit and not any(UPGRADING in each for each in lines)
                if process.poll() is not None or late:
                    output.say(*lines[-LAST_WORDS:])
                    raise Failure("The server and its Coordinator did not start.", self._why())
                time.sleep(LOOK_SECONDS)

    def _why(self) -> str:
        return f"Their output is in {self.log}."


def _coordinators(there: Here) -> list[dict[str, int]]:
    from toryo.client import RefusalError, Unreachable

    with suppress(RefusalError, Unreachable):
        found: list[dict[str, int]] = there.get("/status")["coordinators"]
        return found
    return []


def _last(log: Path, begins: int) -> list[str]:
    """What was printed from there on, of much only the end: a server that goes on for months prints a lot."""
    with log.open("rb") as file:
        file.seek(max(begins, file.seek(0, os.SEEK_END) - MOST_READ))
        return file.read().decode(errors="replace").splitlines()


@dataclass
class Supported(Patient):
    """A server that is started again while it is waited for."""

    background: Background | None = field(default=None)

    def look_again(self) -> None:
        super().look_again()
        if self.background is not None:
            self.background.again()


def supported(here: Here, max_concurrent: int | None) -> Supported:
    """The server that is named; else that of the data directory, which may have to be started."""
    said = {each.name: getattr(here, each.name) for each in fields(Here)}
    if here.server is not None or os.environ.get("TORYO_SERVER_URL"):
        return Supported(**said)
    return Supported(**said, background=Background(data_directories.prepared(here.data_dir), max_concurrent))
