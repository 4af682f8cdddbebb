"""A database of another version of Toryo: every command and the server say so, and change nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.cli.conftest import Toryo
from tests.environments import clean_environment
from tests.storage import released_versions
from toryo.storage import migrations
from toryo.storage.engine.statements import Statement
from toryo.storage.open_database import open_database, upgrade

KNOWN = len(migrations.STEPS)


@pytest.fixture
def toryo(tmp_path: Path) -> Toryo:
    """The command line, without a server."""
    home = tmp_path / "home"
    home.mkdir()
    return Toryo(home, clean_environment(home))


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """A data directory whose database is one version ahead."""
    data = tmp_path / "newer"
    data.mkdir(mode=0o700)
    with open_database(f"sqlite:///{data / 'toryo.db'}") as database:
        upgrade(database)
        ahead = Statement(sa.text(f"INSERT INTO schema_version VALUES ({KNOWN + 1}, '0008_next')"))
        database.write(lambda connection: connection.run(ahead))
    return data


@pytest.mark.parametrize(
    "words",
    [
        ["server", "--port", "0"],
        ["db", "upgrade"],
        ["db", "backup", "kept.toryo"],
        ["db", "check"],
        ["db", "restore", "older.toryo"],
    ],
    ids=" ".join,
)
def test_a_newer_database_is_refused_with_its_version_and_what_to_do(
    toryo: Toryo, newer: Path, words: list[str]
) -> None:
    released_versions.backup_of(1, toryo.home / "older.toryo")
    ended = toryo(*words, "--data-dir", str(newer))
    assert ended.code == 2, ended
    assert f"The database is at version {KNOWN + 1}, this Toryo knows {KNOWN}." in ended.err
    assert "Install the Toryo that upgraded it, or a newer one" in ended.err
    assert not (toryo.home / "kept.toryo").exists()


def test_an_older_database_is_backed_up_and_checked_only_once_it_is_upgraded(toryo: Toryo, tmp_path: Path) -> None:
    data = tmp_path / "older"
    data.mkdir(mode=0o700)
    with open_database(f"sqlite:///{data / 'toryo.db'}") as database:
        released_versions.fill(database, 1)
    words = ["--data-dir", str(data)]
    for command in (["backup", "kept.toryo"], ["check"]):
        ended = toryo("db", *command, *words)
        assert ended.code == 2, ended
        assert f"The database is at version 1, this Toryo knows {KNOWN}." in ended.err
        assert "toryo db upgrade" in ended.err
    assert toryo("db", "upgrade", *words).code == 0
    assert toryo("db", "check", *words).code == 0
    assert toryo("db", "backup", "kept.toryo", *words).code == 0


def test_a_backup_of_an_older_version_is_restored_and_checked(toryo: Toryo, tmp_path: Path) -> None:
    file = released_versions.backup_of(1, tmp_path / "older.toryo")
    words = ["--data-dir", str(tmp_path / "new")]
    assert toryo("db", "restore", str(file), *words).code == 0
    assert toryo("db", "check", *words).code == 0
