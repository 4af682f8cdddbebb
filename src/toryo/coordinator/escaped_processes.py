"""Processes that left their launch and every trace of it (`env -i setsid …`): who could have started them has ended.

On Linux a Coordinator asks to become the parent of what its programs leave behind. Such a child carries no name, so it
is known by time: it is ended when everything that was running when it was started has ended. What still carries its
launch's name is found by that (`processes.end_strays`), at once.
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
"""In a row: a process that ends may leave children behind."""


def adopt() -> bool:
    """From now on what the programs leave behind is this process's child. False where the system cannot do that."""
    if not _list().exists():
        return False
    try:
        return bool(ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (AttributeError, OSError):
        return False


def end(at_work: Collection[int]) -> None:
    """Ends what nobody at work can have started, and buries what has ended by itself.

    `at_work`: the programs that this process has started and waits for. To be called in the main thread: what other
    threads have started (git) are children of theirs, and in no danger.
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
