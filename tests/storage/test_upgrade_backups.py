"""Before a database is upgraded it is backed up, or it is not upgraded; a backup goes back to where it was."""

from __future__ import annotations

import errno
import gzip
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import sqlalchemy as sa

from tests.storage import released_versions
from tests.storage.released_versions import by_id
from toryo.cli.child_processes import UPGRADING
from toryo.storage import backup, migrations, upgrade_backups
from toryo.storage.engine.database import Database
from toryo.storage.engine.statements import Statement
from toryo.storage.errors import DatabaseMisfit
from toryo.storage.open_database import open_database, upgrade, upgrade_with_backup

pytestmark = [pytest.mark.usefixtures("quiet"), pytest.mark.both]

OLD, NOW = migrations.OLDEST, migrations.PRESENT
VERSION = Statement(sa.text("SELECT max(version) FROM schema_version"))


@pytest.fixture
def blank(database_url: str) -> Iterator[Database]:
    with open_database(database_url) as opened:
        yield opened


def backups(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if ".toryo" in path.name)


@pytest.mark.first(1)
@pytest.mark.parametrize("version", released_versions.ALL[:-1])
def test_an_upgrade_writes_a_backup_first_and_says_what_it_does(blank: Database, tmp_path: Path, version: int) -> None:
    """The backup has all that there was, also what a later step takes away."""
    recorded = released_versions.fill(blank, version)
    told: list[str] = []
    steps = upgrade_with_backup(blank, tmp_path, told.append)
    assert len(steps) == NOW - version
    (name,) = backups(tmp_path)
    assert re.fullmatch(rf"(toryo\.db|postgresql)\.before-upgrade-{version}\.toryo", name)
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    first, last = told
    assert first.startswith(f"{UPGRADING} from version {version} to {NOW}")
    assert str(tmp_path / name) in first
    assert last.startswith(f"upgraded the database from version {version} to {NOW} ({len(steps)} steps)")
    written = gzip.decompress((tmp_path / name).read_bytes())
    assert orjson.loads(written.splitlines()[0])["schema"] == version
    assert by_id(released_versions.contents_of(written)) == by_id(recorded), "as Toryo of that version writes it"


def test_the_backup_before_an_upgrade_is_restored(blank: Database, tmp_path: Path) -> None:
    recorded = released_versions.fill(blank, OLD)
    upgrade_with_backup(blank, tmp_path, lambda _: None)
    (name,) = backups(tmp_path)
    with open_database(f"sqlite:///{tmp_path / 'elsewhere.db'}") as elsewhere:
        upgrade(elsewhere)
        backup.restore(elsewhere, tmp_path / name, credentials=True)
        assert by_id(released_versions.kept(elsewhere, recorded)) == by_id(recorded)


def test_a_new_database_and_a_present_one_are_neither_backed_up_nor_talked_about(
    blank: Database, tmp_path: Path
) -> None:
    told: list[str] = []
    for missing in (len(migrations.STEPS), 0):
        assert len(upgrade_with_backup(blank, tmp_path, told.append)) == missing
    assert (told, backups(tmp_path)) == ([], [])


@pytest.mark.first(1)
@pytest.mark.parametrize("wrong", [errno.ENOSPC, errno.EROFS])
def test_without_its_backup_a_database_is_not_upgraded_and_nothing_is_left_behind(
    blank: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: int
) -> None:
    recorded = released_versions.fill(blank, OLD)

    def fails(*_: Any) -> None:
        raise OSError(wrong, os.strerror(wrong))

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync" if wrong == errno.ENOSPC else "fchmod", fails)
        with pytest.raises(upgrade_backups.NoBackup) as refused:
            upgrade_with_backup(blank, tmp_path, lambda _: None)
    assert os.strerror(wrong) in refused.value.message
    assert f"still at version {OLD}" in refused.value.message
    assert "toryo db upgrade --no-backup" in refused.value.instruction
    assert blank.read(lambda c: c.value(VERSION)) == OLD
    assert by_id(released_versions.kept(blank, recorded)) == by_id(recorded)
    assert backups(tmp_path) == []
    assert len(upgrade_with_backup(blank, tmp_path, lambda _: None)) == NOW - OLD


def test_an_upgrade_that_fails_again_and_again_leaves_one_backup_and_the_database_as_it_was(
    blank: Database, tmp_path: Path
) -> None:
    recorded = released_versions.fill(blank, OLD)
    blank.write(lambda c: c.define("ALTER TABLE projects ADD COLUMN checks_tried TEXT"))  # as the last step does
    for _ in range(2):
        with pytest.raises(DatabaseMisfit):
            upgrade_with_backup(blank, tmp_path, lambda _: None)
    assert blank.read(lambda c: c.value(VERSION)) == OLD
    assert by_id(released_versions.kept(blank, recorded)) == by_id(recorded)
    assert len(backups(tmp_path)) == 1


def test_the_newest_backups_stay_whatever_version_they_have_and_nothing_else_is_removed(
    blank: Database, tmp_path: Path
) -> None:
    released_versions.fill(blank, OLD)
    name = "toryo.db" if blank.dialect == "sqlite" else "postgresql"
    for age, version in enumerate((90, 91, 92, 93), start=5_000_000_000):  # by a clock that was wrong
        file = tmp_path / f"{name}.before-upgrade-{version}.toryo"
        file.touch()
        os.utime(file, (age, age))
    others = ("mine.toryo", f"of-{name}.before-upgrade-1.toryo")
    for other in others:
        (tmp_path / other).touch()
    upgrade_with_backup(blank, tmp_path, lambda _: None)
    kept = [f"{name}.before-upgrade-{version}.toryo" for version in (OLD, 92, 93)]
    assert backups(tmp_path) == sorted([*kept, *others])


def test_of_servers_that_start_at_once_one_backs_up_and_upgrades(
    blank: Database, database_url: str, tmp_path: Path, at_once: Callable[..., list[Any]]
) -> None:
    recorded = released_versions.fill(blank, OLD)
    servers = [open_database(database_url, exclusive=False) for _ in range(3)]
    told: list[str] = []
    outcomes = at_once(3, lambda which: upgrade_with_backup(servers[which], tmp_path, told.append))
    for server in servers:
        server.close()
    assert sorted(map(len, outcomes)) == [0, 0, NOW - OLD]
    assert len(told) == 2
    (name,) = backups(tmp_path)
    written = gzip.decompress((tmp_path / name).read_bytes())
    assert by_id(released_versions.contents_of(written)) == by_id(recorded)
