"""The id of a Coordinator: stable over restarts, and used by one process at a time.

With the same id a restarted Coordinator continues with its predecessor's agents; two processes with one id would
receive each other's orders. So a file lock protects the id; the operating system releases it when the process ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
from pathlib import Path
from typing import NamedTuple

from toryo import process_locks, untrusted_files
from toryo.coordinator.provider import BadConfig

MOST = 100
LONGEST_HOST = 48


class Word(NamedTuple):
    """What a Coordinator has written about its sandbox, and the PATH on which it finds programs; one of an earlier
    version does not tell that."""

    sandbox: str
    path: str | None


class IdentityLock:
    def __init__(self, coordinator_id: str, directory: Path, lock: Path, descriptor: int) -> None:
        self.id = coordinator_id
        self.mark = mark(coordinator_id, directory)
        self.journal = lock.with_suffix(".launches")
        self._word = lock.with_suffix(".json")
        self._descriptor = descriptor

    def tell(self, sandbox: str, path: str) -> None:
        """Writes information for `toryo doctor` to a file beside the lock; the lock file contains the process id
        only.
        """
        descriptor = untrusted_files.open_own(self._word, os.O_WRONLY | os.O_TRUNC)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump({"id": self.id, "sandbox": sandbox, "path": path}, file)

    def release(self) -> None:
        os.close(self._descriptor)


def hold(directory: Path, wanted: str | None) -> IdentityLock:
    """Locks the wanted id, or a default for this machine and data directory. Raises BadConfig if the wanted one is in
    use.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    locks = directory / process_locks.COORDINATORS
    locks.mkdir(mode=0o700, parents=True, exist_ok=True)
    own = wanted or _own(directory)
    for number in range(1, MOST):
        name = own if number == 1 else f"{own}-{number}"
        lock = locks / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.lock"
        descriptor = process_locks.hold(lock)
        if descriptor is not None:
            return IdentityLock(name, directory, lock, descriptor)
        if wanted:
            break
    raise BadConfig(
        f"A Coordinator with the id {own} is already running from {directory}. Choose another id with --id."
    )


def left_words(directory: Path) -> dict[str, Word]:
    """What the Coordinators of this directory have written, by id."""
    found = {}
    for path in (directory / process_locks.COORDINATORS).glob("*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            word = json.loads(untrusted_files.text(path, nofollow=True))
            found[str(word["id"])] = Word(str(word["sandbox"]), word.get("path"))
    return found


def mark(coordinator_id: str, directory: Path) -> str:
    """By which its processes know it. With the place: an id is held within a data directory, not on the machine."""
    return f"{coordinator_id}@{_place(directory)}"


def _own(directory: Path) -> str:
    return f"{(socket.gethostname() or 'coordinator')[:LONGEST_HOST]}-{_place(directory)}"


def _place(directory: Path) -> str:
    return hashlib.sha256(str(directory.resolve()).encode()).hexdigest()[:6]
