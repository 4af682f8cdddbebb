"""Follows a resource: repeats a waiting read until the reader loses the right to it.

Used by both kinds of subscription (`mcp_streams.py`, `mcp_resources.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from toryo.domain.errors import Code
from toryo.long_waits import LONGEST_WAIT_SECONDS
from toryo.operations.calls.dispatch import Outcome

REST = 0.2
"""Seconds between two notifications about one resource: a burst of changes gives one."""
AGAIN = 5.0
"""Seconds until a read is retried after a failure of the server."""

Read = Callable[[str | None, int], Awaitable[Outcome]]
"""Reads a resource; arguments: the known etag, and how many seconds to wait for another."""


async def follow(read: Read, etag: str, changed: Callable[[str], Awaitable[None]], stopping: asyncio.Event) -> None:
    """Calls `changed` with each new etag. Returns when the reader is refused, or when `stopping` is set."""
    while not stopping.is_set():
        outcome = await read(etag, LONGEST_WAIT_SECONDS)
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
