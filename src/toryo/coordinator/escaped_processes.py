"""Ends processes that have left their launch without a trace (`env -i setsid …`).

On Linux a Coordinator becomes the parent of processes that its programs leave behind. Such a child does not carry its
launch's id, so it is ended once all programs that were running at its start have ended. Processes that still carry the
id are found by it immediately (`processes.end_strays`).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections.abc import Collection
from pathlib import Path

from toryo.coordinator import processes

_SET_CHILD_SUBREAPER = 36
_LOOKS = 5
"""Repetitions, because a process that ends may leave children behind."""


def adopt() -> bool:
    """Makes this process the parent of all processes left behind. False if the system does not support it."""
    if not _list().exists():
        return False
    try:
        return bool(ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1) == 0)
    except (AttributeError, OSError):
        return False


def end(at_work: Collection[int]) -> None:
    """Ends processes that no running program can have started, and reaps those that have ended.

    `at_work`: the programs that this process has started and waits for. Call it in the main thread: children of other
    threads (git) are not affected.
    """
    begun = [each for pid in at_work if (each := processes.began(pid)) is not None]
    for _ in range(_LOOKS):
        left = [pid for pid in _children() if pid not in at_work and _is_left(pid, min(begun, default=None))]
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not left:
            return


def _is_left(pid: int, oldest: int | None) -> bool:
    with contextlib.suppress(ChildProcessError):
        if os.waitpid(pid, os.WNOHANG)[0] == pid:
            return False
    began = processes.began(pid)
    return began is not None and (oldest is None or began < oldest)


def _children() -> list[int]:
    """Those of the main thread: it gets what is left behind."""
    try:
        return [int(part) for part in _list().read_text().split()]
    except OSError:
        return []


def _list() -> Path:
    return Path(f"/proc/self/task/{os.getpid()}/children")
