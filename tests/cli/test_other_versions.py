"""A database of another version of Toryo: every command and the server say so, and change nothing."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.cli.conftest import Toryo
from tests.environments import clean_environment
from tests.storage import released_versions
from toryo.storage import migrations
from toryo.storage.open_database import open_database, upgrade

KNOWN = migrations.PRESENT


@pytest.fixture
def toryo(tmp_path: Path) -> Toryo:
    """The command line, without a server."""
    home = tmp_path / "home"
    home.mkdir()
    return Toryo(home, clean_environment(home))


def data_at(directory: Path, version: int) -> Path:
    """A data directory with a database that says it has that version."""
    directory.mkdir(mode=0o700)
    with open_database(f"sqlite:///{directory / 'toryo.db'}") as database:
        upgrade(database)
        database.write(lambda connection: connection.define("DELETE FROM schema_version"))
        database.write(lambda connection: connection.define(f"INSERT INTO schema_version VALUES ({version}, 'other')"))
    return directory


COMMANDS = [
    ["server", "--port", "0"],
    ["db", "upgrade"],
    ["db", "backup", "kept.toryo"],
    ["db", "check"],
    ["db", "restore", "older.toryo"],
]


def refused(toryo: Toryo, data: Path, words: list[str]) -> str:
    """What the command says, which changes nothing."""
    released_versions.backup_of(migrations.OLDEST, toryo.home / "older.toryo")
    before = (data / "toryo.db").read_bytes()
    ended = toryo(*words, "--data-dir", str(data))
    assert ended.code == 2, ended
    assert (data / "toryo.db").read_bytes() == before
    assert [*data.glob("*.toryo"), *toryo.home.glob("kept*")] == []
    return ended.err


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_newer_database_is_refused_untouched_with_its_version_and_what_to_do(
    toryo: Toryo, tmp_path: Path, words: list[str]
) -> None:
    said = refused(toryo, data_at(tmp_path / "newer", KNOWN + 1), words)
    assert f"The database is at version {KNOWN + 1}, this Toryo knows {KNOWN}." in said
    assert "Install the Toryo that upgraded it, or a newer one" in said


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_database_that_is_too_old_is_refused_untouched_with_the_commit_that_upgrades_it(
    toryo: Toryo, tmp_path: Path, words: list[str]
) -> None:
    said = refused(toryo, data_at(tmp_path / "older", 12), words)
    assert "The database is at version 12. The oldest version that this Toryo upgrades is 26; nothing was" in said
    assert "Start it once with Toryo's commit 0cac07d8, which upgrades it to version 26, then with this one." in said


def test_a_backup_that_is_too_old_is_refused_with_the_commit_that_restores_it(toryo: Toryo, tmp_path: Path) -> None:
    file = released_versions.backup_of(migrations.OLDEST, tmp_path / "old.toryo")
    lines = gzip.decompress(file.read_bytes()).replace(b'"schema":26', b'"schema":25')
    file.write_bytes(gzip.compress(lines))
    ended = toryo("db", "restore", str(file), "--data-dir", str(tmp_path / "new"))
    assert ended.code == 2, ended
    assert "has version 25 of the tables. The oldest version that this Toryo upgrades is 26" in ended.err
    assert "Restore it with Toryo's commit 0cac07d8" in ended.err


def test_an_older_database_is_backed_up_and_checked_only_once_it_is_upgraded(toryo: Toryo, tmp_path: Path) -> None:
    data = tmp_path / "older"
    data.mkdir(mode=0o700)
    with open_database(f"sqlite:///{data / 'toryo.db'}") as database:
        released_versions.fill(database, migrations.OLDEST)
    words = ["--data-dir", str(data)]
    for command in (["backup", "kept.toryo"], ["check"]):
        ended = toryo("db", *command, *words)
        assert ended.code == 2, ended
        assert f"The database is at version {migrations.OLDEST}, this Toryo knows {KNOWN}." in ended.err
        assert "toryo db upgrade" in ended.err
    assert toryo("db", "upgrade", "--no-backup", *words).code == 0
    assert [*data.glob("*.toryo")] == []
    assert toryo("db", "check", *words).code == 0
    assert toryo("db", "backup", "kept.toryo", *words).code == 0


def test_a_backup_of_an_older_version_is_restored_and_checked(toryo: Toryo, tmp_path: Path) -> None:
    file = released_versions.backup_of(migrations.OLDEST, tmp_path / "older.toryo")
    words = ["--data-dir", str(tmp_path / "new")]
    assert toryo("db", "restore", str(file), *words).code == 0
    assert toryo("db", "check", *words).code == 0


def test_an_upgrade_says_where_it_has_backed_up(toryo: Toryo, tmp_path: Path) -> None:
    data = tmp_path / "older"
    data.mkdir(mode=0o700)
    with open_database(f"sqlite:///{data / 'toryo.db'}") as database:
        released_versions.fill(database, migrations.OLDEST)
    ended = toryo("db", "upgrade", "--data-dir", str(data))
    (file,) = data.glob("*.toryo")
    assert ended.code == 0, ended
    assert f"it is backed up to {file}" in ended.err
    assert f"upgraded the database from version {migrations.OLDEST} to {KNOWN}" in ended.err
