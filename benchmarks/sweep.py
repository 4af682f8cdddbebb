"""T6: the cost of one look for starts while many agents wait: `claim_starts` over managers that wait for busy workers.

Cold: the first look of a server. Warm: the looks after it, with no change or one changed task.

    python benchmarks/sweep.py [--managers 500]
"""

from __future__ import annotations

import argparse
import logging
import random
import statistics
import tempfile
import time
from pathlib import Path

import structlog
import target_figures

from toryo.domain.tasks import Wait
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.dispatch import Dispatcher
from toryo.operations.people.credential_revocation import bootstrap
from toryo.server import memory_release
from toryo.settings import Settings
from toryo.storage.engine.database import Connection, Database
from toryo.storage.open_database import open_database, upgrade
from toryo.storage.transaction import Transaction

OWNER, COORDINATOR = Credentials(bearer="tpt_benchmark"), Credentials(bearer="tct_benchmark")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--managers", type=int, default=500)
    many = parser.parse_args().managers
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with tempfile.TemporaryDirectory() as folder, open_database(f"sqlite:///{Path(folder) / 'toryo.db'}") as database:
        upgrade(database)
        dispatcher = Dispatcher(database, Settings(data_dir=Path(folder)), _now, random.getrandbits, lambda _: None)
        bootstrap(dispatcher, "tct_benchmark", "tpt_benchmark")
        subtasks = [_team(dispatcher, database, number) for number in range(many)]
        print(f"{many} managers wait for {many} people at work")
        memory_release.collect_rarely()  # as a server does
        cold = _look(dispatcher)
        warm = statistics.median(_look(dispatcher) for _ in range(20))
        print(f"cold: {cold:9.1f} ms")
        print(f"warm: {warm:9.1f} ms (median of 20, nothing changed)")
        target_figures.note("T6 cold", cold)
        target_figures.note("T6 warm", warm)
        changed = []
        for subtask in subtasks[:20]:
            _call(dispatcher, "edit_task", OWNER, task_id=subtask, priority="high")
            changed.append(_look(dispatcher))
        print(f"warm: {statistics.median(changed):9.1f} ms (median of 20, one task has changed before each)")


def _now() -> int:
    return int(time.time() * 1000)


def _call(dispatcher: Dispatcher, name: str, who: Credentials, /, **arguments: object) -> dict:
    outcome = dispatcher.perform(name, dict(arguments), who)
    assert not outcome.refused, outcome.result
    assert outcome.result is not None
    return outcome.result


def _look(dispatcher: Dispatcher) -> float:
    """Milliseconds of one look by a Coordinator with a free slot."""
    begun = time.perf_counter()
    _call(dispatcher, "claim_starts", COORDINATOR, coordinator_id="benchmark", free_slots=1)
    return (time.perf_counter() - begun) * 1000


def _team(dispatcher: Dispatcher, database: Database, number: int) -> str:
    """A project in which a manager waits for a person below it who is at work; answers the person's task."""
    project = _call(dispatcher, "create_project", OWNER, name=f"P{number}", working_directory="/tmp")["project_id"]
    manager, person = f"m{number}", f"p{number}"
    _call(dispatcher, "create_agent", OWNER, id=manager, role="manager", provider="none", projects=[project])
    _call(
        dispatcher,
        "create_agent",
        OWNER,
        id=person,
        role="worker",
        kind="human",
        reports_to=manager,
        projects=[project],
    )
    main = _call(
        dispatcher, "file_task", OWNER, project_id=project, title="M", assignee_id=manager, status="in_progress"
    )
    sub = _call(
        dispatcher, "file_task", OWNER, project_id=project, title="S", assignee_id=person,
        parent_task_id=main["task_id"], status="in_progress",
    )  # fmt: skip
    database.write(lambda connection: _leave_waiting(connection, main["task_id"]))
    return str(sub["task_id"])


def _leave_waiting(connection: Connection, task_id: str) -> None:
    """As a manager leaves it that has looked, started everything and chosen to wait."""
    from dataclasses import replace

    tx = Transaction(connection)
    task = tx.tasks.find(task_id)
    assert task is not None
    tx.tasks.save(task, replace(task, wait=Wait("workers", _now(), tx.events.last()), look_event=tx.events.last()))


if __name__ == "__main__":
    main()
