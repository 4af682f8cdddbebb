"""Reports of ends: written to the journal before they are sent, and deleted there when the server has accepted them.

So a crash in between repeats a report instead of losing it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from toryo.client import RefusalError
from toryo.coordinator.at_hand import AtHand, now, path_of
from toryo.coordinator.launch_journal import Record
from toryo.coordinator.launches_in_hand import Entry
from toryo.coordinator.orders import Launch
from toryo.coordinator.pending_reports import may_be_taken_later


class ExitReports:
    def __init__(self, at_hand: AtHand) -> None:
        self._at = at_hand

    def note(self, entry: Entry, told: dict[str, Any]) -> None:
        """Its session cannot be resumed after a later report."""
        path = path_of(entry.worktree)
        self._at.journal.put(Record(entry.launch, worktree=path, told={**told, "resumable": None}))

    def never_ran(self, launch: Launch, **how: Any) -> None:
        """Reports a launch that never ran."""
        self.note(Entry(launch, now()), how)
        self._at.telling.begin(launch.launch_id, partial(self._tell_never_ran, launch.launch_id, how))

    async def _tell_never_ran(self, launch_id: str, how: dict[str, Any]) -> None:
        await self.send(launch_id, how)

    async def send(self, launch_id: str, told: dict[str, Any]) -> str | None:
        """Returns a reminder, if the server has one. Later reports of this launch are not accepted."""
        try:
            reminder = await self._at.server.report_exit(launch_id, **told)
        except RefusalError as no:
            if not may_be_taken_later(no):
                self._at.journal.forget(launch_id)
            raise
        self._at.journal.forget(launch_id)
        return reminder
