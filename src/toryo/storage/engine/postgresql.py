"""PostgreSQL: kept connections that commit waiting works together, and another try where PostgreSQL asks for it.

Writes run at READ COMMITTED, so a work that decides and then writes locks what it decides about (`with_for_update`,
`Connection.lock`); reads run on a REPEATABLE READ snapshot. A work is run again after a deadlock or a serialization
failure, and when its connection breaks before COMMIT was sent; never afterwards. Several servers may share one
database.

Works that wait together share a transaction: the round trips for BEGIN, COMMIT and the locks that an earlier one took
are most of what a small work costs. Two rules keep that from making works wait for one another that would not have
done so: only the first of them waits for a lock, and when one fails after a write, all of it is rolled back and each
work gets a transaction of its own. A work that locks for several others (`lock_within`) waits briefly for the same
reason.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NoReturn

import psycopg
import sqlalchemy as sa
from psycopg import conninfo
from psycopg.adapt import Buffer, Loader
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGresult
from psycopg.types.numeric import Int8Dumper
from sqlalchemy.dialects.postgresql import ARRAY

from toryo.domain import log_redaction
from toryo.storage.engine import silent_postgresql
from toryo.storage.engine.database import Connection, Database, DriverConnection, T, Work, ddl_text
from toryo.storage.engine.directory_memory import DirectoryMemory
from toryo.storage.engine.executor import Call, WorkerPool
from toryo.storage.engine.statements import Compiled, Row, Statement
from toryo.storage.engine.unit_of_work import UnitOfWork
from toryo.storage.errors import (
    ConstraintBroken,
    DatabaseUnavailable,
    Duplicate,
    MisusedDatabase,
    OutcomeUnknown,
    Unstorable,
)

_WRITE = b"BEGIN"
# Milliseconds. Only a work that nobody waits behind waits longer for a lock, and none for several at once.
_BRIEF = 100
_WRITE_TOGETHER = b"BEGIN; SET LOCAL lock_timeout = %d" % _BRIEF
_READ = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_PAUSES_SECONDS = (0.0, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256)
_LIMITS = b"SET lock_timeout = %d; SET statement_timeout = %d; SET idle_in_transaction_session_timeout = 60000"
_ANSWER_SECONDS = silent_postgresql.STATEMENT_SECONDS + silent_postgresql.GRACE_SECONDS
_BACKEND = b"SELECT pg_backend_pid()"
_BY_INDEX = "; ".join(
    [
        *(f"SET enable_{way} = off" for way in ("seqscan", "bitmapscan", "hashjoin", "mergejoin", "material")),
        "SET jit = off",
        "SET plan_cache_mode = force_generic_plan",
    ]
).encode()
"""For writing works. Each asks for a few rows, and there is an index for all that grows. Without this a plan made while
a table has ten rows reads all of it, and is kept while the table grows to ten thousand: until autovacuum comes.
"""
_FORGET_PLANS = b"DISCARD PLANS"
_PLANS_KEPT_SECONDS = 1.0
"""Planning costs as much as running, so it is done once for all parameters; and again after this time, because which
index is best depends on the sizes of tables too.
"""
_STATEMENTS_KEPT = 500
_WORKS_TOGETHER = 64

_DONE = {ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK}
_DRIVER_ERRORS = (psycopg.Error, UnicodeEncodeError)


class PostgreSQLDatabase(Database):
    """See `Database`."""

    dialect: Literal["sqlite", "postgresql"] = "postgresql"

    def __init__(self, url: str, *, threads: int, patience: float) -> None:
        super().__init__()
        self._conninfo, self.place = _conninfo(url, patience)
        self._lock_milliseconds = round(patience * 2000)
        self._watch = silent_postgresql.Watch(self.place)
        self._writers = self._crew("writer", threads, reads=False)
        self._readers = self._crew("reader", max(2, threads // 2), reads=True)
        self._look()

    def write_patiently(self, work: Work[T]) -> T:
        def patiently(connection: Connection) -> T:
            assert isinstance(connection, PostgreSQLConnection)
            connection.be_patient()
            return work(connection)

        return self.write(patiently)

    def connect(self, *, reads_only: bool, line: silent_postgresql.Line | None = None) -> PostgreSQLConnection:
        """`line` is told of the connection, and ends it if PostgreSQL becomes silent."""
        try:
            driver = psycopg.connect(self._conninfo, autocommit=True, prepare_threshold=2)
        except psycopg.Error as error:
            raise DatabaseUnavailable(
                f"PostgreSQL at {self.place} cannot be reached: {_first_line(error)}.",
                "Start PostgreSQL or correct the database URL. A running server continues by itself.",
            ) from error
        line = line or silent_postgresql.Line()
        line.leads(driver)
        driver.prepared_max = _STATEMENTS_KEPT
        driver.adapters.register_loader("numeric", _PlainNumber)
        driver.adapters.register_dumper(int, Int8Dumper)  # By size there would be a prepared statement for each.
        connection = PostgreSQLConnection(
            driver, line, self.place, self.memory, reads_only=reads_only, lock_milliseconds=self._lock_milliseconds
        )
        try:
            connection.command(_LIMITS % (self._lock_milliseconds, silent_postgresql.STATEMENT_SECONDS * 1000))
            if not reads_only:
                connection.command(_BY_INDEX)
        except BaseException:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        super().close()
        self._watch.close()

    def line(self) -> silent_postgresql.Line:
        """For the connection of one thread."""
        return self._watch.line()

    def _crew(self, name: str, threads: int, *, reads: bool) -> WorkerPool:
        return WorkerPool(name, threads, lambda: _Hand(self, reads=reads), self._inside, most=_WORKS_TOGETHER)

    def _look(self) -> None:
        """Raises now instead of at the first call if the server is unreachable, refuses the connection, or is behind a
        pool that gives each transaction another one."""
        try:
            self.write(lambda _: None)
            self._refuse_pooled_transactions()
        except BaseException:
            self.close()
            raise

    def _refuse_pooled_transactions(self) -> None:
        """A pool that gives each transaction another connection would lose settings, locks and notifications. It gives
        two clients that are idle the same one."""
        pair = [self.connect(reads_only=True) for _ in range(2)]
        try:
            backends = {each.command(_BACKEND).get_value(0, 0) for each in pair}
        finally:
            for each in pair:
                each.close()
        if len(backends) < len(pair):
            raise DatabaseUnavailable(
                f"At {self.place} a pool in transaction mode (PgBouncer) stands before PostgreSQL: the settings, locks "
                "and notifications of a connection would be lost.",
                "Give the address of PostgreSQL itself, or set pool_mode = session.",
            )


class PostgreSQLConnection(DriverConnection):
    """A pooled driver connection with one cursor."""

    dialect: Literal["sqlite", "postgresql"] = "postgresql"

    def __init__(
        self,
        driver: psycopg.Connection[Row],
        line: silent_postgresql.Line,
        place: str,
        memory: DirectoryMemory,
        *,
        reads_only: bool,
        lock_milliseconds: int,
    ) -> None:
        super().__init__(memory)
        self.steady = reads_only
        self._driver = driver
        self._line = line
        self._cursor = driver.cursor()
        self._place = place
        self._reads_only = reads_only
        self.unit = UnitOfWork(self)
        self._wrote = False
        self._locked: set[str] = set()
        self._shared: set[str] = set()
        self.waits_for_locks = True
        self._lock_milliseconds = lock_milliseconds
        self._brief = False
        """Whether this transaction waits only briefly for a lock."""
        self._answer_seconds = _ANSWER_SECONDS
        """How long PostgreSQL may take for a statement of this transaction."""
        self._plan_again_at = 0.0
        self._begin = b""
        """The BEGIN that is sent with the first command, or before the first statement."""

    def fetch_all(self, statement: Statement, params: dict[str, Any]) -> list[Row]:
        compiled = statement.postgresql
        try:
            rows = self._execute(compiled, params).fetchall()
        except _DRIVER_ERRORS as error:
            self.fail(error)
        return rows

    def fetch_one(self, statement: Statement, params: dict[str, Any]) -> Row | None:
        try:
            return self._execute(statement.postgresql, params).fetchone()
        except _DRIVER_ERRORS as error:
            self.fail(error)

    def run(self, statement: Statement, **params: Any) -> int:
        self.unit.before(statement)
        try:
            return self._execute(statement.postgresql, params).rowcount
        except _DRIVER_ERRORS as error:
            self.fail(error)

    def many(self, statement: Statement, rows: Sequence[Mapping[str, Any]]) -> None:
        self.unit.before(statement)
        compiled = statement.postgresql
        if compiled.changes_directory:
            self.reads_directory = True
        ready = rows if compiled.plain else [compiled.prepare(dict(row)) for row in rows]
        self.begin_now()
        self._line.due = time.monotonic() + self._answer_seconds * len(ready)
        try:
            self._cursor.executemany(compiled.text, ready)
        except _DRIVER_ERRORS as error:
            self.fail(error)
        finally:
            self._line.due = 0.0
        self._wrote = self._wrote or self._cursor.rowcount > 0

    def check(self) -> None:
        """A PostgreSQL server that answers also keeps the data, unless another server has upgraded the tables."""
        self.directory()

    def lock(self, key: str) -> bool:
        return self._lock([], [key])

    def lock_shared(self, key: str) -> bool:
        return self._lock([key], [])

    def lock_within(self, whole: str, keys: Sequence[str]) -> bool:
        return self._lock([whole], keys, then=_STAMP)

    def run_locking(self, key: str, statement: Statement, **params: Any) -> int:
        if not self.waits_for_locks:
            self.lock(key)
        changed = self.run(statement, lock=_number(key), **params)
        if key not in self._locked:
            self._read_again()
            self._locked.add(key)
        return changed

    def _lock(self, shared: Sequence[str], keys: Sequence[str], *, then: bytes = b"") -> bool:
        """In one round trip, with BEGIN if nothing was asked before, and with the directory's stamp after the locks if
        `then` asks for it: who locks a project asks next who calls.
        """
        shared = [key for key in shared if key not in self._locked and key not in self._shared]
        keys = [key for key in keys if key not in self._locked]
        if not shared and not keys:
            return False
        self.unit.flush()
        stamp = None
        if self.waits_for_locks:
            stamp = self._wait_for(shared, keys, then)
        else:
            self._take_at_once(shared, keys)
        self._read_again()
        if stamp is not None:
            self._state = self._memory.at(int(stamp))
        self._shared.update(shared)
        self._locked.update(keys)
        return True

    def _wait_for(self, shared: Sequence[str], keys: Sequence[str], then: bytes) -> bytes | None:
        """The first value of what `then` asks."""
        parts = [_LOCK_SHARED % _number(key) for key in shared] + [_LOCK % _number(key) for key in keys]
        if len(keys) > 1 and not self._brief:
            parts = [_LOCK_TIMEOUT % _BRIEF, *parts, _LOCK_TIMEOUT % self._lock_milliseconds]
        answer = self.command(b"; ".join([*parts, then] if then else parts))
        return answer.get_value(0, 0) if then and answer.ntuples else None

    def _take_at_once(self, shared: Sequence[str], keys: Sequence[str]) -> None:
        wanted = {"shared": [_number(key) for key in shared], "keys": [_number(key) for key in keys]}
        if not self.value(_TRY_LOCKS, **wanted):
            self._would_wait(", ".join([*shared, *keys]))

    def _read_again(self) -> None:
        """Others may have changed what was read, and the directory, before they released a lock."""
        self.unit.forget()
        self._state = None

    def _would_wait(self, key: str) -> NoReturn:
        self.failure = self.failure or _WouldWait(f"{key!r} is locked by another transaction.", "Try again.")
        raise self.failure

    def define(self, change: sa.DDLElement | str) -> None:
        self.unit.flush()
        self.unit.forget()
        self._wrote = self.reads_directory = True
        self.command(ddl_text(change, "postgresql").encode())

    def be_patient(self) -> None:
        """For this transaction: PostgreSQL may take any time for a lock or a statement."""
        self.define("SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0")
        self._answer_seconds = math.inf

    @property
    def wrote(self) -> bool:
        return self._wrote

    def forget(self) -> None:
        self._wrote = False

    @property
    def broken(self) -> bool:
        return self._driver.pgconn.status != ConnStatus.OK

    def begin(self, text: bytes) -> None:
        self._locked.clear()
        self._shared.clear()
        self.forget_directory()
        self.waits_for_locks = True
        self._brief = text is _WRITE_TOGETHER
        self._answer_seconds = _ANSWER_SECONDS
        if not self._reads_only and (now := time.monotonic()) >= self._plan_again_at:
            self._plan_again_at = now + _PLANS_KEPT_SECONDS
            self.command(_FORGET_PLANS)
        self._begin = text

    def command(self, text: bytes) -> PGresult:
        """Runs BEGIN, COMMIT and the like, without the driver's own transaction handling; the last one's answer."""
        if self._begin:
            text, self._begin = b"%s; %s" % (self._begin, text), b""
        self._line.due = time.monotonic() + self._answer_seconds
        try:
            result = self._driver.pgconn.exec_(text)
            if result.status not in _DONE:
                raise psycopg.errors.error_from_result(result, encoding="utf-8")
        except psycopg.Error as error:
            self.fail(error)
        finally:
            self._line.due = 0.0
        return result

    def mark(self, text: str) -> None:
        self.command(text.encode())

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        locked, shared = set(self._locked), set(self._shared)
        try:
            with super().savepoint():
                yield
        except Exception:
            self._locked, self._shared = locked, shared
            raise

    def rollback(self) -> None:
        """Ends the transaction; closes a connection on which even that fails."""
        try:
            self.command(b"ROLLBACK")
        except DatabaseUnavailable:
            self.close()

    def close(self) -> None:
        self._line.leads(None)
        self._driver.close()

    def meaning(self, error: Exception) -> Exception | None:
        if self.broken:
            return _Lost(
                f"The connection to PostgreSQL at {self._place} was lost ({_first_line(error)}).", "Try again."
            )
        # What an error on a working connection means; None for errors that only a bug can cause.
        if isinstance(error, UnicodeEncodeError):
            return Unstorable(f"A value cannot be stored: {error}.")
        if not isinstance(error, psycopg.Error):
            return None
        state, words = error.sqlstate, _first_line(error)
        if self._reads_only and state == "25006":
            return MisusedDatabase("A work given to read() tried to write. Give it to write().")
        if state in {"40001", "40P01"}:
            return _Conflict(f"The transaction conflicts with other transactions ({words}).", "Try again.")
        if state in {"57P01", "57P02", "57P03"} or (state == "0A000" and "cached plan" in words):
            return _Lost(f"PostgreSQL at {self._place} closed the connection ({words}).", "Try again.")
        if state == "55P03" and self._brief:
            return _Late(f"A lock was not granted within {_BRIEF} ms ({words}).", "Try again.")
        return _row_refused(error) or _unavailable(error, self._place)

    def begin_now(self) -> None:
        """Sends the BEGIN if nothing was sent since."""
        if self._begin:
            text, self._begin = self._begin, b""
            self.command(text)

    def _execute(self, compiled: Compiled, params: dict[str, Any]) -> psycopg.Cursor[Row]:
        self.begin_now()
        if compiled.changes_directory:
            self.reads_directory = True
        ready = params if compiled.plain else compiled.prepare(params)
        self._line.due = time.monotonic() + self._answer_seconds
        try:
            cursor = self._cursor.execute(compiled.text, ready)
        finally:
            self._line.due = 0.0
        if compiled.writes and cursor.rowcount:
            self._wrote = True
        return cursor


class _Hand:
    """One pool thread's worker with its own connection, for reading or writing works."""

    def __init__(self, database: PostgreSQLDatabase, *, reads: bool) -> None:
        self._database = database
        self._reads = reads
        self._connection: PostgreSQLConnection | None = None
        self._line = database.line()
        self._alone = 0
        """How many of the next calls run in a transaction of their own, because together they failed."""
        self._untried = 0
        """How many of these have not been tried yet. Who waits for a lock makes way for those behind it."""

    def carry_out(self, calls: list[Call]) -> int:
        try:
            self._usable()
        except DatabaseUnavailable as error:  # Unreachable: the other waiting calls fail at once, too.
            return _refused(calls, error)
        if len(calls) > 1 and not self._alone:
            done = self._together(calls)
            if done:
                return done
            self._alone = self._untried = len(calls)
        while self._untried and len(calls) > 1 and not self._reads:
            self._untried -= 1
            if self._by_itself(calls[0], briefly=True):
                break
            calls.append(calls.pop(0))
        else:
            self._untried = 0
            self._by_itself(calls[0])
        self._alone = max(0, self._alone - 1)
        return 1

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _usable(self) -> PostgreSQLConnection:
        if self._connection is None or self._connection.broken:
            self.close()
            self._connection = self._database.connect(reads_only=self._reads, line=self._line)
        return self._connection

    def _together(self, calls: list[Call]) -> int:
        """Runs works in one transaction, up to the first that would have to wait; 0 if one failed and nothing
        was kept.
        """
        connection, done = self._usable(), 0
        try:
            connection.begin(_READ if self._reads else _WRITE_TOGETHER)
            done = _attempted(connection, calls)
            self._end(connection, keep=done > 0)
        except OutcomeUnknown as error:
            return _refused(calls[:done], error)
        except (DatabaseUnavailable, ConstraintBroken):
            return 0  # Run separately, the failing one shows itself.
        return done

    def _by_itself(self, call: Call, *, briefly: bool = False) -> bool:
        """False if it was to wait briefly for locks, and would have to wait longer: then nothing was kept."""
        try:
            if not self._until_nobody_is_in_the_way(call, briefly):
                return False
        except (DatabaseUnavailable, ConstraintBroken) as error:
            call.fail(error)
        if isinstance(call.error, DatabaseUnavailable):
            self.close()
        return True

    def _until_nobody_is_in_the_way(self, call: Call, briefly: bool) -> bool:
        for pause in _PAUSES_SECONDS:
            time.sleep(pause)
            try:
                self._try(call, briefly)
            except _Late:
                self._usable().rollback()
                return False
            except _Lost:
                self.close()
            except _Conflict:
                self._usable().rollback()
            else:
                return True
        raise DatabaseUnavailable(
            f"PostgreSQL at {self._database.place} is too busy: every attempt conflicted with other transactions.",
            "Try again.",
        )

    def _try(self, call: Call, briefly: bool) -> None:
        """Runs the work in one transaction; raises `_Lost`, `_Conflict` or `_Late` if nothing was kept and a retry
        makes sense.
        """
        connection = self._usable()
        connection.begin(_READ if self._reads else _WRITE_TOGETHER if briefly else _WRITE)
        connection.attempt(call)
        if isinstance(connection.failure, _Lost | _Conflict | _Late):
            raise connection.failure
        self._end(connection, keep=call.error is None)

    def _end(self, connection: PostgreSQLConnection, *, keep: bool) -> None:
        if self._reads or not keep:
            connection.rollback()
            return
        connection.begin_now()
        try:
            connection.command(b"COMMIT")
        except _Lost as error:
            raise OutcomeUnknown(
                f"The connection to PostgreSQL at {self._database.place} was lost during a commit. The change "
                "was saved completely or not at all.",
                "Check whether it was saved before you repeat it.",
            ) from error


def _attempted(connection: PostgreSQLConnection, calls: list[Call]) -> int:
    """Runs the works and returns how many may be kept; those after one that would have to wait must run again."""
    for position, call in enumerate(calls):
        connection.attempt(call)
        if isinstance(connection.failure, _WouldWait) and not connection.wrote:
            return position
        if connection.failure is not None or (call.error is not None and connection.wrote):
            return 0
        connection.waits_for_locks = False
    return len(calls)


def _refused(calls: list[Call], error: DatabaseUnavailable) -> int:
    for call in calls:
        call.fail(error.again())
    return len(calls)


class _Lost(DatabaseUnavailable):
    """The connection is lost; the work may run again on a new one."""


class _Conflict(DatabaseUnavailable):
    """A conflict with other transactions; the work may run again."""


class _WouldWait(DatabaseUnavailable):
    """Waiting for a lock while holding other works' locks can cause deadlocks; the work may wait when run alone."""


class _Late(DatabaseUnavailable):
    """A lock was not granted within the brief time of a transaction that others wait for."""


class _PlainNumber(Loader):
    """PostgreSQL returns `sum()` of integers as `numeric`: converted to int, as on SQLite."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data)
        return int(text) if text.lstrip(b"-").isdigit() else float(text)


def _number(key: str) -> int:
    """The number of a lock: they have 63 bits."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest()) >> 1


def _each(name: str) -> sa.ColumnElement[int]:
    return sa.func.unnest(sa.bindparam(name, type_=ARRAY(sa.BigInteger))).column_valued(f"{name}_lock")


_LOCK = b"SELECT pg_advisory_xact_lock(%d)"
_LOCK_SHARED = b"SELECT pg_advisory_xact_lock_shared(%d)"
_STAMP = b"SELECT stamp FROM directory WHERE id = 1"
_LOCK_TIMEOUT = b"SET LOCAL lock_timeout = %d"
_TRY_LOCKS = Statement(
    sa.select(
        sa.and_(
            *(
                sa.select(sa.func.coalesce(sa.func.bool_and(attempt(_each(name))), sa.true())).scalar_subquery()
                for name, attempt in (
                    ("shared", sa.func.pg_try_advisory_xact_lock_shared),
                    ("keys", sa.func.pg_try_advisory_xact_lock),
                )
            )
        )
    )
)


def _conninfo(url: str, patience: float) -> tuple[str, str]:
    """The connection string for libpq, and the address shown to people."""
    scheme, _, rest = url.partition("://")
    try:
        told: dict[str, Any] = conninfo.conninfo_to_dict(f"{scheme.partition('+')[0]}://{rest}")
    # Its message repeats the text that cannot be parsed, which may contain the password.
    except psycopg.ProgrammingError:
        raise DatabaseUnavailable(
            f"The database URL {log_redaction.address(url)} is invalid.",
            "Write postgresql://USER:PASSWORD@HOST:5432/NAME, with / ? # @ % in the password written as %2F %3F %23 "
            "%40 %25.",
        ) from None
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
    "25006": ("is read-only", "Use the primary server, not a standby."),
    "25P03": ("ended an idle transaction", "Try again."),
    "3F000": ("has no schema in which this user can create tables", _GRANT),
    "42501": ("denied access to this user", _GRANT),
    "53100": ("is out of disk space", "Free some space. The server continues by itself."),
    "53200": ("is out of memory", "Give PostgreSQL more memory, or allow fewer connections."),
    "53300": ("accepts no more connections", "Raise its max_connections or start fewer servers."),
    "55P03": ("did not grant a lock in time", "Try again. Check for a transaction that another program keeps open."),
    "57014": ("cancelled the statement", "Try again. Check the statement_timeout of PostgreSQL."),
    "58030": ("cannot read or write its files", "Check the disk and the log of PostgreSQL."),
    "XX001": ("is damaged", "Check the log of PostgreSQL, and restore a backup."),
    "XX002": ("is damaged", "Check the log of PostgreSQL, and restore a backup."),
}


def _row_refused(error: psycopg.Error) -> Exception | None:
    words, table = _first_line(error), error.diag.table_name
    if isinstance(error, psycopg.errors.UniqueViolation):
        return Duplicate(words, table)
    if isinstance(error, psycopg.IntegrityError):
        return ConstraintBroken(words, table)
    # Without an SQLSTATE, the driver itself rejected the value.
    if isinstance(error, psycopg.DataError) and error.sqlstate in {None, "22001", "22003", "22021", "22P05"}:
        return Unstorable(f"A value cannot be stored: {words}.")
    return None


def _unavailable(error: psycopg.Error, place: str) -> DatabaseUnavailable | None:
    if error.sqlstate in _UNAVAILABLE:
        what, instruction = _UNAVAILABLE[error.sqlstate]
        return DatabaseUnavailable(f"PostgreSQL at {place} {what} ({_first_line(error)}).", instruction)
    if isinstance(error, psycopg.OperationalError):
        return DatabaseUnavailable(
            f"PostgreSQL at {place} failed: {_first_line(error)}.", "Try again. Check the log of PostgreSQL."
        )
    return None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")
