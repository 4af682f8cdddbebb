"""Writes of many rows at once: one statement on PostgreSQL, one prepared statement run for each row on SQLite.

A round trip for each row is most of what a write costs on PostgreSQL, so there all rows travel as one JSON parameter,
and what a work puts into several tables is one statement. SQLite has no round trips, and binding values costs it less
than reading JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import orjson
import sqlalchemy as sa

from toryo.domain.fast_dataclasses import dataclass
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement

Values = tuple[Any, ...]
"""Of one row, as stored, in the order of the columns."""


class ManyRows:
    """How rows of these columns are written. `lock` is a key that is locked from there to the commit."""

    def __init__(
        self,
        table: sa.Table,
        columns: Iterable[str],
        on_sqlite: str,
        on_postgresql: str,
        lock: str | None = None,
    ) -> None:
        self.table = table
        self.columns = tuple(columns)
        self.by_row = Statement(sa.text(on_sqlite), only=[table])
        self.at_once = on_postgresql
        self.lock = lock

    def run(self, connection: Connection, rows: Sequence[Values]) -> None:
        """Writes the rows, at the latest before the next statement that concerns their table."""
        if rows:
            connection.unit.put(_Put(self, rows))


@dataclass(slots=True, eq=False)
class _Put:
    kind: ManyRows
    rows: Sequence[Values]

    @property
    def table(self) -> str:
        return self.kind.table.name

    def write(self, connection: Connection, others: Sequence[_Put]) -> None:
        puts = [self, *others]
        if connection.dialect == "sqlite":
            for put in puts:
                by_place: Any = put.rows  # the text has places, not names
                connection.many(put.kind.by_row, by_place)
            return
        statement = _together(tuple(put.kind for put in puts))
        params = {f"rows_{number}": put.as_json() for number, put in enumerate(puts)}
        lock = next((put.kind.lock for put in puts if put.kind.lock), None)
        if lock is None:
            connection.run(statement, **params)
        else:
            connection.run_locking(lock, statement, **params)

    def as_json(self) -> str:
        columns = self.kind.columns
        return orjson.dumps([dict(zip(columns, row, strict=True)) for row in self.rows]).decode()


@cache
def _together(kinds: tuple[ManyRows, ...]) -> Statement:
    """Of PostgreSQL. It checks references at the end of a statement, so the order of the tables does not matter."""
    parts = {
        f"part_{number}": kind.at_once.replace(":rows", f":rows_{number}").replace(
            " FROM ", " FROM locked, " if kind.lock else " FROM "
        )
        for number, kind in enumerate(kinds)
    }
    locked = ["locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(:lock))"] if any(k.lock for k in kinds) else []
    texts = ", ".join([*locked, *(f"{name} AS ({text})" for name, text in parts.items())])
    return Statement(sa.text(f"WITH {texts} SELECT 1"), only=[kind.table for kind in kinds])


def insert(table: sa.Table, columns: Sequence[str], *, lock: str | None = None) -> ManyRows:
    """Inserts rows; columns that are not named are null."""
    names = _listed(columns)
    return ManyRows(
        table,
        columns,
        f"INSERT INTO {table.name} ({names}) VALUES ({', '.join('?' * len(columns))})",  # noqa: S608 - as below
        f"INSERT INTO {table.name} ({names}) SELECT {names} FROM {_given(table)}",  # noqa: S608
        lock,
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


def add(table: sa.Table, key: Sequence[str], amounts: Sequence[str], others: Sequence[str] = ()) -> ManyRows:
    """Adds amounts to the row that the key names, or inserts it with `others`. No two rows may have the same key."""
    columns = [*key, *amounts, *others]
    names = _listed(columns)
    added = ", ".join(f'"{name}" = {table.name}."{name}" + excluded."{name}"' for name in amounts)
    on_conflict = f"ON CONFLICT ({_listed(key)}) DO UPDATE SET {added}"
    return ManyRows(
        table,
        columns,
        f"INSERT INTO {table.name} ({names}) VALUES ({', '.join('?' * len(columns))}) {on_conflict}",  # noqa: S608
        f"INSERT INTO {table.name} ({names}) SELECT {names} FROM {_given(table)} {on_conflict}",  # noqa: S608
    )


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)


def _given(table: sa.Table) -> str:
    """The rows of the parameter, with the types of the table."""
    return f"json_populate_recordset(NULL::{table.name}, CAST(:rows AS json)) AS given"
