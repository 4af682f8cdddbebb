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
    def __init__(self, coordinator_id: str, descriptor: int) -> None:
        self.id = coordinator_id
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
            return Instance(name, descriptor)
        if wanted:
            break
    raise BadConfig(f"A Coordinator called {own} is running from {directory} already: give this one another --id.")


def _own(directory: Path) -> str:
    place = hashlib.sha256(str(directory.resolve()).encode()).hexdigest()[:6]
    return f"{(socket.gethostname() or 'coordinator')[:LONGEST_HOST]}-{place}"


def _locked(path: Path) -> int | None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
