"""Questions to people, as rows."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from toryo.domain.questions import Question, State
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement
from toryo.storage.rows import Rows, save_changes

_q = schema.questions
_p = sa.bindparam

ROWS = Rows(Question, _q)

_is_open: sa.ColumnElement[bool] = sa.literal_column("state = 'open'")
_ADD = Statement(sa.insert(_q), columns=ROWS.names)
_ONE = Statement(ROWS.select().where(_q.c.id == _p("id")))
_OF_TASK = Statement(ROWS.select().where(_q.c.task_id == _p("task_id")).order_by(_q.c.created_at, _q.c.id))
_OPEN = Statement(ROWS.select().where(_is_open).order_by(_q.c.created_at, _q.c.id))
_DUE = Statement(
    ROWS.select()
    .where(_is_open, _q.c.deadline <= _p("now", type_=sa.BigInteger), _q.c.fallback.is_not(None))
    .order_by(_q.c.deadline, _q.c.id)
)
_ANSWERED_ALIKE = Statement(
    ROWS.select()
    .where(_q.c.project_id == _p("project_id"), _q.c.alike == _p("alike"), _q.c.state == State.ANSWERED.value)
    .order_by(_q.c.ended_at.desc(), _q.c.id.desc())
    .limit(1)
)
_OPEN_ALIKE = Statement(
    ROWS.select()
    .where(_q.c.project_id == _p("project_id"), _q.c.alike == _p("alike"), _q.c.state == State.OPEN.value)
    .order_by(_q.c.created_at, _q.c.id)
)


def _listed(*, of_task: bool, in_state: bool) -> Statement:
    before: Any = _p("before", type_=sa.BigInteger)
    last: Any = _p("last")
    wanted = [_q.c.project_id == _p("project_id")]
    wanted += [_q.c.task_id == _p("task_id")] if of_task else []
    wanted += [_q.c.state == _p("state")] if in_state else []
    further = sa.or_(_q.c.created_at < before, sa.and_(_q.c.created_at == before, _q.c.id < last))
    return Statement(
        ROWS.select()
        .where(*wanted, further)
        .order_by(_q.c.created_at.desc(), _q.c.id.desc())
        .limit(_p("most", type_=sa.Integer))
    )


_LISTED = {
    (of_task, in_state): _listed(of_task=of_task, in_state=in_state)
    for of_task in (False, True)
    for in_state in (False, True)
}
NEWEST: tuple[Millis, str] = (2**62, "")
"""Before which a list begins."""


class Questions:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, question: Question) -> None:
        self._connection.run(_ADD, **ROWS.values(question))

    def save(self, before: Question, after: Question) -> None:
        save_changes(self._connection, _q, ROWS, before, after)

    def find(self, question_id: str) -> Question | None:
        return ROWS.one(self._connection.one(_ONE, id=question_id))

    def of_task(self, task_id: str) -> list[Question]:
        """Oldest first."""
        return ROWS.nouns(self._connection.all(_OF_TASK, task_id=task_id))

    def all_open(self) -> list[Question]:
        """Of all projects, oldest first."""
        return ROWS.nouns(self._connection.all(_OPEN))

    def due(self, now: Millis) -> list[Question]:
        """Open ones whose deadline is over, and that have a default."""
        return ROWS.nouns(self._connection.all(_DUE, now=now))

    def answered_alike(self, project_id: str, alike: str) -> Question | None:
        """The newest that asked the same in this project, and was answered by a person."""
        return ROWS.one(self._connection.one(_ANSWERED_ALIKE, project_id=project_id, alike=alike))

    def open_alike(self, project_id: str, alike: str) -> list[Question]:
        """Those that ask the same in this project and wait for an answer, oldest first."""
        return ROWS.nouns(self._connection.all(_OPEN_ALIKE, project_id=project_id, alike=alike))

    def listed(
        self, project_id: str, task_id: str | None, state: State | None, before: tuple[Millis, str], most: int
    ) -> list[Question]:
        """The newest first, from what was asked before an instant and an id on."""
        asked: dict[str, Any] = {"project_id": project_id, "before": before[0], "last": before[1], "most": most}
        asked |= {"task_id": task_id} if task_id is not None else {}
        asked |= {"state": state.value} if state is not None else {}
        return ROWS.nouns(self._connection.all(_LISTED[task_id is not None, state is not None], **asked))
