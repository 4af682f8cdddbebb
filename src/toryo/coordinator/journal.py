"""What a Coordinator keeps on disk of the launches in hand: a file for each, from its start until the server has taken
the report of its end. Whatever ends this Coordinator, the next one with its id knows what is still to be told.

Survives a process, not a machine that loses power: nothing is synced. A file that cannot be written is logged; the
server then learns by a lease what became of that launch.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toryo import files
from toryo.coordinator.orders import Launch

log = logging.getLogger("toryo.coordinator")

_KEPT = ("launch_id", "agent_id", "project_id", "purpose", "ai_type", "working_directory", "program_session")
"""Of a launch: no credential, and nothing that only its start needs."""


@dataclass(frozen=True, slots=True)
class Record:
    launch: Launch
    pid: int | None = None
    began: int | None = None
    """When the process was started, in ticks of the machine; None where the machine does not tell."""
    worktree: str | None = None
    told: dict[str, Any] | None = None
    """How it has ended, as it is reported; None: it was running when this was written."""


class Journal:
    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def put(self, record: Record) -> None:
        """What is known of a launch now, in place of what was written before."""
        launch = {name: getattr(record.launch, name) for name in _KEPT}
        known = {"launch": launch, "pid": record.pid, "began": record.began, "worktree": record.worktree}
        path = self._path(record.launch.launch_id)
        new = path.with_suffix(".new")
        try:
            self._directory.mkdir(mode=0o700, exist_ok=True)
            with os.fdopen(files.made(new, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8") as file:
                json.dump({**known, "told": record.told}, file)
            new.replace(path)
        except (OSError, ValueError, TypeError) as problem:
            log.warning("%s cannot be noted in %s: %s", record.launch.launch_id, self._directory, problem)

    def forget(self, launch_id: str) -> None:
        """The server knows how it ended."""
        with contextlib.suppress(OSError):
            self._path(launch_id).unlink()

    def read(self) -> Iterator[Record]:
        """What a predecessor has left; a file that cannot be understood is passed over."""
        for path in sorted(self._directory.glob("*.json")):
            try:
                found = json.loads(files.text(path, largest=files.LARGEST_RECORD, nofollow=True))
                launch = Launch(**{name: found["launch"][name] for name in _KEPT if name in found["launch"]})
                yield Record(launch, found["pid"], found["began"], found["worktree"], found["told"])
            except (OSError, ValueError, LookupError, TypeError, RecursionError) as problem:
                log.warning("what %s says of a launch cannot be read: %s", path, problem)

    def _path(self, launch_id: str) -> Path:
        return self._directory / f"{launch_id}.json"
