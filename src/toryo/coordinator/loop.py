"""The Coordinator: observe, plan, act, again whenever something happened. It may be killed at any moment.

What to do is decided in `plan.py`; this file only carries it out and waits. One claim waits at the server while exits,
checks and output are handled beside it; when it offers no slot although there is one again, it is asked anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from toryo.client import AsyncClient, ProtocolError, RefusalError, Unreachable, discovery
from toryo.coordinator import checks, instance, logs, orders, orphans, processes
from toryo.coordinator import plan as planning
from toryo.coordinator.config import Config
from toryo.coordinator.contact import Contact
from toryo.coordinator.logs import Log
from toryo.coordinator.orders import CheckOrder, Launch, Orders
from toryo.coordinator.pacing import Pace
from toryo.coordinator.plan import Limits, Plan, Stage, State, Stop
from toryo.coordinator.processes import Process
from toryo.coordinator.provider import FINE, BadConfig, Ended, Exit, Failure, Provider, StartFailure, Verdict
from toryo.coordinator.providers import configured
from toryo.coordinator.server import Server
from toryo.coordinator.shipping import Shipping
from toryo.coordinator.starting import Starter
from toryo.coordinator.table import Entry, Table
from toryo.coordinator.telling import Telling
from toryo.coordinator.workspaces import Workspaces

log = logging.getLogger("toryo.coordinator")

LEFTOVER_LOOK = 0.05
SETTLE = 0.05
"""Seconds that an answer on its way may take before its claim is given up."""
DRAIN_FOR = 3.0
"""Seconds that the last output may take to reach the server when this Coordinator leaves."""
STARTS_BETWEEN_BREATHS = 16
A_WEEK = 604_800
WRONG_CONFIGURATION = 2
INTERRUPTED = 130


class Coordinator:
    """Runs until `stop()` was called and every agent has left: `await Coordinator(config).run()`.

    `client` and `data_dir` may be given; else the server and token are found as every client finds them.
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
    ) -> None:
        place = discovery.directory(data_dir)
        self.config = config
        self._server = Server(client or _client(config, data_dir))
        self._instance = instance.hold(place, config.coordinator_id)
        self._limits = limits or Limits(config.max_concurrent, config.chat_slots)
        self._inherited = dict(os.environ if environ is None else environ)
        self._logs_in = config.log_directory or place / "logs"
        workspaces = Workspaces(config.workspace_directory or place / "workspaces")
        found = configured(config.ai_providers) if providers is None else providers
        self._starter = Starter(
            config, found, self._server.url, self._instance.mark, self._logs_in, workspaces, self._inherited
        )
        self._shipping = Shipping(self._server.append_log)
        self._table = Table()
        self._news = asyncio.Event()
        self._orders: Orders | None = None
        self._claim: asyncio.Task[None] | None = None
        self._asked = (0, 0)
        self._blind_since: float | None = None
        self._asked_at = 0.0
        self._pace = Pace(config.polling_interval)
        self._leaderless = False
        self._contact = Contact(self._server.url, self._instance.id)
        self._telling = Telling(self._contact, config.polling_interval, self._news.set)
        self._checking: dict[str, asyncio.Task[None]] = {}
        self._leaving_since: float | None = None

    def stop(self) -> None:
        """No new agents; those that run are interrupted and get their grace time. A second call hurries them."""
        hurried = self._leaving_since is not None
        grace = 0.0 if hurried else self.config.shutdown_grace_seconds
        self._limits = replace(self._limits, terminate_after=grace)
        if not hurried:
            self._leaving_since = _now()
            self._telling.leaving = True
        self._news.set()

    @property
    def running(self) -> list[str]:
        """The launches in hand, those being started or ended too."""
        return [each.launch.launch_id for each in self._table]

    async def run(self) -> None:
        logs.forget_older_than(self._logs_in, self.config.log_keep_days)
        self._adopt_orphans()
        shipping = asyncio.create_task(self._shipping.run())
        try:
            await self._work()
        finally:
            await self._leave(shipping)

    async def _work(self) -> None:
        while not self._done:
            self._news.clear()
            given, self._orders = self._orders, None
            plan = self._plan(given or orders.NONE)
            news = await self._act(plan, given or orders.NONE)
            if given is not None:
                self._pace.answered(_now(), took=_now() - self._asked_at, news=news)
            self._ask(plan)
            await self._until_news(plan)

    @property
    def _done(self) -> bool:
        return self._leaving_since is not None and not len(self._table) and not self._telling.pending

    # --- observe and plan ---------------------------------------------------------------------------------------------

    def _plan(self, given: Orders) -> Plan:
        now = _now()
        seen = [each.seen(now) for each in self._table]
        self._leaderless = any(each.state is State.LEADERLESS for each in seen)
        limits = replace(self._limits, leaving_since=self._leaving_since)
        return planning.plan(seen, given, limits, now, ended=self._table.ended)

    # --- act ----------------------------------------------------------------------------------------------------------

    async def _act(self, plan: Plan, given: Orders) -> bool:
        """Carries the plan out; says whether there was anything to do."""
        news = not plan.does_nothing
        for launch_id, stop in plan.stop:
            self._table[launch_id].stop = stop
            log.debug("%s is to end within %.0f s: %s", launch_id, stop.grace, stop.reason)
        for launch_id, stage in plan.signal:
            self._signal(launch_id, stage)
        for launch_id in plan.reap:
            self._reap(launch_id)
        for launch_id in plan.drop:
            self._drop(launch_id)
        for launch in plan.keep:
            self._table.add(Entry(launch, _now()))
        for number, launch in enumerate(plan.start, 1):
            self._start(launch)
            if number % STARTS_BETWEEN_BREATHS == 0:
                await asyncio.sleep(0)
        for check in given.checks:
            news = self._check(check) or news
        return news

    def _start(self, launch: Launch) -> None:
        entry = self._table.add(Entry(launch, _now()))
        try:
            started = self._starter.start(launch)
        except StartFailure as impossible:
            self._could_not_start(launch, impossible.failure, str(impossible))
            return
        except Exception as problem:  # one impossible start concerns that agent alone, whatever it is
            log.exception("starting %s", launch.launch_id)
            self._could_not_start(launch, Failure.BAD_CONFIG, f"{type(problem).__name__}: {problem}")
            return
        entry.since, entry.provider, entry.mask = _now(), started.provider, started.mask
        entry.log = logs.path_of(self._logs_in, launch.launch_id)
        entry.stop = _time_limit(started.provider, entry.since)
        self._shipping.add(launch.launch_id, Log(entry.log, started.mask))
        self._watch(entry, started.process)
        log.info(
            "started %s: agent %s (%s), pid %d", launch.launch_id, launch.agent_id, launch.reason, started.process.pid
        )

    def _watch(self, entry: Entry, process: Process) -> None:
        entry.process = process
        process.watch(asyncio.get_running_loop(), self._news.set)

    def _could_not_start(self, launch: Launch, failure: Failure, words: str) -> None:
        """Told like an exit, with the reason as its output: in the log, to the server, and nowhere else."""
        log.warning("cannot start agent %s: %s: %s", launch.agent_id, failure, words)
        self._table.remove(launch.launch_id)
        mask = self._starter.mask(launch)
        with contextlib.suppress(OSError):
            path, output = logs.create(self._logs_in, launch.launch_id)
            with os.fdopen(output, "w", encoding="utf-8") as file:
                file.write(f"{failure}: {words}\n")
            self._shipping.add(launch.launch_id, Log(path, mask))
            self._shipping.ended(launch.launch_id)
        self._report(launch.launch_id, error=failure.value, log_tail=mask(words))

    def _signal(self, launch_id: str, stage: Stage) -> None:
        entry = self._table[launch_id]
        log.info("%s: %s (%s)", launch_id, stage.name.lower(), entry.stop.reason if entry.stop else "left behind")
        entry.stage, entry.signalled_at = stage, _now()
        if entry.process is not None:
            entry.process.signal_group(stage)
            if stage is Stage.KILL:
                processes.end_strays(launch_id, self._server.url)

    def _reap(self, launch_id: str) -> None:
        entry = self._table.remove(launch_id)
        if entry is None or entry.process is None:
            return
        self._shipping.ended(launch_id)
        end = Exit(entry.process.exit_code, entry.process.signal, logs.tail(entry.log) if entry.log else "")
        verdict = _judged(entry, end)
        if verdict.failure is not None:
            processes.end_strays(launch_id, self._server.url)
        self._starter.clean_up(launch_id)
        log.info("%s has ended: exit code %s, signal %s, %s", launch_id, end.exit_code, end.signal, verdict.failure)
        self._report(
            launch_id,
            exit_code=end.exit_code,
            signal=end.signal,
            error=verdict.failure and verdict.failure.value,
            quota_reset_seconds=verdict.reset_seconds and min(round(verdict.reset_seconds), A_WEEK),
            log_tail=entry.mask(end.tail) if entry.mask and end.tail else None,
        )

    def _drop(self, launch_id: str) -> None:
        """Never started: the server may order it, or another, when it sees fit."""
        self._table.remove(launch_id)
        why = Ended.STOPPED if self._leaving_since is None else Ended.COORDINATOR_STOPPED
        self._report(launch_id, error=why.value, log_tail="It was never started: no slot in time, or told to stop.")

    def _adopt_orphans(self) -> None:
        orphans.end_checks(self._instance.mark)
        for orphan in orphans.find(self._server.url, self._instance.mark):
            entry = self._table.add(Entry(orphan.launch, _now(), log=self._log_of(orphan.launch)))
            entry.stop = Stop(_now(), 0.0, "its server has moved") if orphan.lost else None
            entry.mask = self._starter.mask(orphan.launch)
            self._watch(entry, Process(orphan.pid, child=False))
            log.info("adopted %s: agent %s, pid %d", orphan.launch.launch_id, orphan.launch.agent_id, orphan.pid)

    def _log_of(self, launch: Launch) -> Path:
        return logs.path_of(self._logs_in, launch.launch_id)

    def _report(self, launch_id: str, **how: Any) -> None:
        self._telling.begin(launch_id, lambda: self._server.report_exit(launch_id, **how))

    def _check(self, order: CheckOrder) -> bool:
        """Runs acceptance checks beside everything else; says whether they are new."""
        if order.check_id in self._checking or self._leaving_since is not None:
            return False
        task = asyncio.create_task(self._run_check(order))
        self._checking[order.check_id] = task
        task.add_done_callback(lambda _: self._checking.pop(order.check_id, None))
        return True

    async def _run_check(self, order: CheckOrder) -> None:
        directory = self.config.agent(order.agent_id).working_directory or order.working_directory
        env = self._starter.check_environment(order)
        failures = await checks.failed(order.checks, Path(directory), env)
        log.info("checked %s: %d of %d failed", order.check_id, len(failures), len(order.checks))
        await self._telling.until_told(order.check_id, lambda: self._server.report_check(order.check_id, failures))

    # --- ask the server -----------------------------------------------------------------------------------------------

    def _ask(self, plan: Plan) -> None:
        """One claim at a time; not before what has ended was reported."""
        if self._leaving_since is not None:
            self._cancel_claim()
            return
        if self._telling.pending:
            return
        self._give_up_blind_claim(plan)
        if self._claim is None and _now() >= self._pace.ask_at:
            self._asked, self._asked_at = (plan.free_slots, plan.free_chat_slots), _now()
            self._claim = asyncio.create_task(self._claim_starts(*self._asked))

    def _give_up_blind_claim(self, plan: Plan) -> None:
        """A claim that offers no slot where there is one now would wait in vain, and is asked anew.

        Any other one is left alone, however much has changed: whatever it brings, the next one says what is true then.
        An answer that is on its way would be lost with its claim, and the exit just reported may well have caused one:
        so it is given a moment to arrive.
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
                providers=sorted(self._starter.providers),
                labels=self.config.labels,
                free_slots=free_slots,
                free_chat_slots=free_chat_slots,
                running=self.running,
                checking=sorted(self._checking),
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
        """Also after a crash of the loop itself: nothing of it keeps running (the agents do, and are found again)."""
        self._cancel_claim()
        beside: list[asyncio.Task[None]] = [shipping, *self._checking.values()]
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        await self._shipping.drain(DRAIN_FOR)
        await self._server.close()
        self._instance.release()


def main(config: Config, *, data_dir: Path | None = None) -> int:
    """`toryo coordinator`: runs until SIGTERM or SIGINT and says on stderr what it does; the exit code."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    try:
        interrupted = asyncio.run(_main(config, data_dir))
    except BadConfig as wrong:
        log.error("%s", wrong)
        return WRONG_CONFIGURATION
    return INTERRUPTED if interrupted else 0


async def _main(config: Config, data_dir: Path | None) -> bool:
    """Whether it was a person's ^C that ended it."""
    coordinator = Coordinator(config, data_dir=data_dir)
    loop = asyncio.get_running_loop()
    signals: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        signals.append(number)
        coordinator.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    if config.error_protection is not None:
        log.warning("error_protection is decided by the server: this section of the file changes nothing here")
    await coordinator.run()
    return signals[:1] == [signal.SIGINT]


def _client(config: Config, data_dir: Path | None) -> AsyncClient:
    found = discovery.find(config.server, config.coordinator_token, data_dir, role="coordinator")
    return AsyncClient(found.url, found.token)


def _judged(entry: Entry, end: Exit) -> Verdict:
    """What this Coordinator ended itself did not fail, whatever it printed; unless it ran out of time."""
    if entry.stop is not None and entry.stage is not Stage.NONE:
        return Verdict(_ORDERED.get(entry.stop.reason, Ended.STOPPED))
    return entry.provider.judge(end) if entry.provider is not None else FINE


_ORDERED: Mapping[str, Failure | Ended] = {
    "time_limit": Failure.TIMED_OUT,
    "coordinator_leaves": Ended.COORDINATOR_STOPPED,
}


def _time_limit(provider: Provider, now: float) -> Stop | None:
    return None if provider.time_limit is None else Stop(now, provider.time_limit, "time_limit")


def _now() -> float:
    return time.monotonic()
