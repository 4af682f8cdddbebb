"""Work in a thread that is not left running where its caller is cancelled: what comes next in the same directory must
not meet it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")


async def to_its_end(work: Callable[..., Answer], *given: object) -> Answer:
    """As `asyncio.to_thread`; a cancellation is raised when the work has ended."""
    doing = asyncio.ensure_future(asyncio.to_thread(work, *given))
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        while not doing.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait((doing,))
        doing.exception()  # nobody else asks for it
        raise
