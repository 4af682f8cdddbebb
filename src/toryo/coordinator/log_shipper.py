"""Sends the output of agents to the server in the background; nothing waits for it.

Reading and sending are two loops, so that a slow server or a fast program does not delay the monitoring of others. If
the server is unreachable, sending is retried at the next round. After a process has ended, the rest is tried three
times; the file stays on this machine in any case. An output that cannot be parsed affects its own launch only.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from toryo.client import ProtocolError, RefusalError, Unreachable
from toryo.coordinator.doing import Doing
from toryo.coordinator.logs import Log
from toryo.coordinator.pending_reports import may_be_taken_later

log = logging.getLogger("toryo.coordinator")

LOOK_EVERY = 0.5
PIECES_AT_A_LOOK = 64
"""Pieces per round, before the other outputs have their turn."""
TRIES_AFTER_THE_END = 3
AT_ONCE = 8

DOING_EVERY = 3.0
"""Seconds between two reports of what one agent does: the server writes down each."""

Append = Callable[[str, int, str, dict[str, Any] | None, dict[str, Any]], Awaitable[int]]
"""Sends (launch id, offset, text, usage, news by their names) and returns the next offset."""
Seen = Callable[[str, Log], None]
"""Is shown every output again and again, whether it can be passed on or not."""


@dataclass
class _Shipment:
    log: Log
    failures: int = 0
    refused: bool = False
    faulty: bool = False
    """A read error was already logged; without this, each look would log it again."""
    told: Doing | None = None
    told_at: float = 0.0
    told_ports: bool = False

    def doing(self) -> Doing | None:
        """What its agent does, if that is news and not too soon."""
        news = self.log.doing is not self.told and time.monotonic() - self.told_at >= DOING_EVERY
        return self.log.doing if news and not self.log.ended else None

    def guarded(self, launch_id: str, look: Callable[[], None]) -> None:
        """An error in one output does not affect the others."""
        try:
            look()
        except Exception:
            if not self.faulty:
                log.exception("opening the output of %s", launch_id)
            self.faulty = True

    @property
    def over(self) -> bool:
        if not self.log.ended:
            return False
        gave_up = self.refused or self.failures >= TRIES_AFTER_THE_END
        return gave_up or (self.failures == 0 and self._empty)

    @property
    def _empty(self) -> bool:
        try:
            return self.log.chunk() is None
        except Exception:  # the next attempt to send counts it
            log.debug("cannot read the rest of %s", self.log.path, exc_info=True)
            return False


class LogShipper:
    def __init__(self, append: Append, seen: Seen = lambda *_: None, look_every: float = LOOK_EVERY) -> None:
        self._append = append
        self._seen = seen
        self._look_every = look_every
        self._shipments: dict[str, _Shipment] = {}
        self._soon = asyncio.Event()
        self._some = asyncio.Event()
        self._at_once = asyncio.Semaphore(AT_ONCE)

    def add(self, launch_id: str, log: Log) -> None:
        """It is looked at with the others: a look for each that is added would look at all of them each time."""
        if not self._shipments:
            self._soon.set()
        self._shipments[launch_id] = _Shipment(log)
        self._some.set()

    def ended(self, launch_id: str) -> Log | None:
        """Nothing more will be written: what is left is read now, and goes as soon as it can."""
        shipment = self._shipments.get(launch_id)
        if shipment is None:
            return None
        shipment.guarded(launch_id, shipment.log.finish)
        self._soon.set()
        return shipment.log

    async def run(self) -> None:
        """Until cancelled."""
        await asyncio.gather(self._watch(), self._ship())

    async def _watch(self) -> None:
        while True:
            self.watch()
            await asyncio.sleep(self._look_every)
            if not self._shipments:
                self._some.clear()
            await self._some.wait()

    def watch(self) -> None:
        """Sends the new part of every output."""
        for launch_id, shipment in self._shipments.items():
            if not shipment.log.ended:
                shipment.guarded(launch_id, shipment.log.read)
                shipment.guarded(launch_id, partial(self._seen, launch_id, shipment.log))

    async def _ship(self) -> None:
        while True:
            await self.look()
            pause = self._look_every if self._shipments else None
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._soon.wait(), pause)
            self._soon.clear()

    async def drain(self, seconds: float) -> None:
        """Sends what is left, for at most that long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._shipments:
                    for shipment in self._shipments.values():
                        shipment.log.ended = True
                    await self.look()

    async def look(self) -> None:
        """One look at every file; a long one is passed on piece by piece."""
        looked_at = dict(self._shipments)
        await asyncio.gather(*(self._pass_on(name, shipment) for name, shipment in looked_at.items()))
        for name, shipment in looked_at.items():
            if shipment.over and self._shipments.get(name) is shipment:
                del self._shipments[name]

    async def _pass_on(self, launch_id: str, shipment: _Shipment) -> None:
        for _ in range(PIECES_AT_A_LOOK):
            try:
                text = None if shipment.refused else shipment.log.chunk()
                doing = None if shipment.refused else shipment.doing()
                news = self._news_of(shipment, doing)
                if text is None and not news:
                    return
                await self._send(launch_id, shipment, text or "", news)
                if doing is not None:
                    shipment.told, shipment.told_at = doing, time.monotonic()
                shipment.told_ports = shipment.told_ports or "ports" in news
                if text is None:
                    return
                shipment.failures = 0
            except RefusalError as no:
                shipment.failures += 1
                shipment.refused = not may_be_taken_later(no)
                return
            except (Unreachable, ProtocolError):
                shipment.failures += 1
                return
            except Exception:
                if not shipment.faulty:
                    log.exception("sending the output of %s", launch_id)
                shipment.faulty = True
                shipment.failures += 1
                return
        self._soon.set()

    @staticmethod
    def _news_of(shipment: _Shipment, doing: Doing | None) -> dict[str, Any]:
        log = shipment.log
        news: dict[str, Any] = {}
        if doing is not None:
            news["doing"] = {**asdict(doing), "seconds": round(max(0.0, time.monotonic() - log.doing_since), 1)}
        if log.ports is not None and not shipment.told_ports and not shipment.refused:
            news["ports"] = log.ports
        return news

    async def _send(self, launch_id: str, shipment: _Shipment, text: str, news: dict[str, Any]) -> None:
        log = shipment.log
        usage = log.reading.usage if log.reading is not None else None
        async with self._at_once:
            end = await self._append(launch_id, log.offset, text, usage, news)
            if text:
                log.passed_on(end)
