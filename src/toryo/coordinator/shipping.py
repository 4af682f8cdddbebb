"""Passes the output of agents on to the server, in the background; nothing ever waits for it.

A server that is away is tried again at the next look. After a process has ended, its rest gets three tries; the file
stays on this machine in any case.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from toryo.client import ProtocolError, RefusalError, Unreachable
from toryo.coordinator.logs import Log

LOOK_EVERY = 0.5
TRIES_AFTER_THE_END = 3
AT_ONCE = 8

Append = Callable[[str, int, str], Awaitable[int]]
"""Sends (launch id, offset, text) and returns the next offset."""


@dataclass
class _Shipment:
    log: Log
    failures: int = 0
    refused: bool = False

    @property
    def over(self) -> bool:
        gave_up = self.log.ended and self.failures >= TRIES_AFTER_THE_END
        return self.refused or gave_up or (self.log.ended and self.failures == 0 and self.log.chunk() is None)


class Shipping:
    def __init__(self, append: Append, look_every: float = LOOK_EVERY) -> None:
        self._append = append
        self._look_every = look_every
        self._shipments: dict[str, _Shipment] = {}
        self._soon = asyncio.Event()
        self._at_once = asyncio.Semaphore(AT_ONCE)

    def add(self, launch_id: str, log: Log) -> None:
        self._shipments[launch_id] = _Shipment(log)
        self._soon.set()

    def ended(self, launch_id: str) -> None:
        """Nothing will be written any more: what is left goes now."""
        if launch_id in self._shipments:
            self._shipments[launch_id].log.ended = True
            self._soon.set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self.look()
            pause = self._look_every if self._shipments else None
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._soon.wait(), pause)
            self._soon.clear()

    async def drain(self, seconds: float) -> None:
        """Passes on what is left, for so long at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._shipments:
                    for each in self._shipments.values():
                        each.log.ended = True
                    await self.look()

    async def look(self) -> None:
        """One look at every file; a long one is passed on piece by piece."""
        await asyncio.gather(*(self._pass_on(name, each) for name, each in list(self._shipments.items())))
        self._shipments = {name: each for name, each in self._shipments.items() if not each.over}

    async def _pass_on(self, launch_id: str, shipment: _Shipment) -> None:
        log = shipment.log
        while (text := log.chunk()) is not None:
            try:
                async with self._at_once:
                    log.passed_on(await self._append(launch_id, log.offset, text))
                shipment.failures = 0
            except RefusalError as no:
                shipment.failures += 1
                shipment.refused = no.code != "unavailable"
                return
            except (Unreachable, ProtocolError):
                shipment.failures += 1
                return
