"""T7: CPU per call, in milliseconds and as a ratio to the first row, as the past of a server and its teams grow.

Each row is a database filled by SQL (tests/filled.py), on which the product then makes the same calls. Agents' calls
first, then people's. Targets: cycle and next action at most 1.1 x, sweep 1.2 x, each of people's reads 50 ms.

The row "2 servers" (PostgreSQL) is the first one while another process works on the same database.

    python benchmarks/growth.py [--full | --most] [--rounds 1] [--database postgresql://HOST/EMPTY]
"""

from __future__ import annotations

import argparse
import logging
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import psycopg
import structlog
import target_figures

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.filled import Past, fill, project  # noqa: E402 - after the path to the tests' helpers
from tests.stories import Answer, Caller, World  # noqa: E402
from toryo.storage.engine.database import Database  # noqa: E402
from toryo.storage.open_database import open_database, upgrade  # noqa: E402

FIRST = Past(tasks=10_000)
ROWS = {
    "10 k tasks": FIRST,
    "100 k tasks": replace(FIRST, tasks=100_000),
    "500 agents": replace(FIRST, agents=500),
    "5,000 live claims": replace(FIRST, claims=5_000),
    "500 agents, 5,000 claims": replace(FIRST, agents=500, claims=5_000),
    "20 projects": replace(FIRST, projects=20),
}
TWO = "2 servers"
FULL = {"1 M tasks": replace(FIRST, tasks=1_000_000)}
DAY = 86_400
AGENTS = ("cycle", "next action", "sweep")
"""What agents and Coordinators call; people call the others."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="also with a million tasks (some minutes)")
    parser.add_argument("--most", action="store_true", help="only the first row and a million tasks")
    parser.add_argument("--database", help="a PostgreSQL database whose tables may be dropped; default: SQLite")
    parser.add_argument("--rows", nargs="+", choices=list(ROWS), help="of the ordinary rows only the first and these")
    parser.add_argument("--times", type=int, default=30, help="how often each call is made in a round")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--beside", help=argparse.SUPPRESS)
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    if given.beside:
        _work(given.beside)
    first: list[dict[str, float]] = []
    two = {} if given.database is None else {TWO: FIRST}  # SQLite's file is of one server
    rows = {"10 k tasks": FIRST} if given.most else ROWS | two
    if given.rows:
        rows = {name: past for name, past in rows.items() if past is FIRST or name in given.rows}
    rows = rows | (FULL if given.full or given.most else {})
    for name, past in rows.items():
        with _database(given.database) as (database, url):
            fill(database, past)
            with _another(url) if name == TWO else nullcontext():
                found = _measured(database, given.times, given.rounds)
        if not first:
            first = found
            print(f"{'CPU, ms (ratio)':<26}" + "".join(f"{each:>17}" for each in found[0]))
        middle, least = _middle(found), _middle(first)
        cells = (f"{value:.2f} ({value / max(least[each], 0.001):.2f})" for each, value in middle.items())
        print(f"{name:<26}" + "".join(f"{each:>17}" for each in cells), flush=True)
        if past.tasks > FIRST.tasks:  # the row with the most tasks is measured last
            for now, then in zip(found, first, strict=True):
                slowest = max((call for call in now if call not in AGENTS), key=lambda call: now[call])
                for call in ("cycle", "next action"):
                    target_figures.note(f"T7 {call}", now[call] / then[call], f"{now[call]:.2f} ms", then[call])
                target_figures.note("T7 reads", now[slowest], slowest)


def _middle(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {call: statistics.median(each[call] for each in rounds) for call in rounds[0]}


@contextmanager
def _database(url: str | None) -> Iterator[tuple[Database, str]]:
    """An empty one with all tables, and its URL."""
    with tempfile.TemporaryDirectory() as folder:
        if url is not None:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("DROP SCHEMA public CASCADE")
                connection.execute("CREATE SCHEMA public")
        at = url or f"sqlite:///{Path(folder) / 'toryo.db'}"
        with open_database(at) as database:
            upgrade(database)
            yield database, at


@contextmanager
def _another(url: str) -> Iterator[None]:
    """A process that carries out cycles in another project of this database, one after the other."""
    with subprocess.Popen([sys.executable, __file__, "--beside", url], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.terminate()


def _work(url: str) -> None:
    with open_database(url) as database:
        world = World(database, now=int(time.time() * 1000) + DAY, seed=1)
        world.project_id = project(1)
        cycle = _calls(world, agent_id="grower-beside")["cycle"]
        print("ready", flush=True)
        while True:
            cycle()


def _measured(database: Database, times: int, rounds: int) -> list[dict[str, float]]:
    world = World(database, now=int(time.time() * 1000))
    world.project_id = project()
    calls = _calls(world)
    return [{name: _cost(call, times) for name, call in calls.items()} for _ in range(rounds)]


def _cost(call: Callable[[], object], times: int) -> float:
    """The median of the CPU of this process. PostgreSQL's own is not in it: there it is the time until the answer."""
    clock = time.process_time if isinstance(call, _OnCPU) else time.perf_counter
    call()
    spent = []
    for _ in range(times):
        begun = clock()
        call()
        spent.append((clock() - begun) * 1000)
    return statistics.median(spent)


class _OnCPU:
    def __init__(self, call: Callable[[], object]) -> None:
        self.call = call

    def __call__(self) -> object:
        return self.call()


def _calls(world: World, agent_id: str = "grower") -> dict[str, Callable[[], object]]:
    perform = world.dispatcher.perform

    def ask(caller: Caller, name: str, **arguments: object) -> Answer:
        world.now += 1
        outcome = perform(name, dict(arguments), caller.credentials)
        assert not outcome.refused, outcome.result
        assert outcome.result is not None
        return outcome.result

    worker = world.worker(f"growth-{world.now}")
    world.task(worker)
    process = world.start(worker)
    asked = {"project_id": world.project_id, "types": ["growing"]}
    orchestrator = Caller(world, world.owner.call("make_api_key", orchestrator=True, **asked)["token"])
    agent = Caller(world, world.owner.call("make_api_key", agent_id=agent_id, **asked)["token"])
    agent.call("register_agent", agent_id=agent_id, agent_type="growing")
    coordinator = world.coordinator()
    ask(coordinator, "claim_starts", coordinator_id="c1", free_slots=1)
    last = world.owner.call("show_board", project_id=world.project_id)["last_event"]
    here = {"project_id": world.project_id}

    def cycle() -> None:
        ask(orchestrator, "create_task", agent_type="growing", task_description="Grow")
        (got,) = ask(agent, "poll_tasks", agent_id=agent_id)["result"]
        ended = {"task_id": got["task_id"], "attempt": got["attempt"], "status": "completed"}
        ask(agent, "submit_result", agent_id=agent_id, result={}, **ended)

    def read(name: str, **arguments: object) -> Callable[[], object]:
        return lambda: ask(world.owner, name, **arguments)

    found: dict[str, Callable[[], object]] = {
        "cycle": cycle,
        "next action": lambda: ask(process, "get_next_action"),
        "sweep": lambda: ask(coordinator, "claim_starts", coordinator_id="c1", free_slots=1),
        "board": read("show_board", **here),
        "delta": read("show_board", **here, after=last),
        "overview": read("show_overview"),
        "needs": read("needs_you"),
        "list": read("list_project_tasks", **here),
        "list failed": read("list_project_tasks", **here, status="failed"),
        "list current": read("list_project_tasks", **here, closed_since=_ago(world)),
        "dead letters": read("list_dead_letters", **here),
        "worktrees": read("list_worktrees", **here, state="open"),
        "events": read("read_events", **here, limit=100),
        "usage": read("show_usage", **here),
    }
    return {name: call if world.dialect != "sqlite" else _OnCPU(call) for name, call in found.items()}


def _ago(world: World) -> str:
    now, world.now = world.now, world.now - DAY * 1000
    text, world.now = world.iso(), now
    return text


if __name__ == "__main__":
    main()
