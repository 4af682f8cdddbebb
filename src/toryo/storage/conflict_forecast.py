"""What the rules in `domain/conflict_forecast.py` compare: the files of a project's tasks that have begun."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

from toryo.domain.conflict_forecast import MOST_OTHERS, MOST_TOUCHED, Files
from toryo.domain.tasks import OPEN, Status
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, by_index
from toryo.storage.tables import TUPLE

_t, _w, _l, _d = schema.tasks, schema.worktrees, schema.launches, schema.dependencies
_p = sa.bindparam
_root, _deeper, _next = _t.alias("root"), _t.alias("deeper"), _t.alias("next")
_open = sorted(OPEN)
_parts_of_others = (
    sa.select(sa.literal(1))
    .where(
        _deeper.c.root_id == _t.c.root_id,
        _deeper.c.depth > _t.c.depth,
        _deeper.c.status.in_(_open),
        _deeper.c.assignee_id.is_distinct_from(_t.c.assignee_id),
    )
    .exists()
)
_carried_on = (
    sa.select(sa.literal(1))
    .select_from(_d.join(_next, _next.c.id == _d.c.task_id))
    .where(_d.c.depends_on == _t.c.id, _next.c.status.in_(_open))
    .exists()
)
_merged_with_root = sa.and_(_root.c.id != _t.c.id, _root.c.status.in_(_open))
_waits = sa.case(
    (_t.c.status == "completed", sa.or_(_merged_with_root, _carried_on)),
    else_=_parts_of_others,
).label("waits")
"""Of a completed task: its work is merged with an open one above it, or another task goes on with it. Of any other:
somebody else works on a part of it."""
_COLUMNS = (_t.c.id, _t.c.title, _t.c.status, _t.c.touches)
_not_given_up = _t.c.status.not_in(["failed", "cancelled"])
_WITH_WORKTREES = Statement(
    by_index(sa.select(*_COLUMNS, _w.c.touched, _waits), _w, "worktrees_open")
    .select_from(_w.join(_t, _t.c.id == _w.c.task_id).join(_root, _root.c.id == _t.c.root_id))
    .where(_w.c.state == "open", _w.c.project_id == _p("project_id"), _not_given_up)
    .order_by(_w.c.created_at.desc(), _w.c.task_id.desc())
    .limit(MOST_OTHERS)
)
_live = _l.c.state.in_([sa.literal_column("'ordered'"), sa.literal_column("'signed_in'")])
_STARTING = Statement(
    sa.select(*_COLUMNS, sa.null().label("touched"), _waits)
    .select_from(_l.join(_t, _t.c.id == _l.c.task_id).join(_root, _root.c.id == _t.c.root_id))
    .where(_live, _l.c.project_id == _p("project_id"), _l.c.purpose == "task", _not_given_up)
)
_TOUCHED = Statement(sa.select(_w.c.touched).where(_w.c.task_id == _p("task_id")))
_TOUCH = Statement(sa.update(_w).where(_w.c.task_id == _p("task_id")).values(touched=_p("touched")))


class ConflictForecast:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def begun(self, project_id: str) -> dict[str, Files]:
        """By task: those with an open worktree, the newest first, and those that are being started."""
        rows = self._connection.all(_STARTING, project_id=project_id)
        rows += self._connection.all(_WITH_WORKTREES, project_id=project_id)
        found: dict[str, Files] = {}
        for task_id, title, status, touches, touched, waits in rows:
            files = Files(task_id, title, Status(status), _read(touches), _read(touched), bool(waits))
            found[task_id] = files
        return found

    def touched(self, task_id: str) -> tuple[str, ...]:
        rows = self._connection.all(_TOUCHED, task_id=task_id)
        return _read(rows[0][0]) if rows else ()

    def touch(self, task_id: str, paths: Iterable[str]) -> None:
        """The paths that are changed in the task's worktree now."""
        self._connection.run(_TOUCH, task_id=task_id, touched=TUPLE[0](tuple(paths)[:MOST_TOUCHED]))


def _read(text: str | None) -> tuple[str, ...]:
    found: tuple[str, ...] = TUPLE[1](text)
    return found
