"""Following a resource: a read that waits, made again and again, until its reader may no longer see it.

Both ways to subscribe stand on this (`mcp_streams.py`, `mcp_resources.py`). What is read is not known here.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from toryo.domain.errors import Code
from toryo.operations.calls.dispatch import Outcome

LONGEST = 45
"""Seconds that one read waits."""
REST = 0.2
"""Seconds between two notices about one resource: a burst of changes is one notice."""
AGAIN = 5.0
"""Seconds until a read is tried again that failed for no fault of the reader's."""

Read = Callable[[str | None, int], Awaitable[Outcome]]
"""Reads a resource: the etag that is known, and how many seconds to wait for another."""


async def follow(read: Read, etag: str, changed: Callable[[str], Awaitable[None]], stopping: asyncio.Event) -> None:
    """Calls `changed` with each new etag. Returns when the reader is refused, or when `stopping` is set."""
    while not stopping.is_set():
        outcome = await read(etag, LONGEST)
        result = outcome.result or {}
        if outcome.refused:
            if result.get("error") != Code.UNAVAILABLE:
                return
            await _pause(AGAIN, stopping)
        elif result["etag"] != etag:
            etag = result["etag"]
            await changed(etag)
            await _pause(REST, stopping)


async def _pause(seconds: float, stopping: asyncio.Event) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), seconds)
