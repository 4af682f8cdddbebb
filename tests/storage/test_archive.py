"""A backup holds one moment whole, restores into either kind of database, and work goes on there."""

from __future__ import annotations

import gzip
import threading
from pathlib import Path

import pytest

from tests.stories import World
from toryo.storage import archive, checking, schema
from toryo.storage.database import Connection, Database
from toryo.storage.statements import Statement


@pytest.fixture
def world(database: Database) -> World:
    made = World(database)
    project = made.owner.call("create_project", name="Archive", working_directory="/tmp")
    made.project_id = project["project_id"]
    made.owner.call("create_agent", id="worker-a", role="worker", max_parallel_tasks=100, projects=[made.project_id])
    return made


@pytest.fixture
def elsewhere(tmp_path: Path):
    with Database.open(f"sqlite:///{tmp_path / 'elsewhere.db'}") as other:
        other.upgrade()
        yield other


def file_task(world: World, title: str) -> str:
    answer = world.owner.call("file_task", project_id=world.project_id, title=title, assignee_id="worker-a")
    return str(answer["task_id"])


def test_a_backup_restores_every_row_and_work_goes_on_there(world: World, elsewhere: Database, tmp_path: Path) -> None:
    first = file_task(world, "before the backup")
    world.owner.call("move_task", task_id=first, status="in_progress")
    kept = archive.backup(world.database, tmp_path / "toryo.backup")
    assert elsewhere.read(lambda c: c.all(Statement(schema.tasks.select()))) == []
    restored = archive.restore(elsewhere, tmp_path / "toryo.backup")
    assert restored == {name: many for name, many in kept.items() if many}
    assert elsewhere.read(checking.check) == []
    there = World(elsewhere)
    there.project_id = world.project_id
    assert there.owner.call("move_task", task_id=first, status="completed")["new_status"] == "completed"
    second = file_task(there, "after the restore")
    events = there.owner.call("read_events", limit=1000)["events"]
    assert [each["sequence"] for each in events] == sorted({each["sequence"] for each in events})
    assert events[-1]["task_id"] == second


def test_a_backup_taken_while_others_write_keeps_every_rule(world: World, elsewhere: Database, tmp_path: Path) -> None:
    stop = threading.Event()
    begun = threading.Event()

    def work() -> None:
        while not stop.is_set():
            task = file_task(world, "busy")
            world.owner.call("move_task", task_id=task, status="in_progress")
            world.owner.call("move_task", task_id=task, status="completed")
            begun.set()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(20)
    try:
        archive.backup(world.database, tmp_path / "toryo.backup")
    finally:
        stop.set()
        for thread in threads:
            thread.join(20)
    archive.restore(elsewhere, tmp_path / "toryo.backup")
    assert elsewhere.read(checking.check) == []


def test_nothing_that_exists_is_overwritten(world: World, tmp_path: Path) -> None:
    archive.backup(world.database, tmp_path / "toryo.backup")
    task = file_task(world, "made since")
    with pytest.raises(archive.NotEmpty):
        archive.restore(world.database, tmp_path / "toryo.backup")
    assert world.owner.call("show_task", task_id=task)["task"]["title"] == "made since"


@pytest.mark.parametrize("damage", ["cut", "foreign", "no gzip"])
def test_a_damaged_backup_is_refused_and_leaves_the_database_empty(
    world: World, elsewhere: Database, tmp_path: Path, damage: str
) -> None:
    file = tmp_path / "toryo.backup"
    archive.backup(world.database, file)
    lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
    if damage == "cut":
        file.write_bytes(gzip.compress(b"".join(lines[:-1])))
    elif damage == "foreign":
        file.write_bytes(gzip.compress(b'{"some": "thing"}\n'))
    else:
        file.write_text("no backup")
    with pytest.raises(archive.NotAnArchive):
        archive.restore(elsewhere, file)
    assert elsewhere.read(lambda c: c.all(Statement(schema.projects.select()))) == []


def test_an_interrupted_backup_leaves_the_older_one(world: World, tmp_path: Path, monkeypatch) -> None:
    file = tmp_path / "toryo.backup"
    archive.backup(world.database, file)
    before = file.read_bytes()

    def broken(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(archive, "_chunks", broken)
    with pytest.raises(OSError, match="no space"):
        archive.backup(world.database, file)
    assert file.read_bytes() == before


def test_a_check_names_what_is_broken(world: World) -> None:
    parent = file_task(world, "parent")
    world.owner.call("move_task", task_id=parent, status="in_progress")
    child = str(
        world.owner.call(
            "file_task", project_id=world.project_id, title="child", assignee_id="worker-a", parent_task_id=parent
        )["task_id"]
    )
    assert world.database.read(checking.check) == []

    def damage(connection: Connection) -> None:
        tasks = schema.tasks
        connection.run(Statement(tasks.update().where(tasks.c.id == parent).values(status="completed", completed_at=1)))

    world.database.write(damage)
    problems = world.database.read(checking.check)
    assert [(each.what, each.ids) for each in problems] == [
        ("a task is open below a completed or cancelled one", (child,))
    ]
