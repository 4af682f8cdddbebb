"""An SQLite database in memory, used by one thread, that goes back to any earlier moment: what exploring needs.

That of `toryo.storage.engine.in_memory`, which also notes the tables that are written.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from toryo.storage.engine import in_memory, sqlite
from toryo.storage.engine.directory_memory import DirectoryMemory
from toryo.storage.engine.statements import Row, Statement

_WRITES = re.compile(r"\s*(?:INSERT(?: OR \w+)? INTO|UPDATE(?: OR \w+)?|DELETE FROM)\s+\"?(\w+)", re.IGNORECASE)


@lru_cache(maxsize=2000)
def _table_of(text: str) -> str:
    found = _WRITES.match(text)
    return found[1] if found is not None else ""


class Watched(sqlite.SQLiteConnection):
    """Remembers which tables were written; a statement that names none (WITH …) counts as writing all."""

    def __init__(self, driver: sqlite3.Connection, memory: DirectoryMemory) -> None:
        super().__init__(driver, ":memory:", memory, reads_only=False)
        self.written: set[str] = set()

    def run(self, statement: Statement, **params: Any) -> int:
        self.written.add(_table_of(statement.sqlite.text))
        return super().run(statement, **params)

    def many(self, statement: Statement, rows: Sequence[Mapping[str, Any]]) -> None:
        self.written.add(_table_of(statement.sqlite.text))
        super().many(statement, rows)

    def all(self, statement: Statement, **params: Any) -> list[Row]:
        self._answering(statement)
        return super().all(statement, **params)

    def one(self, statement: Statement, **params: Any) -> Row | None:
        self._answering(statement)
        return super().one(statement, **params)

    def _answering(self, statement: Statement) -> None:
        if statement.sqlite.writes:
            self.written.add(_table_of(statement.sqlite.text))


class InMemory(in_memory.InMemory):
    """`moment` is undone as a whole."""

    connection: Watched

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0

    def _connected(self, driver: sqlite3.Connection, memory: DirectoryMemory) -> Watched:
        return Watched(driver, memory)

    @contextmanager
    def moment(self) -> Iterator[None]:
        """Whatever is written inside is gone afterwards."""
        name = f"moment{self.depth}"
        self.connection.command(f"SAVEPOINT {name}")
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            self.connection.command(f"ROLLBACK TO {name}")
            self.connection.unit.discard()  # as `SQLiteConnection.rollback`: it knows rows of what is undone
            self.connection.command(f"RELEASE {name}")
