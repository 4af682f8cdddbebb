"""SQLite: one writer that commits many waiting works together, readers on connections of their own, one owning process.

The standard library's driver in WAL mode with `synchronous=FULL`: what was answered survives a power cut. A batch
forms while the last one is flushed, without a timer, so a lone caller waits for nobody. Works run without savepoints;
only when one fails after its first write is the batch rolled back and run again with a savepoint each.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import sqlalchemy as sa

from toryo.deeds import terminal
from toryo.domain import log_redaction
from toryo.storage.engine.database import Connection, Database, DriverConnection, T, Work, ddl_text
from toryo.storage.engine.directory_memory import DirectoryMemory
from toryo.storage.engine.executor import Call, WorkerPool, gone
from toryo.storage.engine.statements import Row, Statement
from toryo.storage.engine.unit_of_work import UnitOfWork
from toryo.storage.errors import (
    ConstraintBroken,
    DatabaseInUse,
    DatabaseUnavailable,
    Duplicate,
    MisusedDatabase,
    Unstorable,
)

_WORKS_PER_COMMIT = 512
_WORKS_PER_SNAPSHOT = 16
_STATEMENTS_KEPT = 1024

_DRIVER_ERRORS = (sqlite3.Error, OverflowError, UnicodeEncodeError)

_FOR_ALL = ("PRAGMA foreign_keys = ON", "PRAGMA temp_store = MEMORY", "PRAGMA trusted_schema = OFF")
_FOR_READERS = (*_FOR_ALL, "PRAGMA cache_size = -16384", "PRAGMA query_only = ON")
_FOR_WRITERS = (
    *_FOR_ALL,
    "PRAGMA synchronous = FULL",
    "PRAGMA cache_size = -65536",
    "PRAGMA journal_size_limit = 67108864",
)


class SQLiteDatabase(Database):
    """See `Database`. Blocking readers run their works in the calling thread, which is fastest."""

    dialect: Literal["sqlite", "postgresql"] = "sqlite"

    def __init__(self, url: str, *, threads: int, exclusive: bool, patience: float) -> None:
        super().__init__()
        self._path = _path(url)
        self._patience = patience
        self._closed = False
        self._kept_most = threads
        self._kept: deque[SQLiteConnection] = deque()
        self.place = str(self._path)
        _create(self._path)
        self._file = self._path.stat()
        self._lost = False
        self._owner = _claim(self._path) if exclusive else None
        self._writers = WorkerPool("writer", 1, lambda: _Writer(self), self._inside, most=_WORKS_PER_COMMIT)
        self._readers = WorkerPool("reader", threads, lambda: _Reader(self), self._inside, most=_WORKS_PER_SNAPSHOT)
        self._look()

    def read(self, work: Work[T]) -> T:
        self._inside.refuse()
        call = Call(work)
        self.refuse_while_lost()
        connection = self._borrowed()
        self._inside.work = True
        try:
            connection.snapshot([call])
        finally:
            self._inside.work = False
            self._returned(connection, call)
        result: T = call.outcome()
        return result

    async def read_little_async(self, work: Work[T]) -> T:
        """On the event loop: a reader waits for nobody, and passing the work to a thread costs more than it does."""
        return self.read(work)

    def is_certainly_there(self) -> bool:
        self.check_file()
        return not self._closed

    def close(self) -> None:
        super().close()
        self._closed = True
        while self._kept:
            self._kept.pop().close()
        if self._owner is not None:
            os.close(self._owner)
            self._owner = None

    def connect(self, pragmas: Sequence[str]) -> SQLiteConnection:
        """Opens a connection. Raises if the file is missing, instead of creating an empty one."""
        self.check_file()
        try:
            driver = sqlite3.connect(
                f"file:{quote(self.place)}?mode=rw",
                uri=True,
                timeout=self._patience,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=_STATEMENTS_KEPT,
            )
        except sqlite3.Error as error:
            raise _translated(error, self.place) or error from error
        reads_only = pragmas is _FOR_READERS
        connection = SQLiteConnection(driver, self.place, self.memory, reads_only=reads_only, check=self.check_file)
        try:
            for pragma in pragmas:
                connection.command(pragma)
        except BaseException:
            connection.close()
            raise
        return connection

    def check_file(self) -> None:
        """Raises DatabaseUnavailable if the path no longer leads to the open file: SQLite would continue to write to a
        file that nobody can open again.
        """
        try:
            self._lost = not os.path.samestat(self._file, os.stat(self.place))  # noqa: PTH116 - at every write
        except OSError:
            self._lost = True
        if self._lost:
            raise DatabaseUnavailable(
                f"The database {self.place} was deleted, moved or replaced while the server was running. Nothing "
                "can be saved.",
                "Put the file back. Or stop the server (^C in its terminal, or kill its process) and start it "
                f"again, from a backup ({terminal('db restore')}) or with an empty database.",
            )

    def refuse_while_lost(self) -> None:
        """As `check_file`, but only after a write has found the file missing, until one finds it again."""
        if self._lost:
            self.check_file()

    def _look(self) -> None:
        """Raises now instead of at the first call if the file is not a database or is not writable."""
        try:
            self.write(_touch)
        except BaseException:
            self.close()
            raise

    def _borrowed(self) -> SQLiteConnection:
        if self._closed:
            raise gone()
        try:
            return self._kept.pop()
        except IndexError:
            return self.connect(_FOR_READERS)

    def _returned(self, connection: SQLiteConnection, call: Call) -> None:
        if isinstance(call.error, DatabaseUnavailable) or len(self._kept) >= self._kept_most:
            connection.close()
            return
        self._kept.append(connection)
        if self._closed:  # Closed in the meantime: the last thread to use the list closes the connections in it.
            while self._kept:
                self._kept.pop().close()


class SQLiteConnection(DriverConnection):
    """A driver connection with one cursor: each statement ends the previous one."""

    dialect: Literal["sqlite", "postgresql"] = "sqlite"
    remembers = True

    def __init__(
        self,
        driver: sqlite3.Connection,
        place: str,
        memory: DirectoryMemory,
        *,
        reads_only: bool,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(memory)
        self._driver = driver
        self._place = place
        self._check = check
        self._cursor = driver.cursor()
        self._execute = self._cursor.execute
        self._reads_only = reads_only
        self.unit = UnitOfWork(self)
        self._others = 0
        self._changes_before = 0
        self._defined = False

    def fetch_all(self, statement: Statement, params: dict[str, Any]) -> list[Row]:
        compiled = statement.sqlite
        if compiled.changes_directory:
            self.reads_directory = True
        try:
            rows = self._execute(compiled.text, params if compiled.plain else compiled.prepare(params)).fetchall()
        except _DRIVER_ERRORS as error:
            self.fail(error)
        return compiled.present(rows) if compiled.outward else rows

    def fetch_one(self, statement: Statement, params: dict[str, Any]) -> Row | None:
        compiled = statement.sqlite
        if compiled.changes_directory:
            self.reads_directory = True
        try:
            row = self._execute(compiled.text, params if compiled.plain else compiled.prepare(params)).fetchone()
        except _DRIVER_ERRORS as error:
            self.fail(error)
        return compiled.present([row])[0] if compiled.outward and row is not None else row

    def run(self, statement: Statement, **params: Any) -> int:
        self.unit.before(statement)
        compiled = statement.sqlite
        if compiled.changes_directory:
            self.reads_directory = True
        try:
            return self._execute(compiled.text, params if compiled.plain else compiled.prepare(params)).rowcount
        except _DRIVER_ERRORS as error:
            self.fail(error)

    def many(self, statement: Statement, rows: Sequence[Mapping[str, Any]]) -> None:
        self.unit.before(statement)
        compiled = statement.sqlite
        if compiled.changes_directory:
            self.reads_directory = True
        ready = rows if compiled.plain else [compiled.prepare(dict(row)) for row in rows]
        try:
            self._cursor.executemany(compiled.text, ready)
        except _DRIVER_ERRORS as error:
            self.fail(error)

    def check(self) -> None:
        self._check()

    def lock(self, key: str) -> bool:  # noqa: ARG002 - the writer is alone
        return False

    def lock_shared(self, key: str) -> bool:  # noqa: ARG002 - the writer is alone
        return False

    def lock_within(self, whole: str, keys: Sequence[str]) -> bool:  # noqa: ARG002 - the writer is alone
        return False

    def define(self, change: sa.DDLElement | str) -> None:
        self.unit.flush()
        self.unit.forget()
        self._defined = self.reads_directory = True  # The driver does not count a changed schema.
        self.command(ddl_text(change, "sqlite"))

    @property
    def wrote(self) -> bool:
        return self._defined or self._driver.total_changes != self._changes_before

    @property
    def in_transaction(self) -> bool:
        return self._driver.in_transaction

    def begin(self, text: str) -> None:
        self.forget_directory()
        self.command(text)
        if not self._reads_only:
            self._forget_if_others_wrote()

    def _forget_if_others_wrote(self) -> None:
        """SQLite counts the commits of other connections: another program may have changed the file."""
        try:
            others = self._execute("PRAGMA data_version").fetchone()[0]
        except _DRIVER_ERRORS as error:
            self.fail(error)
        if others != self._others:
            self._others = others
            self.unit.forget()

    def command(self, text: str) -> None:
        """Runs COMMIT, SAVEPOINT and the like."""
        try:
            self._execute(text)
        except _DRIVER_ERRORS as error:
            self.fail(error)

    mark = command

    def rollback(self) -> None:
        """Ends the transaction if one is open: SQLite may have ended it itself, for example on a full disk."""
        self.unit.discard()
        if self._driver.in_transaction:
            self.command("ROLLBACK")

    def snapshot(self, calls: list[Call]) -> None:
        """Runs reading works on one snapshot."""
        try:
            self.begin("BEGIN")
            for call in calls:
                self.attempt(call)
            self.rollback()
        except DatabaseUnavailable as error:
            for call in calls:
                call.fail(error.again())

    def close(self) -> None:
        self._driver.close()

    def forget(self) -> None:
        self._changes_before = self._driver.total_changes
        self._defined = False

    def meaning(self, error: Exception) -> Exception | None:
        return (_misused(error) if self._reads_only else None) or _translated(error, self._place)


class _Reader:
    """The worker of a thread that reads for tasks of event loops."""

    def __init__(self, database: SQLiteDatabase) -> None:
        self._database = database
        self._connection: SQLiteConnection | None = None

    def carry_out(self, calls: list[Call]) -> int:
        try:
            self._database.refuse_while_lost()
            self._connection = self._connection or self._database.connect(_FOR_READERS)
            self._connection.snapshot(calls)
        except DatabaseUnavailable as error:
            _fail_all(calls, error)
        if _unavailable(calls):
            self.close()
        return len(calls)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


class _Writer:
    """The worker of the single writing thread."""

    def __init__(self, database: SQLiteDatabase) -> None:
        self._database = database
        self._connection: SQLiteConnection | None = None

    def carry_out(self, calls: list[Call]) -> int:
        try:
            self._database.check_file()
            self._connection = self._connection or self._opened()
            self._commit_all(self._connection, calls)
        except DatabaseUnavailable as error:
            _fail_all(calls, error)
        if _unavailable(calls):
            self.close()
        return len(calls)

    def close(self) -> None:
        if self._connection is not None:
            if self._connection.in_transaction:  # A COMMIT failed: a closed connection may keep the lock for a while.
                with contextlib.suppress(DatabaseUnavailable):
                    self._connection.rollback()
            self._connection.close()
        self._connection = None

    def _opened(self) -> SQLiteConnection:
        connection = self._database.connect(_FOR_WRITERS)
        if connection.one(_USE_WAL) != ("wal",):
            connection.close()
            raise DatabaseUnavailable(
                f"The file system of {self._database.place} does not allow several readers at the same time.",
                "Put the database on a local disk.",
            )
        return connection

    def _commit_all(self, connection: SQLiteConnection, calls: list[Call]) -> None:
        try:
            if self._together(connection, calls) or len(calls) == 1:
                return
            self._with_savepoints(connection, calls)
        except ConstraintBroken as error:  # A deferred constraint failed at COMMIT; which work caused it is unknown.
            connection.rollback()
            if len(calls) == 1:
                calls[0].fail(error)
            else:
                for call in calls:
                    self._commit_all(connection, [call])

    def _together(self, connection: SQLiteConnection, calls: list[Call]) -> bool:
        """Runs the works in one transaction; False if one failed after its first write and nothing was kept."""
        connection.begin("BEGIN IMMEDIATE")
        for call in calls:
            connection.attempt(call)
            if call.error is not None and (connection.wrote or not connection.in_transaction):
                connection.rollback()
                return False
        connection.command("COMMIT")
        return True

    def _with_savepoints(self, connection: SQLiteConnection, calls: list[Call]) -> None:
        """Runs the works again in one transaction with a savepoint each, so that only failed ones are undone."""
        connection.begin("BEGIN IMMEDIATE")
        for call in calls:
            connection.command("SAVEPOINT work")
            connection.attempt(call)
            if call.error is not None:
                self._undo(connection, call.error)
            connection.command("RELEASE work")
        connection.command("COMMIT")

    def _undo(self, connection: SQLiteConnection, error: BaseException) -> None:
        if connection.in_transaction:
            connection.command("ROLLBACK TO work")
        elif isinstance(error, DatabaseUnavailable):  # SQLite rolled back the whole transaction, not only this work.
            raise error
        else:
            raise DatabaseUnavailable("SQLite rolled the transaction back.", "Try again.") from error


_USE_WAL = Statement(sa.text("PRAGMA journal_mode = WAL"))
_READ_SCHEMA = Statement(sa.text("SELECT count(*) FROM sqlite_schema"))


def _touch(connection: Connection) -> None:
    connection.one(_READ_SCHEMA)


def _fail_all(calls: list[Call], error: DatabaseUnavailable) -> None:
    for call in calls:
        call.fail(error.again())


def _unavailable(calls: list[Call]) -> bool:
    """Whether the connection is no longer reliable; the next call opens a new one."""
    return any(isinstance(call.error, DatabaseUnavailable) for call in calls)


def _path(url: str) -> Path:
    name = sa.make_url(url).database
    if not name or name == ":memory:" or name.startswith("file:"):
        raise DatabaseUnavailable(
            f"{log_redaction.address(url)} does not name a file. Toryo needs one, because it uses several connections.",
            "Use sqlite:///path/to/toryo.db.",
        )
    return Path(name).resolve()


def _create(path: Path) -> None:
    """Creates a missing file. Only its owner may read it from now on, and the same holds for its companions: SQLite
    gives new ones the mode of the file.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        for each in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm", ".lock"))):
            # Only its owner can change the mode of another user's file.
            with contextlib.suppress(FileNotFoundError, PermissionError):
                each.chmod(0o600)
    except FileNotFoundError as error:
        raise DatabaseUnavailable(
            f"There is no directory {path.parent}.", "Create it, or choose another place for the database."
        ) from error
    except OSError as error:
        raise DatabaseUnavailable(
            f"The database {path} cannot be opened for writing: {error.strerror}.",
            "Make the file and its directory writable for this user, or choose another place for the database.",
        ) from error


def _claim(path: Path) -> int:
    """Locks the lock file beside the database; the operating system releases it when this process ends."""
    lock = path.with_name(path.name + ".lock")
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise DatabaseUnavailable(
            f"The lock file {lock} cannot be written: {error.strerror}.",
            "Make it and its directory writable for this user, or choose another place for the database.",
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        owner = os.read(descriptor, 32).decode(errors="replace").strip()
        os.close(descriptor)
        raise DatabaseInUse(
            f"Another process{f' ({owner})' if owner else ''} has opened the database {path}.",
            "Use the running server, stop it first, or choose another database.",
        ) from error
    os.truncate(descriptor, 0)
    os.write(descriptor, f"{os.getpid()}\n".encode())
    return descriptor


def _misused(error: Exception) -> MisusedDatabase | None:
    if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_READONLY:
        return None
    return MisusedDatabase("A work given to read() tried to write. Give it to write().")


_DUPLICATES = {
    sqlite3.SQLITE_CONSTRAINT_UNIQUE,
    sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
    sqlite3.SQLITE_CONSTRAINT_ROWID,
}

_UNAVAILABLE: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_BUSY: ("is locked by another process", "Stop the other program that has opened it, then try again."),
    sqlite3.SQLITE_LOCKED: ("is locked", "Try again."),
    sqlite3.SQLITE_PROTOCOL: (
        "is locked by another process",
        "Stop the other program that has opened it, then try again.",
    ),
    sqlite3.SQLITE_READONLY: ("is read-only", "Make the file and its directory writable for this user."),
    sqlite3.SQLITE_PERM: ("cannot be accessed", "Make the file and its directory writable for this user."),
    sqlite3.SQLITE_FULL: ("is out of disk space", "Free some space. The server continues by itself."),
    sqlite3.SQLITE_IOERR: ("cannot be read or written", "Check the disk and its free space, then try again."),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "Make sure that the file and its directory exist and are writable."),
    sqlite3.SQLITE_CORRUPT: ("is damaged", "Stop the server and restore a backup."),
    sqlite3.SQLITE_NOTADB: ("is not an SQLite database", "Choose another file."),
    sqlite3.SQLITE_NOMEM: ("is out of memory", "Free some memory, then try again."),
}


def _translated(error: Exception, place: str) -> Exception | None:
    """The driver's error as a StorageError; None for errors that only a bug can cause."""
    if isinstance(error, OverflowError | UnicodeEncodeError | sqlite3.DataError):
        return Unstorable(f"A value cannot be stored: {error}.")
    code = getattr(error, "sqlite_errorcode", None) or 0
    if code in _DUPLICATES:
        return Duplicate(str(error), _table(str(error)))
    if code & 0xFF == sqlite3.SQLITE_CONSTRAINT:
        return ConstraintBroken(str(error), _table(str(error)))
    if code & 0xFF in _UNAVAILABLE:
        what, instruction = _UNAVAILABLE[code & 0xFF]
        return DatabaseUnavailable(f"The database {place} {what} ({error}).", instruction)
    return None


def _table(message: str) -> str | None:
    """`UNIQUE constraint failed: tasks.id, tasks.version` -> `tasks`."""
    column = message.partition("failed: ")[2].partition(",")[0]
    return column.partition(".")[0] if "." in column else None
