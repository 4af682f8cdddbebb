"""The unit of work: what a work has read, and what it has changed and not written yet.

A row is read once and written once. Aggregates keep what they read in `known`, and hand over what they change with
`add`, `change` and `remove`. The connection asks the unit before each statement. It compares the tables of the
statement with those of the unit, so no aggregate has to know what another one keeps:

- A query that was asked before is answered from memory, unless one of its tables has changed since.
- A statement that names a table with unwritten rows waits until they are written.
- A statement that writes makes what was read of its tables unknown.
- Rows of several tables that are `put` are written together, in one statement where the database has round trips.
- After a wait for a lock, or a rollback to a savepoint, nothing that was read is known any longer.

It lives as long as one run of one work. What a failed run has not written is never written.

On SQLite works share a unit (`Connection.remembers`). The writer keeps one for all its works: all that is written goes
through it, so what it has read stays known from one transaction to the next. It begins again when a work fails, when a
transaction is rolled back, when another program has written, and when it has become large (`rest`). Readers keep one
for the works of a snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import sqlalchemy as sa

from toryo.storage.engine.statements import Statement

Key = tuple[Any, ...]

MOST_ANSWERS = 10_000
"""How many answers a work keeps: a chore may ask about every agent in turn."""
MOST_ROWS, MOST_ROWS_IN_ALL = 1_000, 20_000
"""Of one answer that is kept, and of all of them: some works read a whole table, page by page, and no page twice."""
MOST_BETWEEN, MOST_TEXT_BETWEEN = 10_000, 10_000_000
"""Rows, and characters in them, that stay known after a work."""


class Known(Protocol):
    """What an aggregate keeps of the rows it has read; `tables` are all tables that it was read from."""

    tables: frozenset[str]


A = TypeVar("A")
K = TypeVar("K", bound=Known)


class Runs(Protocol):
    """The part of a connection that the unit of work uses."""

    def run(self, statement: Statement, **params: Any) -> int: ...

    def many(self, statement: Statement, rows: Sequence[Mapping[str, Any]]) -> None: ...


class Put(Protocol):
    """Rows of one table, and how they are written."""

    @property
    def table(self) -> str: ...

    def write(self, connection: Any, others: Sequence[Any]) -> None:
        """Writes them, and those of the others, which are of other tables."""


class Target:
    """A table whose rows are written late: how a row is added (with which columns), and what identifies it."""

    def __init__(self, table: sa.Table, columns: Iterable[str] = (), key: tuple[str, ...] = ("id",)) -> None:
        self.table = table
        self.name = table.name
        self.key = key
        self._row = [table.c[name] == sa.bindparam(f"this_{name}") for name in key]
        self.insert = Statement(sa.insert(table), columns=list(columns))
        self.delete = Statement(sa.delete(table).where(*self._row))
        self._updates: dict[tuple[str, ...], Statement] = {}

    def named(self, key: Key) -> dict[str, Any]:
        """The key as the parameters that `update` and `delete` find the row by."""
        return {f"this_{name}": part for name, part in zip(self.key, key, strict=True)}

    def update(self, columns: tuple[str, ...]) -> Statement:
        found = self._updates.get(columns)
        if found is None:
            values = {name: sa.bindparam(name, type_=self.table.c[name].type) for name in columns}
            found = self._updates[columns] = Statement(sa.update(self.table).where(*self._row).values(values))
        return found


class UnitOfWork:
    def __init__(self, connection: Runs) -> None:
        self._connection = connection
        self._known: dict[type[Any], Any] = {}
        self._answers: dict[Hashable, tuple[int, Any]] = {}
        """By question: how often its tables had changed when it was asked, and the answer."""
        self._rows = 0
        """How many rows of answers are kept."""
        self._seen = self._text = 0
        """How many rows were read and added since nothing was known, and how many characters are in them."""
        self._changes: dict[str, int] = {}
        """How often each table has changed in this work."""
        self._added: dict[Target, dict[Key, dict[str, Any]]] = {}
        self._changed: dict[Target, dict[Key, dict[str, Any]]] = {}
        self._removed: dict[Target, dict[Key, None]] = {}
        self._puts: dict[str, Put] = {}
        """By table."""
        self._unwritten: set[str] = set()
        """The names of the tables with unwritten rows."""
        self._flushing = False

    # what was read

    def known(self, kind: type[K]) -> K:
        """What is kept of this kind; an empty one at first, and after its tables were written by a statement."""
        found = self._known.get(kind)
        if found is None:
            found = self._known[kind] = kind()
        kept: K = found
        return kept

    def asked(self, fetch: Callable[[Statement, dict[str, Any]], A], statement: Statement, params: dict[str, Any]) -> A:
        """The answer of a query: a known one, or what `fetch` reads now."""
        tables = statement.tables
        if not tables or statement.writes:
            self.before(statement)
            return fetch(statement, params)
        question: Hashable = (fetch.__name__, statement, *params, *params.values())
        try:
            known = self._answers.get(question)
        except TypeError:  # A parameter is a list.
            question = (fetch.__name__, statement, *params, *map(_hashable, params.values()))
            known = self._answers.get(question)
        state = sum(self._changes.get(each, 0) for each in tables) if self._changes else 0
        if known is not None and known[0] == state:
            answer: A = known[1]
            return answer
        if self._unwritten:
            self.before(statement)
        answer = fetch(statement, params)
        rows = self._counted(answer if isinstance(answer, list) else (answer,))
        if rows > MOST_ROWS:
            return answer
        self._rows += rows
        if len(self._answers) >= MOST_ANSWERS or self._rows > MOST_ROWS_IN_ALL:
            self._answers.clear()
            self._rows = rows
        self._answers[question] = state, answer
        return answer

    def _counted(self, rows: Iterable[Any]) -> int:
        counted = 0
        for row in rows:
            counted += 1
            if row:
                self._text += sum([len(value) for value in row if value.__class__ is str])
        self._seen += counted
        return counted

    def forget(self) -> None:
        """Others may have changed the rows: nothing that was read is known any longer."""
        self._known.clear()
        self._answers.clear()
        self._rows = self._seen = self._text = 0

    def rest(self) -> None:
        """A work has ended well, and the next one may use what it has read."""
        if self._seen > MOST_BETWEEN or self._text > MOST_TEXT_BETWEEN:
            self.forget()

    # pending writes

    def add(self, target: Target, key: Key, values: dict[str, Any]) -> None:
        """A new row; one of the same key must not exist."""
        self._write_puts()
        self._changed_table(target.name)
        self._added.setdefault(target, {})[key] = values
        self._unwritten.add(target.name)
        self._counted((values.values(),))

    def change(self, target: Target, key: Key, values: Mapping[str, Any]) -> None:
        """New values of some columns of a row."""
        self._write_puts()
        self._changed_table(target.name)
        added = self._added.get(target)
        if added is not None and key in added:
            added[key].update(values)
            return
        self._changed.setdefault(target, {}).setdefault(key, {}).update(values)
        self._unwritten.add(target.name)

    def remove(self, target: Target, key: Key) -> None:
        """Deletes a row at the next write. It may be added again before."""
        self._write_puts()
        self._changed_table(target.name)
        self._added.get(target, {}).pop(key, None)
        self._changed.get(target, {}).pop(key, None)
        self._removed.setdefault(target, {})[key] = None
        self._unwritten.add(target.name)

    def put(self, put: Put) -> None:
        """Rows that are written as the put says, after what was added, changed and removed before."""
        if put.table in self._unwritten:
            self.flush()
        self._forget(frozenset({put.table}))
        self._puts[put.table] = put
        self._unwritten.add(put.table)

    def _write_puts(self) -> None:
        if self._puts:
            self.flush()

    @property
    def unwritten(self) -> bool:
        return bool(self._unwritten)

    def flush(self) -> None:
        """Writes all pending changes: rows that others may refer to first, and those of one kind together."""
        if not self._unwritten or self._flushing:
            return
        added, changed, removed, puts = self._added, self._changed, self._removed, [*self._puts.values()]
        self._added, self._changed, self._removed, self._puts, self._unwritten = {}, {}, {}, {}, set()
        self._flushing = True
        try:
            for target, keys in removed.items():
                self._write(target.delete, [target.named(key) for key in keys])
            for target, rows in added.items():
                self._write(target.insert, list(rows.values()))
            for target, changes in changed.items():
                alike: dict[tuple[str, ...], list[dict[str, Any]]] = {}
                for key, values in changes.items():
                    alike.setdefault(tuple(values), []).append({**target.named(key), **values})
                for columns, them in alike.items():
                    self._write(target.update(columns), them)
            if puts:
                puts[0].write(self._connection, puts[1:])
        finally:
            self._flushing = False

    def _write(self, statement: Statement, rows: list[dict[str, Any]]) -> None:
        if len(rows) == 1:
            self._connection.run(statement, **rows[0])
        elif rows:
            self._connection.many(statement, rows)

    def discard(self) -> None:
        """Drops everything, also what was not written yet: the work, or a part of it, has failed."""
        self.forget()
        self._added, self._changed, self._removed, self._puts, self._unwritten = {}, {}, {}, {}, set()

    # between them

    def before(self, statement: Statement) -> None:
        """Called with every statement before it runs."""
        if self._flushing:
            return
        if statement.writes:
            # It may refer to any row that is not added yet.
            if self._added or self._puts or (self._unwritten and _meet(statement.tables, self._unwritten)):
                self.flush()
            self._forget(statement.tables)
        elif self._unwritten and _meet(statement.tables, self._unwritten):
            self.flush()

    def _forget(self, tables: frozenset[str] | None) -> None:
        for kind in [each for each in self._known if _meet(tables, each.tables)]:
            del self._known[kind]
        if tables is None:
            self._answers.clear()
            self._rows = 0
        else:
            for name in tables:
                self._changed_table(name)

    def _changed_table(self, name: str) -> None:
        self._changes[name] = self._changes.get(name, 0) + 1


def _hashable(value: Any) -> Hashable:
    found: Hashable = tuple(value) if isinstance(value, list) else value
    return found


def _meet(some: frozenset[str] | set[str] | None, others: frozenset[str] | set[str] | None) -> bool:
    """Whether two sets of tables have one in common; None stands for all tables."""
    return some is None or others is None or not some.isdisjoint(others)
