"""A server and a Coordinator as child processes of one command: started in order, stopped in reverse.

Each child has its own session, so that ^C reaches only the parent, which stops the Coordinator (and so the agents)
before the server that they report to. Children never outlive their parent (`parent_watch.py`).
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from toryo import process_locks
from toryo.cli import output
from toryo.cli.exit_codes import Failure, Misuse

Hear = Callable[[str, str], None]
"""Told each line that a child prints: the child's name, the line."""

CHILD = "--ends-with-stdin"
"""Tells a server or Coordinator that this module has started it."""
READY_WITHIN_SECONDS = 30
UPGRADING = "upgrading the database"
"""How the line begins after which a server takes as long as its database is large."""
COORDINATOR_LEAVES_WITHIN_SECONDS = 30
"""Longer than the grace time it gives its agents."""
SERVER_LEAVES_WITHIN_SECONDS = 15


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP: cleans up as after ^C, but was not caused by the user."""


def heed_terminate() -> None:
    """From now on SIGTERM, and SIGHUP unless it is ignored (nohup), raise Terminated in the main thread."""

    def leave(_number: int, _frame: object) -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a closed terminal may say it twice: nobody is in a hurry
        raise Terminated

    signal.signal(signal.SIGTERM, leave)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, leave)


class Child:
    """One `toryo …` process whose output is read line by line."""

    def __init__(self, name: str, arguments: Sequence[str], environment: Mapping[str, str], hear: Hear) -> None:
        self.name = name
        self._command = [sys.executable, "-m", "toryo", *arguments, CHILD]
        self._environment = dict(environment)
        self._hear = hear
        self._process: subprocess.Popen[str] | None = None
        self.lifeline: int | None = None
        """This process's end of the pipe that is the child's stdin; it is never written to."""
        self._announced = threading.Event()
        self._upgrading = False
        self._address: str | None = None
        self.ended = threading.Event()

    def start(self, outlived_by: Child | None = None) -> None:
        """Starts it; `outlived_by` then goes on until this one has ended, even if this process is killed."""
        keeps = [] if outlived_by is None or outlived_by.lifeline is None else [outlived_by.lifeline]
        end, self.lifeline = os.pipe()
        self._process = subprocess.Popen(
            self._command,
            env=self._environment,
            stdin=end,
            pass_fds=keeps,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        os.close(end)
        threading.Thread(target=self._listen, args=(self._process,), name=f"{self.name} output", daemon=True).start()

    def address(self) -> str:
        """Waits for the line `ready http://…` and returns the address; raises Failure if it does not come."""
        self._announced.wait(READY_WITHIN_SECONDS)
        if self._upgrading:
            self._announced.wait()
        if self._address is None:
            state = (
                f"it {self.end}"
                if self.ended.is_set()
                else f"it was not ready after {output.duration(READY_WITHIN_SECONDS)}"
            )
            failure = Failure(f"The {self.name} did not start: {state}.", "Its output above says why.")
            failure.exit_code = max(self.exit_code or 0, failure.exit_code)  # negative: a signal has ended it
            raise failure
        return self._address

    def stop(self, seconds: float) -> None:
        """Asks it to leave; after `seconds` it is made to, with everything it started."""
        process = self._process
        if process is None:
            return
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)  # a stopped one hears nothing else before it goes on
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)

    @property
    def exit_code(self) -> int | None:
        return None if self._process is None else self._process.poll()

    @property
    def end(self) -> str:
        """How it has ended, to go on with after its name."""
        code = self.exit_code
        if code is None or code >= 0:
            return f"exited with code {code}"
        known = -code in set(signal.Signals)
        return f"was ended by signal {-code}{f' ({signal.Signals(-code).name})' if known else ''}"

    def _signal(self, number: int) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    def _listen(self, process: subprocess.Popen[str]) -> None:
        for line in process.stdout or ():
            text = line.rstrip("\n")
            if text.startswith("ready ") and not self._announced.is_set():
                self._address = text.removeprefix("ready ").strip()
                self._announced.set()
            self._upgrading = self._upgrading or text.startswith(UPGRADING)
            # The terminal may be gone; the child's output must still be read, or the child would block.
            with suppress(OSError):
                self._hear(self.name, text)
        process.wait()
        self.ended.set()
        self._announced.set()


class Crew:
    """The server of a data directory and its Coordinator; `with Crew(…) as crew:` stops both at the end.

    Holds the directory's `up.lock`: `toryo down` asks the process that holds it.
    """

    def __init__(
        self,
        place: Path,
        server: Sequence[str],
        coordinator: Sequence[str],
        environment: Mapping[str, str],
        hear: Hear,
    ) -> None:
        self._place = place
        self._lock: int | None = None
        directory = ["--data-dir", str(place)]
        self._server = Child("server", ["server", *directory, *server], environment, hear)
        self._coordinator_arguments = [*directory, *coordinator]
        self._environment = environment
        self._hear = hear
        self._coordinator: Child | None = None
        self.address = ""

    def __enter__(self) -> Self:
        self._lock = _hold(self._place)
        try:
            self._server.start()
            self.address = self._server.address()
            arguments = ["coordinator", "--server", self.address, *self._coordinator_arguments]
            self._coordinator = Child("coordinator", arguments, self._environment, self._hear)
            self._coordinator.start(outlived_by=self._server)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends the Coordinator, then the server. ^C meanwhile hurries the Coordinator, and once more kills both."""
        try:
            self._stop_in_order()
        except KeyboardInterrupt:
            with suppress(OSError):  # the terminal may be gone
                output.say("Stopping the agents immediately. Press ^C again to kill the Coordinator and the server.")
            try:
                self._stop_in_order()
            except KeyboardInterrupt:
                self._kill()
            raise
        finally:
            if self._lock is not None:
                os.close(self._lock)

    def _stop_in_order(self) -> None:
        if self._coordinator is not None:
            self._coordinator.stop(COORDINATOR_LEAVES_WITHIN_SECONDS)
        self._server.stop(SERVER_LEAVES_WITHIN_SECONDS)

    def ended(self, within_seconds: float) -> str | None:
        """Waits that long for one of the two to end by itself; which and how, in words, or None while both run."""
        for child in (self._server, self._coordinator):
            if child is not None and child.ended.wait(within_seconds / 2):
                return f"The {child.name} {child.end}"
        return None

    def wait(self) -> str:
        """Until one of the two ends by itself: which and how, in words."""
        while True:
            told = self.ended(within_seconds=1)
            if told is not None:
                return told

    def _kill(self) -> None:
        for child in (self._coordinator, self._server):
            if child is not None:
                child.kill()


def _hold(place: Path) -> int:
    """Takes the data directory for one `toryo up` at a time. Raises Misuse where another one has it."""
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = process_locks.hold(place / process_locks.UP_LOCK)
    if lock is None:
        pid = process_locks.pid_in(place / process_locks.UP_LOCK)
        raise Misuse(
            f"toryo up (pid {pid}) is already running from the data directory {place}.",
            f"Use it, or stop it first: {output.program()} down --data-dir {shlex.quote(str(place))}",
        )
    return lock


def without_toryo(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which no TORYO_* variable points somewhere else."""
    return {name: value for name, value in environment.items() if not name.startswith("TORYO_")}
