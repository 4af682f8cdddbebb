"""The seam between Toryo and its database: `read(work)`, `write(work)`, a work's `Connection`.

A work is a function of one `Connection`. It may be run more than once (a serialization failure, a neighbour in its
batch that failed), so it must change nothing but through its connection; and it may share its transaction with others
that waited with it, so works must not wait for one another. All that differs between the two databases
stands in `sqlite.py` and `postgresql.py`; what a statement is in `statements.py`; what tables there are in `schema.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, Literal, NoReturn, Self, TypeVar

import sqlalchemy as sa

from toryo.storage.engine.executor import AwaitedCall, BlockedCall, Call, ReentrancyGuard, WorkerPool
from toryo.storage.engine.statements import DIALECTS, Row, Statement
from toryo.storage.errors import DatabaseUnavailable, MisusedDatabase

T = TypeVar("T")


class Connection(ABC):
    """What a work sees of the database: statements run at once, rows are plain tuples.

    After a statement failed the work is over, even if it catches the error: nothing of it is kept, and its caller
    gets that error. PostgreSQL behaves so, and one rule for both is easier to keep.
    """

    dialect: Literal["sqlite", "postgresql"]

    @abstractmethod
    def all(self, statement: Statement, **params: Any) -> list[Row]:
        """Every row that the statement answers."""

    @abstractmethod
    def one(self, statement: Statement, **params: Any) -> Row | None:
        """The first row, or None."""

    def value(self, statement: Statement, **params: Any) -> Any:
        """The first column of the first row, or None."""
        row = self.one(statement, **params)
        return None if row is None else row[0]

    @abstractmethod
    def run(self, statement: Statement, **params: Any) -> int:
        """How many rows were changed."""

    @abstractmethod
    def many(self, statement: Statement, rows: Sequence[Mapping[str, Any]]) -> None:
        """Runs the statement once for each of the parameter sets."""

    @abstractmethod
    def savepoint(self) -> AbstractContextManager[None]:
        """A part of a work: where it raises, nothing of it is kept, and the work may go on. Not with a database that
        cannot be used any more: that is its caller's error then, as ever. Locks taken within are given back with it."""

    @abstractmethod
    def check(self) -> None:
        """Raises DatabaseUnavailable where what is written would be lost, though statements still succeed."""

    @abstractmethod
    def lock(self, key: str) -> bool:
        """Waits until no other transaction holds `key`, and holds it until the end of this one.

        True if others could have changed what was read before; False if this transaction held the key already, and
        on SQLite, whose writer is alone anyway.
        """

    @abstractmethod
    def lock_shared(self, key: str) -> bool:
        """As `lock`, but only keeps out those who ask for the key alone."""

    @abstractmethod
    def define(self, change: sa.DDLElement | str) -> None:
        """Changes the schema; for migrations only. A text is SQL that means the same on both databases."""

    @property
    @abstractmethod
    def wrote(self) -> bool:
        """Whether this work has changed anything yet."""


class DriverConnection(Connection):
    """What the database's own threads need beside that."""

    failure: Exception | None = None
    """The first error of a statement of the present work."""

    def attempt(self, call: Call) -> None:
        """Runs a work and keeps its result, or its error: also that of a statement whose failure it overlooked."""
        self.failure = call.error = None
        self.forget()
        try:
            call.result = call.work(self)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to the caller
            call.fail(error)
        else:
            if self.failure is not None:
                call.fail(self.failure)

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        self.mark("SAVEPOINT part")
        try:
            yield
            if self.failure is not None:  # it was overlooked
                raise self.failure
        except Exception:
            if isinstance(self.failure, DatabaseUnavailable):
                raise
            self.failure = None
            self.mark("ROLLBACK TO part")
            self.mark("RELEASE part")
            raise
        self.mark("RELEASE part")

    @abstractmethod
    def mark(self, text: str) -> None:
        """SAVEPOINT and what ends it."""

    @abstractmethod
    def forget(self) -> None:
        """A new work begins: it has written nothing yet."""

    @abstractmethod
    def meaning(self, error: Exception) -> Exception | None:
        """The driver's error in Toryo's words; None for what only a mistake in our own code can cause."""

    def fail(self, error: Exception) -> NoReturn:
        meaning = self.meaning(error)
        self.failure = self.failure or meaning or error
        if meaning is None:
            raise error
        raise meaning from error


Work = Callable[[Connection], T]


class Database(ABC):
    """An open database. Threads and event loops may use it at the same time."""

    dialect: Literal["sqlite", "postgresql"]
    place: str
    """Where it is, for people: a path, or a URL without its password."""

    def __init__(self) -> None:
        self._inside = ReentrancyGuard()
        self._readers: WorkerPool
        self._writers: WorkerPool

    def write_patiently(self, work: Work[T]) -> T:
        """As `write`, but waits as long as it takes for whoever holds a lock: another server may be upgrading."""
        return self.write(work)

    def read(self, work: Work[T]) -> T:
        """Runs the work on one consistent snapshot; it sees everything that was answered before."""
        return self._blocking(self._readers, work)

    def write(self, work: Work[T]) -> T:
        """Runs the work in a transaction and answers after its COMMIT; an exception in it leaves nothing behind."""
        return self._blocking(self._writers, work)

    async def read_async(self, work: Work[T]) -> T:
        """As `read`, for the tasks of an event loop."""
        return await self._awaited(self._readers, work)

    async def write_async(self, work: Work[T]) -> T:
        """As `write`. A cancelled caller's work is done whole or not at all."""
        return await self._awaited(self._writers, work)

    def close(self) -> None:
        """Finishes what waits, then closes every connection; later calls raise `DatabaseUnavailable`. Repeatable."""
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
