"""Looks which paths are changed in the worktrees of running agents, one after the other, as long as it is cheap.

The server compares them with what other tasks change. A look that fails or is not accepted is repeated in the next
round; the report at the exit is what counts.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable

from toryo.client import ProtocolError, RefusalError, Unreachable
from toryo.coordinator import task_worktrees
from toryo.coordinator.launches_in_hand import Entry

EVERY = 5.0
"""Seconds between two rounds."""
SHARE = 20
"""A round that takes long is followed by a pause of this many times its length."""


async def watch(entries: Callable[[], Iterable[Entry]], tell: Callable[[Entry, list[str]], Awaitable[None]]) -> None:
    """Until it is cancelled; calls `tell` when the paths of one have changed."""
    pause = EVERY
    while True:
        await asyncio.sleep(pause)
        began = time.monotonic()
        for entry in [each for each in entries() if _works(each)]:
            assert entry.worktree is not None
            found = await asyncio.to_thread(task_worktrees.touched_paths, entry.worktree)
            if found is not None and found != entry.touched and _works(entry):
                with contextlib.suppress(Unreachable, RefusalError, ProtocolError):
                    await tell(entry, found)
                    entry.touched = found
        pause = max(EVERY, SHARE * (time.monotonic() - began))


def _works(entry: Entry) -> bool:
    running = entry.process is not None and not entry.process.over
    return running and entry.worktree is not None and not entry.work_kept and task_worktrees.is_watched(entry.launch)
