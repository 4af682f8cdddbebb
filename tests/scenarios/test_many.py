"""Several Coordinators, on one server and on two servers over one PostgreSQL: they share the work, and everything is
done exactly once. `TORYO_TEST_TASKS_EACH` says how many tasks each agent has: 4 by default, 10 are for those who have
time.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import psycopg
import pytest

from tests.databases import postgres_database
from tests.scenarios.conftest import Build
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]

AGENTS = 10
TASKS_EACH = int(os.environ.get("TORYO_TEST_TASKS_EACH", "4"))
DONE_WITHIN = 300.0


@pytest.fixture
def empty_postgres() -> Iterator[str]:
    """A PostgreSQL database of the test's own."""
    with postgres_database() as url:
        yield url


def test_two_coordinators_on_one_server_share_the_work(site: Site) -> None:
    tasks = _file_everything(site)
    site.coordinator("east", max_concurrent=3)
    site.coordinator("west", max_concurrent=3)
    _everything_is_done_once(site, tasks, {"east", "west"})


@pytest.mark.postgresql
def test_two_servers_on_one_postgresql_share_the_work_of_their_coordinators(empty_postgres: str, build: Build) -> None:
    site, other = build(database=empty_postgres), build(database=empty_postgres)
    tasks = _file_everything(site)
    site.coordinator("east", max_concurrent=3)
    other.coordinator("west", max_concurrent=3)
    _everything_is_done_once(site, tasks, {"east", "west-2"})
    other.history.events = site.history.events
    assert other.history.lost() == []
    assert _deadlocks(empty_postgres) == 0


def _file_everything(site: Site) -> list[str]:
    """Many quick tasks for several agents, all in progress at once; their ids."""
    site.project("mill")
    for number in range(AGENTS):
        site.hire(f"hand-{number}", "mill", max_parallel_tasks=TASKS_EACH)
    return [
        site.file(
            "mill",
            f"Saw {number}",
            assignee_id=f"hand-{number % AGENTS}",
            status="in_progress",
            context={"command": f"echo {number} >> done.txt"},
        )
        for number in range(AGENTS * TASKS_EACH)
    ]


def _everything_is_done_once(site: Site, tasks: list[str], coordinators: set[str]) -> None:
    def completed() -> bool:
        return len(site.history.of("task.completed")) >= len(tasks)

    site.until("all is completed", completed, DONE_WITHIN)
    site.until_idle()
    done = (site.directory / "projects" / "mill" / "done.txt").read_text().split()
    assert sorted(map(int, done)) == list(range(len(tasks)))
    assert {task["status"] for task in site.tasks("mill").values()} == {"completed"}
    assert site.history.completed_twice() == []
    assert Counter(start["data"]["task_id"] for start in site.history.starts()) == dict.fromkeys(tasks, 1)
    assert site.history.idle_starts() == []
    assert site.history.double_launches() == []
    shares = Counter(launch["coordinator_id"] for launch in site.launches(project_id="mill"))
    assert set(shares) == coordinators
    assert min(shares.values()) >= len(tasks) // 5


def _deadlocks(url: str) -> int:
    """How often transactions have waited for each other: each time costs somebody a second or more."""
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        row = found.fetchone()
    assert row is not None
    return int(row[0])
