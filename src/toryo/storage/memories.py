"""Memories, and the terms by which texts of a project are found, as rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from toryo.domain.events import Event
from toryo.domain.memories import MOST_OF_REPORT, MOST_ROWS, MOST_TERMS, Kind, Memory, terms
from toryo.domain.times import Millis
from toryo.storage import events, schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, in_list, upsert
from toryo.storage.rows import Rows, save_changes

_m, _s, _g, _e = schema.memories, schema.search_terms, schema.search_progress, schema.events
_c, _h = schema.conversations, schema.handoffs
_p = sa.bindparam
_MOST = _p("most", type_=sa.Integer)

ROWS = Rows(Memory, _m)
INDEXED = {
    "task.completed": Kind.TASK,
    "handoff.created": Kind.HANDOFF,
    "conversation.ended": Kind.CONVERSATION,
    "conversation.expired": Kind.CONVERSATION,
}
"""Kinds of events whose texts are found from then on."""
EVENTS_AT_ONCE = 20_000
EVENTS_AT_LEAST = 1_000
"""As many events without any text are looked at again in each round: a quiet round writes nothing."""

_ADD = Statement(sa.insert(_m), columns=ROWS.names)
_ONE = Statement(ROWS.select().where(_m.c.id == _p("id")))
_THOSE = Statement(ROWS.select().where(in_list(_m.c.id, "ids")))
_ALIKE = Statement(
    ROWS.select().where(_m.c.project_id == _p("project_id"), _m.c.alike == _p("alike")).order_by(_m.c.id).limit(1)
)
_COUNT = Statement(sa.select(sa.func.count()).where(_m.c.project_id == _p("project_id")))
_COUNT_BY = Statement(
    sa.select(sa.func.count()).where(
        _m.c.project_id == _p("project_id"),
        _m.c.created_at > _p("since", type_=sa.BigInteger),
        _m.c.author_id == _p("author_id"),
    )
)
_before: Any = _p("before", type_=sa.BigInteger)
_LISTED = Statement(
    ROWS.select()
    .where(
        _m.c.project_id == _p("project_id"),
        sa.or_(_m.c.created_at < _before, sa.and_(_m.c.created_at == _before, _m.c.id < _p("last"))),
    )
    .order_by(_m.c.created_at.desc(), _m.c.id.desc())
    .limit(_MOST)
)
_FIRST = Statement(
    ROWS.select()
    .where(_m.c.project_id == _p("project_id"))
    .order_by(_m.c.pinned.desc(), _m.c.created_at.desc(), _m.c.id.desc())
    .limit(_MOST)
)
_DROP = Statement(sa.delete(_m).where(_m.c.id == _p("id")))
_TERMS = ["project_id", "kind", "term", "source_id", "task_id"]
_ADD_TERM = upsert(_s, _TERMS, ["project_id", "kind", "term", "source_id"], ["task_id"])
_FORGET = Statement(sa.delete(_s).where(_s.c.source_id == _p("id")))
_here = (_s.c.project_id == _p("project_id"), in_list(_s.c.kind, "kinds"), in_list(_s.c.term, "terms"))
_COUNTS = Statement(sa.select(_s.c.term, sa.func.count()).where(*_here).group_by(_s.c.term))
_FOUND = Statement(
    sa.select(_s.c.kind, _s.c.source_id, _s.c.term)
    .where(*_here)
    .order_by(_s.c.source_id.desc(), _s.c.kind, _s.c.term)
    .limit(_MOST)
)
_reader = _p("reader", type_=sa.Text)
_READABLE = {
    Kind.HANDOFF: Statement(
        sa.select(_h.c.id).where(
            in_list(_h.c.id, "ids"),
            sa.or_(_h.c.to_agent_id.is_(None), _h.c.to_agent_id == _reader, _h.c.from_agent_id == _reader),
        )
    ),
    Kind.CONVERSATION: Statement(
        sa.select(_c.c.id).where(in_list(_c.c.id, "ids"), sa.or_(_c.c.low_id == _reader, _c.c.high_id == _reader))
    ),
}
"""What not every agent may read: it reads handoffs to everybody, to it and by it, and conversations of its own."""
_PROGRESS = Statement(
    sa.select(
        sa.func.coalesce(
            sa.select(sa.func.max(_g.c.events_to)).scalar_subquery(),
            sa.select(sa.func.min(_e.c.sequence) - 1).scalar_subquery(),  # numbers need not begin with 1
        )
    )
)
_NOTE = upsert(_g, ["id", "events_to"], ["id"], ["events_to"])
_NEW_EVENTS = Statement(
    events.ROWS.select()
    .where(
        _e.c.sequence > _p("after", type_=sa.BigInteger),
        _e.c.sequence <= _p("to", type_=sa.BigInteger),
        in_list(_e.c.kind, "kinds"),
    )
    .order_by(_e.c.sequence)
    .limit(_MOST)
)
NEWEST: tuple[Millis, str] = (2**62, "")
"""Before which a list begins."""


class Memories:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, memory: Memory) -> None:
        self._connection.run(_ADD, **ROWS.values(memory))
        self.index(memory.project_id, Kind.MEMORY, memory.id, memory.text)

    def save(self, before: Memory, after: Memory) -> None:
        save_changes(self._connection, _m, ROWS, before, after)
        if after.text != before.text:
            self._connection.run(_FORGET, id=after.id)
            self.index(after.project_id, Kind.MEMORY, after.id, after.text)

    def drop(self, memory_id: str) -> None:
        self._connection.run(_FORGET, id=memory_id)
        self._connection.run(_DROP, id=memory_id)

    def find(self, memory_id: str) -> Memory | None:
        return ROWS.one(self._connection.one(_ONE, id=memory_id))

    def find_all(self, memory_ids: Iterable[str]) -> dict[str, Memory]:
        """By id."""
        found = ROWS.nouns(self._connection.all(_THOSE, ids=list(memory_ids)))
        return {memory.id: memory for memory in found}

    def alike(self, project_id: str, likeness: str) -> Memory | None:
        return ROWS.one(self._connection.one(_ALIKE, project_id=project_id, alike=likeness))

    def count(self, project_id: str) -> int:
        return int(self._connection.value(_COUNT, project_id=project_id))

    def count_by(self, project_id: str, author_id: str, since: Millis) -> int:
        """How many somebody has added after an instant."""
        return int(self._connection.value(_COUNT_BY, project_id=project_id, author_id=author_id, since=since))

    def listed(self, project_id: str, before: tuple[Millis, str], most: int) -> list[Memory]:
        """The newest first, from before an instant and an id on."""
        return ROWS.nouns(
            self._connection.all(_LISTED, project_id=project_id, before=before[0], last=before[1], most=most)
        )

    def first(self, project_id: str, most: int) -> list[Memory]:
        """The pinned ones first, then the newest."""
        return ROWS.nouns(self._connection.all(_FIRST, project_id=project_id, most=most))

    # --- finding by words ----------------------------------------------------------------------------------------

    def index(self, project_id: str, kind: Kind, source_id: str, text: str, task_id: str | None = None) -> None:
        """From here on a text is found by its terms."""
        rows = [
            {"project_id": project_id, "kind": kind.value, "term": term, "source_id": source_id, "task_id": task_id}
            for term in terms(text, MOST_TERMS if kind is Kind.MEMORY else MOST_OF_REPORT)
        ]
        if rows:
            self._connection.many(_ADD_TERM, rows)

    def forget(self, source_id: str) -> None:
        """A text is no longer found."""
        self._connection.run(_FORGET, id=source_id)

    def found(
        self, project_id: str, kinds: Sequence[Kind], wanted: Sequence[str], reader: str | None = None
    ) -> list[tuple[Kind, str, str]]:
        """Kind, source and term of what has any of these terms: of the rarest ones, as many as can be ranked.

        `reader`: an agent that finds only what it may read. Without one, everything is found.
        """
        named = [kind.value for kind in kinds]
        counts = self._connection.all(_COUNTS, project_id=project_id, kinds=named, terms=list(wanted))
        rarest: list[str] = []
        rows = 0
        for term, count in sorted(counts, key=lambda each: (each[1], each[0])):
            rows += count
            if rarest and rows > MOST_ROWS:
                break
            rarest.append(term)
        if not rarest:
            return []
        found = self._connection.all(_FOUND, project_id=project_id, kinds=named, terms=rarest, most=MOST_ROWS)
        pairs = [(Kind(kind), source, term) for kind, source, term in found]
        return pairs if reader is None else self._readable(pairs, reader)

    def _readable(self, pairs: list[tuple[Kind, str, str]], reader: str) -> list[tuple[Kind, str, str]]:
        of_kind = {kind: {source for each, source, _ in pairs if each is kind} for kind in _READABLE}
        readable = {
            row[0]
            for kind, sources in of_kind.items()
            if sources
            for row in self._connection.all(_READABLE[kind], ids=sorted(sources), reader=reader)
        }
        return [pair for pair in pairs if pair[0] not in _READABLE or pair[1] in readable]

    # --- what was said elsewhere ---------------------------------------------------------------------------------

    def new_events(self, last: int, most: int) -> tuple[list[Event], int | None]:
        """Events whose texts are not found yet, and up to which event that is all (None: not worth
        noting). `last`: the newest event there is."""
        after = int(self._connection.value(_PROGRESS) or 0)
        to = min(last, after + EVENTS_AT_ONCE)
        if to <= after:
            return [], None
        rows = self._connection.all(_NEW_EVENTS, after=after, to=to, kinds=list(INDEXED), most=most)
        found = events.ROWS.nouns(rows)
        if not found and to - after < EVENTS_AT_LEAST:
            return [], None
        return found, found[-1].sequence if len(found) == most else to

    def note_progress(self, to: int) -> None:
        self._connection.run(_NOTE, id=1, events_to=to)
