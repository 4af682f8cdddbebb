"""What a process remembers of the directory: agents, memberships, projects, keys, tokens and people's accounts.

Nearly every call asks who calls, who is whose superior and which project this is, and the answer rarely changes. So
the storage classes remember what they have read from the tables in `schema.DIRECTORY`, and read it again only after
one of these tables has changed.

How a process knows that: the table `directory` has one row with a random number, the stamp. A trigger on each table of
the directory gives it a new one in the transaction of the change, so no statement, server or other program can forget
it. A transaction reads the stamp when it first asks for something, and uses the answers of that stamp only. What it
then sees is the directory as it was when it read the stamp, which was after its calls had arrived: a change that was
answered before is in it.

- A transaction that has written to the directory remembers nothing from there on, and reads it from the database: it
  sees its own writes, and what is rolled back was never remembered. `Statement` knows which tables it writes.
- Answers of a stamp never change, so threads share them, also those that are still on an older snapshot. Entities are
  immutable, and lists are returned as tuples.
- PostgreSQL's writers see each statement at its own time (READ COMMITTED). They read the stamp again before they
  remember what they have read. If it differs, the answer may belong to a newer stamp: it is not remembered, and the
  transaction reads on from the database. After every lock they read the stamp again, because others may have changed
  the directory while they waited.
- An upgrade of the tables gives a new stamp, too, after it has waited for all transactions that have read the one
  before. So a server whose database a newer Toryo has upgraded notices before it does anything more: a transaction that
  reads a stamp that the process does not know looks at the version of the tables first.
- The stamp is random because a counter would repeat itself after a database was restored or copied back.

Rejected: a decorator on the writing methods (the next one forgets it, and other programs have none); invalidation by
messages between servers (they may come late or never); a time limit (a revoked key would work until then); whole tables
in memory (a registration among 10,000 agents would read them all again).

A read is remembered by its decorator, `remembered` or `remembered_each`. It must depend on the tables of the directory
and its arguments only, which tests/storage/test_directory_memory.py checks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Protocol, TypeVar, TypeVarTuple, Unpack, cast

STATES_KEPT = 4
"""Of how many stamps answers are kept: readers may be on older snapshots."""
MOST_ANSWERS = 50_000
"""Of one stamp: unknown tokens and ids are remembered too, and anybody can send these."""

Value = TypeVar("Value")
Read = TypeVar("Read", bound=Callable[..., Any])
Arguments = TypeVarTuple("Arguments")


class State:
    """The answers of one stamp."""

    __slots__ = ("answers", "stamp")

    def __init__(self, stamp: int) -> None:
        self.stamp = stamp
        self.answers: dict[Any, Any] = {}

    def remember(self, answers: Mapping[Any, Any]) -> None:
        if len(self.answers) >= MOST_ANSWERS:
            self.answers.clear()
        self.answers.update(answers)


class DirectoryMemory:
    """The states that the connections of one database share."""

    def __init__(self) -> None:
        self.version: int | None = None
        """The newest version of the tables that this process knows; None before it has upgraded them."""
        self._states: dict[int, State] = {}
        self._changing = threading.Lock()

    def knows(self, stamp: int) -> bool:
        return stamp in self._states

    def at(self, stamp: int) -> State:
        return self._states.get(stamp) or self._new(stamp)

    def _new(self, stamp: int) -> State:
        with self._changing:
            state = self._states.setdefault(stamp, State(stamp))
            if len(self._states) > STATES_KEPT:
                newest = list(self._states.values())[-STATES_KEPT:]
                self._states = {each.stamp: each for each in newest}
            return state


class _Remembering(Protocol):
    """A connection, as the decorators need it."""

    def directory(self) -> State | None: ...

    def remember(self, state: State, answers: Mapping[Any, Any]) -> None: ...


_UNKNOWN = object()
REMEMBERED: dict[str, Callable[..., Any]] = {}
"""Every remembered read, by its name."""


def remembered(read: Callable[[Any, Unpack[Arguments]], Value]) -> Callable[[Any, Unpack[Arguments]], Value]:
    """Decorates a read of an aggregate that answers something immutable."""
    name = _named(read)

    @wraps(read)
    def answer(aggregate: Any, /, *arguments: *Arguments) -> Value:
        connection: _Remembering = aggregate._connection  # noqa: SLF001
        state = connection.directory()
        if state is None:
            return read(aggregate, *arguments)
        key = (name, *arguments)
        found = state.answers.get(key, _UNKNOWN)
        if found is _UNKNOWN:
            found = read(aggregate, *arguments)
            connection.remember(state, {key: found})
        return cast("Value", found)

    return answer


def remembered_each(read: Read) -> Read:
    """Decorates a read of several values by their keys, its last argument: only those not remembered are read."""
    name = _named(read)

    @wraps(read)
    def answer(aggregate: Any, *arguments: Any) -> Any:
        connection: _Remembering = aggregate._connection  # noqa: SLF001
        state = connection.directory()
        if state is None:
            return read(aggregate, *arguments)
        *scope, keys = arguments
        found, missing = {}, []
        for key in keys:
            value = state.answers.get((name, *scope, key), _UNKNOWN)
            if value is _UNKNOWN:
                missing.append(key)
            elif value is not None:
                found[key] = value
        if missing:
            fresh = read(aggregate, *scope, missing)
            connection.remember(state, {(name, *scope, key): fresh.get(key) for key in missing})
            found.update(fresh)
        return found

    return cast("Read", answer)


def _named(read: Callable[..., Any]) -> str:
    name = read.__qualname__
    assert name not in REMEMBERED
    REMEMBERED[name] = read
    return name
