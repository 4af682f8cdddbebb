"""What a Coordinator takes over from its predecessor with the same id: running processes, and ends not reported yet.

Processes are adopted before the journal is read, and both before the first claim: what still runs has not ended, and
the claim must report it.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable
from functools import partial

from toryo.coordinator import logs, orphans, processes
from toryo.coordinator.at_hand import AtHand, now
from toryo.coordinator.ending import Ending
from toryo.coordinator.launch_journal import Record
from toryo.coordinator.launch_state import Stop
from toryo.coordinator.launches_in_hand import Entry
from toryo.coordinator.processes import Gone, Process
from toryo.coordinator.program_output import Reading
from toryo.coordinator.starting import Starting, adopted_worktree, time_limit

log = logging.getLogger("toryo.coordinator")


class Predecessor:
    def __init__(self, at_hand: AtHand, starting: Starting, ending: Ending) -> None:
        self._at = at_hand
        self._starting = starting
        self._ending = ending

    def adopt(self) -> None:
        orphans.end_checks(self._at.instance.mark)
        for orphan in orphans.find(self._at.server.url, self._at.instance.mark):
            entry = self._at.table.add(Entry(orphan.launch, now()))
            entry.since = now() - (processes.age(orphan.pid) or 0.0)
            self._starting.adopt(entry, Process(orphan.pid, child=False), orphan.worktree, orphan.secrets)
            entry.stop = time_limit(entry.provider, entry.since) if entry.provider is not None else None
            if orphan.lost:
                entry.stop = Stop(now(), 0.0, "its server has a new address")
            log.info("adopted %s: agent %s, pid %d", orphan.launch.launch_id, orphan.launch.agent_id, orphan.pid)

    def go_on_with(self, records: Iterable[Record]) -> None:
        """Reports what a predecessor could not: exits that it saw, and exits that happened after it."""
        for record in records:
            launch = record.launch
            if record.told is not None:
                self._at.table.remove(launch.launch_id)
                entry = Entry(launch, now(), worktree=adopted_worktree(launch, record.worktree, self._at.starter))
                tell = partial(self._ending.tell, entry, Reading(), record.told)
                self._at.telling.begin(launch.launch_id, tell)
            elif launch.launch_id not in self._at.table and self._is_over(record):
                entry = self._at.table.add(Entry(launch, now()))
                self._starting.adopt(entry, Gone(record.pid or 0), record.worktree)
                log.info("%s ended while no Coordinator was running: agent %s", launch.launch_id, launch.agent_id)
            elif launch.launch_id not in self._at.table and record.pid is None:
                self._at.journal.forget(launch.launch_id)  # never started: the server orders it again

    def _is_over(self, record: Record) -> bool:
        """Whether a process was started for this launch and has ended. What has printed something was started."""
        if record.pid is not None:
            return processes.has_ended(record.pid, record.began, record.boot)
        with contextlib.suppress(OSError):
            return logs.path_of(self._at.logs_in, record.launch.launch_id).stat().st_size > 0
        return False
