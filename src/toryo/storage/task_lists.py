"""Lists of a project's tasks, each read by an index that holds little more than what is asked for.

`tasks.py` reads single tasks and trees, `overview.py` cards and parts of tasks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple

import sqlalchemy as sa

from toryo.domain import tasks as domain
from toryo.domain.tasks import CLOSED, Status, Task
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, by_index, implied, in_list
from toryo.storage.tasks import ORDER, ROWS

_t = schema.tasks
_p = sa.bindparam
_here = _t.c.project_id == _p("project_id")
_is_closed: sa.ColumnElement[bool] = sa.literal_column(schema.IS_CLOSED)
_most = _p("most", type_=sa.Integer)

INDEXES = {
    Status.BACKLOG: ("tasks_backlog",),
    Status.TODO: ("tasks_todo", "tasks_queued"),
    Status.IN_PROGRESS: ("tasks_in_progress",),
    Status.BLOCKED: ("tasks_blocked",),
    Status.FAILED: ("tasks_not_done",),
    Status.CANCELLED: ("tasks_not_done",),
}
_MORE: dict[str, sa.ColumnElement[bool]] = {
    "tasks_todo": _t.c.agent_type.is_(None),
    "tasks_queued": _t.c.agent_type.is_not(None),
    "tasks_not_done": implied(schema.IS_NOT_DONE),
}


def _in(status: Status, index: str) -> tuple[sa.ColumnElement[bool], ...]:
    """The condition of the tasks of a status that are in an index."""
    return (_t.c.status == status.value, *([_MORE[index]] if index in _MORE else []))


OPEN = {index: _in(status, index) for status, indexes in INDEXES.items() if status not in CLOSED for index in indexes}
"""The open tasks, by the partial indexes that hold them and nothing else, with the condition of each."""


class Place(NamedTuple):
    """`Task.order`: where a task stands in a list."""

    priority: int
    line_at: Millis
    line_rank: int
    id: str


class Spot(NamedTuple):
    """Where a task stands in a list, and what lists are filtered by; the first four are its `Place`."""

    priority: int
    line_at: Millis
    line_rank: int
    id: str
    root_id: str
    parent_id: str | None
    status: str
    assignee_id: str | None
    agent_type: str | None


class Found(NamedTuple):
    """A task that was searched for; the first four are its `Place`."""

    priority: int
    line_at: Millis
    line_rank: int
    id: str
    project_id: str
    title: str
    status: str
    description: str

    def has(self, words: Iterable[str]) -> bool:
        text = f"{self.title} {self.description}".lower()
        return all(each in text for each in words)


class Wanted(NamedTuple):
    project_id: str
    status: Status | None = None
    assignee_id: str | None = None
    parent_id: str | None = None


def _sources(
    status: Status | None, assignee: bool, parent: bool
) -> Iterator[tuple[str, tuple[sa.ColumnElement[bool], ...]]]:
    """The indexes to read by, with the conditions. Completed tasks have none in this order: most are completed, so the
    first ones are found at once.
    """
    state = () if status is None else (_t.c.status == status.value,)
    if parent:
        yield "tasks_parent", (*state, _t.c.parent_id == _p("parent_id"), *_assigned(assignee))
    elif status in INDEXES:
        for index in INDEXES[status]:
            yield index, (*_in(status, index), *_assigned(assignee))
    else:
        yield "tasks_assignee" if assignee else "tasks_project", (*state, *_assigned(assignee))


def _assigned(assignee: bool) -> tuple[sa.ColumnElement[bool], ...]:
    return (_t.c.assignee_id == _p("assignee_id"),) if assignee else ()


AFTER = sa.tuple_(*ORDER) > sa.tuple_(*(_p(f"after_{column.name}", type_=column.type) for column in ORDER))
"""After a place in a list, with the parameters `after_priority`, and so on."""


@cache
def listing(status: Status | None, assignee: bool, parent: bool, after: bool) -> tuple[Statement, ...]:
    return tuple(
        Statement(
            by_index(ROWS.select(), _t, index)
            .where(_here, *wanted, *([AFTER] if after else []))
            .order_by(*ORDER)
            .limit(_most)
        )
        for index, wanted in _sources(status, assignee, parent)
    )


@cache
def counting(status: Status | None, assignee: bool, parent: bool) -> tuple[Statement, ...]:
    return tuple(
        Statement(
            sa.select(sa.func.count()).select_from(
                by_index(sa.select(_t.c.id), _t, index).where(_here, *wanted).limit(_most).subquery()
            )
        )
        for index, wanted in _sources(status, assignee, parent)
    )


def _open(columns: sa.Select[Any]) -> list[Statement]:
    return [Statement(by_index(columns, _t, index).where(_here, *wanted)) for index, wanted in OPEN.items()]


def _closed(columns: sa.Select[Any]) -> dict[Status, Statement]:
    return {
        status: Statement(
            by_index(columns, _t, "tasks_closed")
            .where(_here, implied(schema.IS_CLOSED), _t.c.status == status.value, _t.c.completed_at >= _p("since"))
            .order_by(_t.c.completed_at.desc(), _t.c.id.desc())
            .limit(_most)
        )
        for status in Status
        if status in CLOSED
    }


_OPEN, _CLOSED = _open(ROWS.select()), _closed(ROWS.select())
_spot = sa.select(*ORDER, _t.c.root_id, _t.c.parent_id, _t.c.status, _t.c.assignee_id, _t.c.agent_type)
_OPEN_SPOTS, _CLOSED_SPOTS = _open(_spot), _closed(_spot)
_SPOTS_OF_TREES = Statement(by_index(_spot, _t, "tasks_root").where(in_list(_t.c.root_id, "roots"), _here))
_titles = sa.select(_t.c.id, _t.c.title)
_OPEN_TITLES, _CLOSED_TITLES = _open(_titles), _closed(_titles)
_COUNT_CLOSED = Statement(
    by_index(sa.select(_t.c.status, sa.func.count()), _t, "tasks_closed").where(_here, _is_closed).group_by(_t.c.status)
)
_OPEN_REQUESTS = Statement(
    by_index(sa.select(sa.func.count()).select_from(_t), _t, "tasks_requested").where(
        _here,
        _t.c.requested_by == _p("agent_id"),
        _t.c.status.in_([sa.literal(each.value) for each in Status if each not in CLOSED]),
        _t.c.approval != domain.Approval.REJECTED.value,
    )
)
_RECENT_REQUESTS = Statement(
    by_index(sa.select(sa.func.count()).select_from(_t), _t, "tasks_requested").where(
        _here, _t.c.requested_by == _p("agent_id"), _t.c.created_at > _p("since")
    )
)
_BY_ID = Statement(
    by_index(_titles, _t, "sqlite_autoindex_tasks_1")
    .where(in_list(_t.c.project_id, "projects"), _t.c.id >= _p("id"), _t.c.id < _p("until"))
    .order_by(_t.c.id)
    .limit(_most)
)
_WITH_WORD = Statement(
    by_index(sa.select(*ORDER, _t.c.project_id, _t.c.title, _t.c.status, _t.c.description), _t, "tasks_project")
    .where(_here, sa.func.lower(_t.c.title + " " + _t.c.description).like(_p("pattern"), escape="\\"))
    .order_by(*ORDER)
    .limit(_most)
)
_SIGNS, _ESCAPED = r"([%_\\])", r"\\\1"
"""What means something in a pattern is taken as it is written."""
_CANDIDATES = 200
"""How many tasks of a project with one of the words are looked at for the others."""
_AMONG = 2_000
"""How many closed tasks of each status and project are searched for what was meant: those closed last."""
_ALIKE = 2
"""How many first characters of a title must match exactly in a search."""


class TaskLists:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(self, wanted: Wanted, most: int, after: Place | None = None) -> list[Task]:
        """At most `most` tasks, by priority, then creation (`Task.order`); `after`: only those after this place."""
        asked, filters = _asked(wanted)
        if after is not None:
            asked |= {f"after_{name}": value for name, value in after._asdict().items()}
        found = (
            ROWS.nouns(self._connection.all(statement, most=most, **asked))
            for statement in listing(*filters, after is not None)
        )
        return list(islice(merge(*found, key=lambda task: task.order), most))

    def count(self, wanted: Wanted, most: int) -> int:
        """How many there are; counted up to `most`."""
        asked, filters = _asked(wanted)
        return min(most, sum(int(self._connection.value(each, most=most, **asked)) for each in counting(*filters)))

    def current(self, project_id: str) -> list[Task]:
        """The open tasks, in order."""
        found = [task for each in _OPEN for task in self._tasks(each, project_id=project_id)]
        return sorted(found, key=lambda task: task.order)

    def current_spots(self, project_id: str, closed_since: Millis, most: int = 10_000) -> list[Spot]:
        """Of the open tasks, and those that were closed since then (the last `most` of each status)."""
        rows = [row for each in _OPEN_SPOTS for row in self._connection.all(each, project_id=project_id)]
        for statement in _CLOSED_SPOTS.values():
            rows += self._connection.all(statement, project_id=project_id, since=closed_since, most=most)
        return list(map(Spot._make, rows))

    def spots_of_trees(self, project_id: str, roots: Iterable[str]) -> list[Spot]:
        asked = {"project_id": project_id, "roots": list(roots)}
        return list(map(Spot._make, self._connection.all(_SPOTS_OF_TREES, **asked)))

    def closed(self, project_id: str, status: Status, most: int) -> list[Task]:
        """The tasks that were closed last with this status, newest first."""
        return self._tasks(_CLOSED[status], project_id=project_id, since=0, most=most)

    def closed_counts(self, project_id: str) -> Counter[Status]:
        return Counter(
            {Status(row[0]): int(row[1]) for row in self._connection.all(_COUNT_CLOSED, project_id=project_id)}
        )

    def open_requests(self, project_id: str, agent_id: str) -> int:
        """How many tasks that an agent has requested are open and not rejected."""
        return int(self._connection.value(_OPEN_REQUESTS, project_id=project_id, agent_id=agent_id))

    def requests_since(self, project_id: str, agent_id: str, since: Millis) -> int:
        return int(self._connection.value(_RECENT_REQUESTS, project_id=project_id, agent_id=agent_id, since=since))

    def with_words(self, words: Iterable[str], project_ids: Iterable[str], most: int) -> list[Found]:
        """At most `most` tasks that have every word in title or description, by priority and age."""
        wanted = sorted((each.lower() for each in words), key=len)
        if not wanted:
            return []
        pattern = f"%{re.sub(_SIGNS, _ESCAPED, wanted[-1])}%"
        found: list[Found] = []
        for project_id in project_ids:
            rows = self._connection.all(_WITH_WORD, project_id=project_id, pattern=pattern, most=_CANDIDATES)
            fits = (each for each in map(Found._make, rows) if each.has(wanted))
            found += islice(fits, most)
        return sorted(found)[:most]

    def near(self, text: str, project_ids: Iterable[str]) -> list[tuple[str, str]]:
        """Id and title of tasks that may be meant: the id starts with the text, or, among open tasks and those closed
        last, the title starts with it (first) or similarly, or the id has the same start or end.
        """
        projects = list(project_ids)
        begins = {"id": text, "until": f"{text}\uffff", "most": 20}
        found = {row[0]: row[1] for row in self._connection.all(_BY_ID, projects=projects, **begins)}
        asked = {"since": 0, "most": _AMONG}
        rows = [row for each in projects for s in _OPEN_TITLES for row in self._connection.all(s, project_id=each)]
        for statement in _CLOSED_TITLES.values():
            rows += (row for each in projects for row in self._connection.all(statement, project_id=each, **asked))
        alike = {
            task_id: title
            for task_id, title in rows
            if title.lower().startswith(text[:_ALIKE].lower())
            or task_id.startswith(text[:13])
            or task_id.endswith(text[-8:])
        }
        first = sorted(alike, key=lambda each: not alike[each].lower().startswith(text.lower()))
        return list((found | {each: alike[each] for each in first}).items())[:200]

    def _tasks(self, statement: Statement, **asked: Any) -> list[Task]:
        return ROWS.nouns(self._connection.all(statement, **asked))


def _asked(wanted: Wanted) -> tuple[dict[str, Any], tuple[Status | None, bool, bool]]:
    given = {"project_id": wanted.project_id, "assignee_id": wanted.assignee_id, "parent_id": wanted.parent_id}
    asked = {name: value for name, value in given.items() if value is not None}
    return asked, (wanted.status, wanted.assignee_id is not None, wanted.parent_id is not None)
