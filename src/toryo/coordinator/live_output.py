"""What programs print while they run: stops one that exceeds its limits, and reads a program's second output file."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from toryo.coordinator import logs, network_limits, stop_escalation
from toryo.coordinator.at_hand import now
from toryo.coordinator.failure_words import time_will_not_mend
from toryo.coordinator.launch_state import Stage, Stop
from toryo.coordinator.launches_in_hand import Entry, LaunchesInHand
from toryo.coordinator.logs import Log
from toryo.coordinator.process_start import Starter
from toryo.coordinator.program_output import MISUNDERSTOOD, Reading
from toryo.coordinator.provider import Beside, StartFailure
from toryo.sandbox_network import Asked

FLOOD_STEP = 0.5
"""Seconds between interrupt, terminate and kill for a process that fills the disk."""
MOST_BESIDE_IN_ALL = 1024 * 1024 * 1024
"""Maximum size in bytes of a second output file of a program; beyond it, it is no longer read."""


class LiveOutput:
    """`stopping` is called after a process was told to leave."""

    def __init__(self, starter: Starter, table: LaunchesInHand, stopping: Callable[[], None]) -> None:
        self._starter = starter
        self._table = table
        self._stopping = stopping

    def look(self, launch_id: str, output: Log) -> None:
        """Called for every output in each round: stops a process that exceeds its limits."""
        entry = self._table.find(launch_id)
        if entry is None or entry.provider is None or entry.log is not output or entry.stage is not Stage.NONE:
            return
        self.read_beside(entry, output)
        if output.ports is None and Asked.read(entry.launch.network).ports:
            output.ports = network_limits.served_ports(self._starter.refusals(launch_id)) or None
        entry.heed(output.reading, now())
        provider, turns = entry.provider, output.reading.turns if output.reading else 0
        trouble = output.reading.trouble if output.reading else None
        in_vain = trouble is not None and (trouble.hasty or time_will_not_mend(trouble))
        idle = output.reading.idle_turns if output.reading else 0
        printed = stop_escalation.Output(output.size, turns, entry.troubled_since, in_vain, idle)
        bounds = stop_escalation.Bounds(provider.max_output, provider.patience, provider.max_turns)
        reason = stop_escalation.overstepped(printed, bounds, now())
        if reason is not None:
            entry.tell_to_leave(Stop(now(), 0.0, reason, FLOOD_STEP if reason == "output_flood" else None))
            self._stopping()

    def read_beside(self, entry: Entry, output: Log) -> None:
        """Appends the contents of a program's second file to its output, which is read in the next round."""
        beside = entry.provider.beside if entry.provider is not None else None
        if beside is None or (entry.beside_at or 0) > MOST_BESIDE_IN_ALL:
            return
        with contextlib.suppress(OSError, StartFailure, *MISUNDERSTOOD):
            path = self._file_beside(entry, beside, output.reading)
            if path is None:
                return
            text, entry.beside_at = self._starter.told_beside(path, beside, entry.beside_at)
            lines = list(beside.lines(text))
            if lines:
                logs.add(output.path, lines)

    def _file_beside(self, entry: Entry, beside: Beside, reading: Reading | None) -> Path | None:
        """Found once; looked for again only after the program has done something."""
        signs = reading.signs_of_life if reading is not None else 0
        if entry.beside is None and entry.looked_for != signs:
            session = reading.session_id if reading is not None else None
            entry.looked_for = signs if session is not None else -1
            entry.beside = self._starter.file_beside(entry.launch, beside, session)
        return entry.beside
