"""Maps entities to rows and back: columns are the fields, in the same order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

import orjson
import sqlalchemy as sa

from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement

Noun = TypeVar("Noun")
Codec = tuple[Callable[[Any], Any], Callable[[Any], Any]]
"""Converters to the database and back."""


def to_json(value: Any) -> str | None:
    return None if value is None else orjson.dumps(value).decode()


def from_json(text: str | None) -> Any:
    return None if text is None else orjson.loads(text)


JSON: Codec = (to_json, from_json)
TUPLE: Codec = (lambda value: to_json(list(value)) if value else None, lambda text: tuple(from_json(text) or ()))


def enum(kind: Any) -> Codec:
    """By value; None stays None."""
    members = {each.value: each for each in kind}
    return (lambda each: None if each is None else each.value), members.get


class Rows(Generic[Noun]):
    """Maps one dataclass to the columns of a table that have its fields' names."""

    def __init__(self, noun: type[Noun], table: sa.Table, codecs: Mapping[str, Codec] | None = None) -> None:
        assert is_dataclass(noun)
        self.noun = noun
        self.table = table
        self.names = [field.name for field in fields(noun)]
        self.columns = [table.c[name] for name in self.names]
        codecs = codecs or {}
        self._to = {name: codec[0] for name, codec in codecs.items()}
        self._back = [(self.names.index(name), codec[1]) for name, codec in codecs.items()]

    def select(self) -> sa.Select[Any]:
        return sa.select(*self.columns)

    def noun_of(self, row: tuple[Any, ...]) -> Noun:
        values = list(row)
        for place, back in self._back:
            values[place] = back(values[place])
        return self.noun(*values)

    def nouns(self, rows: Iterable[tuple[Any, ...]]) -> list[Noun]:
        return [self.noun_of(row) for row in rows]

    def one(self, row: tuple[Any, ...] | None) -> Noun | None:
        return None if row is None else self.noun_of(row)

    def values(self, noun: Noun) -> dict[str, Any]:
        return {name: self.value(name, getattr(noun, name)) for name in self.names}

    def value(self, name: str, value: Any) -> Any:
        convert = self._to.get(name)
        return value if convert is None else convert(value)

    def changes(self, before: Noun, after: Noun) -> dict[str, Any]:
        """The columns that differ, as stored."""
        return {
            name: self.value(name, new) for name in self.names if (new := getattr(after, name)) != getattr(before, name)
        }


@lru_cache(maxsize=1024)
def update_by_id(table: sa.Table, columns: tuple[str, ...]) -> Statement:
    """UPDATE of these columns of the row whose id is the parameter `this_id`."""
    values = {name: sa.bindparam(name, type_=table.c[name].type) for name in columns}
    return Statement(table.update().where(table.c.id == sa.bindparam("this_id")).values(values))


def save_changes(connection: Connection, table: sa.Table, rows: Rows[Any], before: Any, after: Any) -> None:
    """Writes the columns in which two values of one id differ, if any."""
    changes = rows.changes(before, after)
    if changes:
        connection.run(update_by_id(table, tuple(changes)), this_id=after.id, **changes)
