"""`toryo …` as a real process that may be killed and started again, and the agents' processes that Coordinators start.

What they are for stands in `sites.py`. Nothing here waits by sleeping: output is heard, ends are told by the kernel.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests import prepared
from toryo.agents import env_vars
from toryo.coordinator import processes

TORYO = (sys.executable, "-m", "toryo")
READY_WITHIN = 100.0
LEAVES_WITHIN = 100.0
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


class Program:
    """One `toryo …` (or another command). Everything it prints, over all its lives, goes to one file and is heard line
    by line. It is forked from a `prepared` process, unless it is another command, or must be started for real.
    """

    def __init__(
        self,
        name: str,
        words: Iterable[str],
        environment: Mapping[str, str],
        directory: Path,
        *,
        command: Sequence[str] = TORYO,
        real: bool = False,
        cwd: Path | None = None,
    ) -> None:
        """`directory` is where it runs and what it prints is kept; with `cwd`, it runs there."""
        self.name = name
        self.words = [*command, *words]
        self.lines: list[str] = []
        self._listener: threading.Thread | None = None
        self._environment = dict(environment)
        self._directory = directory
        self._cwd = cwd or directory
        self._process: subprocess.Popen[str] | prepared.Started | None = None
        self._news = threading.Condition()
        self._since = 0
        self._prepared = command is TORYO and not (prepared.REAL_STARTS or real)

    def start(self) -> Program:
        self._since = len(self.lines)
        self._process = self._forked() if self._prepared else self._started()
        self._listener = threading.Thread(target=self._listen, args=(self._process,), daemon=True)
        self._listener.start()
        return self

    def _forked(self) -> prepared.Started:
        return prepared.Started(self.words[len(TORYO) :], self._environment, self._cwd)

    def _started(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.words,
            env=self._environment,
            cwd=self._cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=_dies_with_the_tests,  # noqa: PLW1509 - one system call that takes no lock
        )

    @property
    def pid(self) -> int:
        assert self._process is not None, "it was started"
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def says(self, words: str, within: float = READY_WITHIN) -> str:
        """The first line of this life that has these words in it; fails if it ends, or says nothing, before."""
        with self._news:
            self._news.wait_for(lambda: self._line(words) is not None or not self.alive, within)
        line = self._line(words)
        if line is None:
            state = "still runs" if self.alive else f"has ended with {self.ended_with()}"
            raise AssertionError(f"{self.name} has not said {words!r} and {state}: {self.lines[self._since :][-20:]}")
        return line

    def said(self, words: str) -> int:
        """How many lines of this life have these words in them."""
        return sum(words in line for line in self.lines[self._since :])

    def kill(self) -> None:
        """SIGKILL, to itself alone; returns when it is gone."""
        assert self._process is not None, "it was started"
        self._process.kill()
        self._process.wait(LEAVES_WITHIN)

    def leave(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Asks it to leave and waits: its exit code."""
        assert self._process is not None, "it was started"
        self._process.send_signal(how)
        return self._process.wait(LEAVES_WITHIN)

    def ended_with(self, within: float = LEAVES_WITHIN) -> int:
        """Its exit code, once all that it said is in `lines`; it is expected to end by itself."""
        assert self._process is not None and self._listener is not None, "it was started"
        code = self._process.wait(within)
        self._listener.join(10.0)  # a child that goes on may hold the pipe open
        return code

    def end(self) -> None:
        """Whatever state it is in: afterwards it is gone."""
        if not self.alive:
            return
        try:
            self.leave()
        except subprocess.TimeoutExpired:
            self.kill()

    def _line(self, words: str) -> str | None:
        return next((line for line in self.lines[self._since :] if words in line), None)

    def _listen(self, process: subprocess.Popen[str] | prepared.Started) -> None:
        assert process.stdout is not None, "it is a pipe, as asked for"
        with (self._directory / f"{self.name}.out").open("a", encoding="utf-8") as file:
            for line in process.stdout:
                file.write(line)
                self._hear(line.rstrip("\n"))
        process.wait()
        self._hear(f"({self.name} has ended with {process.returncode})")

    def _hear(self, line: str) -> None:
        with self._news:
            self.lines.append(line)
            self._news.notify_all()


def _dies_with_the_tests() -> None:
    """A test run that is killed itself leaves nothing behind (Linux; elsewhere nothing happens)."""
    with contextlib.suppress(AttributeError, OSError):
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@dataclass(frozen=True)
class Agent:
    """The process that a Coordinator started for a launch; what it starts itself is not meant."""

    pid: int
    launch_id: str
    agent_id: str
    project_id: str

    def freeze(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def kill(self) -> None:
        """SIGKILL, to itself alone: what it has started goes on until somebody ends that."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def gone(self, within: float) -> bool:
        return gone(self.pid, within)


def agents(urls: Iterable[str]) -> list[Agent]:
    """The agents' processes of these servers that run now: of each launch the oldest, which has started the others."""
    wanted = set(urls)
    found = [
        (
            processes.began(pid) or 0,
            Agent(pid, each[env_vars.LAUNCH_ID], each.get("AGENT_ID", ""), each.get("PROJECT_ID", "")),
        )
        for pid, each in processes.environments()
        if each.get(env_vars.SERVER_URL) in wanted and env_vars.COORDINATOR_PID in each and not _buried(pid)
    ]
    newest_first = sorted(found, key=lambda each: (each[0], each[1].pid), reverse=True)
    return list({agent.launch_id: agent for _, agent in newest_first}.values())


def everything_of(urls: Iterable[str], launch_id: str | None = None) -> list[int]:
    """Every process of these servers' launches, those that agents started themselves too."""
    wanted = set(urls)
    return [
        pid
        for pid, each in processes.environments()
        if each.get(env_vars.SERVER_URL) in wanted
        and launch_id in (None, each[env_vars.LAUNCH_ID])
        and not _buried(pid)
    ]


def kill_everything_of(urls: Iterable[str]) -> None:
    """What is in a sandbox ends with the process around it."""
    for pid in everything_of(urls):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def gone(pid: int, within: float) -> bool:
    """Whether a process ends within so many seconds (told by the kernel, whoever its parent is)."""
    try:
        notice = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        waiting = select.poll()
        waiting.register(notice, select.POLLIN)
        return bool(waiting.poll(within * 1000))
    finally:
        os.close(notice)


def _buried(pid: int) -> bool:
    """Ended, and only not yet waited for by its parent."""
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    return True
