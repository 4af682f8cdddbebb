"""Writes of many rows at once: one statement on PostgreSQL, one prepared statement run for each row on SQLite.

A round trip for each row is most of what a write costs on PostgreSQL, so there all rows travel as one JSON parameter.
SQLite has no round trips, and binding values costs it less than reading JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import orjson
import sqlalchemy as sa

from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement

Values = tuple[Any, ...]
"""Of one row, as stored, in the order of the columns."""


class ManyRows:
    """A statement for rows of these columns; `run` with no rows does nothing."""

    def __init__(self, table: sa.Table, columns: Iterable[str], on_sqlite: str, on_postgresql: str) -> None:
        self._columns = tuple(columns)
        self._by_row = Statement(sa.text(on_sqlite), only=table)
        self._at_once = Statement(sa.text(on_postgresql), only=table)

    def run(self, connection: Connection, rows: Sequence[Values]) -> None:
        if not rows:
            return
        if connection.dialect == "postgresql":
            objects = [dict(zip(self._columns, row, strict=True)) for row in rows]
            connection.run(self._at_once, rows=orjson.dumps(objects).decode())
        else:
            by_place: Any = rows  # the text has places, not names
            connection.many(self._by_row, by_place)


def insert(table: sa.Table, columns: Sequence[str]) -> ManyRows:
    """Inserts rows; columns that are not named are null."""
    names = _listed(columns)
    return ManyRows(
        table,
        columns,
        f"INSERT INTO {table.name} ({names}) VALUES ({', '.join('?' * len(columns))})",  # noqa: S608 - as below
        f"INSERT INTO {table.name} ({names}) SELECT {names} FROM {_given(table)}",  # noqa: S608
    )


def update(table: sa.Table, columns: Sequence[str], key: Sequence[str]) -> ManyRows:
    """Sets the columns of the row that the key names; a row of values is the columns, then the key."""

    def each(names: Sequence[str], pair: Callable[[str], str], between: str) -> str:
        return between.join(pair(f'"{name}"') for name in names)

    set_on_sqlite = each(columns, lambda name: f"{name} = ?", ", ")
    set_on_postgresql = each(columns, lambda name: f"{name} = given.{name}", ", ")
    this_on_sqlite = each(key, lambda name: f"{name} = ?", " AND ")
    this_on_postgresql = each(key, lambda name: f"{table.name}.{name} = given.{name}", " AND ")
    return ManyRows(
        table,
        [*columns, *key],
        f"UPDATE {table.name} SET {set_on_sqlite} WHERE {this_on_sqlite}",  # noqa: S608 - names of our own tables
        f"UPDATE {table.name} SET {set_on_postgresql} FROM {_given(table)} WHERE {this_on_postgresql}",  # noqa: S608
    )


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)


def _given(table: sa.Table) -> str:
    """The rows of the parameter, with the types of the table."""
    return f"json_populate_recordset(NULL::{table.name}, CAST(:rows AS json)) AS given"
