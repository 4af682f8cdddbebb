"""A database and a backup of an earlier version, with the work that was under way, are used by this version."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import sqlalchemy as sa

from tests import invariants
from tests.obedience import crew_works
from tests.storage import released_versions
from tests.storage.recording import OWNERS_PASSWORD, PROJECT
from tests.storage.released_versions import ALL, by_id
from tests.stories import STARTED_AT, Caller, World
from toryo.domain.times import HOUR
from toryo.housekeeping.runner import CHORES
from toryo.storage import backup, integrity, migrations, schema
from toryo.storage.engine.database import Database
from toryo.storage.engine.statements import Statement
from toryo.storage.errors import DatabaseTooNew
from toryo.storage.open_database import open_database, upgrade

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture
def blank(database_url: str) -> Any:
    with open_database(database_url) as opened:
        yield opened


def test_every_version_from_the_oldest_that_is_upgraded_to_the_present_one_is_recorded() -> None:
    assert [*range(migrations.OLDEST, migrations.PRESENT + 1)] == ALL, "recording.py says how"


@pytest.mark.both
@pytest.mark.first(1)
@pytest.mark.parametrize("version", ALL)
def test_a_database_of_an_earlier_version_keeps_every_row_and_its_work_is_completed(
    blank: Database, version: int
) -> None:
    recorded = released_versions.fill(blank, version)
    upgrade(blank)
    assert by_id(released_versions.kept(blank, recorded)) == by_id(recorded)
    _is_used(blank)


@pytest.mark.first(1)
@pytest.mark.parametrize("version", ALL)
def test_a_backup_of_an_earlier_version_is_restored_and_its_work_is_completed(
    blank: Database, version: int, tmp_path: Path
) -> None:
    upgrade(blank)
    file = released_versions.backup_of(version, tmp_path / "toryo.backup")
    backup.restore(blank, file, credentials=True)
    recorded = released_versions.contents(version)
    assert by_id(released_versions.kept(blank, recorded)) == by_id(recorded)
    _is_used(blank)


@pytest.mark.parametrize("version", ALL)
def test_an_upgraded_database_and_a_restored_backup_of_the_same_version_are_equal(
    blank: Database, version: int, tmp_path: Path
) -> None:
    """What a step does to rows, a restore does as well."""
    released_versions.fill(blank, version)
    upgrade(blank)
    with open_database(f"sqlite:///{tmp_path / 'elsewhere.db'}") as elsewhere:
        upgrade(elsewhere)
        file = released_versions.backup_of(version, tmp_path / "toryo.backup")
        backup.restore(elsewhere, file, credentials=True)
        upgraded, restored = World(blank).rows(), World(elsewhere).rows()
    for table in (each.name for each in schema.metadata.sorted_tables if each is not schema.directory):
        if table != "retention":  # it says when the server begins to delete: two weeks from the upgrade, or the restore
            assert sorted(upgraded[table], key=repr) == sorted(restored[table], key=repr), table


def _is_used(database: Database) -> None:
    """By people, by agents, and by the chores; an hour later, when whoever was at work has long been given up."""
    assert database.read(integrity.check) == []
    world = World(database, now=STARTED_AT + HOUR, seed=1)
    world.project_id = PROJECT
    _people_look(world)
    world.nobody.call("sign_in", person_id="owner", password=OWNERS_PASSWORD)
    assert invariants.broken(world) == []
    world.housekeep()
    crew_works(world)
    house = [
        task
        for task in world.owner.call("list_project_tasks", project_id=PROJECT)["tasks"]
        if task["title"] == "Build a house"
    ]
    assert [task["status"] for task in house] == ["completed"]
    filed = world.task("w3", title="Chimney")
    crew_works(world)
    assert world.status(filed) == "completed"
    world.housekeep()
    _people_look(world)
    assert invariants.broken(world) == []
    assert database.read(integrity.check) == []


def _people_look(world: World) -> None:
    for name, arguments in PAGES.items():
        assert world.owner.call(name, **arguments)["success"], name


PAGES: dict[str, dict[str, Any]] = {
    "show_overview": {},
    "show_board": {"project_id": PROJECT},
    "needs_you": {},
    "search_tasks": {"text": "house"},
    "read_events": {"newest": True},
    "list_people": {},
    "show_usage": {},
    "list_worktrees": {"project_id": PROJECT},
    "list_queue_agents": {"project_id": PROJECT},
    "list_dead_letters": {"project_id": PROJECT},
    "list_conversations": {"project_id": PROJECT},
    "list_chats": {"project_id": PROJECT},
    "list_api_keys": {"project_id": PROJECT},
    "list_access_tokens": {},
    "list_launches": {},
    "show_saved_views": {"project_id": PROJECT},
    "list_questions": {"project_id": PROJECT},
}


# --- an upgrade that is killed, and one beside servers that run ------------------------------------------------------

KILLED = """
import os, signal, sys
from unittest.mock import patch
from toryo.storage.engine import postgresql, sqlite
from toryo.storage.open_database import open_database, upgrade

left = int(sys.argv[2])

def dying(original):
    def define(connection, change):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        original(connection, change)
    return define

for kind in (sqlite.SQLiteConnection, postgresql.PostgreSQLConnection):
    kind.define = dying(kind.define)
with open_database(sys.argv[1]) as database:
    upgrade(database)
print("lived")
"""


@pytest.mark.first(1)
@pytest.mark.parametrize("change", [19, 2, 8, 14])
def test_an_upgrade_that_is_killed_leaves_a_database_that_the_next_start_upgrades(
    database_url: str, change: int
) -> None:
    """kill -9 before the so-manyth change of the tables."""
    with open_database(database_url) as opened:
        recorded = released_versions.fill(opened, migrations.OLDEST)
    upgrading = [sys.executable, "-c", KILLED, database_url, str(change)]
    ended = subprocess.run(upgrading, check=False, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended
    with open_database(database_url) as opened:
        assert len(upgrade(opened)) == migrations.PRESENT - migrations.OLDEST
        assert by_id(released_versions.kept(opened, recorded)) == by_id(recorded)
        assert opened.read(integrity.check) == []
        assert upgrade(opened) == []


@pytest.mark.deep
@pytest.mark.postgresql
def test_a_server_notices_that_a_newer_one_has_upgraded_its_database_and_changes_nothing_any_more(
    postgres_empty: str,
) -> None:
    with open_database(postgres_empty) as older, open_database(postgres_empty) as newer:
        upgrade(older)
        world = World(older)
        world.crew()
        task = world.task("w1")
        process = world.start("w1")
        _upgraded_further(newer)
        rows = World.rows(world)
        calls: list[tuple[Caller, str, dict[str, Any]]] = [
            (world.owner, "move_task", {"task_id": task, "status": "completed"}),
            (world.owner, "show_task", {"task_id": task}),
            (process, "report_completed", {"result": "success", "summary": "done"}),
            (world.coordinator(), "claim_starts", {"coordinator_id": "c1", "free_slots": 1, "running": []}),
            (world.nobody, "health_check", {}),
        ]
        told = f"A newer Toryo has upgraded the database to version {migrations.PRESENT + 1}"
        for caller, name, arguments in calls:
            refused = caller.refused(name, None, **arguments)
            assert told in refused["message"], (name, refused)
            assert "start it again with the newer version" in refused["instruction"], (name, refused)
        for _, chore in CHORES:
            with pytest.raises(DatabaseTooNew):
                world.dispatcher.housekeep(chore)
        assert world.rows() == rows


@pytest.mark.deep
@pytest.mark.postgresql
def test_an_upgrade_beside_a_server_that_is_busy_loses_nothing_that_was_acknowledged(
    postgres_empty: str, at_once: Any
) -> None:
    """Calls before the upgrade are kept, those after it are refused, and none writes behind it."""
    with open_database(postgres_empty) as older, open_database(postgres_empty) as newer:
        upgrade(older)
        world = World(older)
        world.project()
        made: list[str] = []
        busy = threading.Event()

        def work(which: int) -> None:
            if which == 0:
                assert busy.wait(100)
                _upgraded_further(newer)
                return
            for _ in range(10_000):
                outcome = world.owner.ask("file_task", project_id=world.project_id, title="Build")
                assert outcome.result is not None
                if outcome.refused:
                    if "A newer Toryo" in outcome.result["message"]:
                        return
                    assert outcome.result["error"] == "unavailable", outcome.result
                else:
                    made.append(outcome.result["task_id"])
                    if len(made) > 20:
                        busy.set()

        assert at_once(5, work) == [None] * 5
        assert sorted(made) == sorted(row[0] for row in newer.read(lambda c: c.all(_TASKS_OF)))


_TASKS_OF = Statement(sa.text("SELECT id FROM tasks"))


def _upgraded_further(database: Database) -> None:
    """By the next version, which adds a table."""
    step = ModuleType("toryo.storage.migrations.step_0008_next")
    step.upgrade = lambda connection: connection.define("CREATE TABLE next (id TEXT PRIMARY KEY)")  # type: ignore[attr-defined]
    database.write_patiently(lambda connection: migrations.upgrade(connection, (*migrations.STEPS, step)))
