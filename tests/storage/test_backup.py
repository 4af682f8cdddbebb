"""A backup holds one moment whole, restores into either kind of database, and work goes on there."""

from __future__ import annotations

import gzip
import threading
from pathlib import Path
from typing import Any
from unittest.mock import patch

import orjson
import pytest
import sqlalchemy as sa

from tests.stories import Caller, World
from toryo.storage import backup, integrity, migrations, schema
from toryo.storage.engine import unit_of_work
from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.statements import Statement
from toryo.storage.open_database import open_database, upgrade

pytestmark = pytest.mark.both


@pytest.fixture
def world(database: Database) -> World:
    made = World(database)
    project = made.owner.call("create_project", name="Archive", working_directory="/tmp")
    made.project_id = project["project_id"]
    made.worker("worker-a", max_parallel_tasks=100)
    return made


@pytest.fixture
def elsewhere(tmp_path: Path):
    with open_database(f"sqlite:///{tmp_path / 'elsewhere.db'}") as other:
        upgrade(other)
        yield other


def secrets_of(table: sa.Table) -> list[str]:
    """Hashes of what somebody shows, and what is secret itself."""
    names = [str(column.name) for column in table.columns]
    return [name for name in names if name.rpartition("_")[2] == "hash" or name in ("auth", "private_key", "secret")]


def test_a_restore_says_of_every_secret_whether_it_comes_along() -> None:
    """A new table or column of credentials is left out, made worthless, or kept with a reason."""
    found = {str(table.name): secrets_of(table) for table in schema.metadata.sorted_tables if secrets_of(table)}
    assert set(found) == backup.LEFT_OUT | backup.BLANKED.keys() | backup.KEPT.keys()
    for table, column in {**backup.BLANKED, **backup.KEPT}.items():
        assert found[table] == [column]


def test_what_was_good_at_the_time_of_a_backup_opens_nothing_after_a_restore(
    world: World, elsewhere: Database, tmp_path: Path
) -> None:
    world.task("worker-a")
    process = world.start("worker-a")
    session = Caller(world, process.signed_in["session_token"])
    person = Caller(world, world.owner.call("make_access_token", name="x")["token"])
    code = world.owner.call("make_sign_in_link")["code"]
    key = Caller(world, world.owner.call("make_api_key", project_id=world.project_id)["token"])
    callers: list[tuple[Caller, str, dict[str, Any]]] = [
        (process, "get_my_task", {}),
        (session, "get_my_task", {}),
        (person, "who_am_i", {}),
        (key, "register_agent", {"agent_id": "q1", "agent_type": "build"}),
    ]
    backup.backup(world.database, tmp_path / "toryo.backup")
    backup.restore(elsewhere, tmp_path / "toryo.backup")
    assert elsewhere.read(integrity.check) == []
    there = World(elsewhere, now=world.now)
    for caller, name, arguments in callers:
        assert caller.call(name, **arguments)["success"], "it goes on where it was"
        Caller(there, caller.bearer).refused(name, None, **arguments)
    there.nobody.refused("sign_in", "invalidCredentials", code=code)
    asked = {"agent_id": "worker-a", "passkey": world.passkeys["worker-a"]}
    assert there.nobody.ask("authenticate", **asked).result["error"] != "Invalid agent_id or passkey"  # type: ignore[index]


def test_no_page_of_a_backup_stays_in_memory_once_it_is_written(world: World, tmp_path: Path) -> None:
    for number in range(3):
        file_task(world, f"Task {number}")

    def kept(connection: Connection) -> int:
        backup.write(connection, tmp_path / "toryo.backup")
        return max(len(rows) for _, rows in connection.unit._answers.values() if isinstance(rows, list))

    with patch.object(backup, "_CHUNK", 2), patch.object(unit_of_work, "MOST_ROWS", 1):
        assert world.database.read(kept) == 1
    assert backup._CHUNK > unit_of_work.MOST_ROWS


def file_task(world: World, title: str) -> str:
    answer = world.owner.call("file_task", project_id=world.project_id, title=title, assignee_id="worker-a")
    return str(answer["task_id"])


def test_a_backup_restores_every_row_and_work_goes_on_there(world: World, elsewhere: Database, tmp_path: Path) -> None:
    first = file_task(world, "before the backup")
    world.owner.call("move_task", task_id=first, status="in_progress")
    kept = backup.backup(world.database, tmp_path / "toryo.backup")
    assert elsewhere.read(lambda c: c.all(Statement(schema.tasks.select()))) == []
    restored = backup.restore(elsewhere, tmp_path / "toryo.backup", credentials=True)
    assert (restored.tables, restored.left_out) == ({name: many for name, many in kept.items() if many}, 0)
    assert elsewhere.read(integrity.check) == []
    there = World(elsewhere)
    there.project_id = world.project_id
    assert there.owner.call("move_task", task_id=first, status="completed")["new_status"] == "completed"
    second = file_task(there, "after the restore")
    events = there.owner.call("read_events", limit=1000)["events"]
    assert [event["sequence"] for event in events] == sorted({event["sequence"] for event in events})
    assert events[-1]["task_id"] == second


def test_after_a_restore_nothing_runs_until_a_person_resumes_a_project(
    world: World, elsewhere: Database, tmp_path: Path
) -> None:
    other = world.project(name="Other")
    world.owner.call("archive_project", project_id=other)
    task = file_task(world, "in progress")
    world.owner.call("move_task", task_id=task, status="in_progress")
    backup.backup(world.database, tmp_path / "toryo.backup")
    backup.restore(elsewhere, tmp_path / "toryo.backup", paused_at=world.now)
    assert elsewhere.read(integrity.check) == []
    there = World(elsewhere, now=world.now + 10 * 86_400_000)
    there.project_id = world.project_id
    for _ in range(2):
        there.housekeep()
        assert there.coordinator().claim()["start"] == []
    assert there.why("worker-a") == "hold project_paused"
    statuses = {each["id"]: each["status"] for each in there.owner.call("list_projects")["projects"]}
    assert statuses == {world.project_id: "paused", other: "archived"}
    (event,) = there.events("project.paused")
    assert event["data"] == {"reason": "restored_from_backup"}
    there.owner.call("resume_project", project_id=world.project_id)
    assert [each["agent_id"] for each in there.coordinator().claim()["start"]] == ["worker-a"]


def test_what_a_coordinator_was_to_do_with_files_is_not_done_after_a_restore(
    world: World, elsewhere: Database, tmp_path: Path
) -> None:
    world.owner.call("edit_project", project_id=world.project_id, settings={"isolation": "worktree"})
    task = file_task(world, "to be merged")
    world.owner.call("move_task", task_id=task, status="in_progress")
    process = world.start("worker-a")
    place = {"path": "/w/t", "directory": "/w/t", "branch": "toryo/t", "base_branch": "main", "base_commit": "a" * 40}
    work = {"head_commit": "b" * 40, "commits": 1, "files_changed": 1}
    world.coordinator().call("report_worktree", launch_id=process.launch_id, **place, **work)
    process.report()
    world.coordinator().exited(process.launch_id, exit_code=0)
    job = world.owner.call("merge_task", task_id=task)["job_id"]
    backup.backup(world.database, tmp_path / "toryo.backup")
    backup.restore(elsewhere, tmp_path / "toryo.backup", paused_at=world.now)
    there = World(elsewhere, now=world.now)
    assert there.coordinator().claim()["worktree_jobs"] == []
    told = there.owner.call("show_worktree_job", job_id=job)["worktree_job"]
    assert (told["done"], "restored from a backup" in told["answer"]["trouble"]) == (False, True)


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
    assert begun.wait(100)
    try:
        backup.backup(world.database, tmp_path / "toryo.backup")
    finally:
        stop.set()
        for thread in threads:
            thread.join(100)
    backup.restore(elsewhere, tmp_path / "toryo.backup")
    assert elsewhere.read(integrity.check) == []


def test_a_backup_in_many_pages_restores_who_is_above_whom(
    world: World, elsewhere: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "_CHUNK", 2)
    world.manager("zoe")
    world.manager("yan", "zoe")
    for name in ("a1", "a2", "a3"):
        world.worker(name, "yan")
    backup.backup(world.database, tmp_path / "toryo.backup")
    backup.restore(elsewhere, tmp_path / "toryo.backup", credentials=True)
    assert World(elsewhere).rows(schema.agents) == world.rows(schema.agents)


@pytest.mark.parametrize(
    "line",
    [
        {"table": "colours", "columns": ["id"]},
        {"table": "tasks", "columns": ["id, 1"]},
        {"table": "tasks", "columns": []},
        {"table": "Tokens", "columns": ["hash"]},
        {"table": "tokens (hash) VALUES ('x'); --", "columns": []},
    ],
)
def test_a_backup_with_tables_or_columns_that_its_version_does_not_have_is_refused(
    elsewhere: Database, tmp_path: Path, line: dict[str, Any]
) -> None:
    about = {"toryo": "0.1.0", "format": 1, "schema": migrations.PRESENT}
    content = b"".join(orjson.dumps(each) + b"\n" for each in (about, {**line, "rows": [["x"]]}))
    (tmp_path / "toryo.backup").write_bytes(gzip.compress(content))
    with pytest.raises(backup.NotAnArchive, match="that its version does not have"):
        backup.restore(elsewhere, tmp_path / "toryo.backup")


def test_a_backup_of_a_newer_toryo_is_refused_with_its_version_and_what_to_do(
    elsewhere: Database, tmp_path: Path
) -> None:
    about = {"toryo": "9.1.0", "format": 1, "schema": migrations.PRESENT + 1}
    (tmp_path / "toryo.backup").write_bytes(gzip.compress(orjson.dumps(about) + b"\n"))
    with pytest.raises(backup.NotAnArchive, match=r"newer Toryo \(9\.1\.0\)") as refused:
        backup.restore(elsewhere, tmp_path / "toryo.backup")
    assert "Install that version" in refused.value.instruction


def test_nothing_that_exists_is_overwritten(world: World, tmp_path: Path) -> None:
    backup.backup(world.database, tmp_path / "toryo.backup")
    task = file_task(world, "made since")
    with pytest.raises(backup.NotEmpty):
        backup.restore(world.database, tmp_path / "toryo.backup")
    assert world.owner.call("show_task", task_id=task)["task"]["title"] == "made since"


def test_what_is_restored_and_what_is_left_out_are_together_what_was_kept(
    world: World, elsewhere: Database, tmp_path: Path
) -> None:
    kept = backup.backup(world.database, tmp_path / "toryo.backup")
    restored = backup.restore(elsewhere, tmp_path / "toryo.backup")
    assert restored.left_out == sum(many for name, many in kept.items() if name in backup.LEFT_OUT) > 0
    assert sum(restored.tables.values()) + restored.left_out == sum(kept.values())


def test_what_is_no_backup_is_called_that_also_where_there_are_projects(world: World, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("no backup")
    with pytest.raises(backup.NotAnArchive, match="is not a Toryo backup"):
        backup.restore(world.database, file)


@pytest.mark.first(3)
@pytest.mark.parametrize("damage", ["cut", "foreign", "a list", "broken inside", "no gzip"])
def test_a_damaged_backup_is_refused_and_leaves_the_database_empty(
    world: World, elsewhere: Database, tmp_path: Path, damage: str
) -> None:
    file = tmp_path / "toryo.backup"
    backup.backup(world.database, file)
    lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
    if damage == "cut":
        file.write_bytes(gzip.compress(b"".join(lines[:-1])))
    elif damage == "foreign":
        file.write_bytes(gzip.compress(b'{"some": "thing"}\n'))
    elif damage == "a list":
        file.write_bytes(gzip.compress(b"[1]\n"))
    elif damage == "broken inside":
        whole = bytearray(file.read_bytes())
        whole[20:40] = bytes(20)
        file.write_bytes(whole)
    else:
        file.write_text("no backup")
    with pytest.raises(backup.NotAnArchive):
        backup.restore(elsewhere, file)
    assert elsewhere.read(lambda c: c.all(Statement(schema.projects.select()))) == []


def test_an_interrupted_backup_leaves_the_older_one(world: World, tmp_path: Path, monkeypatch) -> None:
    file = tmp_path / "toryo.backup"
    backup.backup(world.database, file)
    before = file.read_bytes()

    def broken(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(backup, "_chunks", broken)
    with pytest.raises(OSError, match="no space"):
        backup.backup(world.database, file)
    assert file.read_bytes() == before


def test_a_backup_holds_what_was_said_and_the_talk_goes_on_there(
    world: World, elsewhere: Database, tmp_path: Path
) -> None:
    """Undelivered messages are delivered, an open conversation is continued."""
    world.worker("worker-b")
    world.say("worker-a", "Hello.")
    a = world.start_chat("worker-a")
    a.fetch()
    asked = {"target_agent_id": "worker-b", "initial_message": "ringo"}
    opened = a.call("start_conversation", **asked)["conversation_id"]
    backup.backup(world.database, tmp_path / "toryo.backup")
    backup.restore(elsewhere, tmp_path / "toryo.backup")
    there = World(elsewhere, now=world.now, seed=1)
    there.project_id = world.project_id
    b = there.start_chat("worker-b")
    got = b.fetch()
    assert [pending_message["content"] for pending_message in got["pending_messages"]] == ["ringo"]
    b.turn(opened, "gorilla")
    assert elsewhere.read(integrity.check) == []


# --- db check --------------------------------------------------------------------------------------------------------


def test_a_check_names_what_is_broken(world: World) -> None:
    parent = file_task(world, "parent")
    world.owner.call("move_task", task_id=parent, status="in_progress")
    child = str(
        world.owner.call(
            "file_task", project_id=world.project_id, title="child", assignee_id="worker-a", parent_task_id=parent
        )["task_id"]
    )
    assert world.database.read(integrity.check) == []

    def damage(connection: Connection) -> None:
        tasks = schema.tasks
        connection.run(Statement(tasks.update().where(tasks.c.id == parent).values(status="completed", completed_at=1)))

    world.database.write(damage)
    problems = world.database.read(integrity.check)
    assert [(problem.what, problem.ids) for problem in problems] == [
        ("a task is open although a task above it is completed or cancelled", (child,))
    ]


def talk(world: World) -> str:
    """A task that has its agent talk with another one, in the middle of it; answers the conversation."""
    world.worker("worker-b")
    task = file_task(world, "with talk")
    world.owner.call("move_task", task_id=task, status="in_progress")
    worker = world.start("worker-a")
    asked = {"target_agent_id": "worker-b", "purpose": "Agree."}
    delegated = worker.call("delegate_to_chat_session", **asked)["delegation_id"]
    a = world.start_chat("worker-a")
    a.fetch()
    opening = {"target_agent_id": "worker-b", "initial_message": "ringo", "delegation_id": delegated}
    opened: str = a.call("start_conversation", **opening)["conversation_id"]
    b = world.start_chat("worker-b")
    b.fetch()
    b.turn(opened, "gorilla")
    return opened


DAMAGE: list[tuple[str, sa.Update]] = [
    ("a conversation has more turns than allowed", schema.conversations.update().values(turns=21)),
    ("a conversation is settled but not over", schema.conversations.update().values(settled=True)),
    (
        "a message belongs to a conversation between other members",
        schema.conversations.update().values(low_id="owner", high_id="z"),
    ),
    (
        "a message belongs to a conversation that does not exist",
        schema.messages.update().values(conversation_id="cnv_gone"),
    ),
    ("a mailbox is ahead of its messages", schema.mailboxes.update().values(cursor=99)),
    ("a delegation belongs to a session that is over", schema.sessions.update().values(ended_at=1)),
    ("a completed task still waits for a delegation", schema.tasks.update().values(status="completed", completed_at=1)),
]


@pytest.mark.first(4)
@pytest.mark.parametrize(("what", "damage"), DAMAGE, ids=[what for what, _ in DAMAGE])
def test_a_check_names_what_is_broken_about_talk(world: World, what: str, damage: sa.Update) -> None:
    talk(world)
    assert world.database.read(integrity.check) == []
    world.database.write(lambda c: c.run(Statement(damage)))
    problems = {each.what: each.ids for each in world.database.read(integrity.check)}
    assert problems.get(what), problems
