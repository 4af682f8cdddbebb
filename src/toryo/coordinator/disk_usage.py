"""Disk usage of a Coordinator's logs and worktrees: counted rarely, in a thread, with a time limit.

For display only: nothing waits for it or depends on it.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from toryo.client import ProtocolError, RefusalError, Unreachable
from toryo.coordinator.worktrees import disk

FIRST_AFTER = 5.0
"""Seconds after the start: other work is more urgent then."""
EVERY = 600.0
LONGEST = 10.0
"""Time limit of one count in seconds; when it is reached, the result is a lower bound."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Bytes; not `complete` if counting stopped early."""

    logs: int
    worktrees: int
    complete: bool


class DiskUsage:
    """`run` counts and reports repeatedly; it may be cancelled at any time."""

    def __init__(
        self,
        logs: Path,
        worktrees: Path,
        *,
        first_after: float = FIRST_AFTER,
        every: float = EVERY,
        longest: float = LONGEST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._places = (logs, worktrees)
        self._first_after, self._every, self._longest = first_after, every, longest
        self._clock = clock
        self._over = threading.Event()

    async def run(self, tell: Callable[[Taken], Awaitable[None]]) -> None:
        """Until it is cancelled. Reports that fail are sent again the next time."""
        try:
            await asyncio.sleep(self._first_after)
            while True:
                taken = await asyncio.to_thread(self.take)
                with contextlib.suppress(Unreachable, RefusalError, ProtocolError):
                    await tell(taken)
                await asyncio.sleep(self._every)
        finally:
            self._over.set()  # a counting thread would block the end of the process

    def take(self) -> Taken:
        """Counts both within the time limit."""
        until = self._clock() + self._longest
        (logs, all_logs), (worktrees, all_worktrees) = (
            disk.size_as_far_as(place, lambda: self._over.is_set() or self._clock() >= until) for place in self._places
        )
        return Taken(logs, worktrees, all_logs and all_worktrees)
