"""The journal of launches on disk: a file per launch, from its start until the server has accepted its exit report.

After a crash the next Coordinator with this id knows what it still has to report. Files and directory are synced, so
the journal survives a power failure. Syncing can be slow or hang, so it runs in a background thread that does not
prevent the process from exiting. Only the first record of a launch is written at once, and not synced: no process
survives a power failure, but one may come to its end between its start and the writing of its process id. A file that
cannot be written is logged; the server then ends that launch by its lease.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from toryo import untrusted_files
from toryo.coordinator.orders import Launch

log = logging.getLogger("toryo.coordinator")

_KEPT = ("launch_id", "agent_id", "project_id", "purpose", "ai_type", "working_directory", "program_session")
"""Fields of a launch that are kept: no credential, and nothing that only the start needs."""


SETTLE_FOR = 10.0
"""Seconds in which what was written should be on disk."""


@dataclass(frozen=True, slots=True)
class Record:
    launch: Launch
    pid: int | None = None
    """None: its process was about to be started when this was written."""
    began: int | None = None
    """When the process was started, in clock ticks of the machine; None if unavailable."""
    worktree: str | None = None
    boot: str | None = None
    """The boot id of the machine: clock ticks and process ids start over after a reboot."""
    told: dict[str, Any] | None = None
    """The exit report; None: it was running when this was written."""


class Journal:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._jobs: deque[Callable[[], bool]] = deque()
        self._writing = False
        self._idle = threading.Condition()

    def begin(self, record: Record) -> None:
        """Writes the first record of a launch, before its process is started."""
        self._write(record.launch.launch_id, _known(record), ".begun", synced=False)

    def put(self, record: Record) -> None:
        """Replaces the record of a launch by what is known now. Does not wait for the disk.

        An end that is not reported yet stays, even if a process is found running after it.
        """
        self._later(partial(self._write, record.launch.launch_id, _known(record)))

    def forget(self, launch_id: str) -> None:
        """Deletes the record after the server has accepted the exit."""
        self._later(partial(self._remove, launch_id))

    def settle(self, within: float) -> bool:
        """Waits up to `within` seconds until everything is on disk; returns whether it is."""
        with self._idle:
            return self._idle.wait_for(lambda: not self._writing, within)

    def _later(self, job: Callable[[], bool]) -> None:
        with self._idle:
            self._jobs.append(job)
            if not self._writing:
                self._writing = True
                threading.Thread(target=self._work_off, name="journal", daemon=True).start()

    def _work_off(self) -> None:
        while True:
            with self._idle:
                if not self._jobs:
                    self._writing = False
                    self._idle.notify_all()
                    return
                jobs = [*self._jobs]
                self._jobs.clear()
            named = [job() for job in jobs]
            if any(named):
                self._sync_names()

    def _write(self, launch_id: str, known: dict[str, Any], suffix: str = ".new", *, synced: bool = True) -> bool:
        """Whether there is a new name in the directory."""
        path = self._path(launch_id)
        new = path.with_suffix(suffix)
        try:
            if known["told"] is None and self._is_to_be_told(path):
                return False
            self._directory.mkdir(mode=0o700, exist_ok=True)
            with os.fdopen(untrusted_files.open_own(new, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8") as file:
                json.dump(known, file)
                file.flush()
                if synced:
                    os.fsync(file.fileno())
            new.replace(path)
        except Exception as problem:  # noqa: BLE001 - this thread returns no result: it must log what is lost
            log.warning("%s cannot be recorded in %s: %s", launch_id, self._directory, problem)
            return False
        return True

    def _sync_names(self) -> None:
        """A rename survives a power failure only after its directory is synced: once for all that came together."""
        try:
            directory = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)
        except OSError as problem:
            log.warning("the records of launches in %s may not survive a power failure: %s", self._directory, problem)

    def _remove(self, launch_id: str) -> bool:
        with contextlib.suppress(OSError, ValueError):
            self._path(launch_id).unlink()
        return False

    def read(self) -> Iterator[Record]:
        """The records of a predecessor; unreadable files are skipped."""
        for path in sorted(self._directory.glob("*.json")):
            try:
                found = _content(path)
                launch = Launch(**{name: found["launch"][name] for name in _KEPT if name in found["launch"]})
                pid, began, worktree, told = (found[name] for name in ("pid", "began", "worktree", "told"))
                yield Record(launch, pid, began, worktree, found.get("boot"), told)
            except (OSError, ValueError, LookupError, TypeError, RecursionError) as problem:
                log.warning("the record %s of a launch cannot be read: %s", path, problem)

    def _is_to_be_told(self, path: Path) -> bool:
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
            return _content(path)["told"] is not None
        return False

    def _path(self, launch_id: str) -> Path:
        return self._directory / f"{launch_id}.json"


def _known(record: Record) -> dict[str, Any]:
    known = {field.name: getattr(record, field.name) for field in fields(record)}
    return {**known, "launch": {name: getattr(record.launch, name) for name in _KEPT}}


def _content(path: Path) -> Any:
    return json.loads(untrusted_files.text(path, largest=untrusted_files.LARGEST_RECORD, nofollow=True))
