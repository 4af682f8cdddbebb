"""Opens the database of a URL and migrates its schema."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from toryo.domain import log_redaction
from toryo.storage import migrations
from toryo.storage.engine.database import Connection, Database
from toryo.storage.errors import DatabaseUnavailable


def open_database(url: str, *, threads: int = 8, exclusive: bool = True, patience: float = 5.0) -> Database:
    """Opens `sqlite:///path` or `postgresql://…`. Creates a missing SQLite file, but no tables (see `upgrade`).

    `threads` is the maximum number of concurrent connections. `exclusive` claims an SQLite file for this process: a
    second owner gets `DatabaseInUse`. `patience` is how many seconds to wait for a locked or unreachable database.
    Raises `DatabaseUnavailable`.
    """
    scheme = url.partition(":")[0].partition("+")[0]
    if scheme == "sqlite":
        from toryo.storage.engine import sqlite

        return sqlite.SQLiteDatabase(url, threads=threads, exclusive=exclusive, patience=patience)
    if scheme in {"postgresql", "postgres"}:
        from toryo.storage.engine import postgresql

        return postgresql.PostgreSQLDatabase(url, threads=threads, patience=patience)
    raise DatabaseUnavailable(
        f"The database URL {log_redaction.address(url)} is not supported.",
        "Use sqlite:///path/to/toryo.db or postgresql://…",
    )


def upgrade(database: Database, before: migrations.Before = lambda _, __: None) -> list[str]:
    """Runs the missing migrations, all or none, and returns their names. `before` comes first, in the same transaction.

    Raises `DatabaseTooNew` and `DatabaseTooOld` for a database that this Toryo neither reads nor upgrades,
    `DatabaseMisfit` if the tables do not match its version.
    """
    taken = database.write_patiently(lambda connection: migrations.bring(connection, before))
    database.memory.version = migrations.PRESENT
    return taken


def upgrade_with_backup(database: Database, data: Path, tell: Callable[[str], None]) -> list[str]:
    """As `upgrade`, which does not begin before a backup is written: beside an SQLite file, else in the directory
    `data`. What is done is told in lines for the terminal. Also raises `upgrade_backups.NoBackup`.
    """
    beside = Path(database.place) if database.dialect == "sqlite" else data / "postgresql"
    before = 0

    def back_up(connection: Connection, version: int) -> None:
        from toryo.storage import upgrade_backups  # a start without an upgrade needs none

        nonlocal before
        upgrade_backups.write(connection, version, beside, tell)
        before = version

    steps = upgrade(database, back_up)
    if steps and before:
        tell(
            f"upgraded the database from version {before} to {migrations.PRESENT} ({len(steps)} steps): earlier "
            "versions of Toryo no longer read it. To go back, restore the backup with the earlier version"
        )
    return steps
