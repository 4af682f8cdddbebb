"""Deletes what is old, a bounded part at a time: `find` looks for a part, `delete` looks again and deletes it.

`find` only reads, so nobody waits for it. `delete` takes a few hundred rows in a transaction of its own, under the lock
of their project, and does not trust what was found: a failed task may have been retried in between. A part that was
deleted leaves nothing behind that refers to it, so an interruption at any point loses nothing, and the next part begins
where the last one ended.

What is open is never old: an open task with its whole tree, a live launch or session, a message that its receiver has
not read. What else is kept, and why, is said at each condition. Periods are in the settings; when this is done is in
`housekeeping/retention.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from toryo.domain import ids
from toryo.domain.events import SETUP
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.retention import Cutoffs, Kind
from toryo.domain.tasks import CLOSED
from toryo.domain.times import Millis
from toryo.storage import schema, usages
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, by_index, in_list, upsert

AT_ONCE = 200
"""Rows of one part, without those that belong to them."""
EVENTS_AT_ONCE = 1_000
READ_LATER = ("task.rejected", "task.requeued", "task.unblocked")
"""Kinds of events that are read for a task although they may be no facts (`Events.newest_of`): kept like facts."""

KEPT = {
    "projects": "people create and archive them",
    "agents": "people create them; history names them",
    "memberships": "one for each agent and project",
    "merge_queues": "one for each project",
    "people": "one for each person",
    "visits": "one for each person",
    "api_keys": "people create them; a revoked one says whose it was",
    "access_tokens": "people create them; a revoked one says whose it was",
    "tokens": "one for each data directory",
    "coordinators": "one for each Coordinator",
    "presences": "one for each queue agent",
    "cooldowns": "one for each agent, purpose and program",
    "accounts": "one for each provider account",
    "stored_amounts": "one for each project, and for each key in it",
    "quota_windows": "three for each provider account",
    "decisions": "one for each agent, project and purpose",
    "threads": "one for each pair of members",
    "mailboxes": "one for each agent and project",
    "usage_days": "usage by day, task and model, for statistics; of deleted tasks by day and model",
    "notification_preferences": "one for each person",
    "push_keys": "one row",
    "saved_views": "people save and delete them",
    "schedules": "people create and delete them",
    "task_templates": "people create and delete them",
    "webhooks": "people create and delete them",
    "memories": "agents and people create them, people delete them",
    "search_progress": "one row",
    "directory": "one row",
    "retention": "one row",
}
"""Tables that have no period, and why."""
ELSEWHERE = {
    "logs": "housekeeping/old_logs.py",
    "batches": "housekeeping/old_idempotency_keys.py",
    "notices": "housekeeping/notice_outbox.py",
    "shared_entries": "housekeeping/stale_queues.py",
    "sign_ins": "housekeeping/old_sign_ins.py",
    "sign_in_links": "housekeeping/old_sign_ins.py",
    "departures": "housekeeping/old_sign_ins.py",
    "push_subscriptions": "housekeeping/old_sign_ins.py",
}
"""Tables whose old rows another chore deletes."""
TABLES = {
    Kind.NOTIFICATIONS: ("notifications",),
    Kind.CHAT_PANELS: ("viewers",),
    Kind.LAUNCHES: ("launches", "sessions", "usages", "checks", "artifacts", "artifact_pieces"),
    Kind.MESSAGES: ("messages",),
    Kind.CONVERSATIONS: ("conversations", "search_terms"),
    Kind.QUEUE_TASKS: ("tasks", "claims"),
    Kind.TASKS: (
        *(
            "tasks",
            "dependencies",
            "notes",
            "handoffs",
            "delegations",
            "questions",
            "schedule_runs",
            "webhook_deliveries",
            "search_terms",
            "claims",
            "worktrees",
            "worktree_jobs",
            "merge_queue_entries",
        ),
        *("launches", "sessions", "checks", "artifacts", "artifact_pieces"),
    ),
    Kind.AUDIT: ("events",),
    Kind.EVENTS: ("events",),
}
"""What is deleted with each kind; its first table is the one whose rows are counted."""


@dataclass(frozen=True, slots=True)
class State:
    """How far the events have been gone through."""

    begins_at: Millis = 0
    """Nothing is deleted by itself before this instant: an upgraded or restored server waits. Once that is over, it
    says when the last round was (0: there was none yet)."""
    events_to: int = 0
    audit_to: int = 0
    """No event up to these numbers is still due: of agents and the server, and of people."""
    horizon: int = 0
    """The newest event that was deleted: readers that were not that far have missed some."""


@dataclass(frozen=True, slots=True)
class Part:
    """What is deleted in one transaction: rows by id, or events up to a number."""

    kind: Kind
    ids: tuple[str, ...] = ()
    project_id: str | None = None
    to: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """How many rows a kind has (None: not counted by themselves), since when, and how many are due."""

    rows: int | None
    oldest: Millis | None
    due: int


_p = sa.bindparam
_t, _d, _l, _s, _e = schema.tasks, schema.dependencies, schema.launches, schema.sessions, schema.events
_m, _c, _h, _b, _a = schema.messages, schema.conversations, schema.threads, schema.mailboxes, schema.agents
_n, _v, _g, _w, _j = (
    schema.notifications,
    schema.viewers,
    schema.delegations,
    schema.worktrees,
    schema.worktree_jobs,
)
_u, _r, _k, _f = schema.usages, schema.usage_days, schema.checks, schema.retention
_i, _ip = schema.artifacts, schema.artifact_pieces
_MOST = _p("most", type_=sa.Integer)


def _in(column: sa.ColumnElement[Any], *values: Any) -> sa.ColumnElement[bool]:
    return column.in_([sa.literal(str(value)) for value in values])


def _closed(table: Any) -> sa.ColumnElement[bool]:
    return _in(table.c.status, *sorted(CLOSED))


def _none(query: sa.Select[Any]) -> sa.ColumnElement[bool]:
    return sa.not_(query.exists())


# --- tasks -----------------------------------------------------------------------------------------------------------

_is_job = sa.and_(
    _t.c.agent_type.is_not(None),
    _t.c.children_ever == 0,
    _t.c.parent_id.is_(None),
    _in(_t.c.status, "completed", "cancelled"),
)
"""A queue task by itself, done with. A failed one is a dead letter: people look at it, so it is kept as other tasks."""


def _is_over(before: Any) -> sa.ColumnElement[bool]:
    """Nothing in the tree of a closed main task is open, young, or needed by what stays."""
    below, other, waiting = _t.alias("below"), _t.alias("other"), _t.alias("waiting")
    live = _in(_l.c.state, "ordered", "signed_in")
    output = sa.select(schema.logs.c.launch_id).where(schema.logs.c.launch_id == _l.c.id)
    in_tree = below.c.root_id == _t.c.id
    younger = sa.func.coalesce(below.c.completed_at, below.c.moved_at) >= before
    return sa.and_(
        _none(sa.select(below.c.id).where(in_tree, sa.or_(sa.not_(_closed(below)), younger))),
        # Another task depends on it, and is open, young, or could be retried before what it depends on is done.
        _none(
            sa.select(_d.c.task_id)
            .select_from(other)
            .join(_d, _d.c.depends_on == other.c.id)
            .join(waiting, waiting.c.id == _d.c.task_id)
            .where(
                other.c.root_id == _t.c.id,
                waiting.c.root_id != _t.c.id,
                sa.or_(
                    sa.not_(_closed(waiting)),
                    sa.func.coalesce(waiting.c.completed_at, waiting.c.moved_at) >= _p("dependants_before"),
                    sa.and_(waiting.c.status == "failed", other.c.status != "completed"),
                ),
            )
        ),
        # A program works on it still, or its output is kept for longer than the task.
        _none(
            sa.select(_l.c.id)
            .select_from(below)
            .join(_l, _l.c.task_id == below.c.id)
            .where(in_tree, sa.or_(live, output.correlate(_l).exists()))
        ),
        _none(sa.select(_g.c.id).where(_g.c.root_id == _t.c.id, _in(_g.c.status, "pending", "processing"))),
        # Its directory is there: somebody merges or discards it, or `old_worktrees.py` does.
        _none(
            sa.select(_w.c.task_id)
            .select_from(below)
            .join(_w, _w.c.task_id == below.c.id)
            .where(in_tree, _w.c.state == "open")
        ),
        _none(
            sa.select(_j.c.id)
            .select_from(below)
            .join(_j, _j.c.task_id == below.c.id)
            .where(in_tree, _j.c.finished_at.is_(None))
        ),
    )


def _old_roots(*, jobs: bool) -> sa.Select[Any]:
    query = sa.select(_t.c.id).where(
        _t.c.project_id == _p("project_id"),
        _t.c.status == _p("status"),
        sa.literal_column(schema.IS_CLOSED),
        _t.c.completed_at < _p("before"),
        _t.c.parent_id.is_(None),
        _is_job if jobs else sa.not_(_is_job),
        _is_over(_p("before")),
    )
    return by_index(query, _t, "tasks_closed")


_OF_KIND = {Kind.QUEUE_TASKS: ("cancelled", "completed"), Kind.TASKS: ("cancelled", "completed", "failed")}
"""By status, as the index is."""
_FIND_ROOTS = {
    kind: Statement(_old_roots(jobs=kind is Kind.QUEUE_TASKS).order_by(_t.c.completed_at).limit(_MOST))
    for kind in _OF_KIND
}
_STILL_OVER = {
    kind: Statement(
        sa.select(_t.c.id).where(
            in_list(_t.c.id, "ids"),
            _closed(_t),
            _t.c.completed_at < _p("before"),
            _is_job if kind is Kind.QUEUE_TASKS else sa.not_(_is_job),
            _is_over(_p("before")),
        )
    )
    for kind in _OF_KIND
}
_in_old_tree = {kind: _old_roots(jobs=kind is Kind.QUEUE_TASKS) for kind in _OF_KIND}
_of_tree = _t.alias("of_tree")
_COUNT_TASKS = {
    kind: Statement(sa.select(sa.func.count()).select_from(_of_tree).where(_of_tree.c.root_id.in_(roots)))
    for kind, roots in _in_old_tree.items()
}
_DEEPEST = Statement(
    sa.select(_t.c.id)
    .where(in_list(_t.c.root_id, "roots"))
    .order_by(_t.c.root_id, _t.c.depth.desc(), _t.c.id)
    .limit(_MOST)
)
"""Tree after tree, so that a server that stops leaves at most one in part."""
_LAUNCHES_OF = Statement(sa.select(_l.c.id).where(in_list(_l.c.task_id, "tasks")))
_checks_of = {
    "tasks": sa.select(_k.c.id).where(in_list(_k.c.task_id, "tasks")),
    "launches": sa.select(_k.c.id).where(in_list(_k.c.launch_id, "launches")),
}
_DELETE_ARTIFACTS = {
    name: (
        Statement(sa.delete(_ip).where(_ip.c.artifact_id.in_(sa.select(_i.c.id).where(_i.c.check_id.in_(checks))))),
        Statement(sa.delete(_i).where(_i.c.check_id.in_(checks))),
    )
    for name, checks in _checks_of.items()
}
_WITH_TASKS = (
    *_DELETE_ARTIFACTS["tasks"],
    *(
        Statement(sa.delete(table).where(in_list(table.c[column], "tasks")))
        for table, column in (
            (_k, "task_id"),
            (_j, "task_id"),
            (_w, "task_id"),
            (schema.merge_queue_entries, "task_id"),
            (schema.claims, "task_id"),
            (_g, "task_id"),
            (schema.questions, "task_id"),
            (schema.schedule_runs, "task_id"),
            (schema.webhook_deliveries, "task_id"),
            (schema.search_terms, "task_id"),
            (schema.handoffs, "task_id"),
            (schema.notes, "task_id"),
            (_d, "task_id"),
            (_d, "depends_on"),
        )
    ),
    # Of the last launch of an agent, which stays.
    *(
        Statement(sa.update(table).where(in_list(table.c.task_id, "tasks")).values(task_id=sa.null()))
        for table in (_u, _s, _l, schema.memories)
    ),
)
_DELETE_TASKS = Statement(sa.delete(_t).where(in_list(_t.c.id, "tasks")))
_EVENTS_OF_TASKS = Statement(
    sa.delete(_e).where(
        in_list(_e.c.task_id, "tasks"),
        _e.c.sequence
        <= sa.case((_e.c.by_person, _p("audit_to", type_=sa.BigInteger)), else_=_p("events_to", type_=sa.BigInteger)),
    )
)

# --- launches --------------------------------------------------------------------------------------------------------

_newer = _l.alias("newer")
_has_newer = (
    sa.select(_newer.c.id)
    .where(
        _newer.c.agent_id == _l.c.agent_id,
        _newer.c.project_id == _l.c.project_id,
        _newer.c.purpose == _l.c.purpose,
        _newer.c.fence > _l.c.fence,
    )
    .exists()
)
"""The last launch of an agent says with which fence the next one begins."""
_its_task = _t.alias("its_task")
_is_old_launch = sa.and_(
    _l.c.ordered_at < _p("launches_before"),
    _l.c.ended_at < _p("launches_before"),
    sa.not_(_in(_l.c.state, "ordered", "signed_in")),
    _has_newer,
    # The last program of an open task may be continued; what happened to the task is read.
    _none(sa.select(_its_task.c.id).where(_its_task.c.id == _l.c.task_id, sa.not_(_closed(_its_task)))),
    _none(
        sa.select(_s.c.id).where(
            _s.c.launch_id == _l.c.id, sa.or_(_s.c.ended_at.is_(None), _s.c.ended_at >= _p("launches_before"))
        )
    ),
    _none(sa.select(schema.logs.c.launch_id).where(schema.logs.c.launch_id == _l.c.id)),
)
_FIND_LAUNCHES = Statement(
    sa.select(_l.c.id).where(_l.c.project_id == _p("project_id"), _is_old_launch).order_by(_l.c.ordered_at).limit(_MOST)
)
_STILL_OLD_LAUNCHES = Statement(sa.select(_l.c.id).where(in_list(_l.c.id, "ids"), _is_old_launch))
_COUNT_LAUNCHES = Statement(
    sa.select(sa.func.count()).select_from(_l).where(_l.c.project_id == _p("project_id"), _is_old_launch)
)
_COUNT_LAUNCHES_OF_TASKS = {
    kind: Statement(
        sa.select(sa.func.count())
        .select_from(_of_tree)
        .join(_l, _l.c.task_id == _of_tree.c.id)
        .where(_of_tree.c.root_id.in_(roots), _has_newer, sa.not_(_is_old_launch))
    )
    for kind, roots in _in_old_tree.items()
}
"""Those that go with their tasks, however young they are."""
_WITH_NEWER = Statement(sa.select(_l.c.id).where(in_list(_l.c.id, "ids"), _has_newer))
_USAGES = Statement(
    sa.select(*(_u.c[name] for name in usages.KEYS), *(_u.c[name] for name in usages.RAW)).where(
        in_list(_u.c.launch_id, "launches")
    )
)
_WITH_LAUNCHES = (
    *_DELETE_ARTIFACTS["launches"],
    *(Statement(sa.delete(table).where(in_list(table.c.launch_id, "launches"))) for table in (_u, _k, schema.logs, _s)),
)
_DELETE_LAUNCHES = Statement(sa.delete(_l).where(in_list(_l.c.id, "launches")))
_SUMS_OF_TASKS = Statement(
    sa.select(*(_r.c[name] for name in usages.KEYS), *(_r.c[name] for name in usages.SUMS)).where(
        in_list(_r.c.task_id, "tasks")
    )
)
_DELETE_SUMS = Statement(sa.delete(_r).where(in_list(_r.c.task_id, "tasks")))
_KEYS = list(usages.KEYS)


def _added(name: str) -> sa.ColumnElement[Any]:
    """Sums add up; what has no price adds nothing to a price."""
    had, more = _r.c[name], _r.alias("excluded").c[name]
    if name != "cost_usd":
        return had + more
    both = sa.and_(had.is_(None), more.is_(None))
    return sa.case((both, sa.null()), else_=sa.func.coalesce(had, 0.0) + sa.func.coalesce(more, 0.0))


_ADD_SUM = upsert(_r, [*_KEYS, *usages.SUMS], _KEYS, {name: _added(name) for name in usages.SUMS})

# --- talk ------------------------------------------------------------------------------------------------------------

_reader = _a.alias("reader")
_is_person = _reader.c.kind == "human"
_seen = sa.case((_h.c.low_id == _m.c.to_agent_id, _h.c.seen_low), else_=_h.c.seen_high)
_has_come = (
    sa.select(_b.c.agent_id)
    .where(_b.c.project_id == _m.c.project_id, _b.c.agent_id == _m.c.to_agent_id, _b.c.cursor >= _m.c.sequence)
    .correlate(_m)
    .exists()
)
_unsettled = _c.alias("unsettled")
_is_old_message = sa.and_(
    _m.c.created_at < _p("messages_before"),
    sa.not_(sa.literal_column("watched")),
    # Read by a person, received by an agent; and not the newest, from which the sequence of the thread goes on.
    sa.select(_h.c.thread)
    .select_from(_h.join(_reader, _reader.c.id == _m.c.to_agent_id))
    .where(
        _h.c.project_id == _m.c.project_id,
        _h.c.thread == _m.c.thread,
        _h.c.newest > _m.c.sequence,
        sa.or_(
            sa.and_(_is_person, _seen >= _m.c.sequence),
            sa.and_(sa.not_(_is_person), sa.or_(_m.c.kind != "message", _has_come)),
        ),
    )
    .exists(),
    _none(sa.select(_unsettled.c.id).where(_unsettled.c.id == _m.c.conversation_id, sa.not_(_unsettled.c.settled))),
)
_FIND_MESSAGES = Statement(
    sa.select(_m.c.id).where(_m.c.project_id == _p("project_id"), _is_old_message).order_by(_m.c.sequence).limit(_MOST)
)
_COUNT_MESSAGES = Statement(
    sa.select(sa.func.count()).select_from(_m).where(_m.c.project_id == _p("project_id"), _is_old_message)
)
_DELETE_MESSAGES = Statement(sa.delete(_m).where(in_list(_m.c.id, "ids"), _is_old_message))


def _is_old_conversation(kept: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return sa.and_(
        _c.c.created_at < _p("messages_before"),
        _c.c.ended_at < _p("messages_before"),
        _c.c.settled,
        _none(sa.select(_m.c.id).where(_m.c.conversation_id == _c.c.id, kept)),
        _none(sa.select(_g.c.id).where(_g.c.id == _c.c.delegation_id, _in(_g.c.status, "pending", "processing"))),
    )


_FIND_CONVERSATIONS = Statement(
    sa.select(_c.c.id)
    .where(_c.c.project_id == _p("project_id"), _is_old_conversation(sa.true()))
    .order_by(_c.c.created_at)
    .limit(_MOST)
)
_COUNT_CONVERSATIONS = Statement(
    sa.select(sa.func.count())
    .select_from(_c)
    .where(_c.c.project_id == _p("project_id"), _is_old_conversation(sa.not_(_is_old_message)))
)
_DELETE_CONVERSATIONS = Statement(sa.delete(_c).where(in_list(_c.c.id, "ids"), _is_old_conversation(sa.true())))

_x = schema.search_terms
_DELETE_TERMS = Statement(
    sa.delete(_x).where(in_list(_x.c.source_id, "ids"), _none(sa.select(_c.c.id).where(_c.c.id == _x.c.source_id)))
)
"""Of conversations that are gone."""
_is_old_notification = sa.and_(
    _n.c.id < _p("id_before"),
    _n.c.created_at < _p("launches_before"),
    _none(sa.select(_s.c.id).where(_s.c.id == _n.c.session_id, _s.c.ended_at.is_(None), _n.c.delivered_at.is_(None))),
)
_is_old_panel = sa.and_(_v.c.id < _p("id_before"), _v.c.closed_at < _p("launches_before"))
_OF_ALL_PROJECTS = {
    Kind.NOTIFICATIONS: (_n, _is_old_notification, ids.NOTIFICATION),
    Kind.CHAT_PANELS: (_v, _is_old_panel, ids.VIEWER),
}
"""Their ids are in the order of time, so that the primary key finds the old ones."""
_FIND_BY_ID = {
    kind: Statement(sa.select(table.c.id).where(old).order_by(table.c.id).limit(_MOST))
    for kind, (table, old, _) in _OF_ALL_PROJECTS.items()
}
_COUNT_BY_ID = {
    kind: Statement(sa.select(sa.func.count()).select_from(table).where(old))
    for kind, (table, old, _) in _OF_ALL_PROJECTS.items()
}
_DELETE_BY_ID = {
    kind: Statement(sa.delete(table).where(in_list(table.c.id, "ids"), old))
    for kind, (table, old, _) in _OF_ALL_PROJECTS.items()
}

# --- events ----------------------------------------------------------------------------------------------------------

_last_of_setup = sa.select(sa.func.max(_e.c.sequence)).where(_e.c.root_id == SETUP, sa.literal_column("fact"))
_LAST_OF_SETUP = Statement(_last_of_setup)
"""Decisions compare it."""
_goes_on = sa.or_(sa.literal_column("events.fact"), _in(_e.c.kind, *READ_LATER))
_its_root = _t.alias("its_root")
_of_kept_task = sa.select(_its_root.c.id).where(_its_root.c.id == _e.c.root_id).scalar_subquery().is_not(None)
"""Not as EXISTS: PostgreSQL would read all tasks for it."""


def _is_old_event(kind: Kind) -> sa.ColumnElement[bool]:
    by_person = _e.c.by_person if kind is Kind.AUDIT else sa.not_(_e.c.by_person)
    return sa.and_(
        _e.c.sequence > _p("after"),
        _e.c.sequence <= _p("to"),
        _e.c.at < _p("before"),
        _e.c.sequence != _p("last_of_setup"),
        by_person,
        sa.not_(sa.and_(_goes_on, _of_kept_task)),
    )


_EVENT_KINDS = (Kind.AUDIT, Kind.EVENTS)
_DELETE_EVENTS = {kind: Statement(sa.delete(_e).where(_is_old_event(kind))) for kind in _EVENT_KINDS}
_AT_OR_AFTER = Statement(sa.select(_e.c.at).where(_e.c.sequence >= _p("sequence")).order_by(_e.c.sequence).limit(1))
_FIRST, _LAST = (Statement(sa.select(each(_e.c.sequence))) for each in (sa.func.min, sa.func.max))
_END_OF_PART = Statement(
    sa.select(_e.c.sequence)
    .where(_e.c.sequence > _p("after"))
    .order_by(_e.c.sequence)
    .offset(_p("most", type_=sa.Integer))
    .limit(1)
)
_COUNT_EVENTS = {
    kind: Statement(sa.select(sa.func.count()).select_from(_e).where(_is_old_event(kind))) for kind in _EVENT_KINDS
}
_COUNT_EVENTS_OF_TASKS = {
    (kind, of): Statement(
        sa.select(sa.func.count())
        .select_from(_of_tree.join(_e, _e.c.task_id == _of_tree.c.id))
        .where(
            _of_tree.c.root_id.in_(roots),
            _e.c.by_person if of is Kind.AUDIT else sa.not_(_e.c.by_person),
            _goes_on,
            sa.or_(_e.c.sequence <= _p("after"), sa.and_(_e.c.sequence <= _p("to"), _e.c.at < _p("events_before"))),
        )
    )
    for kind, roots in _in_old_tree.items()
    for of in _EVENT_KINDS
}
"""Facts of tasks that are due: they are old enough, and kept only because of their task."""

_STATE = Statement(sa.select(_f.c.begins_at, _f.c.events_to, _f.c.audit_to, _f.c.horizon).where(_f.c.id == 1))
_SAVE = upsert(
    _f,
    ["id", "begins_at", "events_to", "audit_to", "horizon"],
    ["id"],
    ["begins_at", "events_to", "audit_to", "horizon"],
)
_NOW = Statement(
    sa.text("SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000"),
    postgresql=sa.text("SELECT (extract(epoch FROM now()) * 1000)::bigint"),
)
_PROJECTS = Statement(sa.select(schema.projects.c.id).order_by(schema.projects.c.id))
_COUNTED = {kind: schema.metadata.tables[tables[0]] for kind, tables in TABLES.items() if kind is not Kind.QUEUE_TASKS}
_ROWS = {kind: Statement(sa.select(sa.func.count()).select_from(table)) for kind, table in _COUNTED.items()}
_AGES = {Kind.LAUNCHES: "ordered_at", Kind.CHAT_PANELS: "opened_at", Kind.EVENTS: "at", Kind.AUDIT: "at"}
_OLDEST = {
    kind: Statement(sa.select(table.c[_AGES.get(kind, "created_at")]).order_by(*table.primary_key.columns).limit(1))
    for kind, table in _COUNTED.items()
}
"""Ids and sequences are in the order of time."""

_LOCK = "retention"


class Retention:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def state(self) -> State:
        row: Any = self._connection.one(_STATE)
        return State() if row is None else State(*row)

    def save(self, state: State) -> None:
        self._connection.run(
            _SAVE,
            id=1,
            begins_at=state.begins_at,
            events_to=state.events_to,
            audit_to=state.audit_to,
            horizon=state.horizon,
        )

    # --- what is due -------------------------------------------------------------------------------------------------

    def find(self, cutoffs: Cutoffs, kinds: Sequence[Kind] = tuple(Kind)) -> Part | None:
        """The next part of the first of these kinds of which anything is due."""
        for kind in kinds:
            if cutoffs[kind]:
                for part in self._parts(kind, cutoffs):
                    if part.ids or part.to:
                        return part
        return None

    def _parts(self, kind: Kind, cutoffs: Cutoffs) -> Iterator[Part]:
        if kind in _EVENT_KINDS:
            yield Part(kind, to=self._end_of_part(kind, cutoffs[kind]))
        elif kind in _OF_ALL_PROJECTS:
            given = {"id_before": _id_before(kind, cutoffs), "launches_before": cutoffs[Kind.LAUNCHES]}
            yield Part(kind, self._ids(_FIND_BY_ID[kind], **given))
        else:
            for project_id in self._projects():
                for found in self._of_project(kind, project_id, cutoffs):
                    yield Part(kind, found, project_id)

    def _of_project(self, kind: Kind, project_id: str, cutoffs: Cutoffs) -> Iterator[tuple[str, ...]]:
        if kind in _OF_KIND:
            for status in _OF_KIND[kind]:
                given = _of_trees(kind, cutoffs)
                yield self._ids(_FIND_ROOTS[kind], project_id=project_id, status=status, **given)
        elif kind is Kind.LAUNCHES:
            yield self._ids(_FIND_LAUNCHES, project_id=project_id, launches_before=cutoffs[kind])
        else:
            statement = _FIND_MESSAGES if kind is Kind.MESSAGES else _FIND_CONVERSATIONS
            yield self._ids(statement, project_id=project_id, messages_before=cutoffs[Kind.MESSAGES])

    def _ids(self, statement: Statement, **given: Any) -> tuple[str, ...]:
        return tuple(row[0] for row in self._connection.all(statement, most=AT_ONCE, **given))

    def _projects(self) -> list[str]:
        return [row[0] for row in self._connection.all(_PROJECTS)]

    def _boundary(self, after: int, before: Millis) -> int:
        """The last event before this instant, by halving: events are stored in the order of time. Never the newest
        one, whose number readers go on from.
        """
        first, last = self._connection.value(_FIRST), self._connection.value(_LAST)
        if first is None:
            return 0
        low, high = max(after, first - 1), last - 1  # all up to `low` are before; `high + 1` may not be
        while low < high:
            middle = (low + high + 1) // 2
            if self._connection.value(_AT_OR_AFTER, sequence=middle) < before:
                low = middle
            else:
                high = middle - 1
        return int(max(low, after))

    def _end_of_part(self, kind: Kind, before: Millis) -> int:
        """Up to which event the next part goes; 0 if no further event is old enough."""
        after = self._gone_through(self.state(), kind)
        boundary = self._boundary(after, before)
        if boundary <= after:
            return 0
        end = self._connection.value(_END_OF_PART, after=after, most=EVENTS_AT_ONCE - 1)
        return boundary if end is None else min(boundary, int(end))

    @staticmethod
    def _gone_through(state: State, kind: Kind) -> int:
        return state.audit_to if kind is Kind.AUDIT else state.events_to

    # --- deleting ----------------------------------------------------------------------------------------------------

    def delete(self, part: Part, cutoffs: Cutoffs) -> dict[Kind, int]:
        """Deletes what is still due of a part; answers how many rows of which kind. One server at a time."""
        self._connection.lock(_LOCK)
        if part.kind in _EVENT_KINDS:
            return self._delete_events(part, cutoffs)
        ids = list(part.ids)
        if part.kind in _OF_KIND:
            return self._delete_trees(part.kind, ids, cutoffs)
        if part.kind is Kind.LAUNCHES:
            old = self._ids_of(_STILL_OLD_LAUNCHES, ids=ids, launches_before=cutoffs[Kind.LAUNCHES])
            return {Kind.LAUNCHES: self._delete_launches(old)}
        if part.kind in _OF_ALL_PROJECTS:
            given = {"id_before": _id_before(part.kind, cutoffs), "launches_before": cutoffs[Kind.LAUNCHES]}
            return {part.kind: self._connection.run(_DELETE_BY_ID[part.kind], ids=ids, **given)}
        statement = _DELETE_MESSAGES if part.kind is Kind.MESSAGES else _DELETE_CONVERSATIONS
        deleted = self._connection.run(statement, ids=ids, messages_before=cutoffs[Kind.MESSAGES])
        if part.kind is Kind.CONVERSATIONS:
            self._connection.run(_DELETE_TERMS, ids=ids)
        return {part.kind: deleted}

    def _ids_of(self, statement: Statement, **given: Any) -> list[str]:
        return [row[0] for row in self._connection.all(statement, **given)]

    def _delete_trees(self, kind: Kind, ids: list[str], cutoffs: Cutoffs) -> dict[Kind, int]:
        """Of the trees that are still over, one after the other, the deepest tasks first: a tree may be larger than a
        part."""
        roots = self._ids_of(_STILL_OVER[kind], ids=ids, **_of_trees(kind, cutoffs))
        tasks = self._ids_of(_DEEPEST, roots=roots, most=AT_ONCE)
        if not tasks:
            return {}
        launches = self._ids_of(_WITH_NEWER, ids=self._ids_of(_LAUNCHES_OF, tasks=tasks))
        deleted = {Kind.LAUNCHES: self._delete_launches(launches)} if launches else {}
        state = self.state()
        gone = self._connection.run(_EVENTS_OF_TASKS, tasks=tasks, audit_to=state.audit_to, events_to=state.events_to)
        if gone:
            self.save(replace(state, horizon=max(state.horizon, state.audit_to, state.events_to)))
        self._forget_tasks_of_sums(tasks)
        for statement in _WITH_TASKS:
            self._connection.run(statement, tasks=tasks)
        deleted[kind] = self._connection.run(_DELETE_TASKS, tasks=tasks)
        return {**deleted, Kind.EVENTS: gone} if gone else deleted

    def _delete_launches(self, launches: list[str]) -> int:
        """With their sessions, checks and output; their usage is added to the sums of its day."""
        self._add(usages.summed_launch(row) for row in self._connection.all(_USAGES, launches=launches))
        for statement in _WITH_LAUNCHES:
            self._connection.run(statement, launches=launches)
        return self._connection.run(_DELETE_LAUNCHES, launches=launches)

    def _forget_tasks_of_sums(self, tasks: list[str]) -> None:
        kept = [
            dict(zip((*_KEYS, *usages.SUMS), row, strict=True))
            for row in self._connection.all(_SUMS_OF_TASKS, tasks=tasks)
        ]
        if kept:
            self._connection.run(_DELETE_SUMS, tasks=tasks)
            self._add({**each, "task_id": ""} for each in kept)

    def _add(self, sums: Iterator[dict[str, Any]]) -> None:
        for each in sums:
            self._connection.run(_ADD_SUM, **each)

    def _delete_events(self, part: Part, cutoffs: Cutoffs) -> dict[Kind, int]:
        state = self.state()
        after = self._gone_through(state, part.kind)
        if part.to <= after:  # another server was faster
            return {}
        gone = self._connection.run(
            _DELETE_EVENTS[part.kind],
            after=after,
            to=part.to,
            before=cutoffs[part.kind],
            last_of_setup=self._last_of_setup(),
        )
        audit_to, events_to = (part.to, state.events_to) if part.kind is Kind.AUDIT else (state.audit_to, part.to)
        horizon = max(state.horizon, part.to) if gone else state.horizon
        self.save(State(state.begins_at, events_to, audit_to, horizon))
        return {part.kind: gone}

    def _last_of_setup(self) -> int:
        return int(self._connection.value(_LAST_OF_SETUP) or 0)

    # --- how it stands -----------------------------------------------------------------------------------------------

    def standing(self, cutoffs: Cutoffs) -> dict[Kind, Standing]:
        """How many rows there are, and how many are due. Reads much: for people who ask."""
        due = dict.fromkeys(Kind, 0)
        for kind, many in self._due(cutoffs):
            due[kind] += many
        return {kind: Standing(*self._there(kind), due[kind]) for kind in Kind}

    def _there(self, kind: Kind) -> tuple[int | None, Millis | None]:
        if kind is Kind.QUEUE_TASKS or kind is Kind.AUDIT:
            return None, None
        return int(self._connection.value(_ROWS[kind])), self._connection.value(_OLDEST[kind])

    def _due(self, cutoffs: Cutoffs) -> Iterator[tuple[Kind, int]]:
        value = self._connection.value
        for kind in _OF_ALL_PROJECTS:
            if cutoffs[kind]:
                given = {"id_before": _id_before(kind, cutoffs), "launches_before": cutoffs[kind]}
                yield kind, int(value(_COUNT_BY_ID[kind], **given))
        launches = {"launches_before": cutoffs[Kind.LAUNCHES]}
        talk = {"messages_before": cutoffs[Kind.MESSAGES]}
        for project_id in self._projects():
            if cutoffs[Kind.LAUNCHES]:
                yield Kind.LAUNCHES, int(value(_COUNT_LAUNCHES, project_id=project_id, **launches))
            if cutoffs[Kind.MESSAGES]:
                yield Kind.MESSAGES, int(value(_COUNT_MESSAGES, project_id=project_id, **talk))
                yield Kind.CONVERSATIONS, int(value(_COUNT_CONVERSATIONS, project_id=project_id, **talk))
            yield from self._due_with_tasks(project_id, cutoffs)
        state = self.state()
        for kind in _EVENT_KINDS:
            if cutoffs[kind]:
                yield kind, self._due_events(kind, state, cutoffs)

    def _due_events(self, kind: Kind, state: State, cutoffs: Cutoffs) -> int:
        after = self._gone_through(state, kind)
        to = self._boundary(after, cutoffs[kind])
        given = {"after": after, "to": to, "before": cutoffs[kind], "last_of_setup": self._last_of_setup()}
        return int(self._connection.value(_COUNT_EVENTS[kind], **given))

    def _due_with_tasks(self, project_id: str, cutoffs: Cutoffs) -> Iterator[tuple[Kind, int]]:
        value, state = self._connection.value, self.state()
        for kind, statuses in _OF_KIND.items():
            if not cutoffs[kind]:
                continue
            for status in statuses:
                given = {"project_id": project_id, "status": status, **_of_trees(kind, cutoffs)}
                tasks = int(value(_COUNT_TASKS[kind], **given))
                if not tasks:
                    continue
                yield kind, tasks
                yield (
                    Kind.LAUNCHES,
                    int(value(_COUNT_LAUNCHES_OF_TASKS[kind], launches_before=cutoffs[Kind.LAUNCHES], **given)),
                )
                for of in _EVENT_KINDS:
                    after = self._gone_through(state, of)
                    to = self._boundary(after, cutoffs[of]) if cutoffs[of] else after
                    events = {"after": after, "to": to, "events_before": cutoffs[of]}
                    yield of, int(value(_COUNT_EVENTS_OF_TASKS[kind, of], **events, **given))


def _of_trees(kind: Kind, cutoffs: Cutoffs) -> dict[str, Millis]:
    """What depends on a task stays as long as the longest period for tasks says."""
    return {"before": cutoffs[kind], "dependants_before": min(cutoffs[each] for each in _OF_KIND)}


def _id_before(kind: Kind, cutoffs: Cutoffs) -> str:
    return ids.make(_OF_ALL_PROJECTS[kind][2], cutoffs[kind], 0)


def wait(connection: Connection, period: Millis) -> None:
    """Nothing is deleted by itself for this long from now on: somebody may want to look at what was restored."""
    retention = Retention(connection)
    retention.save(replace(retention.state(), begins_at=int(connection.value(_NOW)) + period))
