"""Faults of the world around a crew at work: the server is killed at any statement and commit, the disk is full, the
clock jumps. The rules hold, nothing that was acknowledged is lost, and the work is completed by itself afterwards.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO
from unittest.mock import patch

import pytest
import sqlalchemy as sa

from tests import invariants
from tests.obedience import crew_works
from tests.reliability.counting import injected
from tests.stories import STARTED_AT, World
from toryo.domain.times import DAY, HOUR
from toryo.storage import integrity
from toryo.storage.engine.database import Database
from toryo.storage.engine.postgresql import PostgreSQLConnection
from toryo.storage.engine.sqlite import SQLiteConnection
from toryo.storage.engine.statements import Statement
from toryo.storage.open_database import open_database, upgrade

pytestmark = pytest.mark.usefixtures("quiet")

KILLS = int(os.environ.get("TORYO_TEST_KILLS", "3"))
"""Of each kind of database, spread over all statements of the story; 24 and more are for those who have time."""
EVENTS = Statement(sa.text("SELECT count(*) FROM events"))
TASKS = Statement(sa.text("SELECT count(*) FROM tasks"))


def story(world: World) -> None:
    """A manager has a house built by two workers who split their parts, and the chores come round."""
    world.crew()
    world.task("boss", title="Build a house")
    crew_works(world)
    world.housekeep()


def all_is_well(world: World, but: Sequence[str] = ()) -> None:
    """An hour later, when whoever was lost has been given up: the work is completed by itself."""
    assert _broken(world, but) == []
    assert world.database.read(integrity.check) == []
    world.advance(HOUR // 1000)
    world.housekeep()
    crew_works(world)
    world.housekeep()
    tasks = world.owner.call("list_project_tasks", project_id=world.project_id)["tasks"]
    assert {task["status"] for task in tasks} <= {"completed", "cancelled"}, tasks
    assert _broken(world, but) == []


def _broken(world: World, but: Sequence[str]) -> list[str]:
    return [each for each in invariants.broken(world) if not each.startswith(tuple(but))]


# --- kill -9 ---------------------------------------------------------------------------------------------------------


@contextmanager
def before_each_write(happens: Callable[[], None]) -> Iterator[None]:
    """Before each statement that writes, and before and after each COMMIT."""
    with ExitStack() as patches:
        for kind in (SQLiteConnection, PostgreSQLConnection):
            for name in ("run", "many", "command"):
                patches.enter_context(patch.object(kind, name, _noticed(getattr(kind, name), happens)))
        yield


def _noticed(original: Callable[..., Any], happens: Callable[[], None]) -> Callable[..., Any]:
    def run(connection: Any, what: Any, *rest: Any, **values: Any) -> Any:
        happens()
        answer = original(connection, what, *rest, **values)
        if what in ("COMMIT", b"COMMIT"):
            happens()
        return answer

    return run


def _killed_at(url: str, moment: int, told: Path) -> int | None:
    """Tells the story in a process that is killed at that moment; how many events the last acknowledged call knew of.
    None: it came to its end before."""
    # Not forked: this process has threads, and a child that fails must not go on with the tests.
    process = multiprocessing.get_context("spawn").Process(target=_story_until_killed, args=(url, moment, told))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL), process.exitcode
    counts = told.read_text().split()
    return None if process.exitcode == 0 else int(counts[-1]) if counts else 0


def _story_until_killed(url: str, moment: int, told: Path) -> None:
    left = moment

    def happens() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    with told.open("a", buffering=1) as acknowledged, open_database(url) as database:
        world = _Acknowledging(database, acknowledged)
        with before_each_write(happens):
            story(world)


class _Acknowledging(World):
    """Writes down how many events there were after each call that was answered."""

    def __init__(self, database: Database, told: TextIO) -> None:
        self._told = told
        super().__init__(database)

    def perform(self, *arguments: Any, **more: Any) -> Any:
        outcome = super().perform(*arguments, **more)
        self._told.write(f"{self.database.read(lambda c: c.value(EVENTS))}\n")
        return outcome


@pytest.mark.deep
def test_a_server_that_is_killed_at_any_statement_or_commit_goes_on_where_it_was(
    database_url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    moments = 0

    def count() -> None:
        nonlocal moments
        moments += 1

    with open_database(f"sqlite:///{tmp_path / 'counted.db'}") as counted:
        upgrade(counted)
        with before_each_write(count):
            story(World(counted))
    assert moments > 4 * KILLS
    for number in range(KILLS):
        url = _another(database_url, number, request)
        with open_database(url) as made:
            upgrade(made)
        injected("server killed at a statement or commit")
        acknowledged = _killed_at(url, (number + 1) * moments // (KILLS + 1), tmp_path / f"told-{number}")
        assert acknowledged is not None, "it was killed before its end"
        with open_database(url) as database:
            upgrade(database)
            assert database.read(lambda c: c.value(EVENTS)) >= acknowledged
            world = World(database, now=STARTED_AT + HOUR, seed=number + 1)
            _set_up_again(world)
            all_is_well(world)


def _another(url: str, number: int, request: pytest.FixtureRequest) -> str:
    """A database of the same kind of its own."""
    if url.startswith("sqlite"):
        return url.replace("toryo.db", f"toryo-{number}.db")
    from tests.databases import postgres_schema

    made = postgres_schema(request.getfixturevalue("postgres_server"))
    request.addfinalizer(lambda: made.__exit__(None, None, None))
    return made.__enter__()


def _set_up_again(world: World) -> None:
    """What people had not yet done when it was killed, they do now."""
    projects = world.owner.call("list_projects")["projects"]
    if not projects:
        world.crew()
    else:
        world.project_id = projects[0]["project_id"]
        there = {each["agent_id"] for each in world.owner.call("list_agents_of_server")["agents"]}
        for agent_id, make in (("boss", world.manager), *((name, world.worker) for name in ("w1", "w2"))):
            if agent_id not in there:
                make(agent_id, None if agent_id == "boss" else "boss")
    if not world.owner.call("list_project_tasks", project_id=world.project_id)["tasks"]:
        world.task("boss", title="Build a house")


# --- the disk --------------------------------------------------------------------------------------------------------


@pytest.fixture
def little_disk() -> Iterator[Path]:
    """A file system of 4 MiB."""
    with tempfile.TemporaryDirectory() as name:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", name], check=False, capture_output=True, text=True
        )
        if mounted.returncode:
            pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", "-l", name], check=True)


def test_work_waits_while_the_disk_is_full_and_goes_on_once_there_is_room(little_disk: Path) -> None:
    with open_database(f"sqlite:///{little_disk / 'toryo.db'}") as database:
        upgrade(database)
        world = World(database)
        world.crew()
        house = world.task("boss", title="Build a house")
        ballast = little_disk / "ballast"
        _fill(ballast)
        injected("disk full")
        kept, refused = _until_refused(world)
        assert refused["error"] == "unavailable", refused
        assert "disk" in refused["message"] + refused["instruction"]
        assert world.status(house) == "in_progress", "reads go on"
        ballast.unlink()
        tasks = world.owner.call("list_project_tasks", project_id=world.project_id, limit=500)["tasks"]
        assert {each["task_id"] for each in tasks} == {house, *kept}
        crew_works(world)
        assert world.status(house) == "completed"
        assert invariants.broken(world) == []
        assert database.read(integrity.check) == []


def test_work_waits_while_the_disk_is_read_only_and_goes_on_once_it_can_be_written(tmp_path: Path) -> None:
    """As the kernel makes it when it finds a fault on it."""
    with open_database(f"sqlite:///{tmp_path / 'toryo.db'}") as database:
        upgrade(database)
        world = World(database)
        world.crew()
        house = world.task("boss", title="Build a house")
        with _read_only(database):
            injected("disk read-only")
            refused = world.owner.ask("file_task", project_id=world.project_id, title="Shed", status="backlog").result
            assert refused is not None
            assert refused["error"] == "unavailable", refused
            assert world.status(house) == "in_progress", "reads go on"
        crew_works(world)
        assert world.status(house) == "completed"
        assert len(world.owner.call("list_project_tasks", project_id=world.project_id)["tasks"]) >= 1
        assert invariants.broken(world) == []
        assert database.read(integrity.check) == []


@contextmanager
def _read_only(database: Database) -> Iterator[None]:
    """Every COMMIT of a write fails as SQLite reports it then: `mount` refuses to do it while a file is open."""

    def command(connection: SQLiteConnection, text: str) -> None:
        if text == "COMMIT" and connection.wrote:
            error = sqlite3.OperationalError("attempt to write a readonly database")
            error.sqlite_errorcode = sqlite3.SQLITE_READONLY
            connection.fail(error)
        _COMMAND(connection, text)

    with patch.object(SQLiteConnection, "command", command):
        yield


def test_nothing_is_acknowledged_before_a_slow_disk_has_it_and_reads_go_on_meanwhile(tmp_path: Path) -> None:
    """COMMIT returns when the test lets it."""
    with open_database(f"sqlite:///{tmp_path / 'toryo.db'}") as database:
        upgrade(database)
        world = World(database)
        world.crew()
        began, synced, answers = threading.Event(), threading.Event(), []

        def command(connection: SQLiteConnection, text: str) -> None:
            if text == "COMMIT" and connection.wrote:
                began.set()
                assert synced.wait(60)
            _COMMAND(connection, text)

        with patch.object(SQLiteConnection, "command", command):
            injected("fsync slow")
            filing = threading.Thread(target=lambda: answers.append(world.task("boss", title="Build a house")))
            filing.start()
            assert began.wait(60)
            assert database.read(lambda c: c.value(TASKS)) == 0, "reads go on, and do not see it"
            assert answers == []
            synced.set()
            filing.join(60)
        assert [world.status(each) for each in answers] == ["in_progress"]
        crew_works(world)
        assert world.status(answers[0]) == "completed"
        assert invariants.broken(world) == []


_COMMAND = SQLiteConnection.command


def _until_refused(world: World) -> tuple[list[str], dict[str, Any]]:
    """Files tasks: those that were acknowledged, and the refusal that ended it."""
    kept: list[str] = []
    while len(kept) < 400:
        about = {"title": f"Shed {len(kept)}", "description": "x" * 20_000, "status": "backlog"}
        result = world.owner.ask("file_task", project_id=world.project_id, **about).result
        assert result is not None
        if not result["success"]:
            return kept, result
        kept.append(result["task_id"])
    raise AssertionError("the disk was never full")


def _fill(file: Path) -> None:
    with file.open("wb", buffering=0) as ballast, suppress(OSError):
        while True:
            ballast.write(bytes(65536))


# --- the clock -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jump", [-DAY, DAY, -HOUR, HOUR], ids=["a day back", "a day on", "an hour back", "an hour on"])
@pytest.mark.parametrize("at", range(0, 60, 12))
def test_a_clock_that_jumps_in_the_middle_of_the_work_holds_nobody_up(fresh: Database, at: int, jump: int) -> None:
    world = _Jumping(fresh, at, jump)
    world.crew()
    world.task("boss", title="Build a house")
    world.armed = True
    injected("clock jumped")
    crew_works(world)
    all_is_well(world, but=_BY_THE_CLOCK if jump < 0 else ())
    fences = defaultdict(list)
    for launch in world.launches():
        fences[launch["agent_id"]].append(launch["fence"])
    assert all(sorted(each) == list(range(1, len(each) + 1)) for each in fences.values()), fences


_BY_THE_CLOCK = ("fences_grow",)
"""Rules that are asked in the order of times, which is not that of events where the clock was set back."""


class _Jumping(World):
    """Its clock jumps before the so-manyth call."""

    armed = False

    def __init__(self, database: Database, at: int, jump: int) -> None:
        self._left, self._jump = at, jump
        super().__init__(database)

    def perform(self, *arguments: Any, **more: Any) -> Any:
        if self.armed:
            if self._left == 0:
                self.now += self._jump
            self._left -= 1
        return super().perform(*arguments, **more)
