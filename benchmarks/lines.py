"""What starts next where 100,000 tasks are in line: how long a look takes, and what a completion costs.

Of one agent, for anyone who is free, for a pool that nobody suits, and with tasks that wait for their time. A look is
the statements by which the server finds what is ready; a completion is a person's move, in a `when_ready` project.

    PYTHONPATH=. python benchmarks/lines.py [--tasks 100000] [--rounds 50] [--postgresql URL]
"""

from __future__ import annotations

import argparse
import logging
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import structlog

from tests.stories import World
from toryo.domain.tasks import Pool, Start
from toryo.operations.calls.call import Call
from toryo.storage import schema
from toryo.storage import statistics as planner
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement
from toryo.storage.open_database import open_database, upgrade

AT_ONCE = 10_000
MOST = 20
"""As many as the server looks at, at a time."""


def fill(world: World, like: str, many: int, **changes: str) -> None:
    """Tasks that are as this one but for these columns, each an SQL expression in which n counts."""
    for begin in range(0, many, AT_ONCE):
        _fill(world, like, begin + 1, min(begin + AT_ONCE, many), changes)
    world.database.write(planner.collect)


def _fill(world: World, like: str, first: int, last: int, changes: dict[str, str]) -> None:
    columns = [column.name for column in schema.tasks.columns]
    values = {name: f"tasks.{name}" for name in columns}
    values |= {"id": "'tsk_b' || n || tasks.id", "root_id": "'tsk_b' || n || tasks.id", "line_at": "line_at + n"}
    values |= {"created_at": "created_at + n", **changes}
    numbers = f"WITH RECURSIVE numbers(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM numbers WHERE n < {last}) "
    listed = ", ".join(values[name] for name in columns)
    insert = (
        f"INSERT INTO tasks ({', '.join(columns)}) {numbers} SELECT {listed} FROM tasks, numbers WHERE id = '{like}'"
    )

    def work(connection: Connection) -> None:
        connection.run(Statement(sa.text(insert)))

    world.database.write(work)


def look(world: World, rounds: int, read: Callable[[Call], Any]) -> float:
    """Milliseconds of one look in a transaction of its own, nothing of which is remembered."""
    taken = []
    for _ in range(rounds):

        def work(call: Call) -> None:
            call.tx.connection.unit.forget()
            begun = time.perf_counter()
            read(call)
            taken.append((time.perf_counter() - begun) * 1000)

        world.dispatcher.in_passing(work, reads=True)
    return statistics.median(taken)


def measure(world: World, many: int, rounds: int) -> None:
    world.crew(2, start="when_ready")
    world.coordinator().claim(free_slots=0)
    project = world.project_id
    at_work = world.task("w1", status="todo")
    own, pooled = world.task("w1", status="todo"), world.task("any:nobody", status="todo")
    dated = world.task("w1", status="todo", not_before="2090-01-01T00:00:00Z", priority="high")
    nothing = statements_of_a_completion(world, "before anything is in line")

    def own_line(call: Call) -> Any:
        return call.tx.tasks.ready_in_line(project, "w1", Start.WHEN_READY, MOST)

    def and_pools(call: Call) -> Any:
        found = call.tx.tasks.pools_in_line(project)
        return found, call.tx.tasks.ready_in_line(project, "w1", Start.WHEN_READY, MOST, also=[Pool()])

    def of_pools(call: Call) -> Any:
        return call.tx.tasks.pools_in_line(project), call.tx.tasks.ready_in_pool(project, MOST, [Pool()])

    def report(name: str) -> None:
        for what, read in (("own line", own_line), ("with those for anyone", and_pools), ("for anyone", of_pools)):
            print(f"{name:44} look, {what:24} {look(world, rounds, read):8.2f} ms")
        task = call_for(world, own)
        print(f"{name:44} place of the last task               {task:8.2f} ms")

    report("nothing more")
    fill(world, own, many)
    report(f"{many} in the line of one agent")
    statements_of_a_completion(world, f"{many} in the line of one agent", nothing)
    fill(world, dated, many)
    report("and as many that wait for their time")
    begun = time.perf_counter()
    world.owner.call("move_task", task_id=own, before_task_id=f"tsk_b{many // 2}{own}")
    print(f"{'':44} a place is given             {(time.perf_counter() - begun) * 1000:8.2f} ms")
    fill(world, pooled, many)
    report("and as many of a pool that nobody suits")
    statements_of_a_completion(world, "with all of these", nothing)
    forget(world)
    with world.statements() as ran:
        begun = time.perf_counter()
        world.move(at_work, "completed")
    taken = (time.perf_counter() - begun) * 1000
    more = f"{len(ran)} statements ({len(ran) - nothing:+d})"
    print(f"{'':44} a completion that starts the next one: {more}, {taken:.2f} ms")


def forget(world: World) -> None:
    world.dispatcher.in_passing(lambda call: call.tx.connection.unit.forget())


def call_for(world: World, task: str) -> float:
    begun = time.perf_counter()
    world.owner.call("show_task", task_id=task)
    return (time.perf_counter() - begun) * 1000


def statements_of_a_completion(world: World, name: str, than: int = 0) -> int:
    """Of a task of another agent, whose line is empty, when nothing of the tree is remembered."""
    done = world.task("w2", status="in_progress")
    forget(world)
    with world.statements() as ran:
        world.move(done, "completed")
    print(f"{name:44} a completion: {len(ran)} statements ({len(ran) - than:+d})")
    return len(ran)


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    parsing = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parsing.add_argument("--tasks", type=int, default=100_000)
    parsing.add_argument("--rounds", type=int, default=50)
    parsing.add_argument("--postgresql", help="the URL of an empty database")
    asked = parsing.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        database = open_database(asked.postgresql or f"sqlite:///{Path(directory) / 'lines.db'}")
        upgrade(database)
        measure(World(database), asked.tasks, asked.rounds)


if __name__ == "__main__":
    main()
