"""What this process and everything that it has started have cost: CPU, and time in which nothing of it could run.

Linux tells both: the CPU of a process with that of its children that have ended, and how long its threads could have
run but had no processor (schedstat). Waiting is what is left of the time on the clock: a busy machine makes a test
longer, not its waiting. Elsewhere only this process and its ended children are counted, and nobody is said to wait.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

_TICK = 1 / os.sysconf("SC_CLK_TCK")
_SCHEDULER_TELLS = Path("/proc/self/schedstat").exists()
_DELAY_OF_ENDED = 3.0
"""How long a process that has ended may have queued for a second of CPU: the kernel forgets it with the process. A
machine with five times as many runnable threads as processors makes a process queue about so long."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Totals, in seconds. Only the difference of two of them says something."""

    clock: float
    cpu: float
    """CPU of the process tree, user and system."""
    queued: float
    """How long its living threads could run and did not; each counts."""
    ended: float
    """The part of `cpu` that was used by processes that have ended."""

    def since(self, before: Spent) -> Spent:
        return Spent(
            self.clock - before.clock, self.cpu - before.cpu, self.queued - before.queued, self.ended - before.ended
        )

    @property
    def waited(self) -> float:
        """Seconds in which it waited for something else than a processor."""
        if not _SCHEDULER_TELLS:
            return 0.0
        return max(0.0, self.clock - self.cpu - max(0.0, self.queued) - _DELAY_OF_ENDED * max(0.0, self.ended))


def spent() -> Spent:
    """So far. It takes a few system calls, and a few more for each living process that this one has started."""
    own = os.times()
    cpu = own.user + own.system
    ended = own.children_user + own.children_system
    queued = _queued(os.getpid())
    for pid in _descendants():
        try:
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue  # it has just ended
        user, system, ended_user, ended_system = (int(each) * _TICK for each in fields[11:15])
        cpu += user + system
        ended += ended_user + ended_system
        queued += _queued(pid)
    return Spent(time.monotonic(), cpu + ended, queued, ended)


def _descendants() -> list[int]:
    found: list[int] = []
    unseen = [os.getpid()]
    while unseen:
        pid = unseen.pop()
        try:
            threads = [*Path(f"/proc/{pid}/task").iterdir()]
        except OSError:
            continue
        for thread in threads:
            try:
                children = [int(each) for each in (thread / "children").read_bytes().split()]
            except OSError:
                continue
            found += children
            unseen += children
    return found


def _queued(pid: int) -> float:
    total = 0
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            total += int((thread / "schedstat").read_bytes().split()[1])
    except (OSError, IndexError):
        return total / 1e9
    return total / 1e9
