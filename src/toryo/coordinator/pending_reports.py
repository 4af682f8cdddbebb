"""Reports that must reach the server: exits and results of checks. Retried while it is unreachable.

Each report is sent in its own task: in a queue, one that the server cannot accept now would delay the others. All
of them may be sent twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from toryo import backoff
from toryo.client import ProtocolError, RefusalError, Unreachable
from toryo.coordinator.server_status import ServerStatus

log = logging.getLogger("toryo.coordinator")

FIRST_PAUSE = 0.1
TRIES_WHEN_LEAVING = 3

_LATER = frozenset({"unavailable", "rateLimited", "locked", "conflict", "invalidCredentials", "authenticationRequired"})

Tell = Callable[[], Awaitable[None]]


def may_be_taken_later(no: RefusalError) -> bool:
    """Whether a refusal is about the current state of server or caller, so that a retry may succeed."""
    return no.code in _LATER


class Reports:
    def __init__(self, contact: ServerStatus, longest_pause: float, told: Callable[[], None]) -> None:
        self._contact = contact
        self._longest_pause = longest_pause
        self._told = told
        self._tasks: set[asyncio.Task[None]] = set()
        self.leaving = False
        """Set when the Coordinator stops: then an unreachable server is not retried, and ends launches by their
        leases.
        """

    @property
    def pending(self) -> bool:
        """Whether an exit has not been reported yet."""
        return bool(self._tasks)

    def begin(self, what: str, tell: Tell) -> None:
        """Sends a report in the background; `told` is called when it is done."""
        task = asyncio.create_task(self.until_told(what, tell))
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._told()

    async def until_told(self, what: str, tell: Tell) -> None:
        """Returns when the server has accepted or refused it; a refusal is final."""
        tries = 0
        while not await self._try(what, tell):
            tries += 1
            if self.leaving and tries >= TRIES_WHEN_LEAVING:
                return
            await asyncio.sleep(backoff.pause(tries, FIRST_PAUSE, self._longest_pause))

    async def _try(self, what: str, tell: Tell) -> bool:
        try:
            await tell()
        except (Unreachable, ProtocolError) as away:
            self._contact.failed(away)
            return False
        except RefusalError as no:
            if may_be_taken_later(no):
                self._contact.failed(no)
                return False
            log.warning("%s: %s", what, no)
        return True
