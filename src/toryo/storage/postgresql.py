"""PostgreSQL: kept connections, one transaction per work, and another try where PostgreSQL asks for it.

Writes run at READ COMMITTED, so a work that decides and then writes locks what it decides about (`with_for_update`,
`Connection.lock`); reads run on a REPEATABLE READ snapshot. A work is run again after a deadlock or a serialization
failure, and when its connection breaks before COMMIT was sent; never afterwards. Several servers may share one
database.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import psycopg
import sqlalchemy as sa
from psycopg import conninfo
from psycopg.adapt import Buffer, Loader
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.types.numeric import Int8Dumper

from toryo.storage import migrations
from toryo.storage.database import Connection, Database, DriverConnection, ddl_text
from toryo.storage.errors import (
    ConstraintBroken,
    DatabaseUnavailable,
    Duplicate,
    MisusedDatabase,
    OutcomeUnknown,
    Unstorable,
)
from toryo.storage.statements import Compiled, Row, Statement
from toryo.storage.threads import Call, Crew

_WRITE = b"BEGIN"
_READ = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_PAUSES_SECONDS = (0.0, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256)
_STATEMENTS_KEPT = 500

_DONE = {ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK}
_DRIVER_ERRORS = (psycopg.Error, UnicodeEncodeError)


class PostgreSQLDatabase(Database):
    """See `Database`."""

    dialect: Literal["sqlite", "postgresql"] = "postgresql"

    def __init__(self, url: str, *, threads: int, patience: float) -> None:
        super().__init__()
        self._conninfo, self.place = _conninfo(url, patience)
        self._lock_milliseconds = round(patience * 2000)
        self._writers = Crew("writer", threads, 1, lambda: _Hand(self, _WRITE), self._inside)
        self._readers = Crew("reader", max(2, threads // 2), 1, lambda: _Hand(self, _READ), self._inside)
        self._look()

    def upgrade(self) -> list[str]:
        def patiently(connection: Connection) -> list[str]:
            connection.define("SET LOCAL lock_timeout = 0")  # another server may be upgrading: that takes what it takes
            return migrations.upgrade(connection)

        return self.write(patiently)

    def connect(self, begin: bytes) -> PostgreSQLConnection:
        try:
            driver = psycopg.connect(self._conninfo, autocommit=True, prepare_threshold=2)
        except psycopg.Error as error:
            raise DatabaseUnavailable(
                f"PostgreSQL at {self.place} cannot be reached: {_first_line(error)}.",
                "Start it or correct the database URL; a running server goes on by itself.",
            ) from error
        driver.prepared_max = _STATEMENTS_KEPT
        driver.adapters.register_loader("numeric", _PlainNumber)
        driver.adapters.register_dumper(int, Int8Dumper)  # by size there would be a prepared statement for each
        connection = PostgreSQLConnection(driver, self.place, reads_only=begin is _READ)
        connection.command(
            f"SET lock_timeout = {self._lock_milliseconds}; SET idle_in_transaction_session_timeout = 60000".encode()
        )
        return connection

    def _look(self) -> None:
        """Fails now rather than at the first call, if the server is away or refuses us."""
        try:
            self.write(lambda _: None)
        except BaseException:
            self.close()
            raise


class PostgreSQLConnection(DriverConnection):
    """One kept driver connection with one cursor."""

    dialect: Literal["sqlite", "postgresql"] = "postgresql"

    def __init__(self, driver: psycopg.Connection[Row], place: str, *, reads_only: bool) -> None:
        self._driver = driver
        self._cursor = driver.cursor()
        self._place = place
        self._reads_only = reads_only
        self._wrote = False

    def all(self, statement: Statement, **params: Any) -> list[Row]:
        compiled = statement.postgresql
        try:
            rows = self._execute(compiled, params).fetchall()
        except _DRIVER_ERRORS as error:
            self.fail(error)
        return rows

    def one(self, statement: Statement, **params: Any) -> Row | None:
        try:
            return self._execute(statement.postgresql, params).fetchone()
        except _DRIVER_ERRORS as error:
            self.fail(error)

    def run(self, statement: Statement, **params: Any) -> int:
        try:
            return self._execute(statement.postgresql, params).rowcount
        except _DRIVER_ERRORS as error:
            self.fail(error)

    def many(self, statement: Statement, rows: Sequence[Mapping[str, Any]]) -> None:
        compiled = statement.postgresql
        ready = rows if compiled.plain else [compiled.prepare(dict(row)) for row in rows]
        try:
            self._cursor.executemany(compiled.text, ready)
        except _DRIVER_ERRORS as error:
            self.fail(error)
        self._wrote = self._wrote or self._cursor.rowcount > 0

    def lock(self, key: str) -> bool:
        self.one(_LOCK, key=_number(key))
        return True

    def lock_shared(self, key: str) -> bool:
        self.one(_LOCK_SHARED, key=_number(key))
        return True

    def define(self, change: sa.DDLElement | str) -> None:
        self._wrote = True
        self.command(ddl_text(change, "postgresql").encode())

    @property
    def wrote(self) -> bool:
        return self._wrote

    def forget(self) -> None:
        self._wrote = False

    @property
    def broken(self) -> bool:
        return self._driver.pgconn.status != ConnStatus.OK

    def command(self, text: bytes) -> None:
        """BEGIN, COMMIT and their like, without the driver's own bookkeeping of transactions."""
        try:
            result = self._driver.pgconn.exec_(text)
            if result.status not in _DONE:
                raise psycopg.errors.error_from_result(result, encoding="utf-8")
        except psycopg.Error as error:
            self.fail(error)

    def rollback(self) -> None:
        """Ends the transaction; a connection that cannot even do that is given up."""
        try:
            self.command(b"ROLLBACK")
        except DatabaseUnavailable:
            self.close()

    def close(self) -> None:
        self._driver.close()

    def meaning(self, error: Exception) -> Exception | None:
        if self.broken:
            return _Lost(f"The connection to PostgreSQL at {self._place} broke ({_first_line(error)}).", "Try again.")
        return _translated(error, self._place, self._reads_only)

    def _execute(self, compiled: Compiled, params: dict[str, Any]) -> psycopg.Cursor[Row]:
        cursor = self._cursor.execute(compiled.text, params if compiled.plain else compiled.prepare(params))
        if compiled.writes and cursor.rowcount:
            self._wrote = True
        return cursor


class _Hand:
    """The hand of a thread with a connection of its own, for works that all begin alike."""

    def __init__(self, database: PostgreSQLDatabase, begin: bytes) -> None:
        self._database = database
        self._begin = begin
        self._connection: PostgreSQLConnection | None = None

    def carry_out(self, calls: list[Call]) -> None:
        for call in calls:
            try:
                self._carry_out(call)
            except (DatabaseUnavailable, ConstraintBroken) as error:
                call.fail(error)
            if isinstance(call.error, DatabaseUnavailable):
                self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _carry_out(self, call: Call) -> None:
        for pause in _PAUSES_SECONDS:
            time.sleep(pause)
            try:
                self._try(call)
            except _Lost:
                self.close()
            except _Conflict:
                self._usable().rollback()
            else:
                return
        raise DatabaseUnavailable(
            f"PostgreSQL at {self._database.place} is too busy: other transactions were in the way every time.",
            "Try again.",
        )

    def _usable(self) -> PostgreSQLConnection:
        if self._connection is None or self._connection.broken:
            self.close()
            self._connection = self._database.connect(self._begin)
        return self._connection

    def _try(self, call: Call) -> None:
        """Runs the work in one transaction; raises `_Lost` or `_Conflict`, nothing kept, if that is worth repeating."""
        connection = self._usable()
        connection.command(self._begin)
        connection.attempt(call)
        if isinstance(connection.failure, _Lost | _Conflict):
            raise connection.failure
        if call.error is not None or self._begin is _READ:
            connection.rollback()
        else:
            self._commit(connection)

    def _commit(self, connection: PostgreSQLConnection) -> None:
        try:
            connection.command(b"COMMIT")
        except _Lost as error:
            raise OutcomeUnknown(
                f"The connection to PostgreSQL at {self._database.place} broke while the change was being kept; "
                "it was kept wholly or not at all.",
                "Look whether it is there before you repeat it.",
            ) from error


class _Lost(DatabaseUnavailable):
    """The connection is of no more use; with a new one the work may be run again."""


class _Conflict(DatabaseUnavailable):
    """Other transactions were in the way; the work may be run again."""


class _PlainNumber(Loader):
    """`sum()` of integers is `numeric` here: an int again, as SQLite answers it."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data)
        return int(text) if text.lstrip(b"-").isdigit() else float(text)


_LOCK = Statement(sa.text("SELECT pg_advisory_xact_lock(:key)"))
_LOCK_SHARED = Statement(sa.text("SELECT pg_advisory_xact_lock_shared(:key)"))


def _number(key: str) -> int:
    """The key as PostgreSQL's advisory locks name things: 63 bits."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest()) >> 1


def _conninfo(url: str, patience: float) -> tuple[str, str]:
    """What libpq is told, and how people are told where that is."""
    scheme, _, rest = url.partition("://")
    try:
        told: dict[str, Any] = conninfo.conninfo_to_dict(f"{scheme.partition('+')[0]}://{rest}")
    except psycopg.ProgrammingError as error:
        raise DatabaseUnavailable(
            f"The database URL cannot be read: {_first_line(error)}.", "Write postgresql://user@host:5432/name."
        ) from error
    place = f"{told.get('host', 'localhost')}:{told.get('port', 5432)}/{told.get('dbname', '')}"
    defaults: dict[str, str | int] = {
        "application_name": "toryo",
        "client_encoding": "utf8",
        "connect_timeout": max(2, round(patience)),
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 15000,
    }
    return conninfo.make_conninfo("", **{**defaults, **told}), place


_GRANT = "Grant it: GRANT ALL ON SCHEMA public TO the user of the URL."
_UNAVAILABLE = {
    "25006": ("does not take changes", "Use the primary server, not a standby."),
    "25P03": ("gave up a transaction that had stopped moving", "Try again."),
    "3F000": ("has no schema in which this user may make tables", _GRANT),
    "42501": ("does not allow this user to do that", _GRANT),
    "53100": ("cannot grow: its disk is full", "Free some space; the server goes on by itself."),
    "53200": ("is out of memory", "Give it more, or fewer connections."),
    "53300": ("takes no more connections", "Raise its max_connections or start fewer servers."),
    "55P03": ("did not give a lock in time", "Try again; look for a transaction that another program holds open."),
    "57014": ("cancelled the statement", "Try again; look at its statement_timeout."),
    "58030": ("cannot read or write its files", "Look at its disk and log."),
    "XX001": ("is damaged", "Look at its log; restore a backup."),
    "XX002": ("is damaged", "Look at its log; restore a backup."),
}


def _translated(error: Exception, place: str, reads_only: bool) -> Exception | None:
    """What an error on a living connection means; None for what only a mistake in our own code can cause."""
    if isinstance(error, UnicodeEncodeError):
        return Unstorable(f"A value cannot be stored: {error}.")
    if not isinstance(error, psycopg.Error):
        return None
    state, words = error.sqlstate, _first_line(error)
    if reads_only and state == "25006":
        return MisusedDatabase("A work given to read() tried to write. Give it to write().")
    if state in {"40001", "40P01"}:
        return _Conflict(f"Other transactions were in the way ({words}).", "Try again.")
    if state in {"57P01", "57P02", "57P03"} or (state == "0A000" and "cached plan" in words):
        return _Lost(f"PostgreSQL at {place} ended the connection ({words}).", "Try again.")
    return _row_refused(error) or _unavailable(error, place)


def _row_refused(error: psycopg.Error) -> Exception | None:
    words, table = _first_line(error), error.diag.table_name
    if isinstance(error, psycopg.errors.UniqueViolation):
        return Duplicate(words, table)
    if isinstance(error, psycopg.IntegrityError):
        return ConstraintBroken(words, table)
    # No state: the driver itself found the value impossible.
    if isinstance(error, psycopg.DataError) and error.sqlstate in {None, "22001", "22003", "22021", "22P05"}:
        return Unstorable(f"A value cannot be stored: {words}.")
    return None


def _unavailable(error: psycopg.Error, place: str) -> DatabaseUnavailable | None:
    if error.sqlstate in _UNAVAILABLE:
        what, instruction = _UNAVAILABLE[error.sqlstate]
        return DatabaseUnavailable(f"PostgreSQL at {place} {what} ({_first_line(error)}).", instruction)
    if isinstance(error, psycopg.OperationalError):
        return DatabaseUnavailable(
            f"PostgreSQL at {place} failed: {_first_line(error)}.", "Try again; look at its log."
        )
    return None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")
