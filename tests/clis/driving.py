"""One run of a real agent program by hand: an empty environment, a HOME of its own, a bound, and what it cost."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.clis import programs
from tests.clis.endpoint import Endpoint
from tests.clis.presets import PRESETS, TOKEN, Place, Start

WITHIN = 60.0
NOWHERE = "http://127.0.0.1:9"
"""An address of loopback where nobody listens."""


@dataclass(frozen=True)
class Run:
    """`exit_code` is None for one that had to be killed; `cpu_seconds` are those of all its processes."""

    exit_code: int | None
    output: str
    errors: str
    wall_seconds: float
    cpu_seconds: float

    @property
    def events(self) -> list[dict[str, Any]]:
        """The lines of the output that are JSON objects."""
        found = []
        for line in self.output.splitlines():
            with contextlib.suppress(ValueError):
                found.append(json.loads(line))
        return [each for each in found if isinstance(each, dict)]


_SESSION_KEYS = {"codex": "thread_id", "opencode": "sessionID", "copilot": "sessionId"}


def session_of(name: str, run: Run) -> str:
    """The session a program says it runs on."""
    key = _SESSION_KEYS.get(name, "session_id")
    return str(next(event[key] for event in run.events if key in event))


@dataclass
class Driver:
    """Starts one program as often as wanted, always in the same home and working directory."""

    name: str
    endpoint: Endpoint
    folder: Path
    preset: Callable[[Place], Start] | None = None
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.installed = programs.installed(self.name)
        self.home, self.work, self.files, self.scratch = (
            self.folder / each for each in ("home", "work", "files", "scratch")
        )
        for path in (self.home, self.work, self.files, self.scratch):
            path.mkdir(parents=True, exist_ok=True)

    def run(
        self,
        prompt: str,
        *,
        server: str = NOWHERE,
        credential: str = "none",
        session: str | None = None,
        within: float = WITHIN,
    ) -> Run:
        place = Place(f"{server}/mcp", self.endpoint.url, self.files, session)
        start = (self.preset or PRESETS[self.name])(place)
        start.write(self.files)
        try:
            return _finish(self._begin(start, credential), prompt, within)
        finally:
            _end_those_at(self.home)

    def _begin(self, start: Start, credential: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(self.installed.executable), *start.words],
            env=self._environment(start, credential),
            cwd=self.work,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )

    def _environment(self, start: Start, credential: str) -> dict[str, str]:
        own = {"PATH": self.installed.path, "HOME": str(self.home), "LANG": "C.UTF-8", TOKEN: credential}
        return {**own, "TMPDIR": str(self.scratch), **self.endpoint.proxying(), **start.env, **self.environment}


def _finish(process: subprocess.Popen[str], prompt: str, within: float) -> Run:
    """Its process group ends with it."""
    began, before = time.monotonic(), _cpu()
    try:
        output, errors = process.communicate(prompt, timeout=within)
        code: int | None = process.returncode
    except subprocess.TimeoutExpired:
        _end(process)
        output, errors = process.communicate()
        code = None
    _end(process)
    return Run(code, output, errors, time.monotonic() - began, _cpu() - before)


def _end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _end_those_at(home: Path) -> None:
    """Shell tools start groups and sessions of their own; what they started is known by its home (on Linux)."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"HOME={home}".encode() in path.read_bytes().split(b"\0"):
                os.kill(int(path.parent.name), signal.SIGKILL)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
