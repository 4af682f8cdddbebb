"""How a child of `toryo up` or of a server notices that its parent has ended: its stdin is closed.

The parent holds the other end of the pipe and never writes. The kernel closes it with the process, also after kill -9;
this works on every system with pipes, and lets the child shut down in order.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Annotated

import typer

EndsWithStdin = Annotated[bool, typer.Option("--ends-with-stdin", hidden=True)]
"""Another `toryo` process has started it: it ends when its stdin does."""


def heed_parent(ends_with_stdin: bool, within_seconds: float = 0) -> None:
    if ends_with_stdin:
        leave_when_stdin_ends(within_seconds)


def leave_when_stdin_ends(within_seconds: float) -> None:
    """From now on this process gets SIGTERM when its stdin ends, and is killed if it has not left in time."""
    threading.Thread(target=_watch, args=(sys.stdin.fileno(), within_seconds), name="lifeline", daemon=True).start()


def _watch(stdin: int, within_seconds: float) -> None:
    while os.read(stdin, 4096):
        pass
    # Nobody reads what is printed from here on; a write to the closed pipe would be an error.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(within_seconds)
    os.kill(os.getpid(), signal.SIGKILL)
