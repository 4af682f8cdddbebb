"""Webhooks and their deliveries, as rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.schedules import State
from toryo.domain.tasks import CLOSED, Status
from toryo.domain.times import Millis
from toryo.domain.webhooks import Delivery, Webhook
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement
from toryo.storage.rows import Rows, save_changes

_w, _d, _t, _j = schema.webhooks, schema.webhook_deliveries, schema.tasks, schema.projects
_p = sa.bindparam

WEBHOOKS = Rows(Webhook, _w)
DELIVERIES = Rows(Delivery, _d)

_ADD = Statement(sa.insert(_w), columns=WEBHOOKS.names)
_ADD_DELIVERY = Statement(sa.insert(_d), columns=DELIVERIES.names)
_ONE = Statement(WEBHOOKS.select().where(_w.c.id == _p("id")))
_OF_PROJECT = Statement(WEBHOOKS.select().where(_w.c.project_id == _p("project_id")).order_by(_w.c.created_at, _w.c.id))
_STOPPED = Statement(WEBHOOKS.select().where(_w.c.state == State.STOPPED.value).order_by(_w.c.state_at, _w.c.id))
_open = sa.and_(_d.c.task_id.is_not(None), _d.c.result.is_(None))
_MADE = Statement(
    DELIVERIES.select().where(_d.c.webhook_id == _p("id"), _d.c.key == _p("key"), _d.c.task_id.is_not(None))
)
_in_active_project = _d.c.project_id.in_(sa.select(_j.c.id).where(_j.c.status == ProjectStatus.ACTIVE.value))
_WAITING = Statement(
    DELIVERIES.select()
    .where(_open, _d.c.waits, _in_active_project)
    .order_by(_d.c.at, _d.c.id)
    .limit(_p("most", type_=sa.Integer))
)
# Not a join: SQLite would begin with the tasks, and read all of them.
_status, _closed_at = (
    sa.select(column).where(_t.c.id == _d.c.task_id).scalar_subquery() for column in (_t.c.status, _t.c.completed_at)
)
_CLOSED = Statement(
    sa.select(*DELIVERIES.columns, _status)
    .where(_open, _status.in_([sa.literal(each.value) for each in sorted(CLOSED)]))
    .order_by(_closed_at, _d.c.id)
    .limit(_p("most", type_=sa.Integer))
)
_newest_first = (_d.c.at.desc(), _d.c.id.desc())
_NEWEST = Statement(DELIVERIES.select().where(_d.c.webhook_id == _p("id")).order_by(*_newest_first).limit(1))
_before: Any = _p("before", type_=sa.BigInteger)
_latest = _d.alias("latest")
_latest_of = (
    sa.select(_latest.c.id)
    .where(_latest.c.webhook_id == _w.c.id)
    .order_by(_latest.c.at.desc(), _latest.c.id.desc())
    .limit(1)
    .scalar_subquery()
)
_NEWEST_OF_PROJECT = Statement(
    DELIVERIES.select().where(_d.c.id.in_(sa.select(_latest_of).where(_w.c.project_id == _p("project_id"))))
)
_HISTORY = Statement(
    DELIVERIES.select()
    .where(
        _d.c.webhook_id == _p("id"),
        sa.or_(_d.c.at < _before, sa.and_(_d.c.at == _before, _d.c.id < _p("last"))),
    )
    .order_by(*_newest_first)
    .limit(_p("most", type_=sa.Integer))
)
_FORGET = Statement(
    sa.delete(_d).where(
        _d.c.id.in_(
            sa.select(_d.c.id)
            .where(_d.c.webhook_id == _p("id"), _d.c.task_id.is_(None))
            .order_by(*_newest_first)
            .limit(_p("most", type_=sa.Integer))
            .offset(_p("keep", type_=sa.Integer))
        )
    )
)
_DROP_DELIVERIES = Statement(sa.delete(_d).where(_d.c.webhook_id == _p("id")))
_DROP = Statement(sa.delete(_w).where(_w.c.id == _p("id")))
NEWEST: tuple[Millis, str] = (2**62, "")
"""Before which a history begins."""
_FORGOTTEN_AT_ONCE = 1_000


class Webhooks:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, webhook: Webhook) -> None:
        self._connection.run(_ADD, **WEBHOOKS.values(webhook))

    def save(self, before: Webhook, after: Webhook) -> Webhook:
        save_changes(self._connection, _w, WEBHOOKS, before, after)
        return after

    def drop(self, webhook_id: str) -> None:
        """With its history; its tasks stay."""
        self._connection.run(_DROP_DELIVERIES, id=webhook_id)
        self._connection.run(_DROP, id=webhook_id)

    def find(self, webhook_id: str) -> Webhook | None:
        return WEBHOOKS.one(self._connection.one(_ONE, id=webhook_id))

    def of_project(self, project_id: str) -> list[Webhook]:
        """The oldest first."""
        return WEBHOOKS.nouns(self._connection.all(_OF_PROJECT, project_id=project_id))

    def stopped(self) -> list[Webhook]:
        """Of all projects, that have stopped themselves."""
        return WEBHOOKS.nouns(self._connection.all(_STOPPED))

    # --- deliveries ----------------------------------------------------------------------------------------------

    def add_delivery(self, delivery: Delivery) -> None:
        self._connection.run(_ADD_DELIVERY, **DELIVERIES.values(delivery))

    def save_delivery(self, before: Delivery, after: Delivery) -> None:
        save_changes(self._connection, _d, DELIVERIES, before, after)

    def made_by(self, webhook_id: str, key: str) -> Delivery | None:
        """The delivery of this key that has created a task."""
        return DELIVERIES.one(self._connection.one(_MADE, id=webhook_id, key=key))

    def waiting(self, most: int) -> list[Delivery]:
        """Those whose task is to start when its assignee has room, in projects that are active, the oldest first."""
        return DELIVERIES.nouns(self._connection.all(_WAITING, most=most))

    def closed_since(self, most: int) -> list[tuple[Delivery, Status]]:
        """Deliveries whose tasks were closed since this was asked last, in that order."""
        rows = self._connection.all(_CLOSED, most=most)
        return [(DELIVERIES.noun_of(tuple(row[:-1])), Status(row[-1])) for row in rows]

    def newest_delivery(self, webhook_id: str) -> Delivery | None:
        return DELIVERIES.one(self._connection.one(_NEWEST, id=webhook_id))

    def newest_deliveries(self, project_id: str) -> dict[str, Delivery]:
        """Of each webhook of a project that has any, by webhook."""
        found = DELIVERIES.nouns(self._connection.all(_NEWEST_OF_PROJECT, project_id=project_id))
        return {each.webhook_id: each for each in found}

    def history(self, webhook_id: str, before: tuple[Millis, str], most: int) -> Sequence[Delivery]:
        """The newest first, from before an instant and an id on."""
        rows = self._connection.all(_HISTORY, id=webhook_id, before=before[0], last=before[1], most=most)
        return DELIVERIES.nouns(rows)

    def forget_deliveries(self, webhook_id: str, keep: int) -> None:
        """Of the deliveries without a task, all but the newest."""
        self._connection.run(_FORGET, id=webhook_id, keep=keep, most=_FORGOTTEN_AT_ONCE)
