"""What this process and everything that it has started have cost: CPU, and time in which nothing of it could run.

Linux tells both: the CPU of a process with that of its children that have ended, and how long its threads could have
run but had no processor (schedstat). Waiting is what is left of the time on the clock: a busy machine makes a test
longer, not its waiting. Elsewhere only this process and its ended children are counted, and nobody is said to wait.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

_TICK = 1 / os.sysconf("SC_CLK_TCK")
_SCHEDULER_TELLS = Path("/proc/self/schedstat").exists()
_PRESSURE = Path("/proc/pressure")
_DELAY_OF_ENDED = 3.0
"""How long a process that has ended may at least have queued for a second of CPU: the kernel forgets it with the
process. Where more threads want to run than that for each processor, it is as long as they make it."""
_MANY_ENDED = 0.1
"""Seconds of CPU of processes that have ended, from which on they may have queued whenever anything has: each start and
each end of a short process waits for its turn."""
_SAMPLE = 0.0035
"""Seconds of CPU of one sample of `slowness`, on the idle machine on which the limits were set."""


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
    pressed: float
    """How long anything on this machine has queued for a processor."""
    stalled: float
    """How long anything on this machine has waited for a disk."""

    def since(self, before: Spent) -> Spent:
        return Spent(*(getattr(self, each.name) - getattr(before, each.name) for each in fields(self)))

    @property
    def waited(self) -> float:
        """Seconds in which it waited for something else than a processor."""
        if not _SCHEDULER_TELLS:
            return 0.0
        delay = max(_DELAY_OF_ENDED, os.getloadavg()[0] / (os.cpu_count() or 1)) * max(0.0, self.ended)
        if self.ended > _MANY_ENDED:
            delay = max(delay, self.pressed)
        return max(0.0, self.clock - self.cpu - max(0.0, self.queued) - delay - self.stalled)


shared: list[Spent] = []
"""What was spent during this test for what others use, too."""


@contextmanager
def for_others_too() -> Iterator[None]:
    """What is done here is no cost of the test that happens to need it first."""
    before, others = spent(), len(shared)
    yield
    cost = spent().since(before)
    for each in shared[others:]:  # done here, and counted already
        cost = cost.since(each)
    shared.append(cost)


_AT_ONCE = 0.02
_TRIES = 10


def slowness() -> float:
    """How much more CPU than on an idle machine this process needs for the same work just now: at least 1.

    Two processors are often one core: who computes beside somebody else needs half as much again.
    """
    samples = []
    for _ in range(9):
        began, seen = time.process_time(), {}
        for number in range(20_000):
            seen[number & 255] = str(number)
        samples.append(time.process_time() - began)
    return max(1.0, statistics.median(samples) / _SAMPLE)


def spent() -> Spent:
    """So far. It takes a few system calls, and a few more for each living process that this one has started.

    Where the machine gave the processor to others meanwhile, the figures are not those of one moment: it looks again.
    """
    for _ in range(_TRIES):
        before = time.monotonic()
        found = _looked()
        if found.clock - before < _AT_ONCE:
            break
    return found


def _looked() -> Spent:
    own = os.times()
    cpu = own.user + own.system
    ended = own.children_user + own.children_system
    queued = _queued(os.getpid())
    for pid in _descendants():
        try:
            counts = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue  # it has just ended
        user, system, ended_user, ended_system = (int(each) * _TICK for each in counts[11:15])
        cpu += user + system
        ended += ended_user + ended_system
        queued += _queued(pid)
    return Spent(time.monotonic(), cpu + ended, queued, ended, _pressure("cpu"), _pressure("io"))


def _pressure(of: str) -> float:
    try:
        return int((_PRESSURE / of).read_bytes().partition(b"total=")[2].split()[0]) / 1e6
    except (OSError, IndexError):
        return 0.0


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
