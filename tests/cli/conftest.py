"""A real server, and the real command line against it; both as processes, as people run them."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import in_process, prepared
from tests.environments import clean_environment
from toryo.client import Client, server_discovery

if TYPE_CHECKING:
    from tests.cli.fakes import Machine

READY_WITHIN = 100
ENDS_WITHIN = 100


@dataclass(frozen=True)
class Ended:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on stdout."""
        return json.loads(self.out)


def started(
    words: list[str], environment: Mapping[str, str], cwd: Path, typed: str, timeout: float
) -> subprocess.CompletedProcess[str]:
    """Runs `python -m toryo …`."""
    command = [sys.executable, "-m", "toryo", *words]
    return subprocess.run(
        command, env=environment, cwd=cwd, capture_output=True, text=True, timeout=timeout, input=typed, check=False
    )


def commanded(
    words: list[str], environment: Mapping[str, str], cwd: Path, typed: str = ""
) -> subprocess.CompletedProcess[str]:
    """As `started`, and cheaper."""
    if prepared.REAL_STARTS:
        return started(words, environment, cwd, typed, ENDS_WITHIN)
    if in_process.can(words):
        return in_process.run(words, environment, cwd, typed)
    return prepared.run(words, environment, cwd, typed, ENDS_WITHIN)


@dataclass(frozen=True)
class Toryo:
    """Types commands: `toryo("task", "list", …)`, with the data directory in the environment.

    `typed` is what stands on stdin.
    """

    home: Path
    environment: Mapping[str, str]

    def __call__(self, *words: str, cwd: Path | None = None, typed: str = "", **environment: str) -> Ended:
        found = commanded([*words], {**self.environment, **environment}, cwd or self.home, typed)
        return Ended(found.returncode, found.stdout, found.stderr)

    def json(self, *words: str) -> Any:
        """The document of a command that must succeed."""
        ended = self(*words, "--json")
        assert ended.code == 0, ended.err
        return ended.json


class Process:
    """A `toryo …` that goes on, heard line by line. With `real`, it is started for itself, not `prepared`."""

    def __init__(self, *words: str, environment: Mapping[str, str], cwd: Path, real: bool = False) -> None:
        started = self._started if real or prepared.REAL_STARTS else prepared.Started
        self.process = started(words, environment, cwd)
        self.lines: list[str] = []
        self._heard: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    @staticmethod
    def _started(words: Sequence[str], environment: Mapping[str, str], cwd: Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "toryo", *words],
            env=dict(environment),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def until(self, words: str) -> str:
        """The first line from now on that has these words in it; fails if the process ends before."""
        while (line := self._heard.get(timeout=READY_WITHIN)) is not None:
            if words in line:
                return line
        raise AssertionError(f"ended without {words!r}: {self.lines}")

    def interrupt(self) -> int:
        """^C, and how it ends."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(ENDS_WITHIN)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(ENDS_WITHIN)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)

    def _listen(self) -> None:
        for line in self.process.stdout or ():
            self.lines.append(line.rstrip())
            self._heard.put(line.rstrip())
        self._heard.put(None)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toryo]:
    """A server of the session's own, and the command line that finds it."""
    with _serving(tmp_path_factory.mktemp("home")) as toryo:
        yield toryo


@pytest.fixture(scope="session")
def owner(server: Toryo) -> Iterator[Client]:
    """The owner of that server, who does not type: what a test only needs to be there costs no command."""
    found = server_discovery.find(None, None, Path(server.environment["TORYO_DATA_DIR"]), role="owner")
    with Client(found.url, found.token) as client:
        yield client


@pytest.fixture
def fresh_server(tmp_path: Path) -> Iterator[Toryo]:
    """A server of the test's own: for what depends on everything that a server has ever been told."""
    with _serving(tmp_path) as toryo:
        yield toryo


@contextmanager
def _serving(home: Path) -> Iterator[Toryo]:
    environment = {**clean_environment(home), "TORYO_DATA_DIR": str(home / "data")}
    process = Process("server", "--port", "0", environment=environment, cwd=home)
    try:
        process.until("ready http://")
        yield Toryo(home, environment)
    finally:
        process.end()


@pytest.fixture
def nowhere(tmp_path: Path) -> Toryo:
    """The command line where no server is."""
    return Toryo(tmp_path, clean_environment(tmp_path))


_numbers = count(1)


@pytest.fixture
def project(owner: Client, tmp_path: Path) -> str:
    """A project of the test's own."""
    name = f"project-{os.getpid()}-{next(_numbers)}"
    owner.rest("POST", "/projects", {"id": name, "name": name, "working_directory": str(tmp_path)})
    return name


@pytest.fixture
def agent(owner: Client, project: str) -> str:
    """A worker in that project whom nobody starts."""
    name = f"agent-{os.getpid()}-{next(_numbers)}"
    owner.rest("POST", "/agents", {"id": name, "role": "worker", "projects": [project]})
    return name


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine without any agent program."""
    from tests.cli.fakes import Machine  # which needs what stands above

    return Machine(tmp_path)
