"""Sends what checks have left, then their results: the result waits for a server that is away, but not for a file that
the server does not take. What is not stored is said in the result.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from toryo.artifact_limits import LONGEST_NOTE, MOST_LEFT_OUT
from toryo.client import ProtocolError, RefusalError, Unreachable
from toryo.coordinator.acceptance_checks import Evidence
from toryo.coordinator.pending_reports import may_be_taken_later

WITHIN = 120.0
"""Seconds, from the first try: files that cannot be sent until then are left out."""

log = logging.getLogger("toryo.coordinator")


class Server(Protocol):
    async def store_artifact(self, check_id: str, place: int, name: str, content: bytes) -> str: ...

    async def report_check(
        self, check_id: str, evidence: Sequence[Evidence], artifacts: Sequence[Sequence[str]]
    ) -> None: ...


class Result:
    """The result of one run of checks; `tell` may be called until it has returned."""

    def __init__(
        self,
        check_id: str,
        evidence: Sequence[Evidence],
        server: Server,
        leaving: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._check_id, self._server, self._leaving, self._clock = check_id, server, leaving, clock
        self._evidence = list(evidence)
        self._stored: list[list[str]] = [[] for _ in evidence]
        self._waiting = [(place, file) for place, each in enumerate(evidence) for file in each.files]
        self._give_up: float | None = None

    async def tell(self) -> None:
        """Raises for what may be tried again."""
        self._give_up = self._give_up or self._clock() + WITHIN
        while self._waiting:
            place, file = self._waiting[0]
            try:
                artifact_id = await self._server.store_artifact(self._check_id, place, file.name, file.content)
            except (Unreachable, ProtocolError) as away:
                if not self._over:
                    raise
                self._leave_out(place, f"{file.name} is not stored: the server was not reached ({away}).")
            except RefusalError as no:
                if may_be_taken_later(no) and not self._over:
                    raise
                self._leave_out(place, f"{file.name} is not stored: the server did not take it ({no}).")
            else:
                self._stored[place].append(artifact_id)
            del self._waiting[0]
        await self._server.report_check(self._check_id, self._evidence, self._stored)

    @property
    def _over(self) -> bool:
        return self._leaving() or (self._give_up is not None and self._clock() >= self._give_up)

    def _leave_out(self, place: int, why: str) -> None:
        log.warning("%s: %s", self._check_id, why)
        found = self._evidence[place]
        notes = (why[:LONGEST_NOTE], *found.left_out)[:MOST_LEFT_OUT]
        self._evidence[place] = replace(found, left_out=notes)
