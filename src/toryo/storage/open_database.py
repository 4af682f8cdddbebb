"""Opens the database of a URL and migrates its schema."""

from __future__ import annotations

from toryo.domain import log_redaction
from toryo.storage import migrations
from toryo.storage.engine.database import Database
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


def upgrade(database: Database) -> list[str]:
    """Runs the missing migrations, all or none, and returns their names.

    Raises `DatabaseTooNew` for a database of a newer Toryo, `DatabaseMisfit` if the tables do not match its version.
    """
    taken = database.write_patiently(migrations.bring)
    database.memory.version = len(migrations.STEPS)
    return taken
