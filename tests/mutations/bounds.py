"""A fault in code that ends processes ends none that were there before it: they get no signal, and are not permitted.

It holds in the process that runs the tests, and in every Python that they start: there it is `sitecustomize`, which
stands beside the copy of src/toryo.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

BEGAN = "MUTATIONS_BEGAN"
"""The variable that says when the tests began."""


def hold(began: int) -> None:
    """From here on, in this process."""

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("os.kill", "os.killpg") and arguments[1] and _is_older(arguments[0], began):
            raise PermissionError(f"{arguments[0]} was there before the fault")

    sys.addaudithook(refuse)


def began(pid: int) -> int | None:
    """When a process was started, in the clock of the machine; None if there is none."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[19])
    except OSError:
        return None


def _is_older(pid: int, than: int) -> bool:
    """-1 stands for all processes, 0 for the own group, another negative number for a group."""
    if pid in (0, -1):
        return pid == -1
    found = began(abs(pid))
    return found is not None and found < than


if __name__ == "sitecustomize" and BEGAN in os.environ:
    hold(int(os.environ[BEGAN]))
