"""SQLite's own troubles: each is told in words a person can act on, and is over when its cause is over."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from resource import RLIMIT_FSIZE, getrlimit, setrlimit
from typing import Any

import pytest
import sqlalchemy as sa

from tests.databases import missing
from tests.storage.tables import NEW_ITEM, SET_NUMBER, define, increment, item_ids, number
from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.statements import Statement
from toryo.storage.errors import DatabaseInUse, DatabaseUnavailable
from toryo.storage.open_database import open_database

PRAGMAS = ["journal_mode", "synchronous", "foreign_keys"]


def url_of(path: Path) -> str:
    return f"sqlite:///{path}"


def test_answers_survive_a_power_cut_because_every_commit_is_flushed(sqlite_engine: Database) -> None:
    pragmas = [Statement(sa.text(f"PRAGMA {name}")) for name in PRAGMAS]
    full = 2
    assert sqlite_engine.write(lambda c: [c.value(pragma) for pragma in pragmas]) == ["wal", full, 1]


def test_what_was_answered_is_there_after_the_process_was_killed(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from tests.storage.tables import define, increment\n"
        "from toryo.storage.open_database import open_database\n"
        "database = open_database(sys.argv[1])\n"
        "database.write(define)\n"
        "for _ in range(20): database.write(increment)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    url = url_of(tmp_path / "toryo.db")
    command = [sys.executable, "-c", script, url]
    killed = subprocess.run(command, cwd=Path(__file__).parents[2], check=False, timeout=200)
    assert killed.returncode == -signal.SIGKILL
    with open_database(url) as database:  # its lock went with it
        assert database.read(number) == 20


@pytest.mark.pitfall("F1")
def test_a_second_owner_is_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    url = url_of(tmp_path / "toryo.db")
    with open_database(url) as first:
        with pytest.raises(DatabaseInUse) as refused:
            open_database(url)
        assert str(os.getpid()) in refused.value.message
        assert "running" in refused.value.instruction
        first.write(define)
    with open_database(url) as second:
        assert second.read(number) == 0


def test_another_name_of_the_file_does_not_get_around_its_owner(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with open_database(url_of(tmp_path / "real" / "toryo.db")), pytest.raises(DatabaseInUse):
        open_database(url_of(tmp_path / "link" / "toryo.db"))


def test_a_guest_may_look_beside_the_owner(tmp_path: Path) -> None:
    url = url_of(tmp_path / "toryo.db")
    with open_database(url) as owner, open_database(url, exclusive=False) as guest:
        owner.write(define)
        assert guest.read(number) == 0


def test_only_its_owner_may_read_the_files(tmp_path: Path) -> None:
    with open_database(url_of(tmp_path / "toryo.db")) as database:
        database.write(define)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == dict.fromkeys(["toryo.db", "toryo.db-wal", "toryo.db-shm", "toryo.db.lock"], 0o600)


def test_a_file_that_everybody_could_read_is_its_owners_alone_from_then_on(tmp_path: Path) -> None:
    file = tmp_path / "toryo.db"
    file.touch()
    file.chmod(0o644)
    with open_database(url_of(file)):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_closing_leaves_one_file_to_copy(tmp_path: Path) -> None:
    with open_database(url_of(tmp_path / "toryo.db")) as database:
        database.write(define)
        database.read(number)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["toryo.db", "toryo.db.lock"]


def test_a_directory_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="no directory") as refused:
        open_database(url_of(tmp_path / "nowhere" / "toryo.db"))
    assert str(tmp_path / "nowhere") in refused.value.message


def test_a_file_that_is_no_database_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader, " * 100)
    with pytest.raises(DatabaseUnavailable, match="not an SQLite database"):
        open_database(url_of(path))
    assert path.read_text() == "Dear reader, " * 100


def test_a_directory_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="cannot be opened for writing"):
        open_database(url_of(tmp_path))


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///", "sqlite:///:memory:", "mysql://localhost/x", "toryo.db"])
def test_a_url_that_cannot_serve_is_answered_with_one_that_can(url: str) -> None:
    with pytest.raises(DatabaseUnavailable) as refused:
        open_database(url)
    assert "sqlite:///path/to/toryo.db" in refused.value.instruction


def test_a_read_only_directory_is_refused_and_used_once_it_is_writable() -> None:
    with tempfile.TemporaryDirectory() as name, _as_somebody_without_privileges(Path(name)):
        Path(name).chmod(0o500)
        with pytest.raises(DatabaseUnavailable, match="cannot be opened for writing") as refused:
            open_database(url_of(Path(name) / "toryo.db"))
        assert "writable" in refused.value.instruction
        Path(name).chmod(0o700)
        with open_database(url_of(Path(name) / "toryo.db")) as database:
            database.write(define)


def test_a_read_only_file_is_refused() -> None:
    with tempfile.TemporaryDirectory() as name, _as_somebody_without_privileges(Path(name)):
        path = Path(name) / "toryo.db"
        with open_database(url_of(path)) as database:
            database.write(define)
        path.chmod(0o400)
        with pytest.raises(DatabaseUnavailable, match="cannot be opened for writing"):
            open_database(url_of(path))


def test_a_database_locked_by_another_program_is_unavailable_until_it_lets_go(
    sqlite_engine: Database,
) -> None:
    other = sqlite3.connect(sqlite_engine.place, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseUnavailable, match="locked by another process"):
        sqlite_engine.write(increment)
    assert sqlite_engine.read(number) == 0
    other.execute("COMMIT")
    other.close()
    assert sqlite_engine.write(increment) == 1


def test_a_full_disk_is_unavailable_until_there_is_room(sqlite_engine: Database) -> None:
    sqlite_engine.write(increment)
    with _no_file_may_grow(), pytest.raises(DatabaseUnavailable) as refused:
        sqlite_engine.write(lambda c: c.many(NEW_ITEM, [{"id": f"{each} {'x' * 4000}"} for each in range(200)]))
    assert "disk" in refused.value.instruction
    assert sqlite_engine.read(item_ids) == []
    assert sqlite_engine.write(increment) == 2
    assert sqlite_engine.read(number) == 2


def test_a_work_that_fills_the_database_takes_nothing_from_its_neighbours(sqlite_engine: Database) -> None:
    def fill(connection: Connection) -> None:
        connection.define("PRAGMA max_page_count = 20")
        connection.many(NEW_ITEM, [{"id": f"{each} {'x' * 4000}"} for each in range(200)])

    with pytest.raises(DatabaseUnavailable, match="full"):
        sqlite_engine.write(fill)
    assert sqlite_engine.write(increment) == 1
    assert sqlite_engine.read(item_ids) == []


def test_after_a_trouble_of_the_file_tasks_read_on_a_new_connection(tmp_path: Path) -> None:
    path, elsewhere = tmp_path / "toryo.db", tmp_path / "elsewhere"

    async def ask() -> Any:
        (outcome,) = await asyncio.gather(database.read_async(number), return_exceptions=True)
        return outcome

    with open_database(url_of(path)) as database:
        database.write(define)
        path.rename(elsewhere)
        assert isinstance(asyncio.run(ask()), DatabaseUnavailable)
        elsewhere.rename(path)
        assert asyncio.run(ask()) == 0


def test_a_file_that_vanished_is_not_replaced_by_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "toryo.db"
    with open_database(url_of(path)) as database:
        database.write(define)
        for each in (path, path.with_name("toryo.db-wal"), path.with_name("toryo.db-shm")):
            each.unlink()
        with pytest.raises(DatabaseUnavailable, match="was deleted"):
            database.read(number)  # a reader's connection is made only now
        assert not path.exists()


def test_nothing_is_written_to_a_deleted_file_and_from_then_on_nothing_is_read_from_it(tmp_path: Path) -> None:
    place = tmp_path / "data"
    place.mkdir()
    with open_database(url_of(place / "toryo.db")) as database:
        database.write(define)
        assert database.read(number) == 0
        shutil.rmtree(place)
        with pytest.raises(DatabaseUnavailable, match="was deleted, moved or replaced") as refused:
            database.write(increment)
        assert "db restore" in refused.value.instruction
        for read in (database.read, lambda work: asyncio.run(database.read_async(work))):
            with pytest.raises(DatabaseUnavailable, match="was deleted, moved or replaced"):
                read(number)
    assert not place.exists()


def test_a_file_that_is_put_back_is_used_again_and_another_one_of_its_name_is_not(tmp_path: Path) -> None:
    place, away = tmp_path / "data", tmp_path / "away"
    place.mkdir()
    with open_database(url_of(place / "toryo.db")) as database:
        database.write(define)
        place.rename(away)
        shutil.copytree(away, place)
        with pytest.raises(DatabaseUnavailable, match="replaced"):
            database.write(increment)
        shutil.rmtree(place)
        away.rename(place)
        assert database.write(increment) == 1
        assert database.read(number) == 1


def test_a_check_finds_a_deleted_file_before_any_write_does(tmp_path: Path) -> None:
    path = tmp_path / "toryo.db"
    with open_database(url_of(path)) as database:
        database.write(define)
        database.read(lambda connection: connection.check())
        path.unlink()
        with pytest.raises(DatabaseUnavailable, match="was deleted"):
            database.read(lambda connection: connection.check())


def test_a_damaged_file_is_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "toryo.db"
    with open_database(url_of(path)) as database:
        database.write(define)
        database.write(lambda c: c.many(NEW_ITEM, [{"id": f"{each} {'x' * 400}"} for each in range(500)]))
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xa5" * (path.stat().st_size - 8192))
    with open_database(url_of(path)) as database, pytest.raises(DatabaseUnavailable, match="damaged") as refused:
        database.read(item_ids)
    assert "backup" in refused.value.instruction


def test_a_statement_that_changes_nothing_is_no_write(sqlite_engine: Database) -> None:
    before = Path(sqlite_engine.place + "-wal").stat().st_size
    sqlite_engine.write(lambda c: c.run(SET_NUMBER, which="nobody", new=1))
    assert Path(sqlite_engine.place + "-wal").stat().st_size == before


@contextmanager
def _no_file_may_grow() -> Iterator[None]:
    """What a full disk does to a process, for this process alone."""
    before = getrlimit(RLIMIT_FSIZE)
    setrlimit(RLIMIT_FSIZE, (100_000, before[1]))
    try:
        yield
    finally:
        setrlimit(RLIMIT_FSIZE, before)


@contextmanager
def _as_somebody_without_privileges(directory: Path) -> Iterator[None]:
    """Root may write everywhere; so root becomes somebody else for a moment."""
    if os.geteuid() != 0:
        yield
        return
    nobody = 65534
    os.chown(directory, nobody, nobody)
    try:
        os.seteuid(nobody)
    except OSError:
        missing("this root cannot become somebody else, so nothing is read-only to it")
    try:
        yield
    finally:
        os.seteuid(0)
