"""What a machine may lack is tried once in a test run, by the worker that needs it first.

A run is pytest and all its workers (xdist). They share a directory (`TORYO_TEST_RUN`, made in tests/conftest.py):
for each thing a lock, and beside it the reason if it could not be had. Without such a directory everything is tried
each time.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

RUN = "TORYO_TEST_RUN"


def why_not(thing: str, attempt: Callable[[], str | None]) -> str | None:
    """None if the attempt succeeds, else why it failed. After a failure nobody in this run tries again.

    One worker tries at a time; the others wait for what it finds out.
    """
    run = os.environ.get(RUN)
    if run is None:
        return attempt()
    failure = Path(run) / f"{thing}.failed"
    with alone(failure.with_suffix(".lock")):
        if failure.exists():
            return failure.read_text(encoding="utf-8")
        reason = attempt()
        if reason is not None:
            failure.write_text(reason, encoding="utf-8")
        return reason


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """One process or thread at a time on this machine."""
    with lock.open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
