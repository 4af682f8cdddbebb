"""Reads for dashboard pages: many rows in few statements, with only the columns that a summary needs. Writes visits.

Tasks are read in part: the columns of the rules about starting, and those of a card.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import sqlalchemy as sa

from toryo.domain import tasks as domain
from toryo.domain.launches import Purpose
from toryo.domain.queue import Claim
from toryo.domain.tasks import Task
from toryo.domain.times import Millis
from toryo.domain.usages import day_of
from toryo.domain.worktrees import State
from toryo.storage import schema
from toryo.storage.agents import cooldown_of
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, by_index, implied, in_list, upsert
from toryo.storage.queues import CLAIMS
from toryo.storage.task_lists import AFTER, INDEXES, OPEN
from toryo.storage.tasks import HOLDS_A_PLACE, ORDER, WAIT
from toryo.workflow.snapshot import Cooldown

_t, _d, _m, _a, _u = schema.tasks, schema.dependencies, schema.memberships, schema.agents, schema.usages
_r, _w = schema.usage_days, schema.worktrees
_l, _s, _c, _k, _e, _v = (
    schema.launches,
    schema.sessions,
    schema.cooldowns,
    schema.accounts,
    schema.events,
    schema.visits,
)
_cl = schema.claims
_p = sa.bindparam

_FIRST = ("id", "project_id", "root_id", "parent_id", "depth", "ordinal", "title", "status", "priority", "assignee_id")
_THEN = ("agent_type", "created_by", "approval", "created_at", "updated_at", "moved_at")
_MORE = (
    *("blocked_by", "blocked_reason", "blocked_cause", "not_before", "wait", "checks", "open_questions"),
    *("line_at", "line_rank"),
)
_PART = [_t.c[name] for name in (*_FIRST, *_THEN, *_MORE)]
_STATUS = {each.value: each for each in domain.Status}
_PRIORITY = {each.rank: each for each in domain.Priority}
_APPROVAL = {approval.value: approval for approval in domain.Approval}

_is_unapproved: sa.ColumnElement[bool] = sa.literal_column(schema.UNAPPROVED)
_requests = (_t.c.status == "backlog", _is_unapproved)


def _of(columns: Iterable[sa.ColumnElement[Any]], index: str, *wanted: sa.ColumnElement[bool]) -> sa.Select[Any]:
    return by_index(sa.select(*columns).where(in_list(_t.c.project_id, "projects"), *wanted), _t, index)


_live_claim: sa.ColumnElement[bool] = sa.literal_column("ended_at IS NULL")
_is_held = sa.and_(  # No EXISTS: for that PostgreSQL reads all live claims there are.
    _t.c.agent_type.is_not(None),
    _t.c.parent_id.is_(None),
    sa.select(_cl.c.task_id)
    .where(_cl.c.task_id == _t.c.id, _live_claim, _cl.c.launch_id.is_(None))
    .limit(1)
    .scalar_subquery()
    .is_not(None),
)
_OPEN = {
    index: Statement(_of(_PART, index, *wanted, *([~_is_held] if index == "tasks_in_progress" else [])))
    for index, wanted in {**OPEN, "tasks_unapproved": _requests}.items()
    if index != "tasks_backlog"
}
"""One statement each, so that each uses the index of its status."""
_live = _t.alias("live")
_hangs_on_something = sa.or_(  # No EXISTS: for that PostgreSQL reads all dependencies there are.
    sa.select(_d.c.task_id).where(_d.c.task_id == _t.c.id).limit(1).scalar_subquery().is_not(None),
    sa.select(_live.c.id)
    .where(_live.c.root_id == _t.c.root_id, _live.c.status.in_([sa.literal("in_progress"), sa.literal("blocked")]))
    .limit(1)
    .scalar_subquery()
    .is_not(None),
)
_OPEN_BUT_IDLE = _OPEN | {"tasks_todo": Statement(_of(_PART, "tasks_todo", *OPEN["tasks_todo"], _hangs_on_something))}
_PARTS = Statement(sa.select(*_PART).where(in_list(_t.c.id, "ids")))
_wanted = _t.alias("wanted")
_UNMET = Statement(
    sa.select(_d.c.task_id, _d.c.depends_on)
    .join(_wanted, _wanted.c.id == _d.c.depends_on)
    .where(in_list(_d.c.task_id, "ids"), _wanted.c.status != "completed")
)
_is_closed = implied(schema.IS_CLOSED)
_ENDS = ("completed", "failed")
_ENDED_SINCE = {
    each: Statement(
        by_index(sa.select(_t.c.id, _t.c.title, _t.c.completed_at), _t, "tasks_closed")
        .where(_t.c.project_id == _p("project_id"), _is_closed, _t.c.status == each)
        .where(_t.c.completed_at > _p("since"))
        .order_by(_t.c.completed_at.desc(), _t.c.id.desc())
        .limit(_p("most", type_=sa.Integer))
    )
    for each in _ENDS
}
_HOW_MANY_ENDED = {
    each: Statement(
        by_index(sa.select(sa.func.count()).select_from(_t), _t, "tasks_closed").where(
            in_list(_t.c.project_id, "projects"),
            _is_closed,
            _t.c.status == each,
            _t.c.completed_at > _p("since"),
        )
    )
    for each in _ENDS
}
_DECIDED = Statement(
    sa.select(sa.func.count()).where(
        sa.literal_column(schema.DECIDED), _e.c.at > _p("since"), in_list(_e.c.project_id, "projects")
    )
)
_SPENT = Statement(
    sa.select(sa.func.sum(_u.c.cost_usd)).where(
        in_list(_u.c.project_id, "projects"), _u.c.day >= _p("day"), _u.c.updated_at > _p("since")
    )
)
_SPENT_BY_TASK = Statement(
    by_index(
        sa.select(_u.c.task_id, sa.func.sum(_u.c.cost_usd), sa.func.sum(_u.c.input_tokens + _u.c.output_tokens)),
        _u,
        "usages_sums",
    )
    .where(in_list(_u.c.project_id, "projects"), _u.c.day >= _p("day"), _u.c.updated_at > _p("since"))
    .group_by(_u.c.task_id)
)
_SPENT_OF_DELETED = Statement(
    sa.select(sa.func.sum(_r.c.cost_usd)).where(in_list(_r.c.project_id, "projects"), _r.c.day >= _p("day"))
)
_PLACES = Statement(
    sa.select(_m.c.project_id, _m.c.agent_id)
    .where(in_list(_m.c.project_id, "projects"), _m.c.removed_at.is_(None))
    .order_by(_m.c.created_at, _m.c.agent_id)
)
_held = sa.and_(_live_claim, _cl.c.launch_id.is_(None), in_list(_cl.c.project_id, "projects"))
_by_agent = (
    sa.select(
        _cl.c.project_id, _cl.c.agent_id, sa.func.count().label("many"), sa.func.min(_cl.c.claimed_at).label("at")
    )
    .where(_held)
    .group_by(_cl.c.project_id, _cl.c.agent_id)
    .subquery()
)
_first = _cl.alias("first_claim")
_HELD = Statement(
    sa.select(
        _by_agent.c.project_id, _by_agent.c.agent_id, _by_agent.c.many, _by_agent.c.at, sa.func.min(_first.c.task_id)
    )
    .select_from(_by_agent)
    .join(
        _first,
        sa.and_(
            _first.c.agent_id == _by_agent.c.agent_id,
            _first.c.project_id == _by_agent.c.project_id,
            _first.c.claimed_at == _by_agent.c.at,
            sa.literal_column("first_claim.ended_at IS NULL"),
            _first.c.launch_id.is_(None),
        ),
    )
    .group_by(_by_agent.c.project_id, _by_agent.c.agent_id, _by_agent.c.many, _by_agent.c.at)
)
_CLAIMS_OF = Statement(CLAIMS.select().where(_live_claim, in_list(_cl.c.task_id, "ids")))
_g = schema.delegations
_AWAITED = Statement(
    by_index(sa.select(_g.c.task_id, sa.func.count()), _g, "delegations_awaited")
    .where(sa.literal_column("status IN ('pending', 'processing')"), _g.c.await_result)
    .group_by(_g.c.task_id)
)
_COOLDOWNS = Statement(
    sa.select(_c.c.agent_id, _c.c.purpose, _c.c.until, _c.c.reason, _c.c.failures, _c.c.program).where(
        _c.c.until > _p("now")
    )
)
_ACCOUNTS = Statement(sa.select(_k.c.id, _k.c.until, _k.c.reason).where(_k.c.until > _p("now")).order_by(_k.c.until))
_USED = Statement(
    sa.select(_u.c.launch_id, _u.c.input_tokens + _u.c.output_tokens, _u.c.cost_usd).where(
        in_list(_u.c.launch_id, "launches")
    )
)
_SAID = Statement(
    sa.select(
        schema.decisions.c.agent_id, schema.decisions.c.project_id, schema.decisions.c.said, schema.decisions.c.since
    ).where(in_list(schema.decisions.c.agent_id, "agents"), schema.decisions.c.purpose == "task")
)
_CARD = ("id", "title", "status", "priority", "assignee_id", "agent_type", "parent_id", "root_id", "approval")
_CARD_THEN = (
    "blocked_reason",
    "attempt",
    "created_at",
    "line_at",
    "line_rank",
    "updated_at",
    "started_at",
    "completed_at",
    "version",
    "checks",
    "pool",
    "review_of",
)
_judged = sa.case((sa.and_(_t.c.status == "in_progress", sa.not_(HOLDS_A_PLACE)), 1), else_=0)
_card = [*(_t.c[name] for name in (*_CARD, *_CARD_THEN)), _judged]
_here = _t.c.project_id == _p("project_id")
_most = _p("most", type_=sa.Integer)
_of_queue = _t.c.agent_type == _p("agent_type")


def _open_cards(index: str, after: bool) -> Statement:
    """In the order of cards. The index of queue tasks holds them in this order for each queue."""
    wanted = [_here, *OPEN[index], *([AFTER] if after else []), *([_of_queue] if index == "tasks_queued" else [])]
    return Statement(by_index(sa.select(*_card).where(*wanted), _t, index).order_by(*ORDER).limit(_most))


_OPEN_CARDS = {(index, after): _open_cards(index, after) for index in OPEN for after in (False, True)}


def _counted(status: domain.Status, index: str) -> sa.Select[Any]:
    columns: list[Any] = [sa.literal(status.value), sa.func.count()]
    return by_index(sa.select(*columns).select_from(_t).where(_here, *OPEN[index]), _t, index)


_HOW_MANY_OPEN = Statement(
    sa.union_all(
        *(
            _counted(status, index)
            for status, indexes in INDEXES.items()
            if status not in domain.CLOSED
            for index in indexes
        )
    )
)
_QUEUES = Statement(
    by_index(sa.select(_t.c.agent_type).where(_here, *OPEN["tasks_queued"]).distinct(), _t, "tasks_queued")
)
_CARDS_OF_TREES = Statement(
    by_index(sa.select(*_card).where(in_list(_t.c.root_id, "roots"), _here), _t, "tasks_root").limit(_most)
)
_CLOSED_CARDS = {
    each: Statement(
        by_index(sa.select(*_card), _t, "tasks_closed")
        .where(_here, _is_closed, _t.c.status == each.value, _t.c.completed_at <= _p("at"))
        .where(sa.or_(_t.c.completed_at < _p("at"), _t.c.id < _p("id")))
        .order_by(_t.c.completed_at.desc(), _t.c.id.desc())
        .limit(_p("most", type_=sa.Integer))
    )
    for each in domain.Status
    if each in domain.CLOSED
}
_SOME_CARDS = Statement(
    by_index(sa.select(*_card).where(_here, in_list(_t.c.id, "ids")), _t, "sqlite_autoindex_tasks_1").order_by(*ORDER)
)
_EDGES = Statement(
    sa.select(_d.c.task_id, _d.c.depends_on, _t.c.status)
    .select_from(_d.outerjoin(_t, _t.c.id == _d.c.depends_on))
    .where(in_list(_d.c.task_id, "ids"))
    .order_by(_d.c.task_id, _d.c.depends_on)
)
_COSTS = Statement(
    sa.select(_u.c.task_id, sa.func.sum(_u.c.cost_usd)).where(in_list(_u.c.task_id, "ids")).group_by(_u.c.task_id)
)
_CHANGED = Statement(
    sa.select(_w.c.task_id, _w.c.insertions, _w.c.deletions, _w.c.state).where(
        in_list(_w.c.task_id, "ids"), _w.c.files_changed > 0
    )
)
_WAITING = Statement(sa.select(_d.c.task_id).where(in_list(_d.c.depends_on, "ids")))
_CHILDREN = Statement(
    sa.select(_t.c.parent_id, _t.c.status, sa.func.count())
    .where(in_list(_t.c.parent_id, "ids"))
    .group_by(_t.c.parent_id, _t.c.status)
)
_TOUCHED = Statement(
    sa.select(_e.c.task_id, _e.c.session_id)
    .where(_e.c.project_id == _p("project_id"), _e.c.sequence > _p("after"))
    .limit(_p("most", type_=sa.Integer))
)
_WORKED_ON = Statement(sa.select(_s.c.task_id).where(in_list(_s.c.id, "sessions"), _s.c.task_id.is_not(None)))
_RUNNING = Statement(
    sa.select(_s.c.task_id).where(
        _s.c.project_id == _p("project_id"), _s.c.purpose == "task", _s.c.ended_at.is_(None), _s.c.task_id.is_not(None)
    )
)
_CLAIMED = Statement(
    sa.select(_cl.c.task_id).where(_live_claim, in_list(_cl.c.task_id, "ids"), _cl.c.launch_id.is_(None))
)
_VISIT = Statement(sa.select(_v.c.at).where(_v.c.person_id == _p("person_id")))
_VISITED = upsert(_v, ["person_id", "at"], ["person_id"], ["at"])


_NEVER: Millis = 2**53


class Card(NamedTuple):
    """A task as a board shows it."""

    id: str
    title: str
    status: str
    rank: int
    assignee_id: str | None
    agent_type: str | None
    parent_id: str | None
    root_id: str
    approval: str
    blocked_reason: str | None
    attempt: int
    created_at: Millis
    line_at: Millis
    line_rank: int
    updated_at: Millis
    started_at: Millis | None
    completed_at: Millis | None
    version: int
    checks: str
    pool: str | None
    """As it is stored."""
    review_of: str | None
    judged: int
    """Whether it is in review, as 0 or 1: `Task.in_review`."""

    @property
    def order(self) -> tuple[int, Millis, int, str]:
        """As `Task.order`."""
        return self.rank, self.line_at, self.line_rank, self.id

    @property
    def waits_in_a_queue(self) -> bool:
        return self.agent_type is not None and self.parent_id is None and self.status == "todo"


class Held(NamedTuple):
    """The queue tasks that an agent holds which asks for them by itself: their number, and the one it holds longest."""

    many: int
    since: Millis
    task_id: str


class Ended(NamedTuple):
    """The newest tasks that ended in one status, and the number of all of them."""

    newest: list[tuple[str, str, Millis]]
    many: int


class Overview:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def open_tasks(self, projects: Iterable[str], *, idle: bool = True) -> dict[str, Task]:
        """Tasks of these projects in progress, blocked, in `todo`, or awaiting approval: in part, by id. Queue tasks
        that agents hold which ask for them by themselves are left out, if they are no subtasks: `held` counts them.
        Without the `idle` ones: in `todo`, waiting for nothing, in a tree in which nothing has been started.
        """
        asked = list(projects)
        rows = (
            row
            for statement in (_OPEN if idle else _OPEN_BUT_IDLE).values()
            for row in self._connection.all(statement, projects=asked)
        )
        return {row[0]: _part(row) for row in rows}

    def parts(self, task_ids: Iterable[str]) -> dict[str, Task]:
        """These tasks, in part."""
        ids = list(task_ids)
        return {row[0]: _part(row) for row in self._connection.all(_PARTS, ids=ids)} if ids else {}

    def unmet(self, task_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The dependencies of these tasks that are not completed."""
        found: dict[str, list[str]] = {}
        for task_id, other in self._connection.all(_UNMET, ids=list(task_ids)):
            found.setdefault(task_id, []).append(other)
        return {task_id: tuple(others) for task_id, others in found.items()}

    def ended_since(self, status: str, projects: Iterable[str], since: Millis, most: int) -> Ended:
        asked = list(projects)
        many = int(self._connection.value(_HOW_MANY_ENDED[status], projects=asked, since=since))
        if not many:
            return Ended([], 0)
        rows: list[Any] = [
            row
            for each in asked
            for row in self._connection.all(_ENDED_SINCE[status], project_id=each, since=since, most=most)
        ]
        rows.sort(key=lambda row: (row[2], row[0]), reverse=True)
        return Ended([(row[0], row[1], row[2]) for row in rows[:most]], many)

    def decided_since(self, projects: Iterable[str], since: Millis) -> int:
        """Number of decisions on requests and on blocked or failed tasks, by any member."""
        return int(self._connection.value(_DECIDED, projects=list(projects), since=since))

    def spent_since(self, projects: Iterable[str], since: Millis, day: int) -> float | None:
        """US dollars of launches that reported usage since then; `day` is the first day that is read. Of launches that
        were deleted, those that were started on a later day: only sums by day are kept of them.
        """
        ids, value = list(projects), self._connection.value
        later = day_of(since) + 1
        parts = (value(_SPENT, projects=ids, since=since, day=day), value(_SPENT_OF_DELETED, projects=ids, day=later))
        known = [float(each) for each in parts if each is not None]
        return round(sum(known), 6) if known else None

    def spent_by_task(
        self, projects: Iterable[str], since: Millis, day: int
    ) -> dict[str | None, tuple[float | None, int]]:
        """US dollars and tokens, by main task, of the launches since this day that have used something since."""
        rows: list[Any] = self._connection.all(_SPENT_BY_TASK, projects=list(projects), since=since, day=day)
        return {row[0]: (None if row[1] is None else round(float(row[1]), 6), int(row[2] or 0)) for row in rows}

    def places(self, projects: Iterable[str]) -> list[tuple[str, str]]:
        """Project and agent of every membership."""
        return [(row[0], row[1]) for row in self._connection.all(_PLACES, projects=list(projects))]

    def held(self, projects: Iterable[str]) -> dict[tuple[str, str], Held]:
        """By agent and project."""
        rows: list[Any] = self._connection.all(_HELD, projects=list(projects))
        return {(row[1], row[0]): Held(int(row[2]), row[3], row[4]) for row in rows}

    def claims(self, task_ids: Iterable[str]) -> dict[str, Claim]:
        """The live claims of these tasks, by task."""
        found = CLAIMS.nouns(self._connection.all(_CLAIMS_OF, ids=list(task_ids)))
        return {claim.task_id: claim for claim in found}

    def awaited(self) -> dict[str, int]:
        """Number of open delegations with an awaited result, by main task."""
        return {row[0]: int(row[1]) for row in self._connection.all(_AWAITED)}

    def cooldowns(self, now: Millis) -> list[tuple[str, Purpose, Cooldown]]:
        """Current cooldowns of agents."""
        rows: list[Any] = self._connection.all(_COOLDOWNS, now=now)
        return [(row[0], Purpose(row[1]), cooldown_of(*row[2:])) for row in rows]

    def accounts(self, now: Millis) -> dict[str, tuple[Millis, str]]:
        """Until when and why accounts are unusable."""
        return {row[0]: (row[1], row[2]) for row in self._connection.all(_ACCOUNTS, now=now)}

    def used(self, launches: Iterable[str]) -> dict[str, tuple[int, float | None]]:
        """Tokens and money of these launches."""
        return {row[0]: (int(row[1]), row[2]) for row in self._connection.all(_USED, launches=list(launches))}

    def said(self, agents: Iterable[str]) -> dict[tuple[str, str], tuple[str, Millis]]:
        """By agent and project: the last recorded launch decision for task work, and since when."""
        rows: list[Any] = self._connection.all(_SAID, agents=list(agents))
        return {(row[0], row[1]): (row[2], row[3]) for row in rows}

    # the board

    def cards(self, project_id: str, only: Iterable[str]) -> list[Card]:
        """These tasks, if they are of the project, by priority and age."""
        return _cards(self._connection.all(_SOME_CARDS, project_id=project_id, ids=list(only)))

    def open_cards(
        self, project_id: str, status: domain.Status, most: int, after: tuple[int, Millis, int, str] | None = None
    ) -> list[Card]:
        """The first open tasks of a status, by priority and age; `after`: only those after this place."""
        asked: dict[str, Any] = {"project_id": project_id, "most": most}
        if after is not None:
            asked |= {f"after_{column.name}": value for column, value in zip(ORDER, after, strict=True)}
        found: list[Card] = []
        for index in INDEXES[status]:
            statement = _OPEN_CARDS[index, after is not None]
            for queue in self._queues(project_id) if index == "tasks_queued" else [None]:
                more = {} if queue is None else {"agent_type": queue}
                found += _cards(self._connection.all(statement, **asked, **more))
        return sorted(found, key=lambda card: card.order)[:most]

    def _queues(self, project_id: str) -> list[str]:
        return [row[0] for row in self._connection.all(_QUEUES, project_id=project_id)]

    def how_many_open(self, project_id: str) -> Counter[domain.Status]:
        """Number of open tasks of each status."""
        found: Counter[domain.Status] = Counter()
        for status, many in self._connection.all(_HOW_MANY_OPEN, project_id=project_id):
            found[domain.Status(status)] += int(many)
        return found

    def cards_of_trees(self, project_id: str, roots: Iterable[str], most: int) -> list[Card]:
        """At most `most` tasks of these trees."""
        return _cards(self._connection.all(_CARDS_OF_TREES, project_id=project_id, roots=list(roots), most=most))

    def closed_cards(self, project_id: str, most: int, before: tuple[Millis, str] | None = None) -> list[Card]:
        """The tasks of a project that were closed last; `before`: only those closed before this time and id."""
        at, task_id = before or (_NEVER, "")
        asked = {"project_id": project_id, "at": at, "id": task_id, "most": most}
        rows = (row for statement in _CLOSED_CARDS.values() for row in self._connection.all(statement, **asked))
        return sorted(_cards(rows), key=lambda card: (card.completed_at or 0, card.id), reverse=True)[:most]

    def edges(self, task_ids: Iterable[str]) -> dict[str, dict[str, str | None]]:
        """The dependencies of each of these tasks, with their status; None for one that was deleted."""
        found: dict[str, dict[str, str | None]] = {}
        for task_id, other, status in self._connection.all(_EDGES, ids=list(task_ids)):
            found.setdefault(task_id, {})[other] = status
        return found

    def costs(self, task_ids: Iterable[str]) -> dict[str, float | None]:
        """What the launches of each of these tasks have cost, as far as it is known."""
        return {row[0]: row[1] for row in self._connection.all(_COSTS, ids=list(task_ids))}

    def changed(self, task_ids: Iterable[str]) -> dict[str, tuple[int, int, State]]:
        """The lines that each of these tasks has added and removed in its worktree, and what has become of that."""
        found = self._connection.all(_CHANGED, ids=list(task_ids))
        return {row[0]: (int(row[1]), int(row[2]), State(row[3])) for row in found}

    def waiting_for(self, task_ids: Iterable[str]) -> set[str]:
        """The tasks that depend on one of these."""
        return {row[0] for row in self._connection.all(_WAITING, ids=list(task_ids))}

    def children(self, task_ids: Iterable[str]) -> list[tuple[str, str, int]]:
        """Parent, status, and the number of its subtasks in that status."""
        return [(row[0], row[1], int(row[2])) for row in self._connection.all(_CHILDREN, ids=list(task_ids))]

    def touched(self, project_id: str, after: int, most: int) -> set[str] | None:
        """Tasks named by events after this one, directly or through their session; None for more than `most` events."""
        rows = self._connection.all(_TOUCHED, project_id=project_id, after=after, most=most + 1)
        if len(rows) > most:
            return None
        sessions = sorted({row[1] for row in rows} - {None})
        worked_on = self._connection.all(_WORKED_ON, sessions=sessions) if sessions else []
        return {row[0] for row in (*rows, *worked_on)} - {None}

    def running(self, project_id: str, task_ids: Iterable[str]) -> set[str]:
        """Those of these tasks with a claim, and all of the project with a bound session."""
        bound = self._connection.all(_RUNNING, project_id=project_id)
        return {row[0] for row in (*bound, *self._connection.all(_CLAIMED, ids=list(task_ids)))}

    # visits

    def last_visit(self, person_id: str) -> Millis | None:
        found: Millis | None = self._connection.value(_VISIT, person_id=person_id)
        return found

    def visited(self, person_id: str, at: Millis) -> None:
        self._connection.run(_VISITED, person_id=person_id, at=at)


def _cards(rows: Iterable[tuple[Any, ...]]) -> list[Card]:
    return list(map(Card._make, rows))


def _part(row: tuple[Any, ...]) -> Task:
    """Columns are in the order of the fields; missing ones get the values of a new task."""
    values = [*row[:16]]
    values[7], values[8], values[12] = _STATUS[row[7]], _PRIORITY[row[8]], _APPROVAL[row[12]]
    more = dict(zip(_MORE, row[16:], strict=True))
    more["wait"], more["checks"] = WAIT[1](more["wait"]), domain.Checks(more["checks"])
    return Task(*values, **more)
