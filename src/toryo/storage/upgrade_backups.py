"""The backup that is written before a database is upgraded: without it, the upgrade does not begin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from toryo.deeds import terminal
from toryo.storage import backup
from toryo.storage.engine.database import Connection
from toryo.storage.errors import DatabaseUnavailable
from toryo.storage.migrations import PRESENT

KEPT = 3
"""How many of them stay, the newest ones. One of the same version takes the place of the other: an upgrade that fails
again and again leaves one file."""


class NoBackup(DatabaseUnavailable):
    """The backup cannot be written, so the database was not upgraded."""


def write(connection: Connection, version: int, place: Path, tell: Callable[[str], None]) -> Path:
    """The backup of a database at `version`, in a file beside `place` that is named after both. Raises NoBackup."""
    file = place.with_name(f"{place.name}.before-upgrade-{version}.toryo")
    tell(f"upgrading the database from version {version} to {PRESENT}; first, it is backed up to {file}")
    try:
        backup.write(connection, file, version)
        others = place.parent.glob(f"{place.name}.before-upgrade-*.toryo")
        for old in sorted(others, key=lambda each: (each == file, each.stat().st_mtime))[:-KEPT]:
            old.unlink()
    except OSError as error:
        raise NoBackup(
            f"The backup before the upgrade cannot be written to {file}: {error.strerror or error}. The database was "
            f"not upgraded, it is still at version {version}.",
            "Make room, or make the directory writable, and start again. If you have a backup of your own: "
            f"{terminal('db upgrade --no-backup')}",
        ) from error
    return file
