"""Saved views as rows, and how many tasks each of them shows: counted for all of them by one statement."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import sqlalchemy as sa

from toryo.domain.saved_views import SavedView
from toryo.domain.task_filters import NOBODY, TaskFilter
from toryo.domain.tasks import CLOSED, Status
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, by_index, implied, in_list
from toryo.storage.rows import Rows, save_changes
from toryo.storage.task_lists import OPEN

_v, _t = schema.saved_views, schema.tasks
_p = sa.bindparam

ROWS = Rows(SavedView, _v)
_ADD = Statement(sa.insert(_v), columns=ROWS.names)
_DROP = Statement(sa.delete(_v).where(_v.c.id == _p("id")))
_ONE = Statement(ROWS.select().where(_v.c.id == _p("id")))
_OF = Statement(
    ROWS.select()
    .where(
        _v.c.project_id == _p("project_id"),
        sa.or_(_v.c.everybody.is_(sa.true()), _v.c.person_id == _p("person_id")),
    )
    .order_by(_v.c.created_at, _v.c.id)
)
MOST_CLOSED = 1_000
"""Of each closed status only the tasks that were closed last are counted: the others are read nowhere."""


class _Shape(NamedTuple):
    """What a filter asks, without its values: the text of the statement depends on it."""

    statuses: bool
    assignees: bool
    nobody: bool
    priorities: bool
    queues: bool
    words: int
    root: bool


def _shape(wanted: TaskFilter) -> _Shape:
    return _Shape(
        bool(wanted.statuses),
        bool(wanted.assignees),
        NOBODY in wanted.assignees,
        bool(wanted.priorities),
        bool(wanted.queues),
        len(wanted.words),
        wanted.root_id is not None,
    )


def _values(at: int, wanted: TaskFilter) -> dict[str, Any]:
    shape = _shape(wanted)
    given: dict[str, Any] = {
        "statuses": [each.value for each in wanted.statuses] if shape.statuses else None,
        "assignees": [each for each in wanted.assignees if each != NOBODY] if shape.assignees else None,
        "priorities": [each.rank for each in wanted.priorities] if shape.priorities else None,
        "queues": list(wanted.queues) if shape.queues else None,
        "root": wanted.root_id,
        **{f"word_{number}": _pattern(word) for number, word in enumerate(wanted.words)},
    }
    return {f"{name}_{at}": value for name, value in given.items() if value is not None}


def _pattern(word: str) -> str:
    """What means something in a pattern is taken as it is written."""
    escaped = re.sub(r"([%_\\])", r"\\\1", word)
    return f"%{escaped}%"


def _condition(at: int, shape: _Shape, row: Any) -> sa.ColumnElement[bool]:
    wanted: list[sa.ColumnElement[bool]] = []
    if shape.statuses:
        wanted.append(in_list(row.status, f"statuses_{at}"))
    if shape.assignees:
        named = in_list(row.assignee_id, f"assignees_{at}")
        wanted.append(sa.or_(named, row.assignee_id.is_(None)) if shape.nobody else named)
    if shape.priorities:
        wanted.append(in_list(row.priority, f"priorities_{at}"))
    if shape.queues:
        wanted.append(in_list(row.agent_type, f"queues_{at}"))
    if shape.root:
        wanted.append(row.root_id == _p(f"root_{at}"))
    wanted += [row.said.like(_p(f"word_{number}_{at}"), escape="\\") for number in range(shape.words)]
    return sa.and_(sa.true(), *wanted)


@lru_cache(maxsize=128)
def _counting(shapes: tuple[_Shape, ...], closed: tuple[Status, ...]) -> Statement:
    here = _t.c.project_id == _p("project_id")
    said = sa.func.lower(_t.c.title + " " + _t.c.id + " " + sa.func.coalesce(_t.c.blocked_reason, "")).label("said")
    facts = sa.select(_t.c.status, _t.c.priority, _t.c.assignee_id, _t.c.agent_type, _t.c.root_id, said)
    parts = [by_index(facts, _t, index).where(here, *wanted) for index, wanted in OPEN.items()]
    for status in closed:
        last = (
            by_index(facts, _t, "tasks_closed")
            .where(here, implied(schema.IS_CLOSED), _t.c.status == status.value)
            .order_by(_t.c.completed_at.desc())
            .limit(MOST_CLOSED)
            .subquery()
        )
        parts.append(sa.select(*last.c))
    row = sa.union_all(*parts).subquery().c
    return Statement(
        sa.select(*(sa.func.count().filter(_condition(at, shape, row)) for at, shape in enumerate(shapes)))
    )


class SavedViews:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, saved: SavedView) -> None:
        self._connection.run(_ADD, **ROWS.values(saved))

    def save(self, before: SavedView, after: SavedView) -> None:
        save_changes(self._connection, _v, ROWS, before, after)

    def drop(self, view_id: str) -> None:
        self._connection.run(_DROP, id=view_id)

    def find(self, view_id: str) -> SavedView | None:
        return ROWS.one(self._connection.one(_ONE, id=view_id))

    def shown_to(self, project_id: str, person_id: str) -> list[SavedView]:
        """Those of a person and those for everybody, the oldest first."""
        return ROWS.nouns(self._connection.all(_OF, project_id=project_id, person_id=person_id))

    def counts(self, project_id: str, wanted: Sequence[TaskFilter]) -> list[int]:
        """How many tasks of a project match each of these filters; of closed ones `MOST_CLOSED` are looked at."""
        if not wanted:
            return []
        asked = {status for each in wanted for status in each.statuses}
        closed = tuple(each for each in Status if each in CLOSED and each in asked)
        given = {name: value for at, each in enumerate(wanted) for name, value in _values(at, each).items()}
        row = self._connection.one(_counting(tuple(map(_shape, wanted)), closed), project_id=project_id, **given)
        return [int(each) for each in row or ()]
