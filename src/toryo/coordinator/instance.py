"""Which Coordinator this is: an id that stays the same over restarts and is never borne by two at once.

The same id lets a restarted Coordinator go on with its predecessor's agents; two with one id would be handed each
other's orders. So the id is held by a file lock, which ends with the process, however it ends.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import socket
from pathlib import Path

from toryo.coordinator.provider import BadConfig

MOST = 100
LONGEST_HOST = 48


class Instance:
    def __init__(self, coordinator_id: str, directory: Path, descriptor: int) -> None:
        self.id = coordinator_id
        self.mark = mark(coordinator_id, directory)
        self._descriptor = descriptor

    def release(self) -> None:
        os.close(self._descriptor)


def hold(directory: Path, wanted: str | None) -> Instance:
    """The wanted id, or one of this machine and data directory. Raises BadConfig where the wanted one is borne."""
    locks = directory / "coordinators"
    locks.mkdir(mode=0o700, parents=True, exist_ok=True)
    own = wanted or _own(directory)
    for number in range(1, MOST):
        name = own if number == 1 else f"{own}-{number}"
        descriptor = _locked(locks / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.lock")
        if descriptor is not None:
            return Instance(name, directory, descriptor)
        if wanted:
            break
    raise BadConfig(f"A Coordinator called {own} is running from {directory} already: give this one another --id.")


def mark(coordinator_id: str, directory: Path) -> str:
    """By which its processes know it. With the place: an id is held within a data directory, not on the machine."""
    return f"{coordinator_id}@{_place(directory)}"


def _own(directory: Path) -> str:
    return f"{(socket.gethostname() or 'coordinator')[:LONGEST_HOST]}-{_place(directory)}"


def _place(directory: Path) -> str:
    return hashlib.sha256(str(directory.resolve()).encode()).hexdigest()[:6]


def _locked(path: Path) -> int | None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
