"""Tells a person at a terminal what a command waits for, if that takes long. Scripts get no such message."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SILENT_SECONDS = 3.0


@contextmanager
def notice(what: str, anyhow: float = 0) -> Iterator[None]:
    """`what` is waited for; `anyhow`: seconds that it takes, as was asked for."""
    if not sys.stderr.isatty():
        yield
        return
    from toryo.cli import output

    timer = threading.Timer(SILENT_SECONDS + anyhow, output.say, [f"toryo: waiting for {what} ... (^C stops waiting)"])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
