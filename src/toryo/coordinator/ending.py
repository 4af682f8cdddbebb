"""Ends launches: signals their processes, reads what they have said to the end, judges it, and reports it.

What runs for an agent (`run_command`, `run_check`) ends with its process, before its changes are committed. Changes in
a worktree are committed and reported before the exit, because the exit may start a reader of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from typing import Any

from toryo import sandbox_signs
from toryo.client import RefusalError
from toryo.coordinator import exit_verdict, logs, network_limits, processes, task_worktrees
from toryo.coordinator.at_hand import AtHand, now
from toryo.coordinator.exit_reports import ExitReports
from toryo.coordinator.launch_journal import SETTLE_FOR
from toryo.coordinator.launch_state import Stage
from toryo.coordinator.launches_in_hand import Entry
from toryo.coordinator.live_output import LiveOutput
from toryo.coordinator.logs import Log
from toryo.coordinator.missing_logins import MissingLogin
from toryo.coordinator.pending_reports import may_be_taken_later
from toryo.coordinator.process_start import Resumed
from toryo.coordinator.program_output import MISUNDERSTOOD, Reading
from toryo.coordinator.provider import FINE, Verdict
from toryo.coordinator.starting import Starting
from toryo.failures import Ended, Failure

log = logging.getLogger("toryo.coordinator")

A_WEEK = 604_800


class Ending:
    def __init__(self, at_hand: AtHand, exits: ExitReports, starting: Starting, output: LiveOutput) -> None:
        self._at = at_hand
        self._exits = exits
        self._starting = starting
        self._output = output

    def signal(self, launch_id: str, stage: Stage, groups: processes.Groups) -> None:
        entry = self._at.table[launch_id]
        log.info(
            "%s: %s (%s)",
            launch_id,
            stage.name.lower(),
            entry.stop.reason if entry.stop else "its program has ended and left processes",
        )
        entry.stage, entry.signalled_at = stage, now()
        if entry.process is not None:
            entry.made_to_leave = entry.made_to_leave or not entry.process.over
            entry.process.signal_group(stage, groups)

    def reap(self, launch_id: str) -> bool:
        """Classifies its end and reports it; returns whether it failed."""
        entry = self._at.table.remove(launch_id)
        if entry is None or entry.process is None:
            return False
        reading = self._read_to_the_end(entry)
        end = exit_verdict.exit_of(entry.process, reading, entry.log)
        verdict = exit_verdict.verdict(entry, end, reading)
        self._at.starter.homes.keep(launch_id, reading.session_id)
        if verdict.failure is Failure.NOT_LOGGED_IN and entry.provider is not None:
            self._at.logins.failed(MissingLogin(entry.launch.ai_type, entry.launch.account), entry.provider)
        log.info("%s has ended %s%s", launch_id, end.told, f": {verdict.failure}" if verdict.failure else "")
        told = {
            "exit_code": exit_verdict.exit_code(end, verdict),
            "signal": end.signal,
            "error": exit_verdict.error(verdict, entry),
            "quota_reset_seconds": verdict.reset_seconds and min(math.ceil(verdict.reset_seconds), A_WEEK),
            "quota_window": verdict.window,
            "log_tail": entry.log.tail or None if entry.log else None,
            "usage": reading.usage,
            "program_session": exit_verdict.program_session(entry, reading, verdict),
            "refused_hosts": entry.refused.told,
            "resumable": self._resumable(entry, reading, verdict) or None,
            "unreported": self._at.starter.unreported(launch_id),
        }
        self._exits.note(entry, told)
        if told["unreported"] is not None:  # its file goes with the launch's directory
            self._at.journal.settle(SETTLE_FOR)
        self._at.telling.begin(launch_id, lambda: self.tell(entry, reading, told))
        return verdict.failure is not None

    def _read_to_the_end(self, entry: Entry) -> Reading:
        """Reads everything it has reported: in its output and in its second file."""
        if entry.log is None:
            return Reading()
        self._at.shipping.ended(entry.launch.launch_id)
        entry.refused = network_limits.refused_hosts(self._at.starter.refusals(entry.launch.launch_id))
        if entry.provider is not None and entry.provider.beside is not None and entry.provider.beside.to_the_end:
            self._output.read_beside(entry, entry.log)
        with contextlib.suppress(OSError):
            logs.add(entry.log.path, self._of_sandbox(entry, entry.log))
        with contextlib.suppress(OSError, *MISUNDERSTOOD):
            entry.log.finish()
        reading = entry.log.reading or Reading()
        if entry.provider is not None and entry.provider.also is not None:
            with contextlib.suppress(OSError, *MISUNDERSTOOD):
                entry.elsewhere += entry.provider.also(self._at.starter.workspace(entry.launch.launch_id))
        reading.also(entry.elsewhere)
        return reading

    def _of_sandbox(self, entry: Entry, output: Log) -> list[str]:
        """What the log says at its end of what the sandbox has kept from the program."""
        refused = entry.refused.lines
        if entry.process is None or not entry.process.sandboxed:
            return refused
        directory = entry.worktree.path if entry.worktree is not None else self._at.starter.project(entry.launch)
        tells = entry.provider is not None and not entry.provider.model_cli  # a model looks for what is nowhere, too
        said = logs.tail(output.path, sandbox_signs.LOOKED_AT)
        return [*refused, *sandbox_signs.sign_lines(said, directory if tells else None)]

    def _resumable(self, entry: Entry, reading: Reading, verdict: Verdict) -> bool:
        """Whether it can be resumed with a reminder to report: it exited by itself, and its session is resumable."""
        can = entry.provider is not None and entry.provider.resumes and reading.session_id is not None
        once = not entry.reminded and not entry.adopted
        return can and once and verdict is FINE and self._at.leaving_since is None

    async def tell(self, entry: Entry, reading: Reading, told: dict[str, Any]) -> None:
        launch_id = entry.launch.launch_id
        await self._at.jobs.end_all_for(launch_id)
        if entry.worktree is not None and not entry.work_kept:
            said = await asyncio.to_thread(task_worktrees.keep, entry.worktree, entry.launch)
            await self._tell_of_work(launch_id, said)
            entry.work_kept = True
        reminder = await self._exits.send(launch_id, told)
        # The Coordinator must stop in the meantime: it returns the launch.
        if reminder and self._at.leaving_since is not None:
            told.update(error=Ended.COORDINATOR_STOPPED.value, resumable=None)
            self._exits.note(entry, told)
            await self._exits.send(launch_id, told)
        elif reminder and reading.session_id:
            log.info("%s left without a report: continued with a reminder", launch_id)
            self._at.table.forget(launch_id)
            again = Entry(entry.launch, now(), worktree=entry.worktree, elsewhere=entry.elsewhere)
            self._starting.start(self._at.table.add(again), Resumed(reading.session_id, reminder))

    async def _tell_of_work(self, launch_id: str, said: dict[str, Any]) -> None:
        """If the server refuses the report about the worktree, the exit must still be reported."""
        try:
            await self._at.server.report_worktree(launch_id, **said)
        except RefusalError as no:
            if may_be_taken_later(no):
                raise
            log.warning("worktree of %s: %s", launch_id, no)
