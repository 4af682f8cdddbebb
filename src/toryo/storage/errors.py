"""Storage errors, independent of the driver.

None of these is a `Refusal`: refusals are decisions of the domain, these are failures of the database.
"""

from __future__ import annotations

from typing import Self


class StorageError(Exception):
    """Base of all storage errors. Nothing of the failed work is kept."""


class DatabaseUnavailable(StorageError):
    """The database cannot be used now (unreachable, locked, full, read-only, damaged); later calls try again.

    `message` says what is wrong, `instruction` what a person can do. Nothing of the work was kept.
    """

    def __init__(self, message: str, instruction: str) -> None:
        super().__init__(f"{message} {instruction}")
        self.message = message
        self.instruction = instruction

    def again(self) -> Self:
        """A copy for one more caller: an exception raised in two threads would mix up their tracebacks."""
        return type(self)(self.message, self.instruction)


class OutcomeUnknown(DatabaseUnavailable):
    """The connection broke after COMMIT was sent: the work was kept completely or not at all, which is unknown."""


class DatabaseInUse(DatabaseUnavailable):
    """Another process has this SQLite database open."""


class DatabaseTooNew(DatabaseUnavailable):
    """A newer Toryo has upgraded the database; this version would damage it."""


class DatabaseTooOld(DatabaseUnavailable):
    """The database has not been upgraded to this version."""


class DatabaseMisfit(DatabaseUnavailable):
    """The tables do not match the version recorded in the database, so this Toryo would fail."""


class ConstraintBroken(StorageError):
    """A constraint of the schema refused a row (foreign key, not null, check); `table` is set if known."""

    def __init__(self, message: str, table: str | None = None) -> None:
        super().__init__(message)
        self.table = table


class Duplicate(ConstraintBroken):
    """A unique index already contains the key of a row.

    The work has failed, because PostgreSQL aborts its transaction. To continue instead, use `insert_or_ignore`.
    """


class Unstorable(StorageError):
    """A value that no column accepts: text with NUL or an unpaired surrogate, an integer over 64 bits."""


class MisusedDatabase(RuntimeError):
    """A bug in Toryo: a work that calls `read` or `write`, or writes inside `read`."""
