"""Opening the database that an address names, and bringing its tables to the newest version."""

from __future__ import annotations

from toryo.domain import log_redaction
from toryo.storage import migrations
from toryo.storage.engine.database import Database
from toryo.storage.errors import DatabaseUnavailable


def open_database(url: str, *, threads: int = 8, exclusive: bool = True, patience: float = 5.0) -> Database:
    """Opens `sqlite:///path` or `postgresql://…`; creates no tables (`upgrade` does), but an SQLite file.

    `threads` is how many connections may be used at once. `exclusive` claims an SQLite file for this process: a second
    owner is refused with `DatabaseInUse`. `patience` is how many seconds a locked or absent database is waited for.
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


def upgrade(database: Database) -> list[str]:
    """Runs the migrations that are missing, all or none, and answers their names.

    Raises `DatabaseTooNew` for a database that a newer Toryo has upgraded, `DatabaseMisfit` for one whose tables are
    not those of its version.
    """
    return database.write_patiently(migrations.bring)
