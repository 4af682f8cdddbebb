"""Reads what may require a person, in all projects, through indexes on live states. Writes nothing.

`operations/overview/needs/` decides whether it does, and which people.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import sqlalchemy as sa

from toryo.domain.delegations import Delegation
from toryo.domain.launches import Purpose
from toryo.domain.messages import MessageKind
from toryo.domain.tasks import Task
from toryo.domain.times import Millis
from toryo.storage import delegations, schema, tasks, unread
from toryo.storage.agents import cooldown_of
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, by_index, in_list
from toryo.workflow.snapshot import Cooldown

_t, _d, _m, _h, _c = (
    schema.tasks,
    schema.delegations,
    schema.messages,
    schema.threads,
    schema.cooldowns,
)
_p = sa.bindparam

_is_unapproved: sa.ColumnElement[bool] = sa.literal_column(schema.UNAPPROVED)
_UNAPPROVED = Statement(tasks.ROWS.select().where(_is_unapproved))
_BLOCKED = Statement(
    tasks.ROWS.select().where(_t.c.status == "blocked", _t.c.blocked_cause.is_(None), sa.not_(_t.c.blocked_by_person))
)
_FAILED_TASKS = Statement(
    tasks.ROWS.select()
    .where(_t.c.status == "failed", _t.c.completed_at >= _p("since"))
    .order_by(_t.c.completed_at.desc(), _t.c.id)
    .limit(_p("most", type_=sa.Integer))
)
_FREED = Statement(
    tasks.ROWS.select().where(
        _t.c.status == "todo",
        _t.c.moved_from == "blocked",
        _t.c.started_at.is_not(None),
        _t.c.agent_type.is_(None),
    )
)
_STALLED = Statement(tasks.ROWS.select().where(_t.c.status == "in_progress", _t.c.stalled_event.is_not(None)))
_AT_WORK = Statement(tasks.ROWS.select().where(_t.c.status == "in_progress", in_list(_t.c.assignee_id, "people")))
_FAILED = Statement(
    by_index(delegations.DELEGATIONS.select(), _t, "tasks_in_progress")
    .select_from(_d.join(_t, _t.c.id == _d.c.task_id))
    .where(_t.c.status == "in_progress", _d.c.await_result)
    .order_by(_d.c.created_at, _d.c.id)
)
_COOLING = Statement(
    sa.select(_c.c.agent_id, _c.c.purpose, _c.c.until, _c.c.reason, _c.c.failures, _c.c.program)
    .where(in_list(_c.c.reason, "why"))
    .order_by(_c.c.agent_id, _c.c.purpose, _c.c.program)
)


class Unread(NamedTuple):
    """A person's unread messages of one kind in a thread; `newest` is the sequence of the last one."""

    project_id: str
    person_id: str
    other_id: str
    kind: MessageKind
    many: int
    since: Millis
    newest: int


def _unread(me: sa.Column[str], other: sa.Column[str], seen: sa.Column[int]) -> Statement:
    """Messages from agents and people, and system messages that belong to no task."""
    return Statement(
        sa.select(
            _h.c.project_id,
            me,
            other,
            _m.c.kind,
            sa.func.count(),
            sa.func.min(_m.c.created_at),
            sa.func.max(_m.c.sequence),
        )
        .select_from(_h.join(_m, unread.is_unread(_h.c.project_id, _h.c.thread, seen, me)))
        .where(
            in_list(_h.c.project_id, "projects"),
            in_list(me, "people"),
            _h.c.newest > seen,
            sa.or_(_m.c.kind == MessageKind.MESSAGE.value, _m.c.related_task_id.is_(None)),
        )
        .group_by(_h.c.project_id, me, other, _m.c.kind)
    )


_UNREAD = (_unread(_h.c.low_id, _h.c.high_id, _h.c.seen_low), _unread(_h.c.high_id, _h.c.low_id, _h.c.seen_high))


class Needs:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def unapproved(self) -> list[Task]:
        """Open tasks that wait for an approval."""
        return self._tasks(_UNAPPROVED)

    def blocked(self) -> list[Task]:
        """Tasks blocked by themselves (no cascade), not by a person."""
        return self._tasks(_BLOCKED)

    def failed(self, since: Millis, most: int) -> list[Task]:
        """Tasks that failed since then and are still failed, newest first."""
        return self._tasks(_FAILED_TASKS, since=since, most=most)

    def freed(self) -> list[Task]:
        """Tasks in `todo` that were started, then blocked and unblocked. Without queue tasks, which the queue serves
        again.
        """
        return self._tasks(_FREED)

    def stalled(self) -> list[Task]:
        """Tasks in progress for which a stall was ever reported."""
        return self._tasks(_STALLED)

    def in_progress_of(self, people: Collection[str]) -> list[Task]:
        return self._tasks(_AT_WORK, people=sorted(people))

    def awaited_delegations(self) -> list[Delegation]:
        """Delegations with an awaited result of tasks in progress, oldest first."""
        return delegations.DELEGATIONS.nouns(self._connection.all(_FAILED))

    def cooling(self, reasons: Collection[str]) -> list[tuple[str, Purpose, Cooldown]]:
        """Agents whose last start with a program failed for one of these reasons, also where the cooldown is over."""
        rows: list[Any] = self._connection.all(_COOLING, why=sorted(reasons))
        return [(row[0], Purpose(row[1]), cooldown_of(*row[2:])) for row in rows]

    def unread(self, people: Collection[str], projects: Collection[str]) -> list[Unread]:
        asked = {"people": sorted(people), "projects": sorted(projects)}
        rows = [row for statement in _UNREAD for row in self._connection.all(statement, **asked)]
        return [Unread(row[0], row[1], row[2], MessageKind(row[3]), int(row[4]), row[5], int(row[6])) for row in rows]

    def _tasks(self, statement: Statement, **asked: Any) -> list[Task]:
        return tasks.ROWS.nouns(self._connection.all(statement, **asked))
