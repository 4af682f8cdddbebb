"""The interface between Toryo and its database: `read(work)`, `write(work)`, and the `Connection` of a work.

A work is a function of one `Connection`. It may run more than once (serialization failure, a failed neighbour in its
batch), so it may have effects only through its connection. It may share its transaction with other works, so works must
not wait for one another. All differences between the databases are in `sqlite.py` and `postgresql.py`; statements are
in `statements.py`, tables in `schema.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, Literal, NoReturn, Self, TypeVar

import sqlalchemy as sa

from toryo.storage.engine.directory_memory import DirectoryMemory, State
from toryo.storage.engine.executor import AwaitedCall, BlockedCall, Call, ReentrancyGuard, WorkerPool
from toryo.storage.engine.statements import DIALECTS, Row, Statement
from toryo.storage.engine.unit_of_work import UnitOfWork
from toryo.storage.errors import DatabaseTooNew, DatabaseUnavailable, MisusedDatabase

T = TypeVar("T")


class Connection(ABC):
    """A work's view of the database: statements run at once, rows are plain tuples.

    A failed statement ends the work, even if the work catches the error: nothing is kept, and the caller gets that
    error. PostgreSQL behaves this way, so SQLite follows the same rule.
    """

    dialect: Literal["sqlite", "postgresql"]
    unit: UnitOfWork
    """What the work has read, and what it has changed and not written yet."""

    @abstractmethod
    def all(self, statement: Statement, **params: Any) -> list[Row]:
        """All rows of the result."""

    @abstractmethod
    def one(self, statement: Statement, **params: Any) -> Row | None:
        """The first row, or None."""

    def value(self, statement: Statement, **params: Any) -> Any:
        """The first column of the first row, or None."""
        row = self.one(statement, **params)
        return None if row is None else row[0]

    @abstractmethod
    def run(self, statement: Statement, **params: Any) -> int:
        """Runs the statement and returns how many rows changed."""

    @abstractmethod
    def many(self, statement: Statement, rows: Sequence[Mapping[str, Any]]) -> None:
        """Runs the statement once per parameter set."""

    @abstractmethod
    def savepoint(self) -> AbstractContextManager[None]:
        """A part of a work that can be undone alone: if it raises, only its changes and locks are dropped. If the
        database becomes unusable, the whole work fails as usual.
        """

    @abstractmethod
    def check(self) -> None:
        """Raises DatabaseUnavailable if writes would be lost although statements succeed."""

    @abstractmethod
    def lock(self, key: str) -> bool:
        """Waits for the exclusive lock `key` and holds it until the end of the transaction.

        True if others may have changed what was read before; False if this transaction already held the key, and always
        on SQLite, which has a single writer.
        """

    @abstractmethod
    def lock_shared(self, key: str) -> bool:
        """As `lock`, but shared: only blocks exclusive holders of the key."""

    @abstractmethod
    def lock_within(self, whole: str, keys: Sequence[str]) -> bool:
        """As `lock_shared(whole)`, then `lock` for each of these keys, in this order: all who lock several must use the
        same order. The work fails if it would have to wait long for one of several: who has locked another one must not
        delay those who wait for that.
        """

    def run_locking(self, key: str, statement: Statement, **params: Any) -> int:
        """As `lock(key)`, then `run`. On PostgreSQL the statement takes the lock itself: `lock` is its number there."""
        self.lock(key)
        return self.run(statement, **params)

    @abstractmethod
    def define(self, change: sa.DDLElement | str) -> None:
        """Changes the schema; for migrations only. A string must be SQL that is valid on both databases."""

    @property
    @abstractmethod
    def wrote(self) -> bool:
        """Whether this work has written anything yet; not what its unit of work has still to write."""

    @abstractmethod
    def directory(self) -> State | None:
        """What this process remembers of the directory as this transaction sees it; None: read it from the database.

        Raises DatabaseTooNew if a newer Toryo has upgraded the database.
        """

    @abstractmethod
    def remember(self, state: State, answers: Mapping[Any, Any]) -> None:
        """Keeps what was read from the directory since `directory()` answered this state."""


class DriverConnection(Connection):
    """What the database's own threads need in addition."""

    failure: Exception | None = None
    """The first failed statement's error in the current work."""
    steady = True
    """Whether all statements of a transaction see the same snapshot, apart from its own writes."""

    remembers = False
    """Whether a work may use what earlier ones have read: all that changes it goes through this connection."""

    def __init__(self, memory: DirectoryMemory) -> None:
        self._memory = memory
        self._state: State | None = None
        self.reads_directory = False
        """Whether this transaction reads the directory from the database: it may have changed, here or elsewhere."""

    def directory(self) -> State | None:
        if self._state is None and not self.reads_directory:
            found = self.fetch_one(_STAMP, {})  # Not through the unit of work, which would write its rows before.
            if found is None:
                self.reads_directory = True
            else:
                if not self._memory.knows(found[0]):
                    self._refuse_newer()
                self._state = self._memory.at(found[0])
        return None if self.reads_directory else self._state

    def _refuse_newer(self) -> None:
        """Another server may have upgraded the tables while this one was running."""
        known = self._memory.version
        if known is None:
            return
        found = self.fetch_one(_VERSION, {})
        if found is not None and found[0] > known:
            self.failure = self.failure or DatabaseTooNew(
                f"A newer Toryo has upgraded the database to version {found[0]}; this server knows version {known}. "
                "It no longer changes anything.",
                "Use a server of the newer version. Stop this one, and start it again with the newer version.",
            )
            raise self.failure

    def remember(self, state: State, answers: Mapping[Any, Any]) -> None:
        if self.steady or self.fetch_one(_STAMP, {}) == (state.stamp,):
            state.remember(answers)
        else:
            self.reads_directory = True

    def forget_directory(self) -> None:
        """A new transaction begins."""
        self._state = None
        self.reads_directory = False

    def attempt(self, call: Call) -> None:
        """Runs a work and stores its result or error, including an error of a statement that the work ignored."""
        self.failure = call.error = None
        self.forget()
        if not self.remembers:
            self.unit = UnitOfWork(self)
        try:
            call.result = call.work(self)
            if self.failure is None:
                self.unit.flush()
        except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to the caller
            call.fail(error)
        else:
            if self.failure is not None:
                call.fail(self.failure)
        if self.remembers and call.error is None:
            self.unit.rest()
        else:
            self.unit.discard()

    def all(self, statement: Statement, **params: Any) -> list[Row]:
        return list(self.unit.asked(self.fetch_all, statement, params))

    def one(self, statement: Statement, **params: Any) -> Row | None:
        return self.unit.asked(self.fetch_one, statement, params)

    @abstractmethod
    def fetch_all(self, statement: Statement, params: dict[str, Any]) -> list[Row]:
        """Asks the database, as `all` does where the unit of work does not know the answer."""

    @abstractmethod
    def fetch_one(self, statement: Statement, params: dict[str, Any]) -> Row | None:
        """As `fetch_all`, for `one`."""

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        self.unit.flush()  # Or it would be undone with the part.
        self.mark("SAVEPOINT part")
        try:
            yield
            self.unit.flush()
            if self.failure is not None:  # The work ignored the error.
                raise self.failure
        except Exception:
            if isinstance(self.failure, DatabaseUnavailable):
                raise
            self.failure = None
            self.unit.discard()
            self.mark("ROLLBACK TO part")
            self.mark("RELEASE part")
            raise
        self.mark("RELEASE part")

    @abstractmethod
    def mark(self, text: str) -> None:
        """Runs SAVEPOINT and the statements that end it."""

    @abstractmethod
    def forget(self) -> None:
        """Resets the state for a new work."""

    @abstractmethod
    def meaning(self, error: Exception) -> Exception | None:
        """The driver's error as a StorageError; None for an error that only a bug can cause."""

    def fail(self, error: Exception) -> NoReturn:
        meaning = self.meaning(error)
        self.failure = self.failure or meaning or error
        if meaning is None:
            raise error
        raise meaning from error


_STAMP = Statement(sa.text("SELECT stamp FROM directory WHERE id = 1"))
_VERSION = Statement(sa.text("SELECT max(version) FROM schema_version"))

Work = Callable[[Connection], T]


class Database(ABC):
    """An open database. May be used by several threads and event loops at the same time."""

    dialect: Literal["sqlite", "postgresql"]
    place: str
    """Its location for people: a path, or a URL without its password."""

    def __init__(self) -> None:
        self.memory = DirectoryMemory()
        self._inside = ReentrancyGuard()
        self._readers: WorkerPool
        self._writers: WorkerPool

    def write_patiently(self, work: Work[T]) -> T:
        """As `write`, but waits for locks without limit: another server may be upgrading."""
        return self.write(work)

    def read(self, work: Work[T]) -> T:
        """Runs the work on one consistent snapshot, which includes every write that was answered before."""
        return self._blocking(self._readers, work)

    def write(self, work: Work[T]) -> T:
        """Runs the work in a transaction and returns after COMMIT; an exception undoes everything."""
        return self._blocking(self._writers, work)

    async def read_async(self, work: Work[T]) -> T:
        """As `read`, for the tasks of an event loop."""
        return await self._awaited(self._readers, work)

    async def read_little_async(self, work: Work[T]) -> T:
        """As `read_async`, for a work of a few small statements."""
        return await self.read_async(work)

    async def write_async(self, work: Work[T]) -> T:
        """As `write`. If the caller is cancelled, the work is done completely or not at all."""
        return await self._awaited(self._writers, work)

    def is_certainly_there(self) -> bool:
        """Whether a read would find the database, as far as that is known without one. Raises DatabaseUnavailable if
        it is known to be lost.
        """
        return False

    def close(self) -> None:
        """Finishes waiting works, then closes all connections; later calls raise `DatabaseUnavailable`. Idempotent."""
        if self._inside.work:
            raise MisusedDatabase("A work tried to close its database. Close it outside.")
        self._writers.close()
        self._readers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _blocking(self, crew: WorkerPool, work: Work[T]) -> T:
        self._inside.refuse()
        call = BlockedCall(work)
        crew.submit(call)
        result: T = call.wait(crew.alive)
        return result

    async def _awaited(self, crew: WorkerPool, work: Work[T]) -> T:
        self._inside.refuse()
        call = AwaitedCall(work)
        crew.submit(call)
        result: T = await call.future
        return result


def ddl_text(change: sa.DDLElement | str, dialect: str) -> str:
    """The SQL of a schema change, for `Connection.define`."""
    return change if isinstance(change, str) else str(change.compile(dialect=DIALECTS[dialect]))
