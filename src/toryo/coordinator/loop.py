"""The Coordinator's loop: observe, plan, act, whenever something has happened. It may be killed at any time.

`reconcile.py` decides; this module has it carried out, and waits. Each part has its own state and order: `claiming.py`
asks the server, `starting.py` and `ending.py` act on launches (`launches_in_hand.py`), `exit_reports.py` tells of ends,
`live_output.py` watches what is printed, `predecessor.py` goes on with what an earlier process has left, `jobs.py` runs
checks and worktree jobs. The order of a turn matters:

- News is cleared before observing: whatever happens during a turn causes another one.
- A launch is in the table before the next claim is made, and started after it. So the claim reports it as running (the
  server repeats orders that are missing there), and the server decides about the next ones in parallel.
- The lock on the id is released last, when the journal is on disk: the next Coordinator with this id reads it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from toryo import data_directories
from toryo.client import AsyncClient, Unreachable, server_discovery
from toryo.coordinator import (
    escaped_processes,
    identity_lock,
    logs,
    orders,
    processes,
    program_homes,
    reconcile,
    task_worktrees,
    touched_paths,
)
from toryo.coordinator.at_hand import AtHand, now
from toryo.coordinator.claiming import Claiming
from toryo.coordinator.config import Config
from toryo.coordinator.disk_usage import DiskUsage, Taken
from toryo.coordinator.ending import Ending
from toryo.coordinator.exit_reports import ExitReports
from toryo.coordinator.jobs import Jobs
from toryo.coordinator.launch_journal import SETTLE_FOR, Journal
from toryo.coordinator.launch_state import Stage, State
from toryo.coordinator.launches_in_hand import Entry, LaunchesInHand
from toryo.coordinator.limits import Limits
from toryo.coordinator.live_output import LiveOutput
from toryo.coordinator.log_shipper import LogShipper
from toryo.coordinator.missing_logins import MissingLogins
from toryo.coordinator.orders import Orders
from toryo.coordinator.pending_reports import Reports
from toryo.coordinator.predecessor import Predecessor
from toryo.coordinator.process_start import Starter
from toryo.coordinator.provider import Provider
from toryo.coordinator.providers import configured
from toryo.coordinator.reconcile import Plan
from toryo.coordinator.sandbox import Sandbox, default_mode
from toryo.coordinator.server_api import Server
from toryo.coordinator.server_status import ServerStatus
from toryo.coordinator.starting import Starting
from toryo.coordinator.workspaces import Workspaces
from toryo.coordinator.worktrees import combining
from toryo.data_directory_trust import Untrusted

log = logging.getLogger("toryo.coordinator")

LEFTOVER_LOOK = 0.05
LOOK_FOR_LEFT_BEHIND = 10.0
DRAIN_FOR = 3.0
"""Seconds for sending the last output when this Coordinator stops."""


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
        server = Server(client or _client(config, data_dir), partial(_token, config, data_dir, token_file))
        instance = identity_lock.hold(place, config.coordinator_id)
        self._limits = limits or Limits(config.max_concurrent, config.chat_slots)
        inherited = dict(os.environ if environ is None else environ)
        logs_in = config.log_directory or place / "logs"
        workspaces_in = (config.workspace_directory or place / "workspaces").resolve()
        worktrees_in = config.worktree_directory or data_directories.work_dir(place) / "worktrees"
        kept = [place, logs_in, workspaces_in, worktrees_in, *([config_file] if config_file else [])]
        self.sandbox = Sandbox(
            default_mode(config.sandbox, inherited),
            network=config.sandbox_network,
            reads=config.sandbox_read,
            writes=config.sandbox_write,
            hidden=kept,
            inherited=inherited,
        )
        instance.tell(self.sandbox.told, inherited.get("PATH", os.defpath))
        starter = Starter(
            config,
            configured(config.ai_providers) if providers is None else providers,
            server.url,
            instance.mark,
            logs_in,
            Workspaces(workspaces_in),
            worktrees_in,
            inherited,
            self.sandbox,
        )
        table, news = LaunchesInHand(), asyncio.Event()
        output = LiveOutput(starter, table, news.set)
        contact = ServerStatus(server.url, instance.id)
        telling = Reports(contact, config.polling_interval, news.set)
        self._at = AtHand(
            config=config,
            server=server,
            contact=contact,
            starter=starter,
            table=table,
            journal=Journal(instance.journal),
            telling=telling,
            shipping=LogShipper(server.append_log, output.look),
            jobs=Jobs(config, server, starter, telling, table),
            logins=MissingLogins(inherited),
            instance=instance,
            logs_in=logs_in,
            news=news,
        )
        self._measuring = DiskUsage(logs_in, worktrees_in)
        exits = ExitReports(self._at)
        self._starting = Starting(self._at, exits)
        self._ending = Ending(self._at, exits, self._starting, output)
        self._claiming = Claiming(self._at)
        self._leaderless = False
        self._adopts = adopts

    def stop(self) -> None:
        """Starts no more agents; running ones are interrupted and get their grace time. A second call shortens it."""
        hurried = self._at.leaving_since is not None
        grace = 0.0 if hurried else self.config.shutdown_grace_seconds
        self._limits = replace(self._limits, terminate_after=grace)
        if not hurried:
            self._at.leaving_since = now()
            self._at.telling.leaving = True
        self._at.news.set()

    @property
    def running(self) -> list[str]:
        """The current launches, including those being started or ended."""
        return self._at.running

    async def run(self) -> None:
        logs.forget_older_than(self._at.logs_in, self.config.log_keep_days)
        self._at.starter.homes.forget_older_than(self.config.log_keep_days)
        predecessor = Predecessor(self._at, self._starting, self._ending)
        predecessor.adopt()
        predecessor.go_on_with(self._at.journal.read())
        await asyncio.to_thread(combining.sweep, self._at.starter.worktrees)
        shipping = asyncio.create_task(self._at.shipping.run())
        self._at.beside(self._measuring.run(self._tell_of_disk))
        self._at.beside(self._at.logins.run(self._at.server.report_login))
        self._at.beside(self._look_for_left_behind())
        self._at.beside(self._share_logins())
        self._at.beside(touched_paths.watch(lambda: tuple(self._at.table), self._tell_of_paths))
        try:
            await self._work()
        finally:
            await self._leave(shipping)

    async def _work(self) -> None:
        while not self._done:
            self._at.news.clear()
            given = self._claiming.taken()
            plan = self._plan(given or orders.NONE)
            news = self._act(plan, given or orders.NONE)
            if given is not None:
                self._claiming.carried_out(news=news)
            self._claiming.ask(plan)
            await self._starting.begin_all(plan.start)
            await self._until_news(plan)

    @property
    def _done(self) -> bool:
        return self._at.leaving_since is not None and not len(self._at.table) and not self._at.telling.pending

    def _plan(self, given: Orders) -> Plan:
        at = now()
        seen = [entry.seen(at) for entry in self._at.table]
        self._leaderless = any(each.state is State.LEADERLESS for each in seen)
        limits = replace(self._limits, leaving_since=self._at.leaving_since)
        return reconcile.plan(seen, given, limits, at, ended=self._at.table.ended)

    def _act(self, plan: Plan, given: Orders) -> bool:
        """Carries out the plan except the starts, which are only added to the table; `Starting` starts them.

        Returns whether there was anything to do.
        """
        news = not plan.does_nothing
        for launch_id, stop in plan.stop:
            self._at.table[launch_id].tell_to_leave(stop)
            log.debug("%s must end within %.0f s: %s", launch_id, stop.grace, stop.reason)
        groups = processes.Groups()
        for launch_id, stage in plan.signal:
            self._ending.signal(launch_id, stage, groups)
        failed = [launch_id for launch_id in plan.reap if self._ending.reap(launch_id)]
        killed = [launch_id for launch_id, stage in plan.signal if stage is Stage.KILL]
        processes.end_strays([*failed, *killed], self._at.server.url)
        if plan.reap:
            self._end_left_behind()
        for launch_id in plan.reap:
            self._at.starter.clean_up(launch_id)
        for launch_id in plan.drop:
            self._starting.drop(launch_id)
        for launch in (*plan.start, *plan.keep):
            self._at.table.add(Entry(launch, now()))
        if self._at.leaving_since is None:
            news = self._at.jobs.begin(given.checks, given.worktree_jobs) or news
            self._at.jobs.stop(given.stop_worktree_jobs)
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
            for entry in self._at.table:
                if entry.provider is not None and entry.provider.needs is not None:
                    self._at.starter.homes.share_logins(entry.launch.launch_id)

    async def _tell_of_paths(self, entry: Entry, paths: list[str]) -> None:
        assert entry.worktree is not None
        said = {**task_worktrees.first_report(entry.worktree), "touched": paths}
        await self._at.server.report_worktree(entry.launch.launch_id, **said)

    async def _tell_of_disk(self, taken: Taken) -> None:
        await self._at.server.report_disk(self._at.instance.id, taken.logs, taken.worktrees, complete=taken.complete)

    async def _until_news(self, plan: Plan) -> None:
        if self._done:
            return
        at = now()
        until = [*([plan.look_again_at] if plan.look_again_at is not None else []), *self._claiming.look_again()]
        if self._leaderless:
            until.append(at + LEFTOVER_LOOK)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._at.news.wait(), max(0.0, min(until) - at) if until else None)

    async def _leave(self, shipping: asyncio.Task[None]) -> None:
        """Also after a crash of the loop: no background work continues (agents do, and are adopted later)."""
        try:
            self._claiming.cancel()
            beside: list[asyncio.Task[None]] = [
                shipping,
                *self._at.jobs.running,
                *self._at.tasks,
            ]
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
            self._end_left_behind()
            await self._at.shipping.drain(DRAIN_FOR)
            await self._at.server.close()
        finally:
            await self._settle()

    async def _settle(self) -> None:
        try:
            if not await asyncio.to_thread(self._at.journal.settle, SETTLE_FOR):
                log.warning(
                    "the disk of %s has not finished writing within %g seconds", self._at.instance.journal, SETTLE_FOR
                )
        finally:
            self._at.instance.release()


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
