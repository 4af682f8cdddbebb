"""The server's log: JSON lines in `logs/server.log`, rotated, seven old files kept; warnings also on stderr.

Who logs uses structlog, libraries the standard logging; both end up here. What is logged is decided by who logs.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import orjson
import structlog
from structlog.typing import EventDict, WrappedLogger

from toryo.domain import times
from toryo.domain.texts import printable
from toryo.operations.calls.rate_limits import Pace
from toryo.server import clock

LARGEST = 20_000_000
"""Bytes of one file."""
KEPT = 7
STRANGERS_BURST, STRANGERS_EVERY_SECONDS = 100, 10.0
"""Log lines of one kind caused by callers without a credential: how many at once, and the seconds until one more."""
_HEARS_STRANGERS = ("uvicorn", "mcp")
"""Libraries that write a line for what anybody may send."""
_NOT_SHOWN = frozenset({"event", "timestamp", "level", "traceback", "metadata", "logger"})
_LEVELS = {"debug": 10, "info": 20, "warning": 30, "warn": 30, "error": 40, "exception": 40, "critical": 50}


class RotatingFile:
    """A file that is written line by line, unbuffered, and rotated when it is too large."""

    def __init__(self, path: Path, largest: int = LARGEST, kept: int = KEPT) -> None:
        self._path = path
        self._largest = largest
        self._kept = kept
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        self._open()

    def write(self, line: bytes) -> None:
        with self._lock:
            if self._file is None:
                return
            with contextlib.suppress(OSError):  # a full disk must not stop the server from answering
                self._size += self._file.write(line) or 0
                if self._size >= self._largest:
                    self._rotate()

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
            self._file = None

    def _open(self) -> None:
        """For this user's eyes only, also where an older Toryo made it."""
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.fchmod(descriptor, 0o600)
        self._file = os.fdopen(descriptor, "ab", buffering=0)
        self._size = os.fstat(descriptor).st_size

    def _rotate(self) -> None:
        if self._file is not None:
            self._file.close()
        for number in range(self._kept - 1, 0, -1):
            with contextlib.suppress(FileNotFoundError):
                self._old(number).rename(self._old(number + 1))
        self._path.rename(self._old(1))
        self._open()

    def _old(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")


class _Target:
    """Where the lines of this process go: the file of the newest server in it.

    Loggers are made once and kept, for speed; so what they write to stays the same object and points elsewhere.
    """

    file: RotatingFile | None = None

    def write(self, line: bytes) -> None:
        if self.file is not None:
            self.file.write(line)

    def flush(self) -> None:
        """Nothing is held back."""


_target = _Target()


def configure(directory: Path, level: str) -> RotatingFile:
    """Sends every log line of this process to `directory`/server.log; returns the file, to be closed at the end."""
    file = _target.file = RotatingFile(directory / "server.log")
    lowest = _LEVELS[level]
    _sparing.begin()
    structlog.configure(
        processors=[_sparing, _stamped, _shown_to_people, _as_json],
        wrapper_class=structlog.make_filtering_bound_logger(lowest),
        logger_factory=structlog.BytesLoggerFactory(_target),  # type: ignore[arg-type]
        cache_logger_on_first_use=True,
    )
    root = logging.getLogger()
    root.handlers = [_Forwarding()]
    root.setLevel(max(lowest, logging.WARNING))
    return file


class _Sparing:
    """Limits log lines that strangers cause (`stranger=True`): a burst of each kind, then one line at intervals that
    says how many were left out.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.begin()

    def begin(self) -> None:
        """A new server: what strangers did at another one in this process does not count (loggers keep this object)."""
        self._pace = Pace(STRANGERS_BURST, STRANGERS_EVERY_SECONDS, remembered=1_000)
        self._left_out: Counter[str] = Counter()

    def __call__(self, _logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
        if not line.pop("stranger", False):
            return line
        kind = str(line.get("event"))
        if self._pace.wait_seconds(kind, self._clock()):
            self._left_out[kind] += 1
            raise structlog.DropEvent
        if left_out := self._left_out.pop(kind, 0):
            line["left_out"] = left_out
        return line


_sparing = _Sparing()


class _Forwarding(logging.Handler):
    """Lines of libraries, which are of interest from warnings on."""

    def emit(self, record: logging.LogRecord) -> None:
        logger = structlog.get_logger(record.name)
        stranger = record.name.startswith(_HEARS_STRANGERS)
        line = {"logger": record.name, "exc_info": record.exc_info, "stranger": stranger}
        logger.log(record.levelno, record.getMessage(), **line)


def _stamped(_logger: WrappedLogger, method: str, line: EventDict) -> EventDict:
    line["timestamp"] = times.iso(clock.now())
    line["level"] = method
    cause = _exception(line.pop("exc_info", None))
    if cause is not None:
        line["traceback"] = "".join(traceback.format_exception(cause))
    return line


def _exception(given: Any) -> BaseException | None:
    """What `exc_info` means: an exception, a triple, or true for the one being handled."""
    if isinstance(given, BaseException):
        return given
    if isinstance(given, tuple):
        return given[1] if isinstance(given[1], BaseException) else None
    return sys.exc_info()[1] if given else None


def _shown_to_people(_logger: WrappedLogger, method: str, line: EventDict) -> EventDict:
    if _LEVELS.get(method, 0) >= logging.WARNING:
        cause = str(line.get("traceback", "")).strip().rsplit("\n", 1)[-1]
        further = " ".join(f"{key}={value}" for key, value in line.items() if key not in _NOT_SHOWN)
        words = " ".join(each for each in (str(line.get("event", "")), further, cause) if each)
        with contextlib.suppress(OSError):  # its reader may be gone
            print(printable(f"{method}: {words}"), file=sys.stderr, flush=True)  # noqa: T201 - where people look
    return line


def _as_json(_logger: WrappedLogger, _method: str, line: EventDict) -> bytes:
    return orjson.dumps(line, default=repr)
