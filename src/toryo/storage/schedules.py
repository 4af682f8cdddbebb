"""Schedules and their runs, as rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.schedules import Outcome, Run, Schedule, State
from toryo.domain.tasks import CLOSED, Status
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, implied
from toryo.storage.rows import Rows, save_changes

_s, _r, _t, _j = schema.schedules, schema.schedule_runs, schema.tasks, schema.projects
_p = sa.bindparam

SCHEDULES = Rows(Schedule, _s)
RUNS = Rows(Run, _r)

_ADD = Statement(sa.insert(_s), columns=SCHEDULES.names)
_ADD_RUN = Statement(sa.insert(_r), columns=RUNS.names)
_ONE = Statement(SCHEDULES.select().where(_s.c.id == _p("id")))
_OF_PROJECT = Statement(
    SCHEDULES.select().where(_s.c.project_id == _p("project_id")).order_by(_s.c.created_at, _s.c.id)
)
_STOPPED = Statement(SCHEDULES.select().where(_s.c.state == State.STOPPED.value).order_by(_s.c.state_at, _s.c.id))
_in_active_project = _s.c.project_id.in_(sa.select(_j.c.id).where(_j.c.status == ProjectStatus.ACTIVE.value))
_active = implied(schema.IS_SCHEDULED)
_DUE = Statement(
    SCHEDULES.select()
    .where(_active, _s.c.next_at <= _p("now", type_=sa.BigInteger), _in_active_project)
    .order_by(_s.c.next_at, _s.c.id)
    .limit(_p("most", type_=sa.Integer))
)
_WAITING = Statement(
    SCHEDULES.select()
    .where(_active, _s.c.buffered.is_not(None), _in_active_project)
    .order_by(_s.c.buffered, _s.c.id)
    .limit(_p("most", type_=sa.Integer))
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
        _in_active_project,
    )
    .order_by(_s.c.created_at, _s.c.id)
    .limit(_p("most", type_=sa.Integer))
)
_SOONEST = Statement(sa.select(sa.func.min(_s.c.next_at)).where(_active, _in_active_project))
_open = sa.and_(_r.c.task_id.is_not(None), _r.c.result.is_(None))
_OPEN = Statement(RUNS.select().where(_open, _r.c.schedule_id == _p("id")).order_by(_r.c.scheduled_at, _r.c.id))
# Not a join: SQLite would begin with the tasks, and read all of them.
_status, _closed_at = (
    sa.select(column).where(_t.c.id == _r.c.task_id).scalar_subquery() for column in (_t.c.status, _t.c.completed_at)
)
_CLOSED = Statement(
    sa.select(*RUNS.columns, _status)
    .where(_open, _status.in_([sa.literal(each.value) for each in sorted(CLOSED)]))
    .order_by(_closed_at, _r.c.id)
    .limit(_p("most", type_=sa.Integer))
)
_BUFFERED = Statement(
    RUNS.select().where(_r.c.schedule_id == _p("id"), _r.c.outcome == Outcome.BUFFERED.value).limit(1)
)
_newest_first = (_r.c.scheduled_at.desc(), _r.c.id.desc())
_NEWEST = Statement(RUNS.select().where(_r.c.schedule_id == _p("id")).order_by(*_newest_first).limit(1))
_before: Any = _p("before", type_=sa.BigInteger)
_latest = _r.alias("latest")
_latest_of = (
    sa.select(_latest.c.id)
    .where(_latest.c.schedule_id == _s.c.id)
    .order_by(_latest.c.scheduled_at.desc(), _latest.c.id.desc())
    .limit(1)
    .scalar_subquery()
)
_NEWEST_OF_PROJECT = Statement(
    RUNS.select().where(_r.c.id.in_(sa.select(_latest_of).where(_s.c.project_id == _p("project_id"))))
)
_HISTORY = Statement(
    RUNS.select()
    .where(
        _r.c.schedule_id == _p("id"),
        sa.or_(_r.c.scheduled_at < _before, sa.and_(_r.c.scheduled_at == _before, _r.c.id < _p("last"))),
    )
    .order_by(*_newest_first)
    .limit(_p("most", type_=sa.Integer))
)
_FORGET = Statement(
    sa.delete(_r).where(
        _r.c.id.in_(
            sa.select(_r.c.id)
            .where(_r.c.schedule_id == _p("id"), _r.c.task_id.is_(None))
            .order_by(*_newest_first)
            .limit(_p("most", type_=sa.Integer))
            .offset(_p("keep", type_=sa.Integer))
        )
    )
)
_DROP_RUNS = Statement(sa.delete(_r).where(_r.c.schedule_id == _p("id")))
_DROP = Statement(sa.delete(_s).where(_s.c.id == _p("id")))
NEWEST: tuple[Millis, str] = (2**62, "")
"""Before which a history begins."""
_FORGOTTEN_AT_ONCE = 1_000


class Schedules:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, schedule: Schedule) -> None:
        self._connection.run(_ADD, **SCHEDULES.values(schedule))

    def save(self, before: Schedule, after: Schedule) -> Schedule:
        save_changes(self._connection, _s, SCHEDULES, before, after)
        return after

    def drop(self, schedule_id: str) -> None:
        """With its history; its tasks stay."""
        self._connection.run(_DROP_RUNS, id=schedule_id)
        self._connection.run(_DROP, id=schedule_id)

    def find(self, schedule_id: str) -> Schedule | None:
        return SCHEDULES.one(self._connection.one(_ONE, id=schedule_id))

    def of_project(self, project_id: str) -> list[Schedule]:
        """The oldest first."""
        return SCHEDULES.nouns(self._connection.all(_OF_PROJECT, project_id=project_id))

    def stopped(self) -> list[Schedule]:
        """Of all projects, that have stopped themselves."""
        return SCHEDULES.nouns(self._connection.all(_STOPPED))

    def due(self, now: Millis, most: int) -> list[Schedule]:
        """Those whose time has come, in projects that are active."""
        return SCHEDULES.nouns(self._connection.all(_DUE, now=now, most=most))

    def waiting(self, most: int) -> list[Schedule]:
        """Those with a run that could not begin yet, in projects that are active."""
        return SCHEDULES.nouns(self._connection.all(_WAITING, most=most))

    def decided(self, most: int) -> list[Schedule]:
        """Those whose awaited task is completed, cancelled or gone, in projects that are active."""
        return SCHEDULES.nouns(self._connection.all(_DECIDED, most=most))

    def soonest(self) -> Millis | None:
        """When the next one is due."""
        found: Millis | None = self._connection.value(_SOONEST)
        return found

    # --- runs ----------------------------------------------------------------------------------------------------

    def add_run(self, run: Run) -> None:
        self._connection.run(_ADD_RUN, **RUNS.values(run))

    def save_run(self, before: Run, after: Run) -> None:
        save_changes(self._connection, _r, RUNS, before, after)

    def open_runs(self, schedule_id: str) -> list[Run]:
        """Those whose tasks have not been seen closed, the oldest first."""
        return RUNS.nouns(self._connection.all(_OPEN, id=schedule_id))

    def closed_since(self, most: int) -> list[tuple[Run, Status]]:
        """Runs whose tasks were closed since this was asked last, in that order."""
        rows = self._connection.all(_CLOSED, most=most)
        return [(RUNS.noun_of(tuple(row[:-1])), Status(row[-1])) for row in rows]

    def buffered_run(self, schedule_id: str) -> Run | None:
        """The one that waits until it can begin."""
        return RUNS.one(self._connection.one(_BUFFERED, id=schedule_id))

    def newest_run(self, schedule_id: str) -> Run | None:
        return RUNS.one(self._connection.one(_NEWEST, id=schedule_id))

    def newest_runs(self, project_id: str) -> dict[str, Run]:
        """Of each schedule of a project that has any, by schedule."""
        found = RUNS.nouns(self._connection.all(_NEWEST_OF_PROJECT, project_id=project_id))
        return {run.schedule_id: run for run in found}

    def history(self, schedule_id: str, before: tuple[Millis, str], most: int) -> Sequence[Run]:
        """The newest first, from before an instant and an id on."""
        return RUNS.nouns(self._connection.all(_HISTORY, id=schedule_id, before=before[0], last=before[1], most=most))

    def forget_runs(self, schedule_id: str, keep: int) -> None:
        """Of the runs without a task, all but the newest."""
        self._connection.run(_FORGET, id=schedule_id, keep=keep, most=_FORGOTTEN_AT_ONCE)
