"""T1 and T2: queue cycles per second in process (create_task, poll_tasks, submit_result: three durable acts).

Callers are tasks of one event loop, each with its own API key and one cycle at a time. The floor, in the same run, is
bare sqlite3 (FULL), or psycopg: the same three acts as three commits, one after the other, in a table with an id, a
title and a status.

On PostgreSQL two servers (processes) then share the database, with 64 callers each: of one queue, and of one each.
Afterwards every task must have been claimed once and be completed.

    python benchmarks/queue_cycles.py [--seconds 2] [--rounds 3] [--postgresql URL]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import multiprocessing
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import structlog
import target_figures
import uvloop
from messages import databases

from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.dispatch import Dispatcher
from toryo.operations.people.credential_revocation import bootstrap
from toryo.server import memory_release
from toryo.settings import AuthSettings, Settings
from toryo.storage.open_database import open_database, upgrade

OWNER = Credentials(bearer="tpt_benchmark")
CASES = {"SQLite": ((1, 1), (8, 1), (64, 1), (64, 20)), "PostgreSQL": ((1, 1), (64, 1), (256, 1), (64, 20))}
"""Callers and projects."""
WARM_UP_SECONDS = 0.5
_start: Any = None
"""In a process of `several_servers`: where it waits for the others."""


@dataclass(frozen=True)
class Caller:
    agent_id: str
    key: Credentials


@contextlib.contextmanager
def product(url: str) -> Iterator[Dispatcher]:
    with open_database(url) as database:
        upgrade(database)
    with one_server(url) as dispatcher:
        bootstrap(dispatcher, "tct_benchmark", OWNER.bearer or "")
        yield dispatcher


@contextlib.contextmanager
def one_server(url: str) -> Iterator[Dispatcher]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with tempfile.TemporaryDirectory() as folder, open_database(url) as database:
        settings = Settings(data_dir=Path(folder), auth=AuthSettings(key_calls_per_minute=10**9))
        yield Dispatcher(database, settings, lambda: int(time.time() * 1000), random.getrandbits, lambda _: None)


def team(dispatcher: Dispatcher, callers: int, projects: int) -> list[Caller]:
    ids = [
        _call(dispatcher, "create_project", OWNER, name=f"P{random.getrandbits(40):x}", working_directory="/tmp")[
            "project_id"
        ]
        for _ in range(projects)
    ]
    return [_caller(dispatcher, ids[number % projects]) for number in range(callers)]


def _caller(dispatcher: Dispatcher, project_id: str) -> Caller:
    agent_id = f"w{random.getrandbits(48):x}"
    body = {"agent_id": agent_id, "types": ["numbers"], "orchestrator": True}
    key = Credentials(bearer=_call(dispatcher, "make_api_key", OWNER, project_id=project_id, **body)["token"])
    _call(dispatcher, "register_agent", key, agent_id=agent_id, agent_type="numbers")
    return Caller(agent_id, key)


def _call(dispatcher: Dispatcher, name: str, who: Credentials, /, **arguments: Any) -> dict[str, Any]:
    outcome = dispatcher.perform(name, arguments, who)
    assert not outcome.refused, outcome.result
    assert outcome.result is not None
    return outcome.result


async def rate(dispatcher: Dispatcher, callers: list[Caller], seconds: float) -> float:
    done = 0
    began = time.perf_counter()
    until = began + seconds

    async def ask(caller: Caller, name: str, /, **arguments: Any) -> Any:
        outcome = await dispatcher.perform_async(name, arguments, caller.key)
        assert not outcome.refused, outcome.result
        return outcome.result

    async def work(caller: Caller) -> None:
        nonlocal done
        while time.perf_counter() < until:
            await ask(caller, "create_task", agent_type="numbers", task_description="Return it", context={"n": 1})
            while not (got := (await ask(caller, "poll_tasks", agent_id=caller.agent_id))["result"]):
                pass  # another caller of the queue was faster: its own task is there
            await ask(caller, "submit_result", task_id=got[0]["task_id"], status="completed", result=1)
            done += 1

    await asyncio.gather(*map(work, callers))
    return done / (time.perf_counter() - began)


def several_servers(url: str, teams: list[list[Caller]], seconds: float) -> float:
    """Cycles per second of servers that share a database, a process each with its team, all at the same time."""
    spawning = multiprocessing.get_context("spawn")
    start = spawning.Barrier(len(teams))
    with spawning.Pool(len(teams), _starts_with, (start,)) as processes:
        rates = processes.starmap(_served, [(url, callers, seconds) for callers in teams])
    _refuse_losses(url)
    return sum(rates)


def _starts_with(start: Any) -> None:
    global _start  # noqa: PLW0603 - a barrier can only be handed to a process at its beginning
    _start = start


def _served(url: str, callers: list[Caller], seconds: float) -> float:
    with one_server(url) as dispatcher:
        memory_release.collect_rarely()
        uvloop.run(rate(dispatcher, callers[:1], WARM_UP_SECONDS))
        _start.wait()
        return uvloop.run(rate(dispatcher, callers, seconds))


def _refuse_losses(url: str) -> None:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT (SELECT count(*) FROM tasks WHERE status <> 'completed'), (SELECT count(*) FROM tasks),"
            " (SELECT count(*) FROM claims), (SELECT count(DISTINCT task_id) FROM claims WHERE ended_at IS NOT NULL)"
        ).fetchone()
    assert row is not None
    left, tasks, claims, claimed = row
    if left or not tasks == claims == claimed:
        raise RuntimeError(f"{tasks} tasks: {left} not completed, {claims} claims, {claimed} claimed")


def bare_sqlite(seconds: float) -> float:
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "bare.db", isolation_level=None)
        for text in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", TABLE):
            connection.execute(text)

        def cycle() -> None:
            made = connection.execute(f"{INSERT} RETURNING id").fetchone()[0]
            for status in ("in_progress", "completed"):
                connection.execute("UPDATE bench SET status = ? WHERE id = ?", (status, made))

        try:
            return _repeated(cycle, seconds)
        finally:
            connection.close()


def bare_postgresql(url: str, seconds: float) -> float:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS bench")
        connection.execute(TABLE.replace("INTEGER PRIMARY KEY", "bigserial PRIMARY KEY"))

        def cycle() -> None:
            row = connection.execute(f"{INSERT} RETURNING id").fetchone()
            assert row is not None
            for status in ("in_progress", "completed"):
                connection.execute("UPDATE bench SET status = %s WHERE id = %s", (status, row[0]))

        return _repeated(cycle, seconds)


TABLE = "CREATE TABLE bench (id INTEGER PRIMARY KEY, title TEXT, status TEXT)"
INSERT = "INSERT INTO bench (title, status) VALUES ('T', 'todo')"


def _repeated(cycle: Callable[[], None], seconds: float) -> float:
    done, began = 0, time.perf_counter()
    while time.perf_counter() < began + seconds:
        cycle()
        done += 1
    return done / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each measurement lasts")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--postgresql", help="URL of a database in which schemas may be made; default: SQLite alone")
    given = parser.parse_args()
    print(f"Queue cycles in process, medians of {given.rounds} rounds of {given.seconds:g} s")
    with databases(given.postgresql) as kinds:
        for kind, empty in kinds:
            with empty() as floor_url, empty() as url, product(url) as dispatcher:
                bare = bare_sqlite if kind == "SQLite" else partial(bare_postgresql, floor_url)
                beside(kind, url, dispatcher, bare, given.rounds, given.seconds)


def beside(
    kind: str, url: str, dispatcher: Dispatcher, bare: Callable[[float], float], rounds: int, seconds: float
) -> None:
    """Every round measures the floor and every case."""
    teams = {case: team(dispatcher, *case) for case in CASES[kind]}
    memory_release.collect_rarely()  # as a server does
    floors: list[float] = []
    rates: dict[tuple[int, int], list[float]] = {case: [] for case in teams}
    for _ in range(rounds):
        floors.append(bare(seconds))
        for case, callers in teams.items():
            rates[case].append(uvloop.run(rate(dispatcher, callers, seconds)))
    print(f"\n{kind}: the floor, one cycle after the other: {statistics.median(floors):,.0f} cycles/s")
    row = "T1" if kind == "SQLite" else "T2"
    for (callers, projects), found in rates.items():
        if projects == 1:
            _tell(f"{callers} callers", found, floors, "the floor", f"{row} {callers}")
        else:
            _tell(f"{callers} callers, {projects} projects", found, rates[callers, 1], "one", f"{row} 20 projects")
    if kind == "PostgreSQL":
        together, apart = team(dispatcher, 128, 1), team(dispatcher, 128, 2)
        halves = [together[:64], together[64:]], [apart[::2], apart[1::2]]
        for name, row, of_two in zip(("one queue", "a queue each"), ("T2 two servers", None), halves, strict=True):
            found = [several_servers(url, of_two, seconds) for _ in range(rounds)]
            _tell(f"two servers, {name}", found, rates[64, 1], "one server", row)


def _tell(name: str, found: list[float], floors: list[float], of: str, row: str | None) -> None:
    ratios = [each / floor for each, floor in zip(found, floors, strict=True)]
    print(f"{name:<28}{statistics.median(found):>8,.0f} cycles/s{statistics.median(ratios):>8.2f} x {of}", flush=True)
    if row is not None:
        for each, ratio, floor in zip(found, ratios, floors, strict=True):
            target_figures.note(row, ratio, f"{each:,.0f}/s", floor)


if __name__ == "__main__":
    main()
