"""What `operations/queue/batched.py` reads and writes: everything for a batch of calls in one statement each.

The order of a queue is that of `poll_order.py`. `PLAIN` is the part of its precondition that a row shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
import sqlalchemy as sa

from toryo.domain.agents import Agent
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.projects import Project
from toryo.domain.queue import ApiKey, Claim, Presence
from toryo.domain.tasks import Details, Task
from toryo.domain.times import Millis
from toryo.storage import many_rows, poll_order, schema
from toryo.storage.agents import ROWS as AGENTS
from toryo.storage.engine.database import Connection
from toryo.storage.engine.directory_memory import remembered_each
from toryo.storage.engine.statements import Row, Statement, in_list
from toryo.storage.projects import ROWS as PROJECTS
from toryo.storage.queues import CLAIMS, KEYS, PRESENCES, is_served
from toryo.storage.tables import to_json
from toryo.storage.tasks import DETAILS, ORDER, is_main
from toryo.storage.tasks import ROWS as TASKS

_t, _d, _c, _k = schema.tasks, schema.dependencies, schema.claims, schema.api_keys
_a, _m, _pr, _pn = schema.agents, schema.memberships, schema.projects, schema.presences
_se, _dl, _b = schema.sessions, schema.delegations, schema.batches
_p = sa.bindparam
_text = sa.literal_column

Queue = tuple[str, str]
"""A project and an agent type."""

# --- who calls -------------------------------------------------------------------------------------------------------

_HOLDERS = Statement(
    sa.select(
        _k.c.key_hash,
        *KEYS.columns,
        *PROJECTS.columns,
        *AGENTS.columns,
        _m.c.created_at,
        _m.c.removed_at,
    )
    .select_from(
        _k.join(_pr, _pr.c.id == _k.c.project_id)
        .outerjoin(_a, _a.c.id == _k.c.agent_id)
        .outerjoin(_m, sa.and_(_m.c.project_id == _k.c.project_id, _m.c.agent_id == _k.c.agent_id))
    )
    .where(in_list(_k.c.key_hash, "hashes"))
)
_KEY, _PROJECT = 1, 1 + len(KEYS.names)
_AGENT = _PROJECT + len(PROJECTS.names)
_MEMBER = _AGENT + len(AGENTS.names)
_PRESENCES = Statement(PRESENCES.select().where(in_list(_pn.c.agent_id, "agents")))


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """An API key, and what the database has about who holds it."""

    key: ApiKey
    project: Project
    agent: Agent | None
    membership: tuple[Millis, Millis | None] | None


def _holder(row: Row) -> KeyHolder:
    return KeyHolder(
        KEYS.noun_of(row[_KEY:_PROJECT]),
        PROJECTS.noun_of(row[_PROJECT:_AGENT]),
        AGENTS.noun_of(row[_AGENT:_MEMBER]) if row[_AGENT] is not None else None,
        (row[_MEMBER], row[_MEMBER + 1]) if row[_MEMBER] is not None else None,
    )


# --- tasks -----------------------------------------------------------------------------------------------------------

_of_session = sa.select(_se.c.task_id).where(_se.c.ended_at.is_(None), _se.c.task_id.is_not(None))
_delegated = sa.select(sa.literal(1)).where(_dl.c.task_id == _t.c.id).exists()
PLAIN = sa.and_(
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
_is_waited_for = sa.select(sa.literal(1)).where(_d.c.depends_on == _t.c.id).exists()
_COLUMNS = [*TASKS.columns, *DETAILS.columns, PLAIN.label("plain"), _waits.label("waits")]
_DETAILS, _IS_PLAIN = len(TASKS.names), len(TASKS.names) + len(DETAILS.names)


@dataclass(frozen=True, slots=True)
class Found:
    """A task with its payloads."""

    task: Task
    details: Details
    plain: bool
    has_dependencies: bool


@dataclass(frozen=True, slots=True)
class ClaimedTask(Found):
    """One that an agent has claimed."""

    holder: str
    attempt: int
    launch_id: str | None
    has_dependants: bool


_HELD = Statement(
    sa.select(*_COLUMNS, _c.c.agent_id, _c.c.attempt, _c.c.launch_id, _is_waited_for.label("is_waited_for"))
    .select_from(_t.join(_c, sa.and_(_c.c.task_id == _t.c.id, _c.c.ended_at.is_(None))))
    .where(in_list(_t.c.id, "ids"))
)
_DEPENDANTS = Statement(
    sa.select(_d.c.depends_on, _t.c.project_id, _t.c.agent_type, _t.c.id)
    .select_from(_d.join(_t, _t.c.id == _d.c.task_id))
    .where(in_list(_d.c.depends_on, "ids"), _t.c.status == "todo", _t.c.agent_type.is_not(None))
)
_STATUSES = Statement(sa.select(_t.c.id, _t.c.project_id, _t.c.status).where(in_list(_t.c.id, "ids")))

# --- queues ----------------------------------------------------------------------------------------------------------
# Both databases take the queues as one JSON parameter: [[project, type], …].

_of: dict[str, tuple[sa.ColumnElement[Any], sa.ColumnElement[Any]]] = {
    "sqlite": (_text("json_extract(q.value, '$[0]')"), _text("json_extract(q.value, '$[1]')")),
    "postgresql": (_text("(q.value ->> 0)"), _text("(q.value ->> 1)")),
}
_QUEUES = {
    "sqlite": sa.text("json_each(:queues) AS q"),
    "postgresql": sa.text("json_array_elements(CAST(:queues AS json)) AS q(value)"),
}


def _ready(dialect: str, *columns: Any) -> sa.Select[Any]:
    found = sa.select(*columns).where(*poll_order.ready(*_of[dialect], _p("now"))).order_by(*ORDER)
    return found.limit(_p("most", type_=sa.Integer))


_ids = Statement(_ready("sqlite", _t.c.id)).sqlite.text
_near = _ready("postgresql", *_COLUMNS).lateral("near")
_READY = Statement(
    sa.select(*_COLUMNS)
    .select_from(
        sa.text(
            f"json_each(:queues) AS q, json_each((SELECT json_group_array(id) FROM ({_ids}))) AS i"  # noqa: S608 - compiled, not pasted
        )
    )
    .where(_t.c.id == _text("i.value")),
    postgresql=sa.select(_near).select_from(_QUEUES["postgresql"]),
)


def _served(dialect: str) -> sa.Select[Any]:
    project_id, agent_type = _of[dialect]
    found = sa.select(project_id.label("project_id"), agent_type.label("agent_type"))
    return found.select_from(_QUEUES[dialect]).where(is_served(project_id, agent_type))


_SERVED = Statement(_served("sqlite"), postgresql=_served("postgresql"))
_RETRIES = Statement(
    sa.select(_t.c.project_id, _t.c.agent_type, sa.func.min(_t.c.not_before))
    .where(
        poll_order.is_queued,
        in_list(_t.c.project_id, "projects"),
        in_list(_t.c.agent_type, "types"),
        _t.c.not_before > _p("now"),
    )
    .group_by(_t.c.project_id, _t.c.agent_type)
)
_above = _t.alias("above")
_STANDING = Statement(
    sa.union_all(
        sa.select(sa.literal("held").label("what"), _c.c.agent_id, sa.literal("").label("project_id"), sa.func.count())
        .where(_c.c.ended_at.is_(None), in_list(_c.c.agent_id, "agents"))
        .group_by(_c.c.agent_id),
        sa.select(sa.literal("busy"), _t.c.assignee_id, _t.c.project_id, sa.func.count())
        .outerjoin(_above, _above.c.id == _t.c.parent_id)
        .where(
            _t.c.status == "in_progress",
            in_list(_t.c.project_id, "projects"),
            in_list(_t.c.assignee_id, "agents"),
            is_main(_above),
        )
        .group_by(_t.c.assignee_id, _t.c.project_id),
        sa.select(sa.literal("over"), sa.literal(""), _c.c.project_id, sa.func.count())
        .where(
            _c.c.ended_at.is_(None),
            _c.c.launch_id.is_(None),
            in_list(_c.c.project_id, "projects"),
            _c.c.expires_at <= _p("now"),
        )
        .group_by(_c.c.project_id),
    )
)


@dataclass(frozen=True, slots=True)
class Standing:
    """What agents have taken: claims by agent, main tasks in progress by agent and project; and which projects have
    claims that have run out."""

    held: dict[str, int]
    busy: dict[tuple[str, str], int]
    lapsed: frozenset[str]


# --- idempotency keys ------------------------------------------------------------------------------------------------

_REMEMBERED = Statement(
    sa.select(_b.c.agent_id, _b.c.scope, _b.c.key).where(
        in_list(_b.c.agent_id, "agents"), in_list(_b.c.scope, "scopes"), in_list(_b.c.key, "keys")
    )
)
OnceKey = tuple[str, str, str]
"""Who, scope and key."""

# --- writes ----------------------------------------------------------------------------------------------------------

_NEW = (
    *("id", "project_id", "root_id", "depth", "ordinal", "title", "status", "priority", "agent_type", "created_by"),
    *("approval", "created_at", "updated_at", "moved_at", "attempt", "parent_attempt", "children_ever"),
    *("worked_attempt", "blocked_by_person", "blocked_by_guard", "unreported_ends", "idle_launches", "has_acceptance"),
    *("checks", "correlation_id", "timeout_seconds", "max_attempts", "questions_ever", "open_questions", "version"),
)
"""The columns that a new plain task fills; the others are null."""
_new = TASKS.tuple_of(_NEW)
_ADD_TASKS = many_rows.insert(_t, [*_NEW, "description", "context"])
_ADD_EDGES = many_rows.insert(_d, ["task_id", "depends_on", "root_id"])
_ADD_ONCE = many_rows.insert(_b, ["agent_id", "scope", "key", "content", "answer", "created_at"])
_STARTED = ("status", "assignee_id", "not_before", "started_at", "moved_at", "updated_at", "moved_session")
_started = TASKS.tuple_of(_STARTED)
_START = many_rows.update(_t, [*_STARTED, "moved_from", "version"], ["id"])
_ENDED = ("status", "assignee_id", "attempt", "not_before", "completed_at", "moved_at", "updated_at", "moved_session")
_ended = TASKS.tuple_of(_ENDED)
_END = many_rows.update(_t, [*_ENDED, "moved_from", "wait", "unreported_ends", "version", "result", "error"], ["id"])
_CLAIMED = ("task_id", "attempt", "project_id", "agent_id", "claimed_at", "expires_at", "lease")
_claimed = CLAIMS.tuple_of(_CLAIMED)
_ADD_CLAIMS = many_rows.insert(_c, _CLAIMED)
_END_CLAIMS = many_rows.update(_c, ["ended_at", "end_reason", "outcome"], ["task_id", "attempt"])
_SEEN = many_rows.update(_pn, ["seen_at", "offline_at"], ["agent_id"])


class QueueBatches:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    # reads

    @remembered_each
    def holders(self, hashes: Iterable[str]) -> dict[str, KeyHolder]:
        """Who holds the keys that have these hashes."""
        return {row[0]: _holder(row) for row in self._connection.all(_HOLDERS, hashes=list(hashes))}

    def presences(self, agents: Iterable[str]) -> dict[str, Presence]:
        """Those of these agents that are registered, by agent."""
        found = PRESENCES.nouns(self._connection.all(_PRESENCES, agents=list(agents)))
        return {presence.agent_id: presence for presence in found}

    def held(self, task_ids: Iterable[str]) -> dict[str, ClaimedTask]:
        """Those of these tasks that are claimed."""
        rows = self._connection.all(_HELD, ids=list(task_ids))
        return {row[0]: ClaimedTask(*_found(row), row[-4], row[-3], row[-2], bool(row[-1])) for row in rows}

    def dependants(self, task_ids: Iterable[str]) -> dict[str, list[tuple[Queue, str]]]:
        """Queue and id of the queue tasks that wait for each of these."""
        found: dict[str, list[tuple[Queue, str]]] = {}
        for depends_on, project_id, agent_type, task_id in self._connection.all(_DEPENDANTS, ids=list(task_ids)):
            found.setdefault(depends_on, []).append(((project_id, agent_type), task_id))
        return found

    def statuses(self, task_ids: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Project and status of those of these tasks that exist."""
        return {row[0]: (row[1], row[2]) for row in self._connection.all(_STATUSES, ids=list(task_ids))}

    def served(self, queues: Iterable[Queue]) -> set[Queue]:
        """Those of these queues that have an agent."""
        rows = self._connection.all(_SERVED, queues=_json(queues))
        return {(row[0], row[1]) for row in rows}

    def ready(self, queues: Iterable[Queue], now: Millis, most: int) -> dict[Queue, list[Found]]:
        """Up to `most` ready tasks of each queue, in the order in which they are claimed."""
        found: dict[Queue, list[Found]] = {}
        for row in self._connection.all(_READY, queues=_json(queues), now=now, most=most):
            each = Found(*_found(row))
            found.setdefault((each.task.project_id, each.task.agent_type or ""), []).append(each)
        for ready in found.values():
            ready.sort(key=_order)
        return found

    def retries(self, queues: Iterable[Queue], now: Millis) -> dict[Queue, Millis]:
        """When the next back-off of each queue ends."""
        projects, types = zip(*queues, strict=True)
        rows = self._connection.all(_RETRIES, projects=sorted(set(projects)), types=sorted(set(types)), now=now)
        return {(row[0], row[1]): row[2] for row in rows}

    def standing(self, agents: Iterable[str], projects: Iterable[str], now: Millis) -> Standing:
        found = Standing({}, {}, frozenset())
        lapsed = set()
        rows = self._connection.all(_STANDING, agents=sorted(set(agents)), projects=sorted(set(projects)), now=now)
        for what, agent_id, project_id, count in rows:
            if what == "held":
                found.held[agent_id] = count
            elif what == "busy":
                found.busy[agent_id, project_id] = count
            else:
                lapsed.add(project_id)
        return Standing(found.held, found.busy, frozenset(lapsed))

    def remembered(self, keys: Iterable[OnceKey]) -> set[OnceKey]:
        """Those of these idempotency keys that were used before."""
        agents, scopes, names = (sorted(set(each)) for each in zip(*keys, strict=True))
        rows = self._connection.all(_REMEMBERED, agents=agents, scopes=scopes, keys=names)
        return {(row[0], row[1], row[2]) for row in rows}

    # writes

    def add_tasks(self, tasks: Sequence[tuple[Task, Details]]) -> None:
        rows = [(*_new(task), details.description, to_json(details.context)) for task, details in tasks]
        _ADD_TASKS.run(self._connection, rows)

    def connect(self, edges: Sequence[tuple[Task, str]]) -> None:
        """Each task waits for another."""
        _ADD_EDGES.run(self._connection, [(task.id, depends_on, task.root_id) for task, depends_on in edges])

    def remember(self, keys: Sequence[tuple[OnceKey, str, Any, Millis]]) -> None:
        """Idempotency keys with their content, what is answered, and when they were used."""
        _ADD_ONCE.run(self._connection, [(*key, content, to_json(answer), now) for key, content, answer, now in keys])

    def start(self, tasks: Sequence[Task]) -> None:
        rows = [(*_started(task), "todo", task.version, task.id) for task in tasks]
        _START.run(self._connection, rows)

    def end(self, tasks: Sequence[tuple[Task, Details]]) -> None:
        """They have left `in_progress`: for their end, or for a rest."""
        rows = [
            (*_ended(task), "in_progress", None, 0, task.version, to_json(details.result), details.error, task.id)
            for task, details in tasks
        ]
        _END.run(self._connection, rows)

    def add_claims(self, claims: Sequence[Claim]) -> None:
        _ADD_CLAIMS.run(self._connection, [*map(_claimed, claims)])

    def end_claims(self, ends: Sequence[tuple[str, int, str, Any, Millis]]) -> None:
        """Task, attempt, why it ended, what was submitted, and when."""
        rows = [(now, reason, to_json(outcome), task_id, attempt) for task_id, attempt, reason, outcome, now in ends]
        _END_CLAIMS.run(self._connection, rows)

    def seen(self, agents: Sequence[tuple[str, Millis]]) -> None:
        _SEEN.run(self._connection, [(at, None, agent_id) for agent_id, at in agents])


def _found(row: Row) -> tuple[Task, Details, bool, bool]:
    return (
        TASKS.noun_of(row[:_DETAILS]),
        DETAILS.noun_of(row[_DETAILS:_IS_PLAIN]),
        bool(row[_IS_PLAIN]),
        bool(row[_IS_PLAIN + 1]),
    )


def _order(found: Found) -> tuple[int, Millis, int, str]:
    return found.task.order


def _json(queues: Iterable[Queue]) -> str:
    return orjson.dumps(list(queues)).decode()
