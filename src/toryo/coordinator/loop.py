"""The Coordinator's loop: observe, plan, act, whenever something has happened. It may be killed at any time.

`reconcile.py` decides; this module carries out and waits. It holds the current launches (`launches_in_hand.py`) and the
background tasks: one waiting claim, creating worktrees, reporting exits, checks and worktree jobs (`jobs.py`), and
sending output. Threads get values and return values; only the loop's thread accesses the table. The order matters:

- News is cleared before observing: whatever happens during a turn causes another one.
- A launch is in the table before the next claim is made, and started after it. So the claim reports it as running (the
  server repeats orders that are missing there), and the server decides about the next ones in parallel.
- No new claim is made before all exits are reported: the server would decide about agents that it believes to be
  running. A waiting claim is never abandoned, because its answer would be lost. The only exception is a claim without
  a slot when there is one again.
- What runs for an agent (`run_command`, `run_check`) ends with its process, before its changes are committed.
- Changes in a worktree are committed and reported before the exit, because the exit may start a reader of them.
- A launch is written to the journal before its process is started: whatever happens then, somebody knows of it.
- An exit is written to the journal before it is reported, and deleted there when the server has accepted it: a crash in
  between repeats the report instead of losing it.
- A predecessor's processes are adopted before its journal is read, and both before the first claim: what still runs has
  not ended, and the claim must report it.
- The lock on the id is released last, when the journal is on disk: the next Coordinator with this id reads it.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import math
import os
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from toryo import data_directories, sandbox_signs
from toryo.client import AsyncClient, ProtocolError, RefusalError, Unreachable, server_discovery
from toryo.coordinator import (
    escaped_processes,
    exit_verdict,
    identity_lock,
    logs,
    network_limits,
    orders,
    orphans,
    processes,
    program_homes,
    reconcile,
    stop_escalation,
    task_worktrees,
    touched_paths,
    worktrees,
)
from toryo.coordinator.claim_pacing import Pace
from toryo.coordinator.config import Config
from toryo.coordinator.disk_usage import DiskUsage, Taken
from toryo.coordinator.failure_words import time_will_not_mend
from toryo.coordinator.jobs import Jobs
from toryo.coordinator.launch_journal import Journal, Record
from toryo.coordinator.launch_state import Stage, State, Stop
from toryo.coordinator.launches_in_hand import Entry, LaunchesInHand
from toryo.coordinator.limits import Limits
from toryo.coordinator.log_shipper import LogShipper
from toryo.coordinator.logs import Log
from toryo.coordinator.missing_logins import MissingLogin, MissingLogins
from toryo.coordinator.orders import Launch, Orders
from toryo.coordinator.pending_reports import Reports, may_be_taken_later
from toryo.coordinator.process_start import Resumed, Starter
from toryo.coordinator.processes import Gone, Process
from toryo.coordinator.program_output import MISUNDERSTOOD, Reading
from toryo.coordinator.provider import FINE, BadConfig, Beside, Command, Provider, StartFailure, Verdict
from toryo.coordinator.providers import configured
from toryo.coordinator.reconcile import Plan
from toryo.coordinator.sandbox import Sandbox, default_mode
from toryo.coordinator.server_api import Server
from toryo.coordinator.server_status import ServerStatus
from toryo.coordinator.workspaces import Workspaces
from toryo.coordinator.worktrees import Worktree, combining
from toryo.data_directory_trust import Untrusted
from toryo.failures import Ended, Failure
from toryo.sandbox_network import Asked

log = logging.getLogger("toryo.coordinator")

LEFTOVER_LOOK = 0.05
LOOK_FOR_LEFT_BEHIND = 10.0
LOOK_AT_SET_UP = 1.0
TELL_OF_SET_UP = 30.0
"""Seconds between reports while a worktree is being set up: the server waits for a sign-in for two minutes."""
SETTLE = 0.05
"""Seconds for an answer in transit before its claim is abandoned."""
DRAIN_FOR = 3.0
"""Seconds for sending the last output when this Coordinator stops."""
SETTLE_FOR = 10.0
"""Seconds for writing the journal to disk when this Coordinator stops."""
FLOOD_STEP = 0.5
"""Seconds between interrupt, terminate and kill for a process that fills the disk."""
STARTS_AT_A_TIME = 32
"""Maximum number of starts per claim: the server decides about the next ones while these are started, so that a hundred
starts do not wait until the last of them is decided.
"""
MOST_BESIDE_IN_ALL = 1024 * 1024 * 1024
"""Maximum size in bytes of a second output file of a program; beyond it, it is no longer read."""
A_WEEK = 604_800


class Coordinator:
    """Runs until `stop()` was called and every agent has ended: `await Coordinator(config).run()`.

    `token_file` is the file of the configured token, which is read again if the server does not know the token.
    `client` and `data_dir` are optional; without them the server and token are discovered as by every client. `adopts`:
    this process is dedicated to the Coordinator and becomes the parent of processes that agents leave
    (`escaped_processes.adopt`).
    """

    def __init__(
        self,
        config: Config,
        *,
        client: AsyncClient | None = None,
        data_dir: Path | None = None,
        environ: Mapping[str, str] | None = None,
        providers: Mapping[str, Provider] | None = None,
        limits: Limits | None = None,
        adopts: bool = False,
        config_file: Path | None = None,
        token_file: Path | None = None,
    ) -> None:
        place = server_discovery.directory(data_dir)
        self.config = config
        self._server = Server(client or _client(config, data_dir), partial(_token, config, data_dir, token_file))
        self._instance = identity_lock.hold(place, config.coordinator_id)
        self._limits = limits or Limits(config.max_concurrent, config.chat_slots)
        self._inherited = dict(os.environ if environ is None else environ)
        self._logs_in = config.log_directory or place / "logs"
        workspaces_in = (config.workspace_directory or place / "workspaces").resolve()
        worktrees_in = config.worktree_directory or data_directories.work_dir(place) / "worktrees"
        kept = [place, self._logs_in, workspaces_in, worktrees_in, *([config_file] if config_file else [])]
        self.sandbox = Sandbox(
            default_mode(config.sandbox, self._inherited),
            network=config.sandbox_network,
            reads=config.sandbox_read,
            writes=config.sandbox_write,
            hidden=kept,
            inherited=self._inherited,
        )
        self._instance.tell(self.sandbox.told, self._inherited.get("PATH", os.defpath))
        self._journal = Journal(self._instance.journal)
        found = configured(config.ai_providers) if providers is None else providers
        self._starter = Starter(
            config,
            found,
            self._server.url,
            self._instance.mark,
            self._logs_in,
            Workspaces(workspaces_in),
            worktrees_in,
            self._inherited,
            self.sandbox,
        )
        self._shipping = LogShipper(self._server.append_log, self._look_at)
        self._measuring = DiskUsage(self._logs_in, worktrees_in)
        self._logins = MissingLogins(self._inherited)
        self._table = LaunchesInHand()
        self._news = asyncio.Event()
        self._orders: Orders | None = None
        self._claim: asyncio.Task[None] | None = None
        self._asked = (0, 0)
        self._blind_since: float | None = None
        self._asked_at = 0.0
        self._pace = Pace(config.polling_interval)
        self._leaderless = False
        self._contact = ServerStatus(self._server.url, self._instance.id)
        self._telling = Reports(self._contact, config.polling_interval, self._news.set)
        self._jobs = Jobs(config, self._server, self._starter, self._telling, self._table)
        self._preparing: set[asyncio.Task[None]] = set()
        self._leaving_since: float | None = None
        self._adopts = adopts

    def stop(self) -> None:
        """Starts no more agents; running ones are interrupted and get their grace time. A second call shortens it."""
        hurried = self._leaving_since is not None
        grace = 0.0 if hurried else self.config.shutdown_grace_seconds
        self._limits = replace(self._limits, terminate_after=grace)
        if not hurried:
            self._leaving_since = _now()
            self._telling.leaving = True
        self._news.set()

    @property
    def running(self) -> list[str]:
        """The current launches, including those being started or ended."""
        return [each.launch.launch_id for each in self._table]

    async def run(self) -> None:
        logs.forget_older_than(self._logs_in, self.config.log_keep_days)
        self._starter.homes.forget_older_than(self.config.log_keep_days)
        self._adopt_orphans()
        self._go_on_with(self._journal.read())
        await asyncio.to_thread(combining.sweep, self._starter.worktrees)
        shipping = asyncio.create_task(self._shipping.run())
        self._beside(self._measuring.run(self._tell_of_disk))
        self._beside(self._logins.run(self._server.report_login))
        self._beside(self._look_for_left_behind())
        self._beside(self._share_logins())
        self._beside(touched_paths.watch(lambda: tuple(self._table), self._tell_of_paths))
        try:
            await self._work()
        finally:
            await self._leave(shipping)

    async def _work(self) -> None:
        while not self._done:
            self._news.clear()
            given, self._orders = self._orders, None
            plan = self._plan(given or orders.NONE)
            news = self._act(plan, given or orders.NONE)
            if given is not None:
                self._pace.answered(_now(), took=_now() - self._asked_at, news=news)
            self._ask(plan)
            await self._begin_all(plan.start)
            await self._until_news(plan)

    @property
    def _done(self) -> bool:
        return self._leaving_since is not None and not len(self._table) and not self._telling.pending

    # --- observe and plan ---------------------------------------------------------------------------------------------

    def _plan(self, given: Orders) -> Plan:
        now = _now()
        seen = [entry.seen(now) for entry in self._table]
        self._leaderless = any(each.state is State.LEADERLESS for each in seen)
        limits = replace(self._limits, leaving_since=self._leaving_since)
        return reconcile.plan(seen, given, limits, now, ended=self._table.ended)

    # --- act ----------------------------------------------------------------------------------------------------------

    def _act(self, plan: Plan, given: Orders) -> bool:
        """Carries out the plan except the starts, which are only added to the table; `_begin_all` starts them.

        Returns whether there was anything to do.
        """
        news = not plan.does_nothing
        for launch_id, stop in plan.stop:
            self._table[launch_id].tell_to_leave(stop)
            log.debug("%s must end within %.0f s: %s", launch_id, stop.grace, stop.reason)
        groups = processes.Groups()
        for launch_id, stage in plan.signal:
            self._signal(launch_id, stage, groups)
        failed = [launch_id for launch_id in plan.reap if self._reap(launch_id)]
        killed = [launch_id for launch_id, stage in plan.signal if stage is Stage.KILL]
        processes.end_strays([*failed, *killed], self._server.url)
        if plan.reap:
            self._end_left_behind()
        for launch_id in plan.reap:
            self._starter.clean_up(launch_id)
        for launch_id in plan.drop:
            self._drop(launch_id)
        for launch in (*plan.start, *plan.keep):
            self._table.add(Entry(launch, _now()))
        if self._leaving_since is None:
            news = self._jobs.begin(given.checks, given.worktree_jobs) or news
            self._jobs.stop(given.stop_worktree_jobs)
        return news

    def _end_left_behind(self) -> None:
        if self._adopts:
            escaped_processes.end(processes.AT_WORK)

    async def _look_for_left_behind(self) -> None:
        while True:
            await asyncio.sleep(LOOK_FOR_LEFT_BEHIND)
            self._end_left_behind()

    async def _share_logins(self) -> None:
        """Programs renew their logins while others run."""
        while True:
            await asyncio.sleep(program_homes.SHARED_EVERY)
            for entry in self._table:
                if entry.provider is not None and entry.provider.needs is not None:
                    self._starter.homes.share_logins(entry.launch.launch_id)

    async def _begin_all(self, launches: Sequence[Launch]) -> None:
        """Starts launches one by one, yielding in between, so that the server is asked and exits are noticed in
        parallel.

        If the Coordinator must stop in the meantime, it starts nothing more: the next plan drops waiting launches.
        """
        for launch in launches:
            if self._leaving_since is not None:
                return
            self._begin(launch)
            await asyncio.sleep(0)

    def _begin(self, launch: Launch) -> None:
        """Starts a launch immediately, or after its worktree has been created."""
        entry = self._table[launch.launch_id]
        try:
            make = self._starter.worktree(launch)
        except StartFailure as impossible:
            self._could_not_start(launch, impossible.failure, str(impossible))
            return
        if make is None and not self._starter.reads_project(launch):
            self._start(entry)
            return
        entry.starting = True
        self._beside(self._start_in(entry, make))

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
            if self._starter.reads_project(launch):
                command = await self._prepared(launch, worktree)
        except StartFailure as impossible:
            self._could_not_start(launch, impossible.failure, str(impossible))
        except Exception as problem:  # noqa: BLE001 - a failed start affects this agent only
            self._could_not_start(launch, *_cause(problem, f"preparing {launch.launch_id}"))
        else:
            entry.starting, entry.worktree = False, worktree
            if entry.stop is not None or self._leaving_since is not None:
                self._drop(launch.launch_id)
            else:
                self._start(entry, command=command)
        self._news.set()

    async def _tell_of_worktree(self, entry: Entry, worktree: Worktree) -> None:
        """The server may answer that its agent has nothing to do by now."""
        launch_id, said = entry.launch.launch_id, task_worktrees.told(worktree)

        async def tell() -> None:
            stop = await self._server.report_worktree(launch_id, **said)
            if stop is not None and entry.stop is None:
                entry.stop = Stop(_now(), 0.0, stop)

        await self._telling.until_told(launch_id, tell)

    async def _set_up(self, entry: Entry, worktree: Worktree) -> None:
        """As long as it is still wanted. The server hears of it, so that it goes on waiting. Raises StartFailure."""
        doing = asyncio.ensure_future(self._starter.set_up(entry.launch, worktree))
        told_at = _now()
        try:
            while not doing.done() and entry.stop is None and self._leaving_since is None:
                await asyncio.wait((doing,), timeout=LOOK_AT_SET_UP)
                if _now() - told_at > TELL_OF_SET_UP:
                    await self._tell_of_worktree(entry, worktree)
                    told_at = _now()
            if doing.done():
                doing.result()
        finally:
            doing.cancel()
            await asyncio.gather(doing, return_exceptions=True)

    async def _prepared(self, launch: Launch, worktree: Worktree | None) -> Command:
        """Has a time limit; raises StartFailure."""
        try:
            return await asyncio.wait_for(
                asyncio.to_thread(self._starter.prepared, launch, worktree), self._starter.PREPARED_WITHIN
            )
        except TimeoutError:
            raise BadConfig(
                f"Reading the plan or script of agent {launch.agent_id} took longer than "
                f"{self._starter.PREPARED_WITHIN:g} seconds. Make the file smaller."
            ) from None

    def _beside(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._preparing.add(task)
        task.add_done_callback(self._preparing.discard)

    def _start(self, entry: Entry, resumed: Resumed | None = None, command: Command | None = None) -> None:
        launch = entry.launch
        entry.reminded = resumed is not None
        if resumed is None:
            self._journal.begin(Record(launch, worktree=_path(entry.worktree), boot=processes.boot()))
        try:
            started = self._starter.start(launch, entry.worktree, resumed, command)
        except StartFailure as impossible:
            self._could_not_start(launch, impossible.failure, str(impossible))
            return
        except Exception as problem:  # noqa: BLE001 - a failed start affects this agent only
            self._could_not_start(launch, *_cause(problem, f"starting {launch.launch_id}"))
            return
        entry.since, entry.provider, entry.mask = _now(), started.provider, started.mask
        entry.log = Log(logs.path_of(self._logs_in, launch.launch_id), started.mask, started.reading)
        entry.stop = _time_limit(started.provider, entry.since)
        beside = started.provider.beside
        if beside is not None and not isinstance(beside.file, str) and started.goes_on:
            entry.beside_at = None  # what its session has used before was counted then
        self._shipping.add(launch.launch_id, entry.log)
        self._watch(entry, started.process)
        self._news.set()  # Its time limit was not part of the plan that started it.
        log.info(
            "started %s: agent %s (%s), pid %d", launch.launch_id, launch.agent_id, launch.reason, started.process.pid
        )

    def _watch(self, entry: Entry, process: Process) -> None:
        entry.process = process
        path, began = _path(entry.worktree), processes.began(process.pid)
        self._journal.put(Record(entry.launch, process.pid, began, path, boot=processes.boot()))
        process.watch(asyncio.get_running_loop(), self._news.set)

    def _could_not_start(self, launch: Launch, failure: Failure, words: str) -> None:
        """Reported like an exit with the reason as its output: in the log and to the server only."""
        log.warning("cannot start agent %s: %s: %s", launch.agent_id, failure, words)
        self._table.remove(launch.launch_id)
        mask = self._starter.mask(launch)
        with contextlib.suppress(OSError):
            path, output = logs.create(self._logs_in, launch.launch_id)
            with os.fdopen(output, "w", encoding="utf-8") as file:
                file.write(f"{failure}: {words}\n")
            self._shipping.add(launch.launch_id, Log(path, mask, self._starter.reading(launch)))
            self._shipping.ended(launch.launch_id)
        self._report(launch, error=failure.value, log_tail=mask(words))

    def _signal(self, launch_id: str, stage: Stage, groups: processes.Groups) -> None:
        entry = self._table[launch_id]
        log.info(
            "%s: %s (%s)",
            launch_id,
            stage.name.lower(),
            entry.stop.reason if entry.stop else "its program has ended and left processes",
        )
        entry.stage, entry.signalled_at = stage, _now()
        if entry.process is not None:
            entry.made_to_leave = entry.made_to_leave or not entry.process.over
            entry.process.signal_group(stage, groups)

    def _reap(self, launch_id: str) -> bool:
        """Classifies its end and reports it; returns whether it failed."""
        entry = self._table.remove(launch_id)
        if entry is None or entry.process is None:
            return False
        reading = self._read_to_the_end(entry)
        end = exit_verdict.exit_of(entry.process, reading, entry.log)
        verdict = exit_verdict.judged(entry, end, reading)
        self._starter.homes.keep(launch_id, reading.session_id)
        if verdict.failure is Failure.NOT_LOGGED_IN and entry.provider is not None:
            self._logins.failed(MissingLogin(entry.launch.ai_type, entry.launch.account), entry.provider)
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
            "unreported": self._starter.unreported(launch_id),
        }
        self._note_end(entry, told)
        if told["unreported"] is not None:  # its file goes with the launch's directory
            self._journal.settle(SETTLE_FOR)
        self._telling.begin(launch_id, lambda: self._tell_exit(entry, reading, told))
        return verdict.failure is not None

    def _note_end(self, entry: Entry, told: dict[str, Any]) -> None:
        """Its session cannot be resumed after a later report."""
        path = _path(entry.worktree)
        self._journal.put(Record(entry.launch, worktree=path, told={**told, "resumable": None}))

    def _read_to_the_end(self, entry: Entry) -> Reading:
        """Reads everything it has reported: in its output and in its second file."""
        if entry.log is None:
            return Reading()
        self._shipping.ended(entry.launch.launch_id)
        entry.refused = network_limits.refused(self._starter.refusals(entry.launch.launch_id))
        if entry.provider is not None and entry.provider.beside is not None and entry.provider.beside.to_the_end:
            self._hear_beside(entry, entry.log)
        with contextlib.suppress(OSError):
            logs.add(entry.log.path, self._of_sandbox(entry, entry.log))
        with contextlib.suppress(OSError, *MISUNDERSTOOD):
            entry.log.finish()
        reading = entry.log.reading or Reading()
        if entry.provider is not None and entry.provider.also is not None:
            with contextlib.suppress(OSError, *MISUNDERSTOOD):
                entry.elsewhere += entry.provider.also(self._starter.workspace(entry.launch.launch_id))
        reading.also(entry.elsewhere)
        return reading

    def _of_sandbox(self, entry: Entry, output: Log) -> list[str]:
        """What the log says at its end of what the sandbox has kept from the program."""
        refused = entry.refused.lines
        if entry.process is None or not entry.process.sandboxed:
            return refused
        directory = entry.worktree.path if entry.worktree is not None else self._starter.project(entry.launch)
        tells = entry.provider is not None and not entry.provider.model_cli  # a model looks for what is nowhere, too
        said = logs.tail(output.path, sandbox_signs.LOOKED_AT)
        return [*refused, *sandbox_signs.told(said, directory if tells else None)]

    def _resumable(self, entry: Entry, reading: Reading, verdict: Verdict) -> bool:
        """Whether it can be resumed with a reminder to report: it exited by itself, and its session is resumable."""
        can = entry.provider is not None and entry.provider.resumes and reading.session_id is not None
        once = not entry.reminded and not entry.adopted
        return can and once and verdict is FINE and self._leaving_since is None

    async def _tell_exit(self, entry: Entry, reading: Reading, told: dict[str, Any]) -> None:
        launch_id = entry.launch.launch_id
        await self._jobs.end_all_for(launch_id)
        if entry.worktree is not None and not entry.work_kept:
            said = await asyncio.to_thread(task_worktrees.kept, entry.worktree, entry.launch)
            await self._tell_of_work(launch_id, said)
            entry.work_kept = True
        reminder = await self._report_exit(launch_id, told)
        # The Coordinator must stop in the meantime: it returns the launch.
        if reminder and self._leaving_since is not None:
            told.update(error=Ended.COORDINATOR_STOPPED.value, resumable=None)
            self._note_end(entry, told)
            await self._report_exit(launch_id, told)
        elif reminder and reading.session_id:
            log.info("%s left without a report: continued with a reminder", launch_id)
            self._table.forget(launch_id)
            again = Entry(entry.launch, _now(), worktree=entry.worktree, elsewhere=entry.elsewhere)
            self._start(self._table.add(again), Resumed(reading.session_id, reminder))

    async def _report_exit(self, launch_id: str, told: dict[str, Any]) -> str | None:
        """Returns a reminder, if the server has one. Later reports of this launch are not accepted."""
        try:
            reminder = await self._server.report_exit(launch_id, **told)
        except RefusalError as no:
            if not may_be_taken_later(no):
                self._journal.forget(launch_id)
            raise
        self._journal.forget(launch_id)
        return reminder

    async def _tell_of_work(self, launch_id: str, said: dict[str, Any]) -> None:
        """If the server refuses the report about the worktree, the exit must still be reported."""
        try:
            await self._server.report_worktree(launch_id, **said)
        except RefusalError as no:
            if may_be_taken_later(no):
                raise
            log.warning("worktree of %s: %s", launch_id, no)

    async def _tell_of_paths(self, entry: Entry, paths: list[str]) -> None:
        assert entry.worktree is not None
        said = {**task_worktrees.told(entry.worktree), "touched": paths}
        await self._server.report_worktree(entry.launch.launch_id, **said)

    async def _tell_of_disk(self, taken: Taken) -> None:
        await self._server.report_disk(self._instance.id, taken.logs, taken.worktrees, complete=taken.complete)

    def _look_at(self, launch_id: str, output: Log) -> None:
        """Called for every output in each round: stops a process that exceeds its limits."""
        entry = self._table.find(launch_id)
        if entry is None or entry.provider is None or entry.log is not output or entry.stage is not Stage.NONE:
            return
        self._hear_beside(entry, output)
        if output.ports is None and Asked.read(entry.launch.network).ports:
            output.ports = network_limits.served(self._starter.refusals(launch_id)) or None
        entry.heed(output.reading, _now())
        provider, turns = entry.provider, output.reading.turns if output.reading else 0
        trouble = output.reading.trouble if output.reading else None
        in_vain = trouble is not None and (trouble.hasty or time_will_not_mend(trouble))
        idle = output.reading.idle_turns if output.reading else 0
        printed = stop_escalation.Output(output.size, turns, entry.troubled_since, in_vain, idle)
        bounds = stop_escalation.Bounds(provider.max_output, provider.patience, provider.max_turns)
        reason = stop_escalation.overstepped(printed, bounds, _now())
        if reason is not None:
            entry.tell_to_leave(Stop(_now(), 0.0, reason, FLOOD_STEP if reason == "output_flood" else None))
            self._news.set()

    def _hear_beside(self, entry: Entry, output: Log) -> None:
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

    def _drop(self, launch_id: str) -> None:
        """Removes a launch that was never started; the server may order it again."""
        entry = self._table.remove(launch_id)
        assert entry is not None
        why = Ended.STOPPED if self._leaving_since is None else Ended.COORDINATOR_STOPPED
        self._report(
            entry.launch,
            error=why.value,
            log_tail="It was not started: it was no longer wanted, no slot was free in time, or the Coordinator was "
            "stopped.",
        )

    def _adopt_orphans(self) -> None:
        orphans.end_checks(self._instance.mark)
        for orphan in orphans.find(self._server.url, self._instance.mark):
            entry = self._table.add(Entry(orphan.launch, _now()))
            entry.since = _now() - (processes.age(orphan.pid) or 0.0)
            self._adopt(entry, Process(orphan.pid, child=False), orphan.worktree, orphan.secrets)
            entry.stop = _time_limit(entry.provider, entry.since) if entry.provider is not None else None
            if orphan.lost:
                entry.stop = Stop(_now(), 0.0, "its server has a new address")
            log.info("adopted %s: agent %s, pid %d", orphan.launch.launch_id, orphan.launch.agent_id, orphan.pid)

    def _adopt(self, entry: Entry, process: Process, worktree: str | None, secrets: Iterable[str] = ()) -> None:
        launch = entry.launch
        entry.adopted, entry.beside_at = True, None
        entry.provider = self._starter.providers.get(launch.ai_type)
        entry.mask = self._starter.mask(launch, secrets)
        entry.log = Log(logs.path_of(self._logs_in, launch.launch_id), entry.mask, self._starter.reading(launch))
        self._shipping.add(launch.launch_id, entry.log)
        entry.worktree = _opened(launch, worktree, self._starter)
        self._watch(entry, process)

    def _go_on_with(self, records: Iterable[Record]) -> None:
        """Reports what a predecessor could not: exits that it saw, and exits that happened after it."""
        for record in records:
            launch = record.launch
            if record.told is not None:
                self._table.remove(launch.launch_id)
                entry = Entry(launch, _now(), worktree=_opened(launch, record.worktree, self._starter))
                tell = partial(self._tell_exit, entry, Reading(), record.told)
                self._telling.begin(launch.launch_id, tell)
            elif launch.launch_id not in self._table and self._is_over(record):
                entry = self._table.add(Entry(launch, _now()))
                self._adopt(entry, Gone(record.pid or 0), record.worktree)
                log.info("%s ended while no Coordinator was running: agent %s", launch.launch_id, launch.agent_id)
            elif launch.launch_id not in self._table and record.pid is None:
                self._journal.forget(launch.launch_id)  # never started: the server orders it again

    def _is_over(self, record: Record) -> bool:
        """Whether a process was started for this launch and has ended. What has printed something was started."""
        if record.pid is not None:
            return processes.has_ended(record.pid, record.began, record.boot)
        with contextlib.suppress(OSError):
            return logs.path_of(self._logs_in, record.launch.launch_id).stat().st_size > 0
        return False

    def _report(self, launch: Launch, **how: Any) -> None:
        """Reports a launch that never ran."""
        self._note_end(Entry(launch, _now()), how)
        self._telling.begin(launch.launch_id, partial(self._tell_never_ran, launch.launch_id, how))

    async def _tell_never_ran(self, launch_id: str, how: dict[str, Any]) -> None:
        await self._report_exit(launch_id, how)

    # --- ask the server -----------------------------------------------------------------------------------------------

    def _ask(self, plan: Plan) -> None:
        """Makes one claim at a time, and none before all exits are reported."""
        if self._leaving_since is not None:
            self._cancel_claim()
            return
        if self._telling.pending:
            return
        self._give_up_blind_claim(plan)
        if self._claim is None and _now() >= self._pace.ask_at:
            self._asked = min(plan.free_slots, STARTS_AT_A_TIME), min(plan.free_chat_slots, STARTS_AT_A_TIME)
            self._asked_at = _now()
            self._claim = asyncio.create_task(self._claim_starts(*self._asked))

    def _give_up_blind_claim(self, plan: Plan) -> None:
        """Abandons a claim without a slot when there is one now: it would wait without effect.

        Any other claim is kept, whatever has changed: the next one reports the current state. An answer in transit
        would be lost with its claim, and the exit just reported may well have caused one, so it gets a moment to
        arrive.
        """
        offers = zip(self._asked, (plan.free_slots, plan.free_chat_slots), strict=True)
        if self._claim is None or not any(asked == 0 < free for asked, free in offers):
            self._blind_since = None
        elif self._blind_since is None:
            self._blind_since = _now()
        elif _now() >= self._blind_since + SETTLE:
            self._cancel_claim()

    def _cancel_claim(self) -> None:
        if self._claim is not None:
            self._claim.cancel()
            self._claim = self._blind_since = None

    async def _claim_starts(self, free_slots: int, free_chat_slots: int) -> None:
        try:
            if not self._contact.well:
                await self._server.check_health()
                self._contact.greeted()
            self._orders = await self._server.claim(
                self._instance.id,
                agent_ids=None if self.config.agents is None else sorted(self.config.agents),
                providers=self._starter.offered,
                labels=self.config.labels,
                free_slots=free_slots,
                free_chat_slots=free_chat_slots,
                running=self.running,
                checking=sorted(self._jobs.checking),
                worktree_jobs=sorted(self._jobs.worktree_jobs),
                capabilities=self.config.capabilities,
                directories=self.config.directories,
                accounts=self.config.accounts,
                sandbox=self._starter.has_sandbox,
            )
        except (Unreachable, ProtocolError, RefusalError) as away:
            self._contact.failed(away)
            self._pace.failed(_now())
        else:
            self._contact.served()
        self._claim = None
        self._news.set()

    # --- wait, and leave ----------------------------------------------------------------------------------------------

    async def _until_news(self, plan: Plan) -> None:
        if self._done:
            return
        now = _now()
        until = [plan.look_again_at] if plan.look_again_at is not None else []
        if self._claim is None and not self._telling.pending and self._leaving_since is None:
            until.append(self._pace.ask_at)
        if self._blind_since is not None:
            until.append(self._blind_since + SETTLE)
        if self._leaderless:
            until.append(now + LEFTOVER_LOOK)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), max(0.0, min(until) - now) if until else None)

    async def _leave(self, shipping: asyncio.Task[None]) -> None:
        """Also after a crash of the loop: no background work continues (agents do, and are adopted later)."""
        try:
            self._cancel_claim()
            beside: list[asyncio.Task[None]] = [
                shipping,
                *self._jobs.running,
                *self._preparing,
            ]
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
            self._end_left_behind()
            await self._shipping.drain(DRAIN_FOR)
            await self._server.close()
        finally:
            await self._settle()

    async def _settle(self) -> None:
        try:
            if not await asyncio.to_thread(self._journal.settle, SETTLE_FOR):
                log.warning(
                    "the disk of %s has not finished writing within %g seconds", self._instance.journal, SETTLE_FOR
                )
        finally:
            self._instance.release()


def _client(config: Config, data_dir: Path | None) -> AsyncClient:
    found = server_discovery.find(config.server, config.coordinator_token, data_dir, role="coordinator")
    return AsyncClient(found.url, found.token)


def _token(config: Config, data_dir: Path | None, token_file: Path | None) -> str | None:
    """The current token; None if no server has written its address."""
    try:
        if token_file is not None:
            return token_file.read_text().strip() or None
        return server_discovery.find(config.server, config.coordinator_token, data_dir, role="coordinator").token
    except (Unreachable, Untrusted, OSError, UnicodeDecodeError):
        return None


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


def _path(worktree: Worktree | None) -> str | None:
    return None if worktree is None else str(worktree.path)


def _opened(launch: Launch, path: str | None, starter: Starter) -> Worktree | None:
    """The worktree of an adopted process, as recorded, if it belongs to its project."""
    if path is None or Path(path).parent != (starter.worktrees / launch.project_id).resolve():
        return None
    try:
        return worktrees.opened_at(Path(path), starter.project(launch))
    except worktrees.Trouble as trouble:
        log.warning("worktree %s: %s", path, trouble)
        return None


def _time_limit(provider: Provider, now: float) -> Stop | None:
    return None if provider.time_limit is None else Stop(now, provider.time_limit, "time_limit")


def _now() -> float:
    return time.monotonic()
