"""Starts launches: at once, or after the worktree was created and the project's files were read, and adopts what runs.

A launch is written to the journal before its process is started: whatever happens then, somebody knows of it. Threads
get values and return values; only the loop's thread accesses the table. Which launches are started is decided in
`reconcile.py`, how the process of one is started is in `process_start.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from toryo.coordinator import logs, processes, task_worktrees, worktrees
from toryo.coordinator.at_hand import AtHand, now, path_of
from toryo.coordinator.exit_reports import ExitReports
from toryo.coordinator.launch_journal import Record
from toryo.coordinator.launch_state import Stop
from toryo.coordinator.launches_in_hand import Entry
from toryo.coordinator.logs import Log
from toryo.coordinator.orders import Launch
from toryo.coordinator.process_start import Resumed, Starter
from toryo.coordinator.processes import Process
from toryo.coordinator.provider import BadConfig, Command, Provider, StartFailure
from toryo.coordinator.worktrees import Worktree
from toryo.failures import Ended, Failure

log = logging.getLogger("toryo.coordinator")

LOOK_AT_SET_UP = 1.0
TELL_OF_SET_UP = 30.0
"""Seconds between reports while a worktree is being set up: the server waits for a sign-in for two minutes."""


class Starting:
    def __init__(self, at_hand: AtHand, exits: ExitReports) -> None:
        self._at = at_hand
        self._exits = exits

    async def begin_all(self, launches: Sequence[Launch]) -> None:
        """Starts launches one by one, yielding in between, so that the server is asked and exits are noticed in
        parallel.

        If the Coordinator must stop in the meantime, it starts nothing more: the next plan drops waiting launches.
        """
        for launch in launches:
            if self._at.leaving_since is not None:
                return
            self._begin(launch)
            await asyncio.sleep(0)

    def _begin(self, launch: Launch) -> None:
        """Starts a launch immediately, or after its worktree has been created."""
        entry = self._at.table[launch.launch_id]
        try:
            make = self._at.starter.worktree(launch)
        except StartFailure as impossible:
            self._could_not_start(launch, impossible.failure, str(impossible))
            return
        if make is None and not self._at.starter.reads_project(launch):
            self.start(entry)
            return
        entry.starting = True
        self._at.beside(self._start_in(entry, make))

    async def _start_in(self, entry: Entry, make: Callable[[], Worktree] | None) -> None:
        """Creates the worktree, reports it, and reads the project's files for the provider, in threads. Then starts the
        process if it is still wanted.
        """
        launch = entry.launch
        worktree, command = None, None
        try:
            if make is not None:
                worktree = await asyncio.to_thread(make)
                await self._tell_of_worktree(entry, worktree)
                await self._set_up(entry, worktree)
            if self._at.starter.reads_project(launch):
                command = await self._prepared(launch, worktree)
        except StartFailure as impossible:
            self._could_not_start(launch, impossible.failure, str(impossible))
        except Exception as problem:  # noqa: BLE001 - a failed start affects this agent only
            self._could_not_start(launch, *_cause(problem, f"preparing {launch.launch_id}"))
        else:
            entry.starting, entry.worktree = False, worktree
            if entry.stop is not None or self._at.leaving_since is not None:
                self.drop(launch.launch_id)
            else:
                self.start(entry, command=command)
        self._at.news.set()

    async def _tell_of_worktree(self, entry: Entry, worktree: Worktree) -> None:
        """The server may answer that its agent has nothing to do by now."""
        launch_id, said = entry.launch.launch_id, task_worktrees.first_report(worktree)

        async def tell() -> None:
            stop = await self._at.server.report_worktree(launch_id, **said)
            if stop is not None and entry.stop is None:
                entry.stop = Stop(now(), 0.0, stop)

        await self._at.telling.until_told(launch_id, tell)

    async def _set_up(self, entry: Entry, worktree: Worktree) -> None:
        """As long as it is still wanted. The server hears of it, so that it goes on waiting. Raises StartFailure."""
        doing = asyncio.ensure_future(self._at.starter.set_up(entry.launch, worktree))
        told_at = now()
        try:
            while not doing.done() and entry.stop is None and self._at.leaving_since is None:
                await asyncio.wait((doing,), timeout=LOOK_AT_SET_UP)
                if now() - told_at > TELL_OF_SET_UP:
                    await self._tell_of_worktree(entry, worktree)
                    told_at = now()
            if doing.done():
                doing.result()
        finally:
            doing.cancel()
            await asyncio.gather(doing, return_exceptions=True)

    async def _prepared(self, launch: Launch, worktree: Worktree | None) -> Command:
        """Has a time limit; raises StartFailure."""
        try:
            return await asyncio.wait_for(
                asyncio.to_thread(self._at.starter.prepared, launch, worktree), self._at.starter.PREPARED_WITHIN
            )
        except TimeoutError:
            raise BadConfig(
                f"Reading the plan or script of agent {launch.agent_id} took longer than "
                f"{self._at.starter.PREPARED_WITHIN:g} seconds. Make the file smaller."
            ) from None

    def start(self, entry: Entry, resumed: Resumed | None = None, command: Command | None = None) -> None:
        launch = entry.launch
        entry.reminded = resumed is not None
        if resumed is None:
            self._at.journal.begin(Record(launch, worktree=path_of(entry.worktree), boot=processes.boot()))
        try:
            started = self._at.starter.start(launch, entry.worktree, resumed, command)
        except StartFailure as impossible:
            self._could_not_start(launch, impossible.failure, str(impossible))
            return
        except Exception as problem:  # noqa: BLE001 - a failed start affects this agent only
            self._could_not_start(launch, *_cause(problem, f"starting {launch.launch_id}"))
            return
        entry.since, entry.provider, entry.mask = now(), started.provider, started.mask
        entry.log = Log(logs.path_of(self._at.logs_in, launch.launch_id), started.mask, started.reading)
        entry.stop = time_limit(started.provider, entry.since)
        beside = started.provider.beside
        if beside is not None and not isinstance(beside.file, str) and started.goes_on:
            entry.beside_at = None  # what its session has used before was counted then
        self._at.shipping.add(launch.launch_id, entry.log)
        self._watch(entry, started.process)
        self._at.news.set()  # Its time limit was not part of the plan that started it.
        log.info(
            "started %s: agent %s (%s), pid %d", launch.launch_id, launch.agent_id, launch.reason, started.process.pid
        )

    def _watch(self, entry: Entry, process: Process) -> None:
        entry.process = process
        path, began = path_of(entry.worktree), processes.began(process.pid)
        self._at.journal.put(Record(entry.launch, process.pid, began, path, boot=processes.boot()))
        process.watch(asyncio.get_running_loop(), self._at.news.set)

    def _could_not_start(self, launch: Launch, failure: Failure, words: str) -> None:
        """Reported like an exit with the reason as its output: in the log and to the server only."""
        log.warning("cannot start agent %s: %s: %s", launch.agent_id, failure, words)
        self._at.table.remove(launch.launch_id)
        mask = self._at.starter.mask(launch)
        with contextlib.suppress(OSError):
            path, output = logs.create(self._at.logs_in, launch.launch_id)
            with os.fdopen(output, "w", encoding="utf-8") as file:
                file.write(f"{failure}: {words}\n")
            self._at.shipping.add(launch.launch_id, Log(path, mask, self._at.starter.reading(launch)))
            self._at.shipping.ended(launch.launch_id)
        self._exits.never_ran(launch, error=failure.value, log_tail=mask(words))

    def drop(self, launch_id: str) -> None:
        """Removes a launch that was never started; the server may order it again."""
        entry = self._at.table.remove(launch_id)
        assert entry is not None
        why = Ended.STOPPED if self._at.leaving_since is None else Ended.COORDINATOR_STOPPED
        self._exits.never_ran(
            entry.launch,
            error=why.value,
            log_tail="It was not started: it was no longer wanted, no slot was free in time, or the Coordinator was "
            "stopped.",
        )

    def adopt(self, entry: Entry, process: Process, worktree: str | None, secrets: Iterable[str] = ()) -> None:
        launch = entry.launch
        entry.adopted, entry.beside_at = True, None
        entry.provider = self._at.starter.providers.get(launch.ai_type)
        entry.mask = self._at.starter.mask(launch, secrets)
        entry.log = Log(logs.path_of(self._at.logs_in, launch.launch_id), entry.mask, self._at.starter.reading(launch))
        self._at.shipping.add(launch.launch_id, entry.log)
        entry.worktree = adopted_worktree(launch, worktree, self._at.starter)
        self._watch(entry, process)


def _cause(problem: Exception, doing: str) -> tuple[Failure, str]:
    """Whose fault a start was that failed otherwise than expected: of the machine (its disk is full, it has no process
    or file left), or of what was configured."""
    if isinstance(problem, OSError) and problem.errno in _OF_MACHINE:
        return Failure.MACHINE_FAILED, f"{problem.strerror}{f': {problem.filename}' if problem.filename else ''}"
    log.error(doing, exc_info=problem)
    return Failure.BAD_CONFIG, f"{type(problem).__name__}: {problem}"


_OF_MACHINE = frozenset(
    {
        *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO),
        *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN),
    }
)


def adopted_worktree(launch: Launch, path: str | None, starter: Starter) -> Worktree | None:
    """The worktree of an adopted process, as recorded, if it belongs to its project."""
    if path is None or Path(path).parent != (starter.worktrees / launch.project_id).resolve():
        return None
    try:
        return worktrees.opened_at(Path(path), starter.project(launch))
    except worktrees.Trouble as trouble:
        log.warning("worktree %s: %s", path, trouble)
        return None


def time_limit(provider: Provider, now: float) -> Stop | None:
    return None if provider.time_limit is None else Stop(now, provider.time_limit, "time_limit")
