"""SQL as Toryo writes it: a SQLAlchemy Core statement, compiled once per dialect to text that the driver runs itself.

Core is the language because one statement then serves SQLite and PostgreSQL; its execution layer is left out because
it costs four times what the driver does (about 20 against 5 microseconds a small statement). Connections and
transactions are in `database.py`.

Constants written into a statement (`tasks.c.status == "todo"`) become part of the SQL **text**, only `bindparam`s stay
parameters: with a bound parameter a planner cannot see that a partial index applies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import visitors
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine

from toryo.domain.fast_dataclasses import dataclass

Row = tuple[Any, ...]
Convert = Callable[[Any], Any]
Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a driver needs: the text with named parameters, and the few values that change on their way in or out."""

    text: str
    defaults: Mapping[str, Any]
    inward: tuple[tuple[str, Convert], ...]
    outward: tuple[tuple[int, Convert], ...]
    writes: bool
    changes_directory: bool
    """Whether it may write to a table of the directory (`directory_memory.py`)."""
    plain: bool

    def prepare(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters as the driver takes them; need not be called where the statement is `plain`."""
        ready = {**self.defaults, **params}
        for name, convert in self.inward:
            ready[name] = convert(ready[name])
        return ready

    def present(self, rows: list[Row]) -> list[Row]:
        """The rows as Python sees them; need not be called where `outward` is empty."""
        return [self._presented(row) for row in rows]

    def _presented(self, row: Row) -> Row:
        changed = list(row)
        for position, convert in self.outward:
            changed[position] = convert(changed[position])
        return tuple(changed)


class Statement:
    """A Core statement with `bindparam`s, run by `Connection.all(statement, name=value)` and its sisters.

    `columns` names what an `insert(table)` is given at each call; without it that is every column of the table.
    SQLAlchemy's Python-side column defaults are not run: give every value or declare a `server_default`.
    `postgresql` is what runs there instead, for the rare statement that has to differ. `only` are the tables that SQL
    text names; of other text they are not known, so it counts as one that may touch any.
    """

    def __init__(
        self,
        core: sa.Executable,
        *,
        columns: Iterable[str] | None = None,
        postgresql: sa.Executable | None = None,
        only: Iterable[sa.Table] = (),
    ) -> None:
        self._core = core
        self._core_of_postgresql = core if postgresql is None else postgresql
        self._columns = None if columns is None else list(columns)
        self._only = tuple(only)

    # Two threads may compile the same statement at once; both get the same text, so no lock is needed.

    @cached_property
    def sqlite(self) -> Compiled:
        return _compile(self._core, _SQLITE, self._columns, self._only)

    @cached_property
    def postgresql(self) -> Compiled:
        return _compile(self._core_of_postgresql, _POSTGRESQL, self._columns, self._only)

    @cached_property
    def tables(self) -> frozenset[str] | None:
        """The names of all tables that it reads or writes; None if it contains SQL text, which may name any."""
        return self._touches[0]

    @cached_property
    def writes(self) -> bool:
        return self._touches[1]

    @cached_property
    def _touches(self) -> tuple[frozenset[str] | None, bool]:
        tables, writes = _touched((self._core, self._core_of_postgresql))
        return (frozenset(table.name for table in self._only) or tables), writes

    def __repr__(self) -> str:
        return f"Statement({self.sqlite.text})"


def insert_or_ignore(
    table: sa.Table,
    columns: Iterable[str],
    *,
    key: Iterable[str] | None = None,
    key_where: sa.ColumnElement[bool] | None = None,
    returning: Sequence[Any] = (),
) -> Statement:
    """Inserts unless a unique index refuses it: `run` answers 1 or 0.

    With `key` (its columns; `key_where` is the condition of a partial one) only that index is forgiven.
    """
    names, index = list(columns), None if key is None else list(key)

    def build(insert: Any) -> Any:
        core = insert.values(_bound(table, names)).on_conflict_do_nothing(index_elements=index, index_where=key_where)
        return core.returning(*returning) if returning else core

    return Statement(build(sqlite.insert(table)), postgresql=build(postgresql.insert(table)))


def upsert(
    table: sa.Table,
    columns: Iterable[str],
    key: Iterable[str],
    update: Iterable[str] | Mapping[str, Any],
    *,
    key_where: sa.ColumnElement[bool] | None = None,
    where: sa.ColumnElement[bool] | None = None,
    returning: Sequence[Any] = (),
) -> Statement:
    """Inserts, or changes the row that has the same `key` (the columns of a unique index).

    `update` names the columns that take the new values, or maps them to expressions; in these `table.c.x` is the
    value the row has now, and `offered(table).x` the one that was to be inserted. `where` says which present rows
    may be changed (`run` answers 0 for others); `key_where` is the condition of a partial unique index.
    """
    names, index = list(columns), list(key)

    def build(insert: Any) -> Any:
        new = update if isinstance(update, Mapping) else {name: insert.excluded[name] for name in update}
        core = insert.values(_bound(table, names)).on_conflict_do_update(
            index_elements=index, index_where=key_where, set_=new, where=where
        )
        return core.returning(*returning) if returning else core

    return Statement(build(sqlite.insert(table)), postgresql=build(postgresql.insert(table)))


def offered(table: sa.Table) -> Any:
    """Inside `upsert`: the columns of the row that was to be inserted."""
    return table.alias("excluded").c


def literal(value: str | float | bool) -> sa.ColumnElement[Any]:
    """A constant that stands in the SQL text, so that a planner sees that a partial index applies."""
    return sa.literal(value)


def by_index(query: sa.Select[Any], table: sa.Table, index: str) -> sa.Select[Any]:
    """The query, told to SQLite which index it reads `table` by. For reads of what is open: SQLite does not compare how
    many rows indexes have until it has counted (`storage/statistics.py`), and refuses an index that cannot serve.
    """
    return query.with_hint(table, f"INDEXED BY {index}", "sqlite")


def in_list(column: sa.ColumnElement[Any], name: str) -> sa.ColumnElement[bool]:
    """`column` is one of a Python list given at each call as parameter `name`; an empty list matches nothing."""
    return _InList(column, sa.bindparam(name, type_=_ListOf(column.type)))


class _InList(FunctionElement[bool]):
    """`column IN (…)` with one parameter whatever the length, so that the text never changes."""

    name = "in_list"
    type = sa.Boolean()
    inherit_cache = True

    def self_group(self, against: Any = None) -> _InList:  # noqa: ARG002 - Core's signature
        """As it is: for SQLite, which has no booleans, Core would add `= 1`, and no index would be used."""
        return self


@compiles(_InList, "sqlite")
def _in_json(element: _InList, compiler: SQLCompiler, **kw: Any) -> str:
    column, values = element.clauses
    return f"{compiler.process(column, **kw)} IN (SELECT value FROM json_each({compiler.process(values, **kw)}))"  # noqa: S608 - compiled, not pasted


@compiles(_InList, "postgresql")
def _in_array(element: _InList, compiler: SQLCompiler, **kw: Any) -> str:
    column, values = element.clauses
    return f"{compiler.process(column, **kw)} = ANY({compiler.process(values, **kw)})"


class implied(FunctionElement[bool]):  # noqa: N801 - read as a function
    """The condition of a partial index, beside a narrower one that implies it: SQLite asks for its very text.
    PostgreSQL sees it by itself, and would expect fewer rows if it were said twice.
    """

    name = "implied"
    type = sa.Boolean()
    inherit_cache = True

    def __init__(self, condition: str) -> None:
        super().__init__(sa.literal_column(condition))

    def self_group(self, against: Any = None) -> implied:  # noqa: ARG002 - Core's signature
        """As it is: see `_InList`."""
        return self


@compiles(implied, "sqlite")
def _said(element: implied, compiler: SQLCompiler, **kw: Any) -> str:
    return compiler.process(next(iter(element.clauses)), **kw)


@compiles(implied, "postgresql")
def _unsaid(element: implied, compiler: SQLCompiler, **kw: Any) -> str:  # noqa: ARG001 - Core's signature
    return "TRUE"


class octets(FunctionElement[int]):  # noqa: N801 - read as a function
    """Of a text: its bytes, where `length` counts characters."""

    name = "octets"
    type = sa.Integer()
    inherit_cache = True


@compiles(octets, "sqlite")
def _of_blob(element: octets, compiler: SQLCompiler, **kw: Any) -> str:
    return f"length(CAST({compiler.process(element.clauses, **kw)} AS BLOB))"


@compiles(octets, "postgresql")
def _octet_length(element: octets, compiler: SQLCompiler, **kw: Any) -> str:
    return f"octet_length({compiler.process(element.clauses, **kw)})"


class _ListOf(TypeDecorator[list[Any]]):
    """A Python list as one parameter: an array on PostgreSQL, a JSON text on SQLite."""

    impl = sa.Text
    cache_ok = True

    def __init__(self, item: TypeEngine[Any]) -> None:
        super().__init__()
        self.item = item

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return sa.Text() if dialect.name == "sqlite" else dialect.type_descriptor(postgresql.ARRAY(self.item))

    def process_bind_param(self, value: list[Any] | None, dialect: Dialect) -> Any:
        return orjson.dumps(list(value or ())).decode() if dialect.name == "sqlite" else list(value or ())


def _bound(table: sa.Table, names: list[str]) -> dict[str, sa.BindParameter[Any]]:
    return {name: sa.bindparam(name, type_=table.c[name].type) for name in names}


class _ConstantsInText:
    """Writes the constants of a statement (SQLAlchemy marks them unique) into its text; `bindparam`s are kept. Writes
    the hints of `by_index`.
    """

    def visit_bindparam(self, bindparam: sa.BindParameter[Any], *args: Any, **kw: Any) -> str:
        if bindparam.unique:
            kw["literal_binds"] = True
        text: str = super().visit_bindparam(bindparam, *args, **kw)  # type: ignore[misc]
        return text

    def get_from_hint_text(self, _table: Any, text: str) -> str:
        return text


def _dialect(make: Callable[..., Any], paramstyle: str) -> Dialect:
    dialect: Dialect = make(paramstyle=paramstyle)
    dialect.statement_compiler = type("Compiler", (_ConstantsInText, dialect.statement_compiler), {})
    return dialect


_SQLITE = _dialect(SQLiteDialect_pysqlite, "named")
_POSTGRESQL = _dialect(PGDialect_psycopg, "pyformat")
DIALECTS = {"sqlite": _SQLITE, "postgresql": _POSTGRESQL}


def _compile(core: Any, dialect: Dialect, columns: list[str] | None, only: Sequence[sa.Table]) -> Compiled:
    if isinstance(core, sa.Insert):
        core = core.inline()  # or Core adds RETURNING for generated keys that nobody asked for
    compiled = core.compile(dialect=dialect, column_keys=columns)
    binds = compiled.binds
    defaults = {name: bind.effective_value for name, bind in binds.items() if not bind.required}
    inward = _conversions((name, _inward(bind.type, dialect)) for name, bind in binds.items())
    writes = not isinstance(core, sa.SelectBase) and not _reads(compiled.string)
    results = compiled._result_columns  # noqa: SLF001 - the only place that knows the type of every answered column
    return Compiled(
        text=compiled.string,
        defaults=defaults,
        inward=inward,
        outward=_conversions((at, _outward(result.type, dialect)) for at, result in enumerate(results)),
        writes=writes,
        changes_directory=_changes_directory(core, writes, only),
        plain=not defaults and not inward,
    )


def _touched(cores: Iterable[Any]) -> tuple[frozenset[str] | None, bool]:
    tables, writes, unclear = set[str](), False, False
    for core in dict.fromkeys(cores):
        for part in visitors.iterate(core):
            if isinstance(part, sa.Table):
                tables.add(part.name)
            elif isinstance(part, sa.UpdateBase):
                writes = True
            elif isinstance(part, sa.TextClause):
                unclear, writes = True, writes or (part is core and not _reads(part.text))
            elif isinstance(part, sa.ColumnClause) and part.is_literal:
                unclear = unclear or "select" in part.name.lower()
    return None if unclear else frozenset(tables), writes


def _changes_directory(core: Any, writes: bool, only: Sequence[sa.Table]) -> bool:
    """By the tables that it writes to, also within a common table expression. Of a text only its verb is known, and the
    tables if they are named.
    """
    if isinstance(core, sa.TextClause):
        return writes and (not only or any(map(_of_directory, only)))
    written: Iterator[Any] = (part.table for part in visitors.iterate(core) if isinstance(part, sa.UpdateBase))
    return any(_of_directory(table) for table in written)


def _of_directory(table: Any) -> bool:
    return bool(table.info.get("directory", False))


def _reads(text: str) -> bool:
    return text.lstrip()[:6].upper() == "SELECT"


def _inward(type_: TypeEngine[Any], dialect: Dialect) -> Convert | None:
    return type_.dialect_impl(dialect).bind_processor(dialect)


def _outward(type_: TypeEngine[Any], dialect: Dialect) -> Convert | None:
    if dialect.name == "postgresql":
        return None  # psycopg answers Python values already; SQLite has no booleans
    return type_.dialect_impl(dialect).result_processor(dialect, None)


def _conversions(found: Iterable[tuple[Key, Convert | None]]) -> tuple[tuple[Key, Convert], ...]:
    return tuple((key, convert) for key, convert in found if convert is not None)
