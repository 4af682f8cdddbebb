"""The real server starts on a database of an earlier version on PostgreSQL (on SQLite: test_stories.py), and people and
agents go on there; and two servers on one PostgreSQL are upgraded one by one, with a Coordinator and agents at work.
"""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator
from types import ModuleType

import psycopg
import pytest

from tests.databases import postgres_database
from tests.scenarios.conftest import Build
from tests.storage import released_versions
from tests.storage.recording import PROJECT
from tests.storage.released_versions import ALL
from toryo.client import Client, RefusalError
from toryo.storage import migrations
from toryo.storage.engine.database import Connection
from toryo.storage.open_database import open_database

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]


@pytest.mark.postgresql
@pytest.mark.parametrize("version", ALL)
def test_the_server_starts_on_a_database_of_an_earlier_version_and_a_task_is_completed_there(
    version: int, own_postgresql: str, build: Build
) -> None:
    goes_on(own_postgresql, version, build)


def goes_on(url: str, version: int, build: Build) -> None:
    """A server, people and an agent on a database of that version."""
    with open_database(url) as opened:
        released_versions.fill(opened, version)
    site = build(database=url)
    pages = (f"/projects/{PROJECT}/board", "/overview", "/needs-you", "/events", f"/projects/{PROJECT}/tasks")
    for page in pages:
        assert site.people.rest("GET", page)["success"], page
    (site.directory / "work").mkdir()
    site.people.rest("PATCH", f"/projects/{PROJECT}", {"working_directory": str(site.directory / "work")})
    site.hire("smith", PROJECT)
    site.coordinator()
    task = site.file(PROJECT, "Forge", assignee_id="smith", status="in_progress", context={"command": "true"})
    site.until_status(task, "completed")
    assert site.server.leave() == 0
    site.serve()
    for page in pages:
        assert site.people.rest("GET", page)["success"], page


@pytest.fixture
def own_postgresql() -> Iterator[str]:
    """The URL of a database that outlives the sites of the test."""
    with postgres_database() as url:
        yield url


@pytest.mark.postgresql
def test_two_servers_are_upgraded_one_after_the_other_and_nothing_is_lost(own_postgresql: str, build: Build) -> None:
    """The first one is upgraded while the second one works; the second one refuses with words, changes nothing, its
    health check fails, and so does its next start. Whoever turns to the upgraded one goes on."""
    site, older = build(database=own_postgresql), build(database=own_postgresql)
    site.project("yard")
    site.hire("smith", "yard")
    before = site.file("yard", "Before", assignee_id="smith", status="in_progress", context={"command": "true"})
    older_token = Client(older.url, older.token("owner"))
    assert older_token.rest("GET", f"/tasks/{before}")["success"]

    assert site.server.leave() == 0
    with open_database(own_postgresql) as newer:
        newer.write_patiently(lambda connection: migrations.upgrade(connection, (*migrations.STEPS, _next())))
    with pytest.raises(urllib.error.HTTPError) as ill:
        urllib.request.urlopen(f"{older.url}/health")
    assert ill.value.code == 503
    for method, path in (("GET", f"/tasks/{before}"), ("GET", "/overview")):
        with pytest.raises(RefusalError, match="A newer Toryo has upgraded the database") as refused:
            older_token.rest(method, path)
        assert refused.value.code == "unavailable"
    with pytest.raises(RefusalError, match="A newer Toryo has upgraded the database"):
        older_token.rest("POST", "/projects/yard/tasks", {"title": "Never"})
    older.coordinator(says="A newer Toryo has upgraded the database").kill()
    events = _count(own_postgresql)
    assert older.server.leave() == 0
    older.server.start().says(f"The database is at version {migrations.PRESENT + 1}")
    assert older.server.ended_with() == 2
    assert _count(own_postgresql) == events

    _forget_next(own_postgresql)  # The newer version is this one from here on.
    site.serve()
    site.coordinator()
    site.until_status(before, "completed")
    assert {task["title"] for task in site.tasks("yard").values()} == {"Before"}
    assert site.history.lost() == []


def _next() -> ModuleType:
    step = ModuleType("toryo.storage.migrations.step_0008_next")

    def upgrade(connection: Connection) -> None:
        connection.define("CREATE TABLE next_step (id TEXT PRIMARY KEY)")

    step.upgrade = upgrade  # type: ignore[attr-defined]
    return step


def _forget_next(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DELETE FROM schema_version WHERE name = '0008_next'")


def _count(url: str) -> int:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute("SELECT count(*) FROM events").fetchone()
    assert row is not None
    return int(row[0])
