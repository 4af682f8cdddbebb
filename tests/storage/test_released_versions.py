"""A database and a backup of every earlier version, with the work that was under way, are used by this version."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import invariants
from tests.obedience import crew_works
from tests.storage import released_versions
from tests.storage.recording import OWNERS_PASSWORD, PROJECT
from tests.storage.released_versions import ALL, Contents
from tests.stories import STARTED_AT, World
from toryo.domain.times import HOUR
from toryo.storage import backup, integrity, schema
from toryo.storage.engine.database import Database
from toryo.storage.open_database import open_database, upgrade

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture
def blank(database_url: str) -> Any:
    with open_database(database_url) as opened:
        yield opened


def by_id(contents: Contents) -> dict[str, list[dict[str, Any]]]:
    return {
        table: sorted((dict(zip(columns, map(plain, row), strict=True)) for row in rows), key=repr)
        for table, (columns, rows) in contents.items()
        if table not in released_versions.DROPPED
    }


def plain(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value


@pytest.mark.parametrize("version", ALL)
def test_a_database_of_an_earlier_version_keeps_every_row_and_its_work_is_completed(
    blank: Database, version: int
) -> None:
    recorded = released_versions.fill(blank, version)
    upgrade(blank)
    assert by_id(released_versions.kept(blank, recorded)) == by_id(recorded)
    _is_used(blank, version)


@pytest.mark.parametrize("version", ALL)
def test_a_backup_of_an_earlier_version_is_restored_and_its_work_is_completed(
    blank: Database, version: int, tmp_path: Path
) -> None:
    upgrade(blank)
    file = released_versions.backup_of(version, tmp_path / "toryo.backup")
    backup.restore(blank, file, credentials=True)
    recorded = released_versions.contents(version)
    assert by_id(released_versions.kept(blank, recorded)) == by_id(recorded)
    _is_used(blank, version)


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
        assert sorted(upgraded[table], key=repr) == sorted(restored[table], key=repr), table


def _is_used(database: Database, version: int) -> None:
    """By people, by agents, and by the chores; an hour later, when whoever was at work has long been given up."""
    assert database.read(integrity.check) == []
    world = World(database, now=STARTED_AT + HOUR, seed=1)
    world.project_id = PROJECT
    _people_look(world)
    if version >= 4:
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
}
