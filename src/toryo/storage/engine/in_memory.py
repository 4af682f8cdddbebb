"""An SQLite database in memory that one thread at a time uses: no files, no threads, no commits to wait for.

For simulations and for tests. The statements, and what a work may do, are those of `sqlite.py`.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from toryo.storage.engine import sqlite
from toryo.storage.engine.database import Database, T, Work
from toryo.storage.engine.directory_memory import DirectoryMemory
from toryo.storage.engine.executor import Call
from toryo.storage.errors import DatabaseUnavailable


class InMemory(Database):
    """See `Database`. Calls from several threads are right only if the caller keeps them apart."""

    dialect = "sqlite"
    place = ":memory:"

    def __init__(self, copied_from: Path | None = None) -> None:
        """`copied_from`: an SQLite file whose contents it begins with. Raises DatabaseUnavailable."""
        super().__init__()
        self._driver = sqlite3.connect(
            ":memory:", isolation_level=None, cached_statements=2000, check_same_thread=False
        )
        if copied_from is not None:
            self._copy(copied_from)
        self.connection = self._connected(self._driver, self.memory)
        self.connection.command("PRAGMA foreign_keys = ON")

    def _copy(self, file: Path) -> None:
        try:
            source = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)
            try:
                source.backup(self._driver)
            finally:
                source.close()
        except sqlite3.Error as wrong:
            raise DatabaseUnavailable(
                f"{file} cannot be read: {wrong}", "Check the file, and who may read it."
            ) from wrong

    def _connected(self, driver: sqlite3.Connection, memory: DirectoryMemory) -> sqlite.SQLiteConnection:
        return sqlite.SQLiteConnection(driver, ":memory:", memory, reads_only=False)

    def read(self, work: Work[T]) -> T:
        return self._run(work)

    def write(self, work: Work[T]) -> T:
        self.connection.command("SAVEPOINT work")
        try:
            result = self._run(work)
        except BaseException:
            self.connection.command("ROLLBACK TO work")
            self.connection.unit.discard()
            raise
        finally:
            self.connection.command("RELEASE work")
        return result

    def _run(self, work: Work[T]) -> T:
        self._inside.refuse()
        call = Call(work)
        self._inside.work = True
        self.connection.forget_directory()
        try:
            self.connection.attempt(call)
        finally:
            self._inside.work = False
        result: T = call.outcome()
        return result

    def save(self, file: Path) -> None:
        """Copies everything to an SQLite file, which a server opens like its own and others cannot read.

        Raises OSError (also if there is such a file) or sqlite3.Error.
        """
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        target = sqlite3.connect(file)
        try:
            self._driver.backup(target)
            target.execute("PRAGMA journal_mode = WAL")
        finally:
            target.close()

    def close(self) -> None:
        self.connection.close()
