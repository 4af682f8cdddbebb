"""Tasks and their dependencies, as rows. The domain decides what may change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from toryo.domain import tasks as domain
from toryo.domain.budgets import of_task
from toryo.domain.dependencies import Links
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import Checks, Details, Pool, Start, Task, Wait
from toryo.domain.times import Millis
from toryo.storage import many_rows, schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Row, Statement, by_index, in_list
from toryo.storage.engine.unit_of_work import Target
from toryo.storage.rows import Rows
from toryo.storage.tables import from_json, to_json

_t, _d = schema.tasks, schema.dependencies

ORDER = tuple(_t.c[name] for name in domain.ORDER)

WAIT = (
    lambda wait: None if wait is None else to_json([wait.kind, wait.since, wait.event]),
    lambda text: None if text is None else Wait(*from_json(text)),
)
ROWS = Rows(Task, _t, {"wait": WAIT})
DETAILS = Rows(Details, _t)

_TASK = Target(_t, [*ROWS.names, *DETAILS.names])
_EDGE = Target(_d, ["task_id", "depends_on", "root_id"], key=("task_id", "depends_on"))

_p = sa.bindparam
_one = _t.alias("one")
_ONE = Statement(ROWS.select().where(_t.c.id == _p("id")))
_MANY = Statement(ROWS.select().where(in_list(_t.c.id, "ids")))
_TREES = Statement(ROWS.select().where(in_list(_t.c.root_id, "roots")))
_DETAILS_OF = Statement(sa.select(_t.c.id, *DETAILS.columns).where(in_list(_t.c.id, "ids")))
_IDLE = Statement(ROWS.select().where(_t.c.root_id == _p("root_id"), _t.c.idle_launches > 0))
_EDGES = Statement(sa.select(_d.c.task_id, _d.c.depends_on).where(in_list(_d.c.root_id, "roots")))
_EDGES_OF = Statement(sa.select(_d.c.task_id, _d.c.depends_on).where(in_list(_d.c.task_id, "ids")))
_CHILDREN_OF = Statement(sa.select(_t.c.parent_id, _t.c.id).where(in_list(_t.c.parent_id, "ids")))
_PARENTS_OF = Statement(sa.select(_t.c.id, _t.c.parent_id).where(in_list(_t.c.id, "ids")))
_DEPENDANTS = Statement(sa.select(_d.c.task_id).where(_d.c.depends_on == _p("id")))
_names: sa.ColumnElement[bool] = _t.c.context.like(_p("like"))
_ASKING_CHANGES = Statement(
    sa.select(_d.c.depends_on, _t.c.id, _t.c.context)
    .join(_t, _t.c.id == _d.c.task_id)
    .where(in_list(_d.c.depends_on, "ids"), in_list(_t.c.status, "statuses"), _names)
    .order_by(_t.c.created_at, _t.c.ordinal, _t.c.id)
)
_is_review: sa.ColumnElement[bool] = sa.literal_column("review_of IS NOT NULL")
is_budgeted: sa.ColumnElement[bool] = sa.literal_column("(budget_usd IS NOT NULL OR budget_tokens IS NOT NULL)")
_BUDGETED = Statement(ROWS.select().where(is_budgeted, _t.c.status.in_(sorted(domain.OPEN))))
_ROOT_OF_BUDGETED = Statement(
    sa.select(_t.c.root_id)
    .where(is_budgeted, _t.c.root_id == sa.select(_one.c.root_id).where(_one.c.id == _p("id")).scalar_subquery())
    .limit(1)
)
_OPEN_REVIEWS = Statement(
    ROWS.select().where(_is_review, _t.c.review_of == _p("task_id"), _t.c.status.in_(sorted(domain.OPEN)))
)
_NEWEST_REVIEWS = Statement(
    ROWS.select()
    .where(_is_review, _t.c.review_of == _p("task_id"))
    .order_by(_t.c.created_at.desc(), _t.c.ordinal.desc(), _t.c.id.desc())
    .limit(_p("most", type_=sa.Integer))
)
_REVIEWS_TO_LOOK_AFTER = Statement(
    ROWS.select()
    .where(_is_review, _t.c.status.in_(["todo", "in_progress"]))
    .order_by(*ORDER)
    .limit(_p("most", type_=sa.Integer))
)
_REVIEW_WAITING_FOR = Statement(
    by_index(ROWS.select(), _t, "tasks_reviews_in_todo")
    .where(_t.c.project_id == _p("project_id"), _t.c.assignee_id == _p("agent_id"), _t.c.status == "todo", _is_review)
    .order_by(*ORDER)
    .limit(1)
)
_IN_TODO = sa.and_(_t.c.status == "todo", _t.c.agent_type.is_(None))
CAN_START = sa.and_(_IN_TODO, _t.c.dependencies_left == 0, _t.c.not_before.is_(None))
"""As the index of lines has it."""
_waits_in_line = sa.and_(_t.c.approval == "approved", _t.c.review_of.is_(None))
_of_agent = _t.c.assignee_id == _p("agent_id")
_of_pool = sa.and_(_t.c.assignee_id.is_(None), _t.c.pool.is_not(None))


_IN_LINE = (_t.c.assignee_id, _t.c.start, *ORDER)
"""PostgreSQL does not see that what is null has one value: with these it sees that an index has the order."""


_whole = _t.alias("whole")
_given = sa.or_(_whole.c.assignee_id.is_not(None), _whole.c.pool.is_not(None), _whole.c.start == Start.MANUAL.value)
_below_one_that_comes_first = (
    sa.select(_whole.c.id)
    .where(_whole.c.id == _t.c.parent_id)
    .where(sa.or_(_whole.c.status == "backlog", sa.and_(_whole.c.status == "todo", _given)))
    .exists()
)
"""As `task_readiness.keeps_parts`, of what is directly above: however many parts a draft has, nothing waits behind
them."""


def _ready(*conditions: sa.ColumnElement[bool], index: str = "tasks_in_line") -> sa.Select[Any]:
    """Of the tasks that wait for no other one, those that come first."""
    return (
        by_index(ROWS.select(), _t, index)
        .where(_t.c.project_id == _p("project_id"), CAN_START, _waits_in_line, ~_below_one_that_comes_first)
        .where(*conditions)
        .order_by(*(ORDER if index == "tasks_in_pool" else _IN_LINE))
        .limit(_p("most", type_=sa.Integer))
    )


_parts, _by_toryo = _t.c.parent_id.is_not(None), _t.c.start == Start.WHEN_READY.value
_INDEX_OF = {False: "tasks_in_line", True: "tasks_parts_in_line"}


def _ready_of_agent(by: sa.ColumnElement[bool], *, parts: bool) -> sa.Select[Any]:
    return _ready(_of_agent, by, *([_parts] if parts else []), index=_INDEX_OF[parts])


_most = _p("most", type_=sa.Integer)
_in_one_pool = _ready(_of_pool, _by_toryo, _t.c.pool == sa.literal_column("k.value"), index="tasks_in_pool")
_ids_in_one_pool = Statement(_in_one_pool.with_only_columns(_t.c.id)).sqlite.text
_near = _in_one_pool.lateral("near")
_IN_POOLS: dict[str, sa.Select[Any]] = {
    "sqlite": ROWS.select()
    .select_from(
        sa.text(
            f"json_each(:kept_as) AS k, json_each((SELECT json_group_array(id) FROM ({_ids_in_one_pool}))) AS i"  # noqa: S608 - compiled, not pasted
        )
    )
    .where(_t.c.id == sa.literal_column("i.value"))
    .order_by(*ORDER)
    .limit(_most),
    "postgresql": sa.select(_near)
    .select_from(sa.text("json_array_elements_text(CAST(:kept_as AS json)) AS k(value)"))
    .order_by(*(_near.c[name] for name in domain.ORDER))
    .limit(_most),
}
"""Of the pools in a list, those that come first: the first ones of each pool are where an index has them, whatever
other pools have in line."""
_READY_IN_POOL = Statement(_IN_POOLS["sqlite"], postgresql=_IN_POOLS["postgresql"], only=[_t])


def _line(*, of_project: bool, parts: bool, pools: bool) -> Statement:
    """An agent's line: what says itself that Toryo starts it, what leaves that to the project if that says so, and what
    is for anyone. Each is where an index has its first ones; who reads them puts them in order."""
    said = [_by_toryo, _t.c.start.is_(None)] if of_project else [_by_toryo]
    own = [sa.select(_ready_of_agent(by, parts=parts).subquery()) for by in said]
    on = {
        name: sa.union_all(*own, *([sa.select(near.subquery())] if pools else [])) for name, near in _IN_POOLS.items()
    }
    return Statement(on["sqlite"], postgresql=on["postgresql"], only=[_t])


_LINE = {
    (of_project, parts, pools): _line(of_project=of_project, parts=parts, pools=pools)
    for of_project in (False, True)
    for parts, pools in ((False, False), (False, True), (True, False))
}
_LEFT_TO_PROJECT = Statement(_ready_of_agent(_t.c.start.is_(None), parts=False))
_m, _a, _pr = schema.memberships, schema.agents, schema.projects
_first = _t.alias("first")


def _stands_in_line(*of: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    """Whether there is a task in `todo` that waits for no other one."""
    return by_index(sa.select(_t.c.id).where(*of, CAN_START), _t, "tasks_in_line").exists()


_of_member = (_t.c.project_id == _m.c.project_id, _t.c.assignee_id == _m.c.agent_id)
_by_setting_or_toryo = sa.or_(_t.c.start.is_(None), _by_toryo)
_members = (
    sa.select(_m.c.project_id, _m.c.agent_id)
    .join(_a, _a.c.id == _m.c.agent_id)
    .join(_pr, _pr.c.id == _m.c.project_id)
    .where(_a.c.kind == "ai", _pr.c.status == "active", _stands_in_line(*_of_member, _by_setting_or_toryo))
    .order_by(_m.c.project_id, _m.c.agent_id)
)
_is_there = sa.and_(_m.c.removed_at.is_(None), _a.c.status == "active")
_LINES, _LEFT_LINES = Statement(_members.where(_is_there)), Statement(_members.where(sa.not_(_is_there)))
_POOLS = Statement(
    sa.select(_pr.c.id)
    .where(_pr.c.status == "active", _stands_in_line(_t.c.project_id == _pr.c.id, _of_pool, _by_toryo))
    .order_by(_pr.c.id)
)


def _first_pool(*after: sa.ColumnElement[bool]) -> sa.Select[Any]:
    return (
        by_index(sa.select(_t.c.pool), _t, "tasks_in_pool")
        .where(_t.c.project_id == _p("project_id"), CAN_START, _of_pool, _by_toryo, *after)
        .order_by(_t.c.pool)
        .limit(1)
    )


_pools = sa.select(_first_pool().scalar_subquery().label("pool")).cte("pools", recursive=True)
_next_pool = _first_pool(_t.c.pool > _pools.c.pool).correlate(_pools).scalar_subquery()
_pools = _pools.union_all(sa.select(_next_pool).where(_pools.c.pool.is_not(None)))
_POOLS_IN_LINE = Statement(sa.select(_pools.c.pool).where(_pools.c.pool.is_not(None)))
"""From one to the next, however many tasks each has."""
_HAVE_A_LINE = Statement(
    sa.select(_a.c.id).where(
        in_list(_a.c.id, "ids"),
        _stands_in_line(_t.c.project_id == _p("project_id"), _t.c.assignee_id == _a.c.id),
    )
)
_BACKWARDS = [column.desc() for column in ORDER]


def _before(columns: Sequence[sa.Column[Any]]) -> sa.ColumnElement[bool]:
    """Before a place, with a parameter for each of these columns."""
    return sa.tuple_(*columns) < sa.tuple_(*(_p(column.name, type_=column.type) for column in columns))


def _nearest_before(line: sa.ColumnElement[bool], *started: sa.ColumnElement[bool]) -> sa.Select[Any]:
    return (
        by_index(sa.select(_t.c.id, _t.c.title, *ORDER[:-1]), _t, "tasks_in_line")
        .where(_t.c.project_id == _p("project_id"), line, CAN_START, _waits_in_line, *started, _before(ORDER))
        .order_by(*(column.desc() for column in _IN_LINE))
        .limit(_p("most", type_=sa.Integer))
    )


_said_by_project = (_t.c.start.is_(None), _p("of_project", type_=sa.Integer) == 1)
_BEFORE_IN_LINE = {
    line: Statement(
        sa.union_all(*(sa.select(_nearest_before(line, *each).subquery()) for each in ((_by_toryo,), _said_by_project)))
    )
    for line in (_of_agent, _of_pool)
}
_of_priority = sa.and_(_t.c.project_id == _p("project_id"), _t.c.priority == _p("priority"), _t.c.agent_type.is_(None))
_NEXT_BEFORE = Statement(
    by_index(sa.select(_t.c.id, _t.c.line_at, _t.c.line_rank), _t, "tasks_todo")
    .where(_of_priority, _t.c.status == "todo", _before(ORDER[1:]))
    .order_by(*_BACKWARDS[1:])
    .limit(1)
)
_MAKE_ROOM = Statement(
    sa.update(_t)
    .where(_of_priority, _t.c.line_at == _p("line_at"), _before(ORDER[2:]), _t.c.id != _p("but"))
    .values(line_rank=_t.c.line_rank - domain.LINE_STEP)
)
_DUE = Statement(
    by_index(ROWS.select(), _t, "tasks_not_before")
    .where(_IN_TODO, _t.c.not_before <= _p("now"))
    .order_by(_t.c.not_before, _t.c.id)
    .limit(_p("most", type_=sa.Integer))
)
_NEXT_DUE = Statement(
    by_index(sa.select(sa.func.min(_t.c.not_before)), _t, "tasks_not_before").where(
        _IN_TODO, _t.c.not_before.is_not(None)
    )
)
_REVIEWED_BY = Statement(sa.select(_t.c.context).where(in_list(_t.c.id, "ids"), _names))
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


def is_main(parent: Any) -> sa.ColumnElement[bool]:
    """As `Tree.is_main`, for an assigned task. `parent` is an alias of the table, joined outer by `parent_id`."""
    return sa.or_(parent.c.id.is_(None), parent.c.assignee_id.is_distinct_from(_t.c.assignee_id))


HOLDS_A_PLACE = sa.and_(
    _t.c.status == "in_progress",
    _t.c.checks != Checks.IN_REVIEW.value,
    sa.or_(_t.c.checks != Checks.RUNNING.value, _t.c.wait.is_(None)),
)
"""In progress, and not `Task.in_review`."""
_parent = _t.alias("parent")
_BUSY = Statement(
    sa.select(_t.c.assignee_id, _t.c.id)
    .outerjoin(_parent, _parent.c.id == _t.c.parent_id)
    .where(
        _t.c.project_id == _p("project_id"),
        HOLDS_A_PLACE,
        in_list(_t.c.assignee_id, "agents"),
        is_main(_parent),
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


# --- tasks that stand alone ------------------------------------------------------------------------------------------

_se, _dl = schema.sessions, schema.delegations
_of_session = sa.select(_se.c.task_id).where(_se.c.ended_at.is_(None), _se.c.task_id.is_not(None))
_delegated = sa.select(sa.literal(1)).where(_dl.c.task_id == _t.c.id).exists()
ALONE = sa.and_(
    _t.c.parent_id.is_(None),
    _t.c.children_ever == 0,
    sa.not_(_t.c.has_acceptance),
    _t.c.checks == "none",
    _t.c.idle_launches == 0,
    ~_delegated,
    _t.c.id.not_in(_of_session),
)
"""A task that nothing hangs on but what a queue knows: no tree, no checks, no session, no delegation."""
_waits = sa.select(sa.literal(1)).where(_d.c.task_id == _t.c.id).exists()
FOUND = [*ROWS.columns, *DETAILS.columns, ALONE.label("alone"), _waits.label("waits")]
_DETAILS, _IS_ALONE = len(ROWS.names), len(ROWS.names) + len(DETAILS.names)


@dataclass(frozen=True, slots=True)
class Found:
    """A task with its payloads, and whether it is `ALONE`."""

    task: Task
    details: Details
    alone: bool
    has_dependencies: bool

    @staticmethod
    def of(row: Row) -> Found:
        """A row that begins with the columns `FOUND`."""
        task, details = ROWS.noun_of(row[:_DETAILS]), DETAILS.noun_of(row[_DETAILS:_IS_ALONE])
        return Found(task, details, bool(row[_IS_ALONE]), bool(row[_IS_ALONE + 1]))


_QUEUED_BEHIND = Statement(
    sa.select(_t.c.project_id, _t.c.agent_type, _t.c.id)
    .select_from(_d.join(_t, _t.c.id == _d.c.task_id))
    .where(in_list(_d.c.depends_on, "ids"), _t.c.status == "todo", _t.c.agent_type.is_not(None))
)
_NEW = (
    *("id", "project_id", "root_id", "depth", "ordinal", "title", "status", "priority", "agent_type", "created_by"),
    *("approval", "created_at", "updated_at", "moved_at", "attempt", "parent_attempt", "children_ever", "origin_id"),
    *("worked_attempt", "blocked_by_person", "blocked_by_guard", "unreported_ends", "idle_launches", "has_acceptance"),
    *("checks", "correlation_id", "timeout_seconds", "max_attempts", "questions_ever", "open_questions", "version"),
    *("dependencies_left", "line_at", "line_rank"),
)
"""The columns that a new task of a queue fills; the others are null."""
_new = ROWS.tuple_of(_NEW)
_FILE = many_rows.insert(_t, [*_NEW, "description", "context"])
_CONNECT = many_rows.insert(_d, ["task_id", "depends_on", "root_id"])
_MOVED = ("status", "assignee_id", "not_before", "moved_at", "updated_at", "moved_session", "moved_from", "version")
_STARTED = (*_MOVED, "started_at")
_started = ROWS.tuple_of((*_STARTED, "id"))
_START = many_rows.update(_t, _STARTED, ["id"])
_ENDED = (*_MOVED, "attempt", "completed_at", "wait", "unreported_ends")
_ended = ROWS.tuple_of(_ENDED)
_END = many_rows.update(_t, [*_ENDED, "result", "error"], ["id"])


_NOTED = frozenset(
    {
        *("wait", "look_event", "look_dispatchable", "left_at", "left_event", "stalled_event"),
        *("unreported_ends", "idle_launches", "children_ever", "worked_attempt", "moved_session", "moved_from"),
        *("questions_ever", "open_questions", "dependencies_left"),
    }
)
"""Columns that the server writes for its own decisions; they do not raise the version that people edit against."""


def _listed(pools: Iterable[Pool]) -> str | None:
    """Each as it is stored."""
    return to_json([to_json(each) for each in pools])


def _place(task: Task) -> dict[str, Any]:
    """As the parameters of `_before`."""
    return dict(zip(domain.ORDER, task.order, strict=True))


class _Known:
    """Tasks, their payloads and dependencies, and whole trees, as the rows are or will be."""

    tables = frozenset({_t.name, _d.name})

    def __init__(self) -> None:
        self.tasks: dict[str, Task] = {}
        self.details: dict[str, Details] = {}
        self.stored: dict[str, dict[str, Any]] = {}
        """Payloads that were added or changed, as their columns are stored: decoded when somebody asks."""
        self.edges: dict[str, list[str]] = {}
        self.trees: dict[str, Tree] = {}
        self.behind: dict[str, dict[str, Task]] = {}
        """By root: tasks that have changed since their tree was asked for. A tree is renewed when it is asked for
        again, so that many changes in a row cost one renewal.
        """

    def task(self, task: Task) -> None:
        """A task that was changed or added."""
        self.tasks[task.id] = task
        for root_id, tree in self.trees.items():
            if root_id == task.root_id or task.id in tree.outside:
                self.behind.setdefault(root_id, {})[task.id] = task

    def tree(self, root_id: str) -> Tree:
        """A known tree, as it is now."""
        tree = self.trees[root_id]
        changed = self.behind.pop(root_id, None)
        if changed is not None:
            tree = self.trees[root_id] = tree.changed(*changed.values())
        return tree

    def connected(self, task: Task, dependencies: list[str], found: list[Task]) -> None:
        """Its dependencies are these from now on."""
        self.edges[task.id] = dependencies
        if task.root_id in self.trees:
            self.trees[task.root_id] = self.tree(task.root_id).connected(task, found)


class Tasks:
    """Each task is read once and written once in a transaction: see `engine/unit_of_work.py`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def _known(self) -> _Known:
        return self._connection.unit.known(_Known)

    def find(self, task_id: str) -> Task | None:
        found = self._known.tasks.get(task_id)
        return found if found is not None else self._one(self._connection.one(_ONE, id=task_id))

    def find_all(self, task_ids: Iterable[str]) -> list[Task]:
        ids = dict.fromkeys(task_ids)
        known = self._known.tasks
        unknown = [each for each in ids if each not in known]
        if unknown:
            self.kept(self._connection.all(_MANY, ids=unknown))
            known = self._known.tasks
        return [known[each] for each in ids if each in known]

    def kept(self, rows: Iterable[Any]) -> list[Task]:
        """The tasks of these rows, which were just read, for later reads of one of them."""
        tasks = ROWS.nouns(rows)
        known = self._known.tasks
        return [known.setdefault(task.id, task) for task in tasks]

    def _one(self, row: Any) -> Task | None:
        return None if row is None else self.kept([row])[0]

    def details(self, task_id: str) -> Details:
        return self.details_of([task_id]).get(task_id) or Details()

    def details_of(self, task_ids: Iterable[str]) -> dict[str, Details]:
        ids = list(task_ids)
        known = self._known
        for task_id in [each for each in ids if each in known.stored]:
            values = known.stored.pop(task_id)
            known.details[task_id] = DETAILS.noun_of(tuple(values[name] for name in DETAILS.names))
        unknown = [each for each in ids if each not in known.details]
        if unknown:
            rows = self._connection.all(_DETAILS_OF, ids=unknown)
            self._known.details.update((row[0], DETAILS.noun_of(row[1:])) for row in rows)
        details = self._known.details
        return {each: details[each] for each in ids if each in details}

    def tree(self, root_id: str) -> Tree:
        return self.trees([root_id])[root_id]

    def trees(self, root_ids: Iterable[str]) -> dict[str, Tree]:
        """The trees of these roots, each with its dependencies on other trees."""
        roots = list(root_ids)
        unknown = [root for root in roots if root not in self._known.trees]
        if unknown:
            self._read(unknown)
        known = self._known
        return {root: known.tree(root) for root in roots}

    def _read(self, roots: list[str]) -> None:
        # Below a root that never had subtasks is nothing to read.
        lone = [task for root in roots if (task := self._known.tasks.get(root)) and not task.children_ever]
        alone = {task.id for task in lone}
        grown = [root for root in roots if root not in alone]
        read = self.kept(self._connection.all(_TREES, roots=grown)) if grown else []
        by_id = {task.id: task for task in (*lone, *read)}
        edges: dict[str, list[str]] = {}
        for task_id, depends_on in self._connection.all(_EDGES, roots=roots):
            edges.setdefault(task_id, []).append(depends_on)
        elsewhere = self.find_all(_leading_out(by_id, edges))
        known = self._known
        known.edges.update({task_id: edges.get(task_id, []) for task_id in by_id})
        by_root: dict[str, dict[str, Task]] = {root: {} for root in roots}
        for task in by_id.values():
            by_root[task.root_id][task.id] = task
        by_id.update((task.id, task) for task in elsewhere)
        for root, tasks in by_root.items():
            known.trees[root] = _tree(tasks, edges, by_id)

    def roots_in_progress(self, project_id: str, agent_id: str) -> list[str]:
        """The roots of the trees in which the agent has a task in progress."""
        rows = self._connection.all(_ROOTS_IN_PROGRESS, project_id=project_id, agent_id=agent_id)
        return [row[0] for row in rows]

    def blocked(self, project_id: str, agent_id: str) -> int:
        return int(self._connection.all(_BLOCKED, project_id=project_id, agent_id=agent_id)[0][0])

    def busy(self, project_id: str, agent_ids: Iterable[str]) -> dict[str, frozenset[str]]:
        """The main tasks of these agents in a project that hold a place: in progress, and not in review."""
        found: dict[str, set[str]] = {}
        agents = sorted(agent_ids)
        for agent_id, task_id in self._connection.all(_BUSY, project_id=project_id, agents=agents):
            found.setdefault(agent_id, set()).add(task_id)
        return {agent_id: frozenset(ids) for agent_id, ids in found.items()}

    def budgeted(self) -> list[Task]:
        """The open tasks that have a budget, in all projects."""
        return ROWS.nouns(self._connection.all(_BUDGETED))

    def budgeted_root(self, task_id: str) -> str | None:
        """The root of a task if any task of its tree has a budget: else nothing more needs to be read."""
        for root, tree in self._known.trees.items():
            if task_id in tree.tasks:
                return root if any(of_task(each).limits for each in self._known.tree(root).tasks.values()) else None
        found = self._connection.value(_ROOT_OF_BUDGETED, id=task_id)
        return None if found is None else str(found)

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
        return self.kept(self._connection.all(_CORRELATED, correlation_id=correlation_id))

    def open_reviews(self, task_id: str) -> list[Task]:
        """The open tasks that review the work of this one."""
        return self.kept(self._connection.all(_OPEN_REVIEWS, task_id=task_id))

    def newest_reviews(self, task_id: str, most: int) -> list[Task]:
        """The tasks in which agents review the work of this one, or did, the newest first."""
        return self.kept(self._connection.all(_NEWEST_REVIEWS, task_id=task_id, most=most))

    def reviews_to_look_after(self, most: int) -> list[Task]:
        return self.kept(self._connection.all(_REVIEWS_TO_LOOK_AFTER, most=most))

    def review_waiting_for(self, project_id: str, agent_id: str) -> Task | None:
        """Of the reviews that an agent has not begun, the one that comes first."""
        return next(
            iter(self.kept(self._connection.all(_REVIEW_WAITING_FOR, project_id=project_id, agent_id=agent_id))), None
        )

    def ready_in_line(
        self,
        project_id: str,
        agent_id: str,
        of_project: Start,
        most: int,
        *,
        parts: bool = False,
        also: Collection[Pool] = (),
    ) -> list[Task]:
        """The approved tasks in an agent's line that wait for no other one, in the order of the line; with `parts` only
        those that are parts of another one; `also` those of these pools."""
        line = _LINE[of_project is Start.WHEN_READY, parts, bool(also)]
        asked = {"project_id": project_id, "agent_id": agent_id, "most": most}
        rows = self._connection.all(line, **asked, **({"kept_as": _listed(also)} if also else {}))
        return sorted(self.kept(rows), key=lambda task: task.order)[:most]

    def ready_in_pool(self, project_id: str, most: int, of: Collection[Pool]) -> list[Task]:
        """The approved tasks of these pools that wait for no other one, in the order of the line."""
        return self.kept(self._connection.all(_READY_IN_POOL, project_id=project_id, most=most, kept_as=_listed(of)))

    def pools_in_line(self, project_id: str) -> list[Pool]:
        """Each pool of which a task waits for no other one."""
        rows = self._connection.all(_POOLS_IN_LINE, project_id=project_id)
        return [pool for (kept_as,) in rows if (pool := ROWS.read("pool", kept_as)) is not None]

    def ready_by_project(self, project_id: str, agent_id: str, most: int) -> list[Task]:
        """Those of `ready_in_line` of which nobody has said how they start."""
        asked = {"project_id": project_id, "agent_id": agent_id, "most": most}
        return self.kept(self._connection.all(_LEFT_TO_PROJECT, **asked))

    def lines(self) -> list[tuple[str, str | None]]:
        """Project and agent of every line in which something may be ready; without an agent, that of a pool."""
        of_agents = [(row[0], row[1]) for row in self._connection.all(_LINES)]
        return [*of_agents, *((project_id, None) for project_id in self.pools())]

    def pools(self) -> list[str]:
        """The projects with tasks for anyone who is free that wait for no other one."""
        return [row[0] for row in self._connection.all(_POOLS)]

    def left_lines(self) -> list[tuple[str, str]]:
        """The same as `lines`, of agents that are inactive or were removed from the project."""
        return [(row[0], row[1]) for row in self._connection.all(_LEFT_LINES)]

    def have_a_line(self, project_id: str, agent_ids: Iterable[str]) -> frozenset[str]:
        """Those of the agents that have tasks in `todo` which wait for no other one."""
        rows = self._connection.all(_HAVE_A_LINE, project_id=project_id, ids=list(agent_ids))
        return frozenset(row[0] for row in rows)

    def before_in_line(self, task: Task, of_project: Start, most: int) -> list[tuple[str, str]]:
        """Id and title of the tasks before this one in its line, the nearest first."""
        of = {} if task.assignee_id is None else {"agent_id": task.assignee_id}
        rows = self._connection.all(
            _BEFORE_IN_LINE[_of_pool if task.assignee_id is None else _of_agent],
            project_id=task.project_id,
            **of,
            of_project=int(of_project is Start.WHEN_READY),
            most=most,
            **_place(task),
        )
        found = sorted(rows, key=lambda row: (*row[2:], row[0]), reverse=True)
        return [(row[0], row[1]) for row in found[:most]]

    def put_before(self, task: Task, other: Task) -> Task | None:
        """The task in the place directly before another one of its priority, not stored yet; None: it is there. Those
        of the same time are moved up where there is no room."""
        found = self._connection.one(_NEXT_BEFORE, project_id=other.project_id, **_place(other))
        if found is not None and found[0] == task.id:
            return None
        room = domain.LINE_STEP
        if found is not None and found[1] == other.line_at:
            room = other.line_rank - found[2]
            if room < 2:
                self._connection.run(_MAKE_ROOM, project_id=other.project_id, but=task.id, **_place(other))
                room = domain.LINE_STEP
            room //= 2
        return replace(task, line_at=other.line_at, line_rank=other.line_rank - room)

    def due(self, now: Millis, most: int) -> list[Task]:
        """Those in `todo` whose time has come, that of which came first."""
        return self.kept(self._connection.all(_DUE, now=now, most=most))

    def next_due(self) -> Millis | None:
        """When the first of those comes that wait for their time."""
        found: Millis | None = self._connection.value(_NEXT_DUE)
        return found

    def idle(self, root_id: str) -> list[Task]:
        """The tasks of a tree with idle launches."""
        if root_id in self._known.trees:
            return [task for task in self.tree(root_id).tasks.values() if task.idle_launches]
        return self.kept(self._connection.all(_IDLE, root_id=root_id))

    def add(self, task: Task, details: Details) -> None:
        stored = DETAILS.values(details)
        self._connection.unit.add(_TASK, (task.id,), {**ROWS.values(task), **stored})
        known = self._known
        known.stored[task.id] = stored
        known.task(task)
        known.edges[task.id] = []
        if task.id == task.root_id:
            known.trees[task.id] = Tree({task.id: task})

    def connect(self, task: Task, dependencies: Iterable[str]) -> None:
        added = list(dependencies)
        if not added:
            return
        present = self._edges(task)
        for dependency in added:
            row = {"task_id": task.id, "depends_on": dependency, "root_id": task.root_id}
            self._connection.unit.add(_EDGE, (task.id, dependency), row)
        self._connect(task, [*present, *added])

    def file(self, tasks: Sequence[tuple[Task, Details, Iterable[str]]]) -> None:
        """New tasks of queues, with what they depend on: as `add` and `connect`, with as many statements for many."""
        rows = [(*_new(task), details.description, to_json(details.context)) for task, details, _ in tasks]
        _FILE.run(self._connection, rows)
        _CONNECT.run(self._connection, [(task.id, each, task.root_id) for task, _, others in tasks for each in others])

    def start(self, tasks: Iterable[Task]) -> None:
        """Tasks that stood alone, and have come to be in progress: stored as they are."""
        _START.run(self._connection, [*map(_started, tasks)])

    def end(self, tasks: Iterable[tuple[Task, Details]]) -> None:
        """They have left `in_progress`: for their end, or for a rest."""
        rows = [(*_ended(task), to_json(details.result), details.error, task.id) for task, details in tasks]
        _END.run(self._connection, rows)

    def disconnect(self, task: Task, dependencies: Iterable[str]) -> None:
        removed = list(dependencies)
        if not removed:
            return
        left = [each for each in self._edges(task) if each not in removed]
        for dependency in removed:
            self._connection.unit.remove(_EDGE, (task.id, dependency))
        self._connect(task, left)

    def _edges(self, task: Task) -> list[str]:
        return self.depends_on([task.id]).get(task.id, [])

    def _connect(self, task: Task, dependencies: list[str]) -> None:
        found = {each.id: each for each in self.find_all(dependencies)} if task.root_id in self._known.trees else {}
        self._known.connected(task, dependencies, [found[each] for each in dependencies if each in found])

    def save(self, before: Task, after: Task) -> Task:
        """Stores changed columns, raises the version if a visible one changed, and returns the task as stored."""
        changes = ROWS.changes(before, after)
        if not changes:
            return after
        seen = 0 if _NOTED.issuperset(changes) else 1
        stored = replace(after, version=before.version + seen)
        changes["version"] = stored.version
        self._connection.unit.change(_TASK, (after.id,), changes)
        known = self._known
        present = known.tasks.get(after.id)
        if present is not None:
            # Only what differs: `before` may be older than what is known.
            written: Any = {name: getattr(stored, name) for name in changes}
            known.task(stored if present is before else replace(present, **written))
        return stored

    def save_details(self, task_id: str, **fields: Any) -> None:
        values = {name: DETAILS.value(name, value) for name, value in fields.items()}
        self._connection.unit.change(_TASK, (task_id,), values)
        known = self._known
        if (details := known.details.pop(task_id, None)) is not None:
            known.stored[task_id] = DETAILS.values(details)
        if task_id in known.stored:
            known.stored[task_id].update(values)

    def linked(self, task_ids: list[str]) -> dict[str, Links]:
        """Dependencies, children and parent of those of these tasks that exist."""
        known = self._known
        at_hand = {each: task for each in task_ids if (task := known.tasks.get(each)) and task.root_id in known.trees}
        found = {each: _links(known.tree(task.root_id), task) for each, task in at_hand.items()}
        ids = [each for each in task_ids if each not in at_hand]
        if not ids:
            return found
        found |= {task_id: Links(parent=parent) for task_id, parent in self._connection.all(_PARENTS_OF, ids=ids)}
        for task_id, other in self._connection.all(_EDGES_OF, ids=ids):
            found[task_id].dependencies.append(other)
        for task_id, other in self._connection.all(_CHILDREN_OF, ids=ids):
            found[task_id].children.append(other)
        return found

    def depends_on(self, task_ids: list[str]) -> dict[str, list[str]]:
        unknown = [each for each in task_ids if each not in self._known.edges]
        if unknown:
            read: dict[str, list[str]] = {each: [] for each in unknown}
            for task_id, other in self._connection.all(_EDGES_OF, ids=unknown):
                read[task_id].append(other)
            self._known.edges.update(read)
        known = self._known.edges
        return {each: list(known[each]) for each in task_ids if known[each]}

    def dependants(self, task_id: str) -> list[str]:
        return [row[0] for row in self._connection.all(_DEPENDANTS, id=task_id)]

    def queued_behind(self, task_ids: Iterable[str]) -> list[tuple[str, str, str]]:
        """Project, queue and id of the queue tasks in `todo` that depend on one of these."""
        ids = list(task_ids)
        return [(row[0], row[1], row[2]) for row in self._connection.all(_QUEUED_BEHIND, ids=ids)] if ids else []

    def asking_changes(
        self, task_ids: Iterable[str], key: str, statuses: Iterable[domain.Status]
    ) -> list[tuple[str, Task]]:
        """These tasks, each with a task in one of these statuses that depends on it and names it under `key` of its
        context: oldest first."""
        of = {"ids": sorted(task_ids), "statuses": sorted(statuses)}
        rows = self._connection.all(_ASKING_CHANGES, **of, like=f'%"{key}"%')
        pairs = [(reviewed, task_id) for reviewed, task_id, context in rows if _named(context, key) == reviewed]
        found = {task.id: task for task in self.find_all(sorted({task_id for _, task_id in pairs}))} if pairs else {}
        return [(reviewed, found[task_id]) for reviewed, task_id in pairs]

    def reviewed_by(self, task_ids: Iterable[str], key: str) -> set[str]:
        """The tasks that these name under `key` of their context."""
        rows = self._connection.all(_REVIEWED_BY, ids=sorted(task_ids), like=f'%"{key}"%')
        return {named for (context,) in rows if (named := _named(context, key)) is not None}


def _named(context: str | None, key: str) -> str | None:
    said = from_json(context)
    named = said.get(key) if isinstance(said, dict) else None
    return named if isinstance(named, str) else None


def _leading_out(inside: dict[str, Task], edges: dict[str, list[str]]) -> list[str]:
    return sorted({each for ids in edges.values() for each in ids} - set(inside))


def _tree(tasks: dict[str, Task], edges: dict[str, list[str]], by_id: Mapping[str, Task]) -> Tree:
    depends = {task: tuple(edges[task]) for task in tasks if task in edges}
    awaited = (each for ids in depends.values() for each in ids)
    return Tree(tasks, depends, {each: by_id[each] for each in awaited if each not in tasks and each in by_id})


def _links(tree: Tree, task: Task) -> Links:
    children = [child.id for child in tree.children(task)]
    return Links(list(tree.depends_on.get(task.id, ())), children, task.parent_id)
