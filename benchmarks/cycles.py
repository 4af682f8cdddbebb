"""Cycles per second through the whole product (create, start, complete: three durable acts, in process).

The floor, in the same run, is bare sqlite3 with synchronous=FULL, which makes the same three acts as three commits, one
after the other. Every act of the product passes validation, permission, guards, events and hints.

    python benchmarks/cycles.py [--seconds 3] [--rounds 3] [--database postgresql://…]
"""

from __future__ import annotations

import argparse
import logging
import random
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import structlog

from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.dispatch import Dispatcher
from toryo.operations.people.credential_revocation import bootstrap
from toryo.settings import Settings
from toryo.storage.open_database import open_database, upgrade

OWNER = Credentials(bearer="tpt_benchmark")


def main() -> None:
    options = _options()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        url = options.database or f"sqlite:///{place / 'toryo.db'}"
        with open_database(url) as database:
            upgrade(database)
            dispatcher = Dispatcher(database, Settings(data_dir=place), _now, random.getrandbits, lambda _: None)
            bootstrap(dispatcher, "tct_benchmark", OWNER.bearer or "")
            project_id, agent_id = _team(dispatcher)
            floor = _median(options.rounds, lambda: _bare(place, options.seconds))
            print(f"bare sqlite3, one at a time, FULL: {floor:8.0f} cycles/s (median of {options.rounds})")
            for callers in (1, 8, 64):
                rate = _median(
                    options.rounds,
                    lambda many=callers: _product(dispatcher, project_id, agent_id, many, options.seconds),
                )
                print(f"product, {callers:2d} callers: {rate:20.0f} cycles/s, {rate / floor:5.2f} x the bare one")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each measurement lasts")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--database", help="a database URL; default: SQLite in a temporary folder")
    return parser.parse_args()


def _now() -> int:
    return int(time.time() * 1000)


def _median(rounds: int, measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(rounds))


def _team(dispatcher: Dispatcher) -> tuple[str, str]:
    project = _call(dispatcher, "create_project", name="Benchmark", working_directory="/tmp")
    agent_id = f"bench-{random.getrandbits(32):x}"
    _call(
        dispatcher,
        "create_agent",
        id=agent_id,
        role="worker",
        max_parallel_tasks=1000,
        projects=[project["project_id"]],
    )
    return project["project_id"], agent_id


def _call(dispatcher: Dispatcher, name: str, /, **arguments: object) -> dict:
    outcome = dispatcher.perform(name, dict(arguments), OWNER)
    assert not outcome.refused, outcome.result
    assert outcome.result is not None
    return outcome.result


def _product(dispatcher: Dispatcher, project_id: str, agent_id: str, callers: int, seconds: float) -> float:
    until = time.perf_counter() + seconds
    done = [0] * callers

    def work(place: int) -> None:
        while time.perf_counter() < until:
            task = _call(dispatcher, "file_task", project_id=project_id, title=f"T {place}", assignee_id=agent_id)
            _call(dispatcher, "move_task", task_id=task["task_id"], status="in_progress")
            _call(dispatcher, "move_task", task_id=task["task_id"], status="completed")
            done[place] += 1

    threads = [threading.Thread(target=work, args=(place,)) for place in range(callers)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.perf_counter() - started)


def _bare(place: Path, seconds: float) -> float:
    file = place / f"bare-{random.getrandbits(32)}.db"
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT, status TEXT)")
    done, until = 0, time.perf_counter() + seconds
    started = time.perf_counter()
    while time.perf_counter() < until:
        cursor = connection.execute("INSERT INTO tasks (title, status) VALUES ('T', 'todo')")
        connection.execute("UPDATE tasks SET status = 'in_progress' WHERE id = ?", (cursor.lastrowid,))
        connection.execute("UPDATE tasks SET status = 'completed' WHERE id = ?", (cursor.lastrowid,))
        done += 1
    connection.close()
    return done / (time.perf_counter() - started)


if __name__ == "__main__":
    main()
