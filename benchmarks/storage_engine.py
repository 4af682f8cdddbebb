"""The storage engine against its floor: durable task cycles on bare statements, in the same run.

A cycle is create + claim + complete of one task: three transactions, each answered after its commit. The floor is the
standard library's sqlite3 with `synchronous=FULL`, one transaction after the other (and, with `--postgresql URL`,
psycopg one after the other). Callers are tasks of one event loop, or threads with `--threads`.

    python benchmarks/storage_engine.py [--seconds 1.5] [--rounds 5] [--threads] [--postgresql URL]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import sqlalchemy as sa
from sqlalchemy.schema import CreateIndex, CreateTable

from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.statements import Statement
from toryo.storage.open_database import open_database

CALLERS = (1, 8, 64)
TARGETS = {1: 0.6, 8: 3.5, 64: 10.0}

metadata = sa.MetaData()
tasks = sa.Table(
    "bench_tasks",
    metadata,
    sa.Column("sequence", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
    sa.Column("id", sa.Text, nullable=False, unique=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("assignee", sa.Text),
    sa.Column("result", sa.Text),
    sa.Column("version", sa.BigInteger, nullable=False),
)
todo = sa.Index(
    "bench_tasks_todo",
    tasks.c.sequence,
    sqlite_where=sa.text("status = 'todo'"),
    postgresql_where=sa.text("status = 'todo'"),
)
_first = sa.select(tasks.c.sequence).where(tasks.c.status == "todo").order_by(tasks.c.sequence).limit(1)

CREATE = Statement(sa.insert(tasks).values(status="todo", version=1), columns=["id", "title"])
CLAIM = Statement(
    sa.update(tasks)
    .values(status="in_progress", assignee=sa.bindparam("agent"), version=tasks.c.version + 1)
    .where(tasks.c.sequence == _first.with_for_update(skip_locked=True).scalar_subquery())
    .returning(tasks.c.id)
)
COMPLETE = Statement(
    sa.update(tasks)
    .values(status="completed", result=sa.bindparam("outcome"), version=tasks.c.version + 1)
    .where(tasks.c.id == sa.bindparam("task"), tasks.c.status == "in_progress")
)
RESULT = '{"summary": "it was done"}'
names = (f"task-{number:09}" for number in itertools.count())


def create(connection: Connection) -> None:
    connection.run(CREATE, id=next(names), title="write the report")


def claim(connection: Connection) -> str:
    found: str = connection.value(CLAIM, agent="agent-1")
    return found


def completion(task: str) -> Callable[[Connection], int]:
    return lambda connection: connection.run(COMPLETE, task=task, outcome=RESULT)


def define(connection: Connection) -> None:
    connection.define(CreateTable(tasks))
    connection.define(CreateIndex(todo))


async def by_tasks(database: Database, callers: int, seconds: float) -> float:
    """Cycles per second of so many tasks on one loop."""
    until, cycles = time.perf_counter() + seconds, 0

    async def caller() -> None:
        nonlocal cycles
        while time.perf_counter() < until:
            await database.write_async(create)
            await database.write_async(completion(await database.write_async(claim)))
            cycles += 1

    started = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(callers)))
    return cycles / (time.perf_counter() - started)


def by_threads(database: Database, callers: int, seconds: float) -> float:
    """Cycles per second of so many threads."""
    until, cycles = time.perf_counter() + seconds, [0] * callers

    def caller(which: int) -> None:
        while time.perf_counter() < until:
            database.write(create)
            database.write(completion(database.write(claim)))
            cycles[which] += 1

    threads = [threading.Thread(target=caller, args=(which,)) for which in range(callers)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(cycles) / (time.perf_counter() - started)


def one_at_a_time(execute: Callable[[str, dict[str, Any]], Any], dialect: str, seconds: float) -> float:
    """Cycles per second of bare statements, each in a transaction of its own."""
    text = {each: getattr(each, dialect).text for each in (CREATE, CLAIM, COMPLETE)}
    until, cycles = time.perf_counter() + seconds, 0
    started = time.perf_counter()
    while time.perf_counter() < until:
        execute(text[CREATE], {"id": next(names), "title": "write the report"})
        task = execute(text[CLAIM], {"agent": "agent-1"}).fetchall()[0][0]
        execute(text[COMPLETE], {"task": task, "outcome": RESULT})
        cycles += 1
    return cycles / (time.perf_counter() - started)


def sqlite_floor(directory: Path, seconds: float) -> float:
    with open_database(f"sqlite:///{directory / 'floor.db'}") as database:
        database.write(define)
    connection = sqlite3.connect(directory / "floor.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    rate = one_at_a_time(connection.execute, "sqlite", seconds)
    connection.close()
    return rate


def postgresql_floor(url: str, seconds: float) -> float:
    with psycopg.connect(url, autocommit=True, prepare_threshold=2) as connection:
        return one_at_a_time(connection.cursor().execute, "postgresql", seconds)


def measured(database: Database, callers: int, seconds: float, threads: bool) -> float:
    return by_threads(database, callers, seconds) if threads else asyncio.run(by_tasks(database, callers, seconds))


def sqlite_round(seconds: float, threads: bool) -> dict[Any, float]:
    with tempfile.TemporaryDirectory() as name:
        rates: dict[Any, float] = {"floor": sqlite_floor(Path(name), seconds)}
        with open_database(f"sqlite:///{name}/toryo.db") as database:
            database.write(define)
            for callers in CALLERS:
                rates[callers] = measured(database, callers, seconds, threads)
        return rates


def postgresql_round(url: str, seconds: float, threads: bool) -> dict[Any, float]:
    with open_database(url) as database:
        database.write(lambda c: c.define("DROP TABLE IF EXISTS bench_tasks"))
        database.write(define)
        rates: dict[Any, float] = {"floor": postgresql_floor(url, seconds)}
        for callers in (*CALLERS, 256):
            rates[callers] = measured(database, callers, seconds, threads)
        database.write(lambda c: c.define("DROP TABLE bench_tasks"))
        return rates


def show(title: str, rounds: list[dict[Any, float]], targets: dict[int, float]) -> None:
    floor = statistics.median(measured["floor"] for measured in rounds)
    print(f"{title}\n  one at a time {floor:8,.0f} cycles/s")
    for callers in (key for key in rounds[0] if key != "floor"):
        rate = statistics.median(measured[callers] for measured in rounds)
        ratio = statistics.median(measured[callers] / measured["floor"] for measured in rounds)
        target = f"  (target of the whole product: {targets[callers]} x)" if callers in targets else ""
        print(f"  {callers:4} callers   {rate:8,.0f} cycles/s {ratio:6.2f} x{target}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=1.5, help="of each measurement")
    options.add_argument("--rounds", type=int, default=5, help="medians are over these")
    options.add_argument("--threads", action="store_true", help="callers are threads instead of tasks")
    options.add_argument("--postgresql", metavar="URL", help="measure this database too; a table bench_tasks is made")
    given = options.parse_args()
    show("SQLite, FULL", [sqlite_round(given.seconds, given.threads) for _ in range(given.rounds)], TARGETS)
    if given.postgresql:
        rounds = [postgresql_round(given.postgresql, given.seconds, given.threads) for _ in range(given.rounds)]
        show("PostgreSQL", rounds, {64: 12.0, 256: 16.0})


if __name__ == "__main__":
    main()
