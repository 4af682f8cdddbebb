"""What can go wrong between a work and its database, in words that do not depend on the driver.

Nothing here is a `Refusal`: a rule that says no is the domain's business; these are about the database itself.
"""

from __future__ import annotations

from typing import Self


class StorageError(Exception):
    """Base of everything the database says no to. Nothing of the failed work is kept."""


class DatabaseUnavailable(StorageError):
    """The database cannot be used now (away, locked, full, read-only, damaged); later calls try again.

    `message` says what is wrong, `instruction` what a person can do about it. Nothing of the work was kept.
    """

    def __init__(self, message: str, instruction: str) -> None:
        super().__init__(f"{message} {instruction}")
        self.message = message
        self.instruction = instruction

    def again(self) -> Self:
        """A copy for one more caller: an exception raised in two threads would mix up their tracebacks."""
        return type(self)(self.message, self.instruction)


class OutcomeUnknown(DatabaseUnavailable):
    """The connection broke after COMMIT was sent: the work is kept wholly or not at all, nobody can say which."""


class DatabaseInUse(DatabaseUnavailable):
    """Another process owns this SQLite database."""


class DatabaseTooNew(DatabaseUnavailable):
    """The database was upgraded by a newer Toryo; this one would damage what it does not know."""


class DatabaseMisfit(DatabaseUnavailable):
    """The tables are not those of the version that is written in the database: this Toryo would fail at them."""


class ConstraintBroken(StorageError):
    """A row was refused by a constraint of the schema (foreign key, not null, check); `table` is where, if known."""

    def __init__(self, message: str, table: str | None = None) -> None:
        super().__init__(message)
        self.table = table


class Duplicate(ConstraintBroken):
    """A row was refused because a unique index already holds its key.

    The work is over: PostgreSQL has given up its transaction. Where going on is wanted, use `insert_or_ignore`.
    """


class Unstorable(StorageError):
    """A value that no column takes: a text with a NUL character or half a surrogate pair, an integer over 64 bits."""


class MisusedDatabase(RuntimeError):
    """A mistake in our own code: a work that calls `read` or `write` itself, or writes inside `read`."""
