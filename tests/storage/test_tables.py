"""Every noun is stored in the columns of its table, and comes back as it was.

The two recordings are of version 33, which wrote columns and codecs out by hand. They stay until the nouns have taken
over; after that the steps and the tables are compared with each other (test_migrations.py).
"""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from toryo import storage
from toryo.domain.projects import Settings
from toryo.storage import schema
from toryo.storage.rows import Rows

TABLES = "f96a1589c41ee13140b58ff0782fc6623360d0e6087c2d57e029df0ac37bdc02"
STORED = "df7592097fa63af3b233ad8ec683d99129b02e9af43f518d3917f8a264fa64fd"


def all_rows() -> dict[str, Rows[Any]]:
    modules = [each.name for each in pkgutil.iter_modules(storage.__path__) if each.name != "shared_state_redis"]
    every = [vars(importlib.import_module(f"{storage.__name__}.{name}")).values() for name in modules]
    found = {id(each): each for values in every for each in values if isinstance(each, Rows)}
    return {f"{rows.noun.__name__} in {rows.table.name}": rows for rows in found.values()}


ROWS = all_rows()


def sample(noun: type[Any], *, full: bool) -> Any:
    """One with a value in every field, or with as little as there can be."""
    hints = get_type_hints(noun)
    return noun(**{field.name: value(hints[field.name], field.name, full=full) for field in fields(noun)})


def value(hint: Any, name: str, *, full: bool) -> Any:
    allowed = get_args(hint)
    if NoneType in allowed:
        return value(next(each for each in allowed if each is not NoneType), name, full=full) if full else None
    if get_origin(hint) is tuple:
        return (name, "日本語") if full else ()
    if hint is Any:
        return {name: [1, None, "日本語"]} if full else None
    kind = get_origin(hint) or hint
    if issubclass(kind, dict):
        return {name: 1} if full else {}
    if isinstance(hint, type) and is_dataclass(hint):
        return Settings() if hint is Settings else sample(hint, full=full)
    if issubclass(hint, Enum):
        return list(hint)[-1] if full else next(iter(hint))
    plain = {str: name, int: len(name), bool: True, float: 1.5}
    return plain[hint] if full else hint()


@pytest.mark.parametrize("full", [True, False], ids=["full", "empty"])
@pytest.mark.parametrize("name", ROWS)
def test_a_noun_comes_back_as_it_was_stored(name: str, full: bool):
    rows = ROWS[name]
    noun = sample(rows.noun, full=full)
    stored = rows.values(noun)
    assert list(stored) == [field.name for field in fields(rows.noun)]
    assert rows.noun_of(tuple(stored.values())) == noun
    for column, kept in stored.items():
        assert isinstance(kept, str | int | float | NoneType), column
        assert kept is not None or rows.table.c[column].nullable, column


def test_what_is_stored_of_each_noun_is_what_was_recorded():
    nouns = [
        (name, sample(rows.noun, full=full), rows) for name, rows in sorted(ROWS.items()) for full in (True, False)
    ]
    assert digest(f"{name} {sorted(rows.values(noun).items())}" for name, noun, rows in nouns) == STORED


def test_the_tables_are_those_that_were_recorded():
    every = schema.metadata.tables.values()
    said = [line for table in every for line in (table.name, *described(table))]
    assert digest([*said, *(table.name for table in schema.metadata.sorted_tables)]) == TABLES


def described(table: sa.Table) -> Iterator[str]:
    """What makes it on each database, and what SQLAlchemy knows beside that; all in the order of its columns."""
    indexes = sorted(table.indexes, key=lambda index: str(index.name))
    for dialect in (sqlite.dialect(), postgresql.dialect()):
        yield str(CreateTable(table).compile(dialect=dialect))
        yield from (str(CreateIndex(index).compile(dialect=dialect)) for index in indexes)
    for column in table.columns:
        yield f"{column.name} {column.type!r} {column.nullable} {column.primary_key} {column.autoincrement}"
        yield f"{column.default} {column.server_default} {column.identity} {column.key}"
        yield ", ".join(key.target_fullname for key in column.foreign_keys)
    yield f"{table.info} {table.autoincrement_column}"


def digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
