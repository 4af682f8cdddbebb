"""Forecasts, each computed by `toryo forecast` as a process of its own: neither the event loop nor the memory of the
server has to do with it.

One process runs at a time, with the lowest priority and within limits of time and memory; other projects wait for their
turn. Results are kept in memory: after a restart, and at other servers on the same database, there are none.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import structlog

from toryo.deeds import terminal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.times import Millis
from toryo.domain.wording import constant, say, together
from toryo.operations.calls.forecasting import Forecasted
from toryo.operations.overview import forecasts

TORYO = (sys.executable, "-P", "-m", "toryo")
RUNS = 20
LONGEST_SECONDS = 300.0
MOST_MEMORY = 2 * 2**30
"""Bytes of a process, where the system limits them for another process (Linux)."""
MOST_KEPT = 200
"""Projects with a forecast; the oldest one is forgotten."""
LOWEST_PRIORITY = 19
ENDS_WITHIN_SECONDS = 5.0
_LONGEST_TOLD = 2_000

_log = structlog.get_logger("toryo.server")


class _Failed(Exception):
    """`args[0]` says why."""


class Forecasts:
    """The forecasts of one server."""

    def __init__(
        self,
        data_dir: Path,
        now: Callable[[], Millis],
        program: Sequence[str] = TORYO,
        longest_seconds: float = LONGEST_SECONDS,
    ) -> None:
        self._data_dir, self._now = data_dir, now
        self._program, self._longest_seconds = program, longest_seconds
        self._lock = threading.Lock()
        self._known: dict[str, Forecasted] = {}
        self._waiting: deque[str] = deque()
        self._worker: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._files = data_dir.absolute() / "forecast"
        """What a process writes; one that was killed leaves it behind."""
        shutil.rmtree(self._files, ignore_errors=True)

    def of(self, project_id: str) -> Forecasted | None:
        with self._lock:
            return self._known.get(project_id)

    def start(self, project_id: str, max_concurrent: int) -> None:
        with self._lock:
            before = self._known.pop(project_id, None)
            if self._closed or (before is not None and before.under_way):
                if before is not None:
                    self._known[project_id] = before
                return
            begun = Forecasted("waiting", max_concurrent, self._now())
            if before is not None:
                begun = replace(begun, found=before.found, found_at=before.found_at, found_with=before.found_with)
            self._known[project_id] = begun
            self._forget_old()
            self._waiting.append(project_id)
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="forecasts", daemon=True)
                self._worker.start()

    def close(self) -> None:
        """Ends what is being computed."""
        with self._lock:
            self._closed = True
            self._waiting.clear()
            worker = self._worker
            if self._process is not None:
                self._process.kill()
        if worker is not None:
            worker.join(ENDS_WITHIN_SECONDS)

    def _forget_old(self) -> None:
        over = [name for name, each in self._known.items() if not each.under_way]
        for name in over[: max(0, len(self._known) - MOST_KEPT)]:
            del self._known[name]

    def _work(self) -> None:
        """Computes one after the other until none waits."""
        while (project_id := self._next()) is not None:
            known = self._known[project_id]
            try:
                found = self._computed(project_id, known.max_concurrent)
                self._end(project_id, state="done", found=found, found_at=self._now(), found_with=known.max_concurrent)
            except _Failed as failed:
                self._end(project_id, state="failed", reason=failed.args[0])
            except Exception as error:  # noqa: BLE001 - who waits for it must be told that it failed
                _log.error("forecast_failed", project_id=project_id, exc_info=error)
                self._end(project_id, state="failed", reason=say("It could not be computed; see the server's log."))

    def _next(self) -> str | None:
        with self._lock:
            if self._closed or not self._waiting:
                self._worker = None
                return None
            project_id = self._waiting.popleft()
            self._known[project_id] = replace(self._known[project_id], state="running")
            return project_id

    def _end(self, project_id: str, **outcome: Any) -> None:
        with self._lock:
            self._known[project_id] = replace(self._known[project_id], ended_at=self._now(), **outcome)

    # --- one process -------------------------------------------------------------------------------------------------

    def _computed(self, project_id: str, max_concurrent: int) -> Mapping[str, Any]:
        """What it prints. Raises _Failed."""
        lifeline, ours = os.pipe()
        try:
            try:
                process = self._begun(project_id, max_concurrent, lifeline)
            finally:
                os.close(lifeline)
            printed, told = process.communicate(timeout=self._longest_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise _Failed(
                say(
                    "It took longer than {seconds} seconds. Use the command line, with fewer runs{forecast:: …|.}",
                    seconds=round(self._longest_seconds),
                    forecast=terminal("forecast --runs N"),
                )
            ) from None
        finally:
            os.close(ours)
            shutil.rmtree(self._files, ignore_errors=True)
            with self._lock:
                self._process = None
        return _read(process.returncode, printed, told)

    def _begun(self, project_id: str, max_concurrent: int, lifeline: int) -> subprocess.Popen[bytes]:
        """It ends when the server does, however that ends: its stdin is then closed."""
        command = [*self._program, "forecast", f"--project={project_id}", f"--runs={RUNS}"]
        command += [f"--max-concurrent={max_concurrent}", f"--data-dir={self._data_dir.absolute()}", "--json"]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TORYO_")}
        with self._lock:
            if self._closed:
                raise _Failed("The server is stopping.")  # nobody is told
            self._files.mkdir(mode=0o700, exist_ok=True)
            self._process = subprocess.Popen(
                [*command, "--ends-with-stdin"],
                stdin=lifeline,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**kept, "TMPDIR": str(self._files)},
                start_new_session=True,
            )
            _limit(self._process.pid)
            return self._process


def _limit(pid: int) -> None:
    with contextlib.suppress(OSError):  # it has ended already
        os.setpriority(os.PRIO_PROCESS, pid, LOWEST_PRIORITY)
    if hasattr(resource, "prlimit"):
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))


def _read(code: int, printed: bytes, told: bytes) -> Mapping[str, Any]:
    """Raises _Failed."""
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        raise _Failed(say("Its process was ended by the signal {signal}.", signal=name))
    document = None
    with contextlib.suppress(orjson.JSONDecodeError):
        document = orjson.loads(printed)
    if isinstance(document, dict) and code == 0:
        with contextlib.suppress(ValueError):
            return forecasts.read(document)
    elif isinstance(document, dict) and isinstance(document.get("message"), str):
        raise _Failed(together(constant(str(document.get(each) or "")) for each in ("message", "instruction")))
    if b"MemoryError" in told[-_LONGEST_TOLD:]:
        raise _Failed(
            say(
                "It needs more than {gigabytes} GB of memory. Use the command line{forecast:: …|.}",
                gigabytes=MOST_MEMORY // 2**30,
                forecast=terminal("forecast"),
            )
        )
    _log.error("forecast_failed", exit_code=code, told=told.decode(errors="replace")[-_LONGEST_TOLD:])
    raise _Failed(say("Its process ended with code {code}; see the server's log.", code=code))
