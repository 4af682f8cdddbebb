"""The event log, as rows. Sequence numbers follow the order of commits, so a reader that remembers one misses none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from toryo.domain.events import Event
from toryo.storage import many_rows, schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, in_list
from toryo.storage.rows import Rows

_t = schema.events
_p = sa.bindparam

ROWS = Rows(Event, _t)
_COLUMNS = [name for name in ROWS.names if name != "sequence"]
_values = ROWS.tuple_of(_COLUMNS)
LOCK = "events"
_ADD = many_rows.insert(_t, _COLUMNS, lock=LOCK)
_LAST = Statement(sa.select(sa.func.max(_t.c.sequence)))
_LAST_FACT = Statement(
    sa.select(sa.func.max(_t.c.sequence)).where(_t.c.root_id == _p("root_id"), sa.literal_column("fact"))
)
_LAST_FACTS = Statement(
    sa.select(_t.c.root_id, sa.func.max(_t.c.sequence))
    .where(in_list(_t.c.root_id, "roots"), sa.literal_column("fact"))
    .group_by(_t.c.root_id)
)
_FACTS = Statement(
    ROWS.select()
    .where(_t.c.root_id == _p("root_id"), _t.c.sequence > _p("after"), sa.literal_column("fact"))
    .order_by(_t.c.sequence)
)
_NEWS = Statement(
    sa.select(_t.c.kind, _t.c.task_id, _t.c.actor_id, _t.c.by_person).where(
        _t.c.root_id == _p("root_id"), _t.c.sequence > _p("after"), sa.literal_column("fact")
    )
)
_OF_KIND = Statement(
    ROWS.select()
    .where(_t.c.task_id == _p("task_id"), in_list(_t.c.kind, "kinds"))
    .order_by(_t.c.sequence.desc())
    .limit(1)
)
_COUNT = Statement(
    sa.select(sa.func.count()).where(
        _t.c.task_id == _p("task_id"), _t.c.session_id == _p("session_id"), in_list(_t.c.kind, "kinds")
    )
)


class _Known:
    """The newest stored fact of trees."""

    tables = frozenset({_t.name})

    def __init__(self) -> None:
        self.facts: dict[str, int] = {}


class Events:
    """Collects a transaction's events and appends them at its end, so that the lock that orders commits is held
    briefly.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.collected: list[Event] = []

    def append(self, event: Event) -> None:
        self.collected.append(event)

    def flush(self) -> None:
        """Writes the collected events. On PostgreSQL one writer at a time from here to the commit (see `LOCK`)."""
        if not self.collected:
            return
        unit, ended = self._connection.unit, {event.root_id for event in self.collected if event.fact}
        still = {root: fact for root, fact in unit.known(_Known).facts.items() if root not in ended}
        _ADD.run(self._connection, [*map(_values, self.collected)])
        unit.known(_Known).facts = still
        self.collected = []

    def last(self) -> int:
        """The newest sequence number; 0 without events."""
        return int(self._connection.value(_LAST) or 0)

    def last_fact(self, root_id: str) -> int:
        """The newest stored fact of a tree; stable while this transaction holds the project's lock."""
        known = self._connection.unit.known(_Known).facts
        if root_id not in known:
            known[root_id] = int(self._connection.all(_LAST_FACT, root_id=root_id)[0][0] or 0)
        return known[root_id]

    def last_facts(self, root_ids: Iterable[str]) -> dict[str, int]:
        """The newest stored fact of each of these trees."""
        return {row[0]: int(row[1]) for row in self._connection.all(_LAST_FACTS, roots=list(root_ids))}

    def facts_after(self, root_id: str, after: int) -> list[Event]:
        return ROWS.nouns(self._connection.all(_FACTS, root_id=root_id, after=after))

    def news(self, root_id: str, after: int) -> Sequence[tuple[str, str, str, bool]]:
        """Kind, task, actor and whether the actor is a person, for every fact of a tree after an event."""
        return [
            (row[0], row[1], row[2], bool(row[3])) for row in self._connection.all(_NEWS, root_id=root_id, after=after)
        ]

    def counted(self, task_id: str, session_id: str, kinds: Iterable[str]) -> int:
        """How many events of these kinds a session has caused for a task."""
        return int(self._connection.value(_COUNT, task_id=task_id, session_id=session_id, kinds=sorted(kinds)))

    def newest_of(self, task_id: str, kinds: Iterable[str]) -> Event | None:
        return ROWS.one(self._connection.one(_OF_KIND, task_id=task_id, kinds=list(kinds)))

    def after(self, sequence: int, limit: int, **wanted: str | int | None) -> list[Event]:
        """In order, at most `limit`; the keys of `wanted` are those of `_WANTED`."""
        return self._read(False, limit, after=sequence, **wanted)

    def newest(self, limit: int, **wanted: str | int | None) -> list[Event]:
        """Newest first, at most `limit`; for the next page pass the last one as `before`."""
        return self._read(True, limit, **wanted)

    def _read(self, backwards: bool, limit: int, **wanted: str | int | None) -> list[Event]:
        given = {name: value for name, value in wanted.items() if value is not None}
        rows: list[Any] = self._connection.all(_reading(backwards, tuple(given)), limit=limit, **given)
        return ROWS.nouns(rows)


_WANTED = {
    **{
        name: _t.c[name] == _p(name)
        for name in ("project_id", "task_id", "agent_id", "actor_id", "correlation_id", "kind")
    },
    "kinds_like": _t.c.kind.like(_p("kinds_like")),
    "after": _t.c.sequence > _p("after"),
    "before": _t.c.sequence < _p("before"),
    "since": _t.c.at >= _p("since"),
    "until": _t.c.at < _p("until"),
}


@lru_cache(maxsize=64)
def _reading(backwards: bool, names: tuple[str, ...]) -> Statement:
    order = _t.c.sequence.desc() if backwards else _t.c.sequence
    found = ROWS.select().where(*(_WANTED[name] for name in names)).order_by(order)
    return Statement(found.limit(_p("limit", type_=sa.Integer)))
