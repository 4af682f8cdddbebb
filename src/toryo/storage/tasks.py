"""Tasks and their dependencies, as rows. The domain decides what may change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from toryo.domain import tasks as domain
from toryo.domain.dependencies import Links
from toryo.domain.fast_dataclasses import replace
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import Details, Task, Wait
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, in_list
from toryo.storage.rows import JSON, TUPLE, Rows, enum, from_json, to_json, update_by_id

_t, _d = schema.tasks, schema.dependencies

ORDER = tuple(_t.c[name] for name in domain.ORDER)

WAIT = (
    lambda wait: None if wait is None else to_json([wait.kind, wait.since, wait.event]),
    lambda text: None if text is None else Wait(*from_json(text)),
)
_RANK = (lambda priority: priority.rank, domain.priority_ranked)

ROWS = Rows(
    Task,
    _t,
    {
        "status": enum(domain.Status),
        "priority": _RANK,
        "approval": enum(domain.Approval),
        "blocked_from": enum(domain.Status),
        "blocked_on": TUPLE,
        "wait": WAIT,
        "look_dispatchable": TUPLE,
        "checks": enum(domain.Checks),
        "moved_from": enum(domain.Status),
    },
)
DETAILS = Rows(
    Details,
    _t,
    {
        "context": JSON,
        "acceptance": TUPLE,
        "result": JSON,
        "artifacts": TUPLE,
        "check_failures": TUPLE,
    },
)

_p = sa.bindparam
_ONE = Statement(ROWS.select().where(_t.c.id == _p("id")))
_MANY = Statement(ROWS.select().where(in_list(_t.c.id, "ids")))
_TREES = Statement(ROWS.select().where(in_list(_t.c.root_id, "roots")))
_DETAILS = Statement(DETAILS.select().where(_t.c.id == _p("id")))
_DETAILS_OF = Statement(sa.select(_t.c.id, *DETAILS.columns).where(in_list(_t.c.id, "ids")))
_IDLE = Statement(ROWS.select().where(_t.c.root_id == _p("root_id"), _t.c.idle_launches > 0))
_EDGES = Statement(sa.select(_d.c.task_id, _d.c.depends_on).where(in_list(_d.c.root_id, "roots")))
_EDGES_OF = Statement(sa.select(_d.c.task_id, _d.c.depends_on).where(in_list(_d.c.task_id, "ids")))
_CHILDREN_OF = Statement(sa.select(_t.c.parent_id, _t.c.id).where(in_list(_t.c.parent_id, "ids")))
_PARENTS_OF = Statement(sa.select(_t.c.id, _t.c.parent_id).where(in_list(_t.c.id, "ids")))
_DEPENDANTS = Statement(sa.select(_d.c.task_id).where(_d.c.depends_on == _p("id")))
_ADD = Statement(sa.insert(_t))
_ADD_EDGE = Statement(sa.insert(_d))
_REMOVE_EDGE = Statement(sa.delete(_d).where(_d.c.task_id == _p("task_id"), _d.c.depends_on == _p("depends_on")))
_ROOTS_IN_PROGRESS = Statement(
    sa.select(_t.c.root_id)
    .distinct()
    .where(_t.c.project_id == _p("project_id"), _t.c.assignee_id == _p("agent_id"), _t.c.status == "in_progress")
)
_BLOCKED = Statement(
    sa.select(sa.func.count()).where(
        _t.c.project_id == _p("project_id"), _t.c.assignee_id == _p("agent_id"), _t.c.status == "blocked"
    )
)
_parent = _t.alias("parent")
_BUSY = Statement(
    sa.select(_t.c.assignee_id, _t.c.id)
    .outerjoin(_parent, _parent.c.id == _t.c.parent_id)
    .where(
        _t.c.project_id == _p("project_id"),
        _t.c.status == "in_progress",
        in_list(_t.c.assignee_id, "agents"),
        sa.or_(_parent.c.id.is_(None), _parent.c.assignee_id.is_distinct_from(_t.c.assignee_id)),
    )
)
_AT_WORK = Statement(
    sa.select(_t.c.assignee_id, _t.c.project_id, _t.c.root_id, _t.c.moved_at, _t.c.left_at).where(
        _t.c.status == "in_progress", _t.c.assignee_id.is_not(None)
    )
)
_CORRELATED = Statement(
    ROWS.select()
    .where(sa.literal_column("correlation_id IS NOT NULL"), _t.c.correlation_id == _p("correlation_id"))
    .order_by(_t.c.created_at, _t.c.ordinal, _t.c.id)
    .limit(2000)
)


_NOTED = frozenset(
    {
        *("wait", "look_event", "look_dispatchable", "left_at", "left_event", "stalled_event"),
        *("unreported_ends", "idle_launches", "children_ever", "worked_attempt", "moved_session", "moved_from"),
    }
)
"""Columns that the server writes for its own decisions; they do not raise the version that people edit against."""


class Tasks:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, task_id: str) -> Task | None:
        return ROWS.one(self._connection.one(_ONE, id=task_id))

    def find_all(self, task_ids: Iterable[str]) -> list[Task]:
        ids = list(task_ids)
        return ROWS.nouns(self._connection.all(_MANY, ids=ids)) if ids else []

    def details(self, task_id: str) -> Details:
        return DETAILS.one(self._connection.one(_DETAILS, id=task_id)) or Details()

    def details_of(self, task_ids: Iterable[str]) -> dict[str, Details]:
        ids = list(task_ids)
        rows = self._connection.all(_DETAILS_OF, ids=ids) if ids else []
        return {row[0]: DETAILS.noun_of(row[1:]) for row in rows}

    def tree(self, root_id: str) -> Tree:
        return self.trees([root_id])[root_id]

    def trees(self, root_ids: Sequence[str]) -> dict[str, Tree]:
        """The trees of these roots, each with its dependencies on other trees."""
        roots = list(root_ids)
        found = ROWS.nouns(self._connection.all(_TREES, roots=roots))
        by_id = {task.id: task for task in found}
        edges: dict[str, list[str]] = {}
        for task_id, depends_on in self._connection.all(_EDGES, roots=roots):
            edges.setdefault(task_id, []).append(depends_on)
        elsewhere = self.find_all(_leading_out(by_id, edges))
        return {root: _tree(root, by_id, edges, elsewhere) for root in roots}

    def roots_in_progress(self, project_id: str, agent_id: str) -> list[str]:
        """The roots of the trees in which the agent has a task in progress."""
        rows = self._connection.all(_ROOTS_IN_PROGRESS, project_id=project_id, agent_id=agent_id)
        return [row[0] for row in rows]

    def blocked(self, project_id: str, agent_id: str) -> int:
        return int(self._connection.value(_BLOCKED, project_id=project_id, agent_id=agent_id))

    def busy(self, project_id: str, agent_ids: Iterable[str]) -> dict[str, frozenset[str]]:
        """The main tasks in progress of these agents in a project."""
        found: dict[str, set[str]] = {}
        for agent_id, task_id in self._connection.all(_BUSY, project_id=project_id, agents=list(agent_ids)):
            found.setdefault(agent_id, set()).add(task_id)
        return {agent_id: frozenset(ids) for agent_id, ids in found.items()}

    def at_work(self) -> dict[tuple[str, str], tuple[Millis, frozenset[str]]]:
        """By agent and project, for agents with tasks in progress: since when each waits, and in which trees.

        It waits since its oldest task was started, or since it last left one of them. Otherwise the first agent would
        always come first, and with few slots others would never get one.
        """
        since: dict[tuple[str, str], Millis] = {}
        left: dict[tuple[str, str], Millis] = {}
        roots: dict[tuple[str, str], set[str]] = {}
        for agent_id, project_id, root_id, moved_at, left_at in self._connection.all(_AT_WORK):
            pair = (agent_id, project_id)
            since[pair] = min(since.get(pair, moved_at), moved_at)
            left[pair] = max(left.get(pair, 0), left_at or 0)
            roots.setdefault(pair, set()).add(root_id)
        return {pair: (max(since[pair], left[pair]), frozenset(roots[pair])) for pair in since}

    def correlated(self, correlation_id: str) -> list[Task]:
        """The tasks of one request, oldest first, at most 2,000."""
        return ROWS.nouns(self._connection.all(_CORRELATED, correlation_id=correlation_id))

    def idle(self, root_id: str) -> list[Task]:
        """The tasks of a tree with idle launches."""
        return ROWS.nouns(self._connection.all(_IDLE, root_id=root_id))

    def add(self, task: Task, details: Details) -> None:
        self._connection.run(_ADD, **ROWS.values(task), **DETAILS.values(details))

    def connect(self, task: Task, dependencies: Iterable[str]) -> None:
        rows = [{"task_id": task.id, "depends_on": dependency, "root_id": task.root_id} for dependency in dependencies]
        if rows:
            self._connection.many(_ADD_EDGE, rows)

    def disconnect(self, task: Task, dependencies: Iterable[str]) -> None:
        for dependency in dependencies:
            self._connection.run(_REMOVE_EDGE, task_id=task.id, depends_on=dependency)

    def save(self, before: Task, after: Task) -> Task:
        """Stores changed columns, raises the version if a visible one changed, and returns the task as stored."""
        changes = ROWS.changes(before, after)
        if not changes:
            return after
        seen = 0 if _NOTED.issuperset(changes) else 1
        stored = replace(after, version=before.version + seen)
        changes["version"] = stored.version
        self._connection.run(update_by_id(_t, tuple(changes)), this_id=after.id, **changes)
        return stored

    def save_details(self, task_id: str, **fields: Any) -> None:
        values = {name: DETAILS.value(name, value) for name, value in fields.items()}
        self._connection.run(update_by_id(_t, tuple(values)), this_id=task_id, **values)

    def linked(self, task_ids: list[str]) -> dict[str, Links]:
        """Dependencies, children and parent of those of these tasks that exist."""
        found = {task_id: Links(parent=parent) for task_id, parent in self._connection.all(_PARENTS_OF, ids=task_ids)}
        for task_id, other in self._connection.all(_EDGES_OF, ids=task_ids):
            found[task_id].dependencies.append(other)
        for task_id, other in self._connection.all(_CHILDREN_OF, ids=task_ids):
            found[task_id].children.append(other)
        return found

    def depends_on(self, task_ids: list[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for task_id, other in self._connection.all(_EDGES_OF, ids=task_ids):
            found.setdefault(task_id, []).append(other)
        return found

    def dependants(self, task_id: str) -> list[str]:
        return [row[0] for row in self._connection.all(_DEPENDANTS, id=task_id)]


def _leading_out(inside: dict[str, Task], edges: dict[str, list[str]]) -> list[str]:
    return sorted({each for ids in edges.values() for each in ids} - set(inside))


def _tree(root: str, by_id: dict[str, Task], edges: dict[str, list[str]], elsewhere: Iterable[Task]) -> Tree:
    tasks = {task.id: task for task in by_id.values() if task.root_id == root}
    depends = {task: tuple(edges[task]) for task in tasks if task in edges}
    outside = {task.id: task for task in (*by_id.values(), *elsewhere) if task.root_id != root}
    return Tree(tasks, depends, outside)
