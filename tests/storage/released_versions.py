"""Databases and backups of earlier versions with real content: see `recording.py`, which made them."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import orjson
import sqlalchemy as sa

from toryo.storage import backup, migrations
from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.statements import Statement

FILES = Path(__file__).parent / "released"
ALL = sorted(int(path.stem.rpartition("_")[2]) for path in FILES.glob("version_*.jsonl"))
"""The versions that are recorded: from the oldest that is upgraded to the present one."""
BEFORE = ALL[-2]
"""The last one that needs an upgrade."""

Contents = dict[str, tuple[list[str], list[list[Any]]]]
"""Of each table, its columns and rows."""


def contents(version: int) -> Contents:
    """What a database of that version had in it, in the order of its foreign keys."""
    return contents_of((FILES / f"version_{version}.jsonl").read_bytes())


def contents_of(lines: bytes) -> Contents:
    """The rows of a backup."""
    found: Contents = {}
    for line in map(orjson.loads, lines.splitlines()):
        if "table" in line:
            columns, rows = found.setdefault(line["table"], (line["columns"], []))
            rows.extend(map(list, backup.stored(line["table"], columns, line["rows"])))
            assert columns == line["columns"]
    return found


def fill(database: Database, version: int) -> Contents:
    """Makes the tables of that version in an empty database, with what was recorded in them."""
    recorded = contents(version)

    def work(connection: Connection) -> None:
        migrations.upgrade(connection, migrations.steps_to(version))
        for table, (columns, rows) in recorded.items():
            values = ", ".join(f":{column}" for column in columns)
            insert = sa.text(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values})")
            connection.many(
                Statement(insert), [dict(zip(columns, row, strict=True)) for row in _above_first(table, columns, rows)]
            )
        if connection.dialect == "postgresql":
            connection.value(_CONTINUE)

    database.write(work)
    return recorded


def _above_first(table: str, columns: list[str], rows: list[list[Any]]) -> list[list[Any]]:
    """Whoever reports to nobody comes before those who report to them."""
    return sorted(rows, key=lambda row: row[columns.index("reports_to")] is not None) if table == "agents" else rows


_CONTINUE = Statement(
    sa.text("SELECT setval(pg_get_serial_sequence('events', 'sequence'), (SELECT max(sequence) FROM events))")
)


def backup_of(version: int, file: Path) -> Path:
    """The backup that Toryo of that version has written."""
    file.write_bytes(gzip.compress((FILES / f"version_{version}.jsonl").read_bytes()))
    return file


def kept(database: Database, recorded: Contents) -> Contents:
    """What the database has now in the tables and columns of the recording."""

    def work(connection: Connection) -> Contents:
        return {
            table: (columns, [list(row) for row in connection.all(_select(table, columns))])
            for table, (columns, _) in recorded.items()
        }

    return database.read(work)


def _select(table: str, columns: list[str]) -> Statement:
    return Statement(sa.text(f"SELECT {', '.join(columns)} FROM {table}"))


def by_id(contents: Contents) -> dict[str, list[dict[str, Any]]]:
    """To be compared: the rows of each table by the names of its columns, in an order of their own."""
    return {
        table: sorted((dict(zip(columns, map(_plain, row), strict=True)) for row in rows), key=repr)
        for table, (columns, rows) in contents.items()
    }


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value
