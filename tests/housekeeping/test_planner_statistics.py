"""SQLite's planner knows how full the tables are after much was added, in every connection."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from tests.filled import Past, fill
from tests.stories import World
from toryo.housekeeping.runner import Housekeeping
from toryo.settings import RetentionSettings, Settings
from toryo.storage.engine.database import Database
from toryo.storage.engine.statements import Statement
from toryo.storage.open_database import open_database, upgrade

COUNTED = Statement(sa.text("SELECT stat FROM sqlite_stat1 WHERE idx = 'events_task'"))
FORGET = Statement(sa.text("DELETE FROM sqlite_stat1"))
BLOCKED = "SELECT id FROM tasks WHERE project_id = 'project-0' AND status = 'blocked'"
LOOK, PLAN = Statement(sa.text(BLOCKED)), Statement(sa.text(f"EXPLAIN QUERY PLAN {BLOCKED}"))


def collected(database: Database) -> bool:
    """Whether they were collected since the last time this was asked."""
    found = database.read(lambda connection: connection.one(COUNTED)) is not None
    database.write(lambda connection: connection.run(FORGET))
    return found


def test_they_are_collected_once_after_a_start_and_whenever_the_events_have_doubled(tmp_path: Path) -> None:
    with open_database(f"sqlite:///{tmp_path / 'toryo.db'}") as database:
        upgrade(database)
        fill(database, Past(tasks=500, events=4, open_tasks=100))
        world = World(database, Settings(retention=RetentionSettings(automatic=False)))
        collected(database)
        housekeeping = Housekeeping(world.dispatcher)
        housekeeping.round()
        assert collected(database)
        housekeeping.round()
        assert not collected(database)
        more = f"INSERT INTO events (id, at, actor_id, by_person, kind, fact, data) {_SAME} FROM events"
        database.write(lambda connection: connection.run(Statement(sa.text(more))))
        housekeeping.round()
        assert collected(database)


_SAME = "SELECT id || 'x', at, actor_id, by_person, kind, fact, data"


def test_connections_that_are_open_use_them_at_once(tmp_path: Path) -> None:
    with open_database(f"sqlite:///{tmp_path / 'toryo.db'}") as database:
        upgrade(database)
        assert database.read(lambda connection: connection.all(LOOK)) == []
        fill(database, Past(tasks=2_000, events=1, projects=1))
        assert len(database.read(lambda connection: connection.all(LOOK))) == 40
        plan = database.read(lambda connection: connection.all(PLAN))
        assert "tasks_blocked" in str(plan)
        assert database.read(lambda connection: connection.one(COUNTED)) is not None


def test_a_server_with_little_in_it_collects_none(tmp_path: Path) -> None:
    with open_database(f"sqlite:///{tmp_path / 'toryo.db'}") as database:
        upgrade(database)
        Housekeeping(World(database).dispatcher).round()
        assert not database.read(lambda connection: connection.all(TABLE))


TABLE = Statement(sa.text("SELECT name FROM sqlite_master WHERE name = 'sqlite_stat1'"))
