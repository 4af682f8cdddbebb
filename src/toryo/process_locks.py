"""Lock files that a process holds while it lives, with its process id: which processes run from a data directory.

The kernel releases a lock when its process ends in any way. So a file without a lock proves nothing, nor does
information that a server has written: after a `kill -9` another program may have its port and process id.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

UP_LOCK = "up.lock"
SERVER_LOCK = "server.lock"
SERVER_FILE = "server.json"
COORDINATORS = "coordinators"
_LOOK_EVERY = 0.05
_TRIES = 7
"""A look at a lock takes it for an instant (`is_held`): who wants it tries again for some 0.3 s."""
_LONGEST_PID = 32
"""Bytes that are read of a lock file."""
_NAMES = {UP_LOCK: "toryo up", SERVER_LOCK: "server"}
_DELETED = " (deleted)"
"""With which Linux marks an open file that is gone."""


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that runs from a data directory. `pid` is 0 where an older Toryo has not written it."""

    name: str
    pid: int
    lock: Path

    @property
    def told(self) -> str:
        return f"the server (pid {self.pid})" if self.name == "server" else f"{self.name} (pid {self.pid})"


def hold(path: Path) -> int | None:
    """Takes the lock until the answered descriptor is closed; None where another process has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if not _taken(descriptor):
        os.close(descriptor)
        return None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor


def _taken(descriptor: int) -> bool:
    for number in range(_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if number < _TRIES - 1:
                time.sleep(_LOOK_EVERY)
        else:
            return True
    return False


def holders(place: Path) -> Iterator[Holder]:
    """The processes that run from a data directory, in the order in which to stop them."""
    locks = [(_NAMES[UP_LOCK], place / UP_LOCK)]
    locks += [("Coordinator", each) for each in sorted((place / COORDINATORS).glob("*.lock"))]
    locks.append((_NAMES[SERVER_LOCK], place / SERVER_LOCK))
    for name, path in locks:
        if is_held(path):
            yield Holder(name, pid_in(path), path)


def server(place: Path) -> dict[str, Any] | None:
    """What the server that runs from a data directory has written about itself (`url`, `socket`, `pid`, and as
    `data_dir` where that was when it started), or None."""
    try:
        document = json.loads((place / SERVER_FILE).read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    told = isinstance(document, dict) and document.get("url")
    return document if told and is_held(place / SERVER_LOCK) else None


def left_open() -> Iterator[Holder]:
    """What runs from data directories that may not be where they were: by the lock files that processes of this user
    have open, with their paths of now. What was deleted has a path that does not exist. Only Linux tells them."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is not to be looked at
            files = [*(process / "fd").iterdir()] if process.stat().st_uid == os.geteuid() else []
            for file in files:
                with suppress(OSError):  # it was closed meanwhile
                    path = file.readlink()
                    name = _NAMES.get(path.name.removesuffix(_DELETED))
                    if name is not None:
                        yield Holder(name, int(process.name), path)


def server_at(port: int, places: Iterable[Path]) -> tuple[Path, int] | None:
    """The data directory, of those given, whose running server listens on a port of this machine, and its process."""
    for place in places:
        try:
            running = server(place)
            if running is not None and urlsplit(str(running["url"])).port == port:
                return place, pid_in(place / SERVER_LOCK)
        except (OSError, ValueError):
            continue
    return None


def is_held(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def released(path: Path, within_seconds: float) -> bool:
    """Waits for the process that holds a lock to end; whether it has."""
    limit = time.monotonic() + within_seconds
    while is_held(path):
        if time.monotonic() >= limit:
            return False
        time.sleep(_LOOK_EVERY)
    return True


def pid_in(path: Path) -> int:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        return int(os.read(descriptor, _LONGEST_PID))
    except (OSError, ValueError):
        return 0
    finally:
        os.close(descriptor)
