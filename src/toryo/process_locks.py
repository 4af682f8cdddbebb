"""Lock files that a process holds while it lives, with its process id: which processes run from a data directory.

The kernel releases a lock when its process ends in any way. So a file without a lock proves nothing, nor does
information that a server has written: after a `kill -9` another program may have its port and process id.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
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
_GREATEST_PID = 2**31 - 1
_LONGEST_SERVER_FILE = 64 * 1024
_PLAINLY = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
"""How files are opened that may be anything: neither a link is followed, nor does a FIFO block."""
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
        document = json.loads(_small_file(place / SERVER_FILE))
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return None
    told = isinstance(document, dict) and document.get("url")
    return document if told and is_held(place / SERVER_LOCK) else None


def _small_file(path: Path) -> bytes:
    """Its first bytes; none where it is not a regular file."""
    try:
        descriptor = os.open(path, _PLAINLY)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link, a socket
            return b""
        raise
    try:
        return os.read(descriptor, _LONGEST_SERVER_FILE) if _is_regular(descriptor) else b""
    finally:
        os.close(descriptor)


def left_open() -> Iterator[Holder]:
    """What runs from data directories that may not be where they were: by the lock files that processes of this user
    hold, with their paths of now. What was deleted has a path that does not exist. Only Linux tells them.

    Any program of this user can hold such a file: whether to trust the directory is for the caller to decide."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is not to be looked at
            files = [*(process / "fd").iterdir()] if process.stat().st_uid == os.geteuid() else []
            for file in files:
                with suppress(OSError):  # it was closed meanwhile
                    path = file.readlink()
                    name = _NAMES.get(path.name.removesuffix(_DELETED))
                    pid = int(process.name)
                    if name is not None and str(path).isprintable() and _is_held_by(pid, file):
                        yield Holder(name, pid, path)


def _is_held_by(pid: int, file: Path) -> bool:
    """Whether an open file of a process is a lock that is held, and that names this process. `file` is its entry in
    /proc, so this works for a deleted file, too."""
    if pid <= 1 or not stat.S_ISREG(file.stat().st_mode):
        return False
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return _pid_read(descriptor) == pid and _is_locked(descriptor)
    finally:
        os.close(descriptor)


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
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return _is_locked(descriptor)
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int) -> bool:
    """Close the descriptor afterwards: until then, it may hold a shared lock."""
    if not _is_regular(descriptor):
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


def _is_regular(descriptor: int) -> bool:
    return stat.S_ISREG(os.fstat(descriptor).st_mode)


def wait_until_released(path: Path, within_seconds: float) -> bool:
    """Waits for the process that holds a lock to end; whether it has."""
    limit = time.monotonic() + within_seconds
    while is_held(path):
        if time.monotonic() >= limit:
            return False
        time.sleep(_LOOK_EVERY)
    return True


def pid_in(path: Path) -> int:
    """The process id in a lock file; 0 where there is none. Signals to 0 or less would reach more than a process."""
    try:
        descriptor = os.open(path, _PLAINLY)
    except OSError:
        return 0
    try:
        return _pid_read(descriptor)
    finally:
        os.close(descriptor)


def _pid_read(descriptor: int) -> int:
    try:
        pid = int(os.read(descriptor, _LONGEST_PID))
    except (OSError, ValueError):
        return 0
    return pid if 0 < pid <= _GREATEST_PID else 0
