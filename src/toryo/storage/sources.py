"""What creates tasks by itself, and its history, as rows: what schedules and webhooks have in common, then schedules
with their runs, then webhooks with their deliveries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import sqlalchemy as sa

from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.schedules import Outcome, Run, Schedule
from toryo.domain.sources import Entry, Source, State
from toryo.domain.tasks import CLOSED, Status
from toryo.domain.times import Millis
from toryo.domain.webhooks import Delivery, Webhook
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, implied
from toryo.storage.rows import Rows, save_changes

S = TypeVar("S", bound=Source)
E = TypeVar("E", bound=Entry)
_s, _r, _w, _d = schema.schedules, schema.schedule_runs, schema.webhooks, schema.webhook_deliveries
_t, _j, _p = schema.tasks, schema.projects, sa.bindparam
_most: sa.BindParameter[int] = _p("most", type_=sa.Integer)

NEWEST: tuple[Millis, str] = (2**62, "")
"""Before which a history begins."""
_FORGOTTEN_AT_ONCE = 1_000


def _in_active_project(table: sa.Table) -> sa.ColumnElement[bool]:
    return table.c.project_id.in_(sa.select(_j.c.id).where(_j.c.status == ProjectStatus.ACTIVE.value))


def _is_open(entries: sa.Table) -> sa.ColumnElement[bool]:
    return sa.and_(entries.c.task_id.is_not(None), entries.c.result.is_(None))


def _statements(sources: Rows[S], entries: Rows[E], of: str, at: str) -> Mapping[str, Statement]:
    """`of`: the column of an entry that names its source; `at`: the time by which a history is in order."""
    s, e, before = sources.table.c, entries.table.c, _p("before", type_=sa.BigInteger)
    newest_first = (e[at].desc(), e.id.desc())
    latest = entries.table.alias("latest").c
    latest_of = sa.select(latest.id).where(latest[of] == s.id).order_by(latest[at].desc(), latest.id.desc()).limit(1)
    latest_ids = sa.select(latest_of.scalar_subquery()).where(s.project_id == _p("project_id"))
    # Not a join: SQLite would begin with the tasks, and read all of them.
    status, closed_at = (
        sa.select(column).where(_t.c.id == e.task_id).scalar_subquery() for column in (_t.c.status, _t.c.completed_at)
    )
    is_closed = status.in_([sa.literal(each.value) for each in sorted(CLOSED)])
    is_earlier = sa.or_(e[at] < before, sa.and_(e[at] == before, e.id < _p("last")))
    spare = sa.select(e.id).where(e[of] == _p("id"), e.task_id.is_(None)).order_by(*newest_first)
    in_order = sources.select().order_by(s.created_at, s.id)
    of_one = entries.select().where(e[of] == _p("id")).order_by(*newest_first)
    return {
        "add": Statement(sa.insert(sources.table), columns=sources.names),
        "add_entry": Statement(sa.insert(entries.table), columns=entries.names),
        "one": Statement(sources.select().where(s.id == _p("id"))),
        "of_project": Statement(in_order.where(s.project_id == _p("project_id"))),
        "stopped": Statement(sources.select().where(s.state == State.STOPPED.value).order_by(s.state_at, s.id)),
        "closed": Statement(
            sa.select(*entries.columns, status)
            .where(_is_open(entries.table), is_closed)
            .order_by(closed_at, e.id)
            .limit(_most)
        ),
        "newest": Statement(of_one.limit(1)),
        "newest_of_project": Statement(entries.select().where(e.id.in_(latest_ids))),
        "history": Statement(
            entries.select().where(e[of] == _p("id"), is_earlier).order_by(*newest_first).limit(_most)
        ),
        "forget": Statement(
            sa.delete(entries.table).where(e.id.in_(spare.limit(_most).offset(_p("keep", type_=sa.Integer))))
        ),
        "drop_entries": Statement(sa.delete(entries.table).where(e[of] == _p("id"))),
        "drop": Statement(sa.delete(sources.table).where(s.id == _p("id"))),
    }


class Sources(Generic[S, E]):
    """Schedules or webhooks; the entries of their histories are runs or deliveries."""

    _sources: ClassVar[Rows[Any]]
    _entries: ClassVar[Rows[Any]]
    _common: ClassVar[Mapping[str, Statement]]

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, source: S) -> None:
        self._connection.run(self._common["add"], **self._sources.values(source))

    def save(self, before: S, after: S) -> S:
        save_changes(self._connection, self._sources.table, self._sources, before, after)
        return after

    def drop(self, source_id: str) -> None:
        """With its history; its tasks stay."""
        self._connection.run(self._common["drop_entries"], id=source_id)
        self._connection.run(self._common["drop"], id=source_id)

    def find(self, source_id: str) -> S | None:
        return self._sources.one(self._connection.one(self._common["one"], id=source_id))

    def of_project(self, project_id: str) -> list[S]:
        """The oldest first."""
        return self._sources.nouns(self._connection.all(self._common["of_project"], project_id=project_id))

    def stopped(self) -> list[S]:
        """Of all projects, that have stopped themselves."""
        return self._sources.nouns(self._connection.all(self._common["stopped"]))

    # --- their history -----------------------------------------------------------------------------------------------

    def add_entry(self, entry: E) -> None:
        self._connection.run(self._common["add_entry"], **self._entries.values(entry))

    def save_entry(self, before: E, after: E) -> None:
        save_changes(self._connection, self._entries.table, self._entries, before, after)

    def closed_since(self, most: int) -> list[tuple[E, Status]]:
        """Entries whose tasks were closed since this was asked last, in that order."""
        rows = self._connection.all(self._common["closed"], most=most)
        return [(self._entries.noun_of(tuple(row[:-1])), Status(row[-1])) for row in rows]

    def newest_entry(self, source_id: str) -> E | None:
        return self._entries.one(self._connection.one(self._common["newest"], id=source_id))

    def newest_entries(self, project_id: str) -> dict[str, E]:
        """Of each source of a project that has any, by source."""
        rows = self._connection.all(self._common["newest_of_project"], project_id=project_id)
        found: list[E] = self._entries.nouns(rows)
        return {entry.source_id: entry for entry in found}

    def history(self, source_id: str, before: tuple[Millis, str], most: int) -> Sequence[E]:
        """The newest first, from before an instant and an id on."""
        at, last = before
        return self._entries.nouns(
            self._connection.all(self._common["history"], id=source_id, before=at, last=last, most=most)
        )

    def forget_entries(self, source_id: str, keep: int) -> None:
        """Of those without a task, all but the newest."""
        self._connection.run(self._common["forget"], id=source_id, keep=keep, most=_FORGOTTEN_AT_ONCE)


# --- schedules -------------------------------------------------------------------------------------------------------

SCHEDULES = Rows(Schedule, _s)
RUNS = Rows(Run, _r)

_OF_SCHEDULES = _statements(SCHEDULES, RUNS, "schedule_id", "scheduled_at")
_of_active_project = _in_active_project(_s)
_active = implied(schema.IS_SCHEDULED)
_DUE = Statement(
    SCHEDULES.select()
    .where(_active, _s.c.next_at <= _p("now", type_=sa.BigInteger), _of_active_project)
    .order_by(_s.c.next_at, _s.c.id)
    .limit(_most)
)
_WAITING_SCHEDULES = Statement(
    SCHEDULES.select()
    .where(_active, _s.c.buffered.is_not(None), _of_active_project)
    .order_by(_s.c.buffered, _s.c.id)
    .limit(_most)
)
_task_status = sa.select(_t.c.status).where(_t.c.id == _s.c.after_task).scalar_subquery()
_DECIDED = Statement(
    SCHEDULES.select()
    .where(
        _active,
        _s.c.state == State.ACTIVE.value,
        _s.c.next_at.is_(None),
        _s.c.after_task.is_not(None),
        _s.c.once.is_(None),
        sa.func.coalesce(_task_status, Status.CANCELLED.value).in_(
            [sa.literal(each.value) for each in (Status.COMPLETED, Status.CANCELLED)]
        ),
        _of_active_project,
    )
    .order_by(_s.c.created_at, _s.c.id)
    .limit(_most)
)
_SOONEST = Statement(sa.select(sa.func.min(_s.c.next_at)).where(_active, _of_active_project))
_OPEN = Statement(RUNS.select().where(_is_open(_r), _r.c.schedule_id == _p("id")).order_by(_r.c.scheduled_at, _r.c.id))
_BUFFERED = Statement(
    RUNS.select().where(_r.c.schedule_id == _p("id"), _r.c.outcome == Outcome.BUFFERED.value).limit(1)
)


class Schedules(Sources[Schedule, Run]):
    _sources, _entries, _common = SCHEDULES, RUNS, _OF_SCHEDULES

    def due(self, now: Millis, most: int) -> list[Schedule]:
        """Those whose time has come, in projects that are active."""
        return SCHEDULES.nouns(self._connection.all(_DUE, now=now, most=most))

    def waiting(self, most: int) -> list[Schedule]:
        """Those with a run that could not begin yet, in projects that are active."""
        return SCHEDULES.nouns(self._connection.all(_WAITING_SCHEDULES, most=most))

    def decided(self, most: int) -> list[Schedule]:
        """Those whose awaited task is completed, cancelled or gone, in projects that are active."""
        return SCHEDULES.nouns(self._connection.all(_DECIDED, most=most))

    def soonest(self) -> Millis | None:
        """When the next one is due."""
        found: Millis | None = self._connection.value(_SOONEST)
        return found

    def open_runs(self, schedule_id: str) -> list[Run]:
        """Those whose tasks have not been seen closed, the oldest first."""
        return RUNS.nouns(self._connection.all(_OPEN, id=schedule_id))

    def buffered_run(self, schedule_id: str) -> Run | None:
        """The one that waits until it can begin."""
        return RUNS.one(self._connection.one(_BUFFERED, id=schedule_id))


# --- webhooks --------------------------------------------------------------------------------------------------------

WEBHOOKS = Rows(Webhook, _w)
DELIVERIES = Rows(Delivery, _d)

_OF_WEBHOOKS = _statements(WEBHOOKS, DELIVERIES, "webhook_id", "at")
_MADE = Statement(
    DELIVERIES.select().where(_d.c.webhook_id == _p("id"), _d.c.key == _p("key"), _d.c.task_id.is_not(None))
)
_WAITING_DELIVERIES = Statement(
    DELIVERIES.select().where(_is_open(_d), _d.c.waits, _in_active_project(_d)).order_by(_d.c.at, _d.c.id).limit(_most)
)


class Webhooks(Sources[Webhook, Delivery]):
    _sources, _entries, _common = WEBHOOKS, DELIVERIES, _OF_WEBHOOKS

    def made_by(self, webhook_id: str, key: str) -> Delivery | None:
        """The delivery of this key that has created a task."""
        return DELIVERIES.one(self._connection.one(_MADE, id=webhook_id, key=key))

    def waiting(self, most: int) -> list[Delivery]:
        """Those whose task is to start when its assignee has room, in projects that are active, the oldest first."""
        return DELIVERIES.nouns(self._connection.all(_WAITING_DELIVERIES, most=most))
