"""API keys, presences, claims, dead letters and shared values, as rows. A key is stored as its hash only.

Which tasks of a queue are ready, and in which order they are returned, is in `poll_order.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson
import sqlalchemy as sa

from toryo.domain.agents import Agent
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.projects import Project
from toryo.domain.queue import ApiKey, Claim, Entry, Presence
from toryo.domain.tasks import Task
from toryo.domain.times import Millis
from toryo.storage import many_rows, poll_order, schema
from toryo.storage.agents import ROWS as AGENTS
from toryo.storage.agents import managed_member
from toryo.storage.engine.database import Connection
from toryo.storage.engine.directory_memory import remembered, remembered_each
from toryo.storage.engine.statements import Row, Statement, by_index, in_list, octets, upsert
from toryo.storage.engine.unit_of_work import Target
from toryo.storage.projects import ROWS as PROJECTS
from toryo.storage.rows import Rows, save_changes
from toryo.storage.tables import from_json, to_json
from toryo.storage.tasks import FOUND, HOLDS_A_PLACE, Found, Tasks, is_main
from toryo.storage.tasks import ROWS as TASKS

_k, _s, _c, _e, _t = schema.api_keys, schema.presences, schema.claims, schema.shared_entries, schema.tasks
_a, _m, _pr, _d = schema.agents, schema.memberships, schema.projects, schema.dependencies
_p = sa.bindparam

KEYS = Rows(ApiKey, _k)
PRESENCES = Rows(Presence, _s)
CLAIMS = Rows(Claim, _c)
ENTRIES = Rows(Entry, _e, {"value": (lambda value: to_json([value]), lambda text: from_json(text)[0])})
"""A shared value may itself be null: it is stored within a list."""

Queue = tuple[str, str]
"""A project and an agent type."""

# --- keys and presences ----------------------------------------------------------------------------------------------

_ADD_KEY = Statement(sa.insert(_k), columns=[*KEYS.names, "key_hash"])
_BY_HASH = Statement(KEYS.select().where(_k.c.key_hash == _p("key_hash")))
_HOLDERS = Statement(
    sa.select(_k.c.key_hash, *KEYS.columns, *PROJECTS.columns, *AGENTS.columns, _m.c.created_at, _m.c.removed_at)
    .select_from(
        _k.join(_pr, _pr.c.id == _k.c.project_id)
        .outerjoin(_a, _a.c.id == _k.c.agent_id)
        .outerjoin(_m, sa.and_(_m.c.project_id == _k.c.project_id, _m.c.agent_id == _k.c.agent_id))
    )
    .where(in_list(_k.c.key_hash, "hashes"))
)
_PROJECT = 1 + len(KEYS.names)
_AGENT = _PROJECT + len(PROJECTS.names)
_MEMBER = _AGENT + len(AGENTS.names)


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """An API key, and what the database has about who holds it."""

    key: ApiKey
    project: Project
    agent: Agent | None
    membership: tuple[Millis, Millis | None] | None


def _holder(row: Row) -> KeyHolder:
    return KeyHolder(
        KEYS.noun_of(row[1:_PROJECT]),
        PROJECTS.noun_of(row[_PROJECT:_AGENT]),
        AGENTS.noun_of(row[_AGENT:_MEMBER]) if row[_AGENT] is not None else None,
        (row[_MEMBER], row[_MEMBER + 1]) if row[_MEMBER] is not None else None,
    )


_KEY = Statement(KEYS.select().where(_k.c.id == _p("id")))
_KEYS = Statement(KEYS.select().where(_k.c.project_id == _p("project_id")).order_by(_k.c.created_at, _k.c.id))
_KEYS_OF = Statement(KEYS.select().where(_k.c.agent_id == _p("agent_id"), _k.c.revoked_at.is_(None)).order_by(_k.c.id))
_PRESENCES_OF = Statement(PRESENCES.select().where(in_list(_s.c.agent_id, "agents")))
_PRESENCE_ROW = Target(_s, key=("agent_id",))
_PRESENCES = Statement(
    PRESENCES.select().where(_s.c.project_id == _p("project_id")).order_by(_s.c.agent_type, _s.c.agent_id)
)
_ALL_ONLINE = Statement(PRESENCES.select().where(_s.c.offline_at.is_(None)))
_at_work = (  # No EXISTS: for that PostgreSQL reads all live claims there are.
    sa.select(_c.c.task_id)
    .where(_c.c.agent_id == _s.c.agent_id, _c.c.ended_at.is_(None))
    .limit(1)
    .scalar_subquery()
    .is_not(None)
)
_serves = sa.or_(_s.c.offline_at.is_(None), _at_work)
_is_online = sa.and_(_s.c.project_id == _p("project_id"), _serves)
_ONLINE = Statement(sa.select(_s.c.agent_id).where(_is_online, in_list(_s.c.agent_id, "agents")))
_POLLED = Statement(sa.select(_s.c.agent_type).where(_is_online).distinct())
_IS_POLLED = Statement(sa.select(_s.c.agent_id).where(_is_online, _s.c.agent_type == _p("agent_type")).limit(1))


def is_served(project_id: Any, agent_type: Any) -> sa.ColumnElement[bool]:
    """Whether a queue has an agent: one of `Queues.online`, or of `Agents.queues_of`; the arguments are expressions."""
    online = sa.select(sa.literal(1)).where(_s.c.project_id == project_id, _s.c.agent_type == agent_type, _serves)
    return sa.or_(online.exists(), managed_member(project_id, agent_type).exists())


def _served(dialect: str) -> sa.Select[Any]:
    project_id, agent_type = poll_order.PARTS_OF_QUEUE[dialect]
    found = sa.select(project_id.label("project_id"), agent_type.label("agent_type"))
    return found.select_from(poll_order.QUEUES[dialect]).where(is_served(project_id, agent_type))


_SERVED = Statement(_served("sqlite"), postgresql=_served("postgresql"))
_SAVE_PRESENCE = upsert(_s, PRESENCES.names, ["agent_id"], [name for name in PRESENCES.names if name != "agent_id"])

# --- claims ----------------------------------------------------------------------------------------------------------

_unended: sa.ColumnElement[bool] = sa.literal_column("ended_at IS NULL")
_CLAIM_ROW = Target(_c, CLAIMS.names, key=("task_id", "attempt"))
_LIVE = Statement(CLAIMS.select().where(_c.c.task_id == _p("task_id"), _unended))
_CHANGING = ("expires_at", "ended_at", "end_reason", "outcome")
_CLAIM = Statement(CLAIMS.select().where(_c.c.task_id == _p("task_id"), _c.c.attempt == _p("attempt")))
_is_waited_for = sa.select(sa.literal(1)).where(_d.c.depends_on == _t.c.id).exists()
_CLAIMED_TASKS = Statement(
    sa.select(*FOUND, *CLAIMS.columns, _is_waited_for.label("is_waited_for"))
    .select_from(_t.join(_c, sa.and_(_c.c.task_id == _t.c.id, _c.c.ended_at.is_(None))))
    .where(in_list(_t.c.id, "ids"))
)


@dataclass(frozen=True, slots=True)
class ClaimedTask:
    """A task that an agent has claimed."""

    found: Found
    claim: Claim
    has_dependants: bool


_NEW = ("task_id", "attempt", "project_id", "agent_id", "claimed_at", "expires_at", "lease")
_new = CLAIMS.tuple_of(_NEW)
_TAKE = many_rows.insert(_c, _NEW)
_END = many_rows.update(_c, ["ended_at", "end_reason", "outcome"], ["task_id", "attempt"])
_OF_TASK = Statement(CLAIMS.select().where(_c.c.task_id == _p("task_id")).order_by(_c.c.attempt))
_OF_AGENT = Statement(
    CLAIMS.select().where(_c.c.agent_id == _p("agent_id"), _unended).order_by(_c.c.claimed_at, _c.c.task_id)
)
_EXPIRED = Statement(
    by_index(CLAIMS.select(), _c, "claims_expiry")
    .where(in_list(_c.c.project_id, "projects"), _unended, _c.c.expires_at <= _p("now"))
    .order_by(_c.c.expires_at)
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
            HOLDS_A_PLACE,
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
    lapsed: set[str]


# --- dead letters -----------------------------------------------------------------------------------------------------

_NEVER: Millis = 2**53
_DEAD = Statement(
    by_index(TASKS.select(), _t, "tasks_dead")
    .where(_t.c.project_id == _p("project_id"), sa.literal_column(schema.IS_DEAD), _t.c.completed_at <= _p("at"))
    .where(sa.or_(_t.c.completed_at < _p("at"), _t.c.id > _p("id")))
    .order_by(_t.c.completed_at.desc(), _t.c.id)
    .limit(_p("most", type_=sa.Integer))
)

# --- shared values ---------------------------------------------------------------------------------------------------

MOST_ENTRIES = 10_000
"""Maximum number of values of a project that are listed."""
_ENTRY = Statement(ENTRIES.select().where(_e.c.project_id == _p("project_id"), _e.c.key == _p("key")))
_ENTRIES = Statement(ENTRIES.select().where(_e.c.project_id == _p("project_id")).order_by(_e.c.key).limit(MOST_ENTRIES))
_BESIDE = Statement(  # Without the brackets of the list in which a value is stored.
    sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(octets(_e.c.value) - 2), 0)).where(
        _e.c.project_id == _p("project_id"), _e.c.key != _p("key"), _e.c.expires_at > _p("now")
    )
)
_SAVE_ENTRY = upsert(
    _e, ENTRIES.names, ["project_id", "key"], [name for name in ENTRIES.names if name not in ("project_id", "key")]
)
_FORGET = Statement(sa.delete(_e).where(_e.c.expires_at <= _p("until")))

_CLAIMS_HEARD = Statement(
    sa.update(_c)
    .where(_unended, _c.c.expires_at < _p("now", type_=sa.BigInteger) + _c.c.lease)
    .values(expires_at=_p("now", type_=sa.BigInteger) + _c.c.lease)
)
_PRESENCES_HEARD = Statement(sa.update(_s).where(_s.c.offline_at.is_(None)).values(seen_at=_p("now")))


class _KnownPresences:
    """Of each agent, as its row is or will be; None: it is not registered."""

    tables = frozenset({_s.name})

    def __init__(self) -> None:
        self.by_agent: dict[str, Presence | None] = {}


class _Known:
    """The live claim of each task, as its row is or will be; None: it has none."""

    tables = frozenset({_c.name})

    def __init__(self) -> None:
        self.claims: dict[str, Claim | None] = {}


class Queues:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    # keys

    def add_key(self, key: ApiKey, key_hash: str) -> None:
        self._connection.run(_ADD_KEY, **KEYS.values(key), key_hash=key_hash)

    @remembered
    def key_by_hash(self, key_hash: str) -> ApiKey | None:
        return KEYS.one(self._connection.one(_BY_HASH, key_hash=key_hash))

    @remembered_each
    def holders(self, hashes: Iterable[str]) -> dict[str, KeyHolder]:
        """Who holds the keys that have these hashes."""
        return {row[0]: _holder(row) for row in self._connection.all(_HOLDERS, hashes=list(hashes))}

    @remembered
    def key(self, key_id: str) -> ApiKey | None:
        return KEYS.one(self._connection.one(_KEY, id=key_id))

    def keys(self, project_id: str) -> list[ApiKey]:
        return KEYS.nouns(self._connection.all(_KEYS, project_id=project_id))

    def keys_of(self, agent_id: str) -> list[ApiKey]:
        """Valid keys of an agent, in any project."""
        return KEYS.nouns(self._connection.all(_KEYS_OF, agent_id=agent_id))

    def save_key(self, before: ApiKey, after: ApiKey) -> None:
        save_changes(self._connection, _k, KEYS, before, after)

    # presences

    def presence(self, agent_id: str) -> Presence | None:
        known = self._connection.unit.known(_KnownPresences).by_agent
        return known[agent_id] if agent_id in known else self.presences_of([agent_id]).get(agent_id)

    def presences_of(self, agent_ids: Iterable[str]) -> dict[str, Presence]:
        """Those of these agents that are registered, by agent."""
        agents, known = dict.fromkeys(agent_ids), self._connection.unit.known(_KnownPresences).by_agent
        if unknown := [each for each in agents if each not in known]:
            read = PRESENCES.nouns(self._connection.all(_PRESENCES_OF, agents=unknown))
            known = self._connection.unit.known(_KnownPresences).by_agent
            known.update(dict.fromkeys(unknown) | {each.agent_id: each for each in read})
        return {each: presence for each in agents if (presence := known[each]) is not None}

    def presences(self, project_id: str) -> list[Presence]:
        return PRESENCES.nouns(self._connection.all(_PRESENCES, project_id=project_id))

    def all_online(self) -> list[Presence]:
        return PRESENCES.nouns(self._connection.all(_ALL_ONLINE))

    def online(self, project_id: str, agent_ids: Iterable[str]) -> frozenset[str]:
        """Those of these agents that are online in a project or may be working without heartbeats.

        Plain queue agents send nothing while they work; their claims end by themselves.
        """
        rows = self._connection.all(_ONLINE, project_id=project_id, agents=sorted(agent_ids))
        return frozenset(row[0] for row in rows)

    def polled(self, project_id: str) -> frozenset[str]:
        """The queues of all agents of a project that are online as `online` says."""
        return frozenset(row[0] for row in self._connection.all(_POLLED, project_id=project_id))

    def is_polled(self, project_id: str, agent_type: str) -> bool:
        """Whether an agent of this queue is online as `online` says."""
        return bool(self._connection.all(_IS_POLLED, project_id=project_id, agent_type=agent_type))

    def save_presence(self, presence: Presence) -> None:
        self._connection.run(_SAVE_PRESENCE, **PRESENCES.values(presence))

    def seen(self, presence: Presence) -> None:
        """Stores that it has called, and is online."""
        self._connection.unit.known(_KnownPresences).by_agent[presence.agent_id] = presence
        heard = {"seen_at": presence.seen_at, "heartbeat_at": presence.heartbeat_at, "offline_at": None}
        self._connection.unit.change(_PRESENCE_ROW, (presence.agent_id,), heard)

    # claims

    def claimed(self, task_ids: Iterable[str]) -> dict[str, ClaimedTask]:
        """Those of these tasks that are claimed."""
        rows = self._connection.all(_CLAIMED_TASKS, ids=list(task_ids))
        return {row[0]: ClaimedTask(Found.of(row), CLAIMS.noun_of(row[len(FOUND) : -1]), bool(row[-1])) for row in rows}

    def take(self, claims: Iterable[Claim]) -> None:
        """New claims: as `add_claim`, with as many statements for many as for one."""
        _TAKE.run(self._connection, [*map(_new, claims)])

    def end(self, claims: Iterable[Claim]) -> None:
        """Claims that have ended: as `save_claim`."""
        rows = [(each.ended_at, each.end_reason, to_json(each.outcome), each.task_id, each.attempt) for each in claims]
        _END.run(self._connection, rows)

    def standing(self, agents: Iterable[str], projects: Iterable[str], now: Millis) -> Standing:
        found = Standing({}, {}, set())
        rows = self._connection.all(_STANDING, agents=sorted(set(agents)), projects=sorted(set(projects)), now=now)
        for what, agent_id, project_id, count in rows:
            if what == "held":
                found.held[agent_id] = count
            elif what == "busy":
                found.busy[agent_id, project_id] = count
            else:
                found.lapsed.add(project_id)
        return found

    def add_claim(self, claim: Claim) -> None:
        self._connection.unit.add(_CLAIM_ROW, (claim.task_id, claim.attempt), CLAIMS.values(claim))
        self._live[claim.task_id] = claim

    @property
    def _live(self) -> dict[str, Claim | None]:
        return self._connection.unit.known(_Known).claims

    def live_claim(self, task_id: str) -> Claim | None:
        if task_id not in self._live:
            found = CLAIMS.one(self._connection.one(_LIVE, task_id=task_id))
            self._live[task_id] = found
        return self._live[task_id]

    def claim(self, task_id: str, attempt: int) -> Claim | None:
        return CLAIMS.one(self._connection.one(_CLAIM, task_id=task_id, attempt=attempt))

    def claims_of_task(self, task_id: str) -> list[Claim]:
        return CLAIMS.nouns(self._connection.all(_OF_TASK, task_id=task_id))

    def claims_of(self, agent_id: str) -> list[Claim]:
        """Live claims, oldest first."""
        return CLAIMS.nouns(self._connection.all(_OF_AGENT, agent_id=agent_id))

    def expired_claims(self, project_ids: Iterable[str], now: Millis) -> list[Claim]:
        return CLAIMS.nouns(self._connection.all(_EXPIRED, projects=list(project_ids), now=now))

    def save_claim(self, claim: Claim) -> None:
        """Stores the fields of a claim that can change: lease and end."""
        changes = {name: CLAIMS.value(name, getattr(claim, name)) for name in _CHANGING}
        self._connection.unit.change(_CLAIM_ROW, (claim.task_id, claim.attempt), changes)
        live = self._live.pop(claim.task_id, None)
        if live is not None and live.attempt == claim.attempt:
            self._live[claim.task_id] = claim if claim.ended_at is None else None

    def delete_claim(self, claim: Claim) -> None:
        """Deletes the claim without a trace."""
        self._connection.unit.remove(_CLAIM_ROW, (claim.task_id, claim.attempt))
        self._live.pop(claim.task_id, None)

    def count_as_heard(self, now: Millis) -> None:
        """Every live claim has a full lease again, and every agent that is online has called just now."""
        self._connection.run(_CLAIMS_HEARD, now=now)
        self._connection.run(_PRESENCES_HEARD, now=now)

    # ready tasks

    def ready(self, project_id: str, agent_type: str, now: Millis, limit: int, skip: int = 0) -> list[Task]:
        """Queue tasks that may be claimable, in the order of `poll_order.py`, after the first `skip`.

        A hint: the rules of moves decide.
        """
        asked = {"project_id": project_id, "agent_type": agent_type, "now": now, "limit": limit, "skip": skip}
        return Tasks(self._connection).kept(self._connection.all(poll_order.READY, **asked))

    def ready_to_start(self, project_id: str, agent_type: str, now: Millis, limit: int, skip: int = 0) -> list[Task]:
        """As `ready`, for agents that a Coordinator starts."""
        asked = {"project_id": project_id, "agent_type": agent_type, "now": now, "limit": limit, "skip": skip}
        return Tasks(self._connection).kept(self._connection.all(poll_order.READY_TO_START, **asked))

    def ready_whole(self, project_id: str, agent_type: str, now: Millis) -> Task | None:
        """The first ready task without subtasks or delegations: an agent that claims it can start working."""
        return TASKS.one(
            self._connection.one(poll_order.READY_WHOLE, project_id=project_id, agent_type=agent_type, now=now)
        )

    def ready_of(self, queues: Iterable[Queue], now: Millis, most: int) -> dict[Queue, list[Found]]:
        """Up to `most` ready tasks of each queue, in the order in which they are claimed."""
        found: dict[Queue, list[Found]] = {}
        for row in self._connection.all(poll_order.READY_OF, queues=_json(queues), now=now, most=most):
            each = Found.of(row)
            found.setdefault((each.task.project_id, each.task.agent_type or ""), []).append(each)
        for ready in found.values():
            ready.sort(key=lambda each: each.task.order)
        return found

    def next_retries(self, queues: Iterable[Queue], now: Millis) -> dict[Queue, Millis]:
        """When the next back-off of each queue ends."""
        projects, types = zip(*queues, strict=True)
        asked = {"projects": sorted(set(projects)), "types": sorted(set(types)), "now": now}
        return {(row[0], row[1]): row[2] for row in self._connection.all(poll_order.NEXT_RETRIES, **asked)}

    def served(self, queues: Iterable[Queue]) -> set[Queue]:
        """Those of these queues that have an agent."""
        return {(row[0], row[1]) for row in self._connection.all(_SERVED, queues=_json(queues))}

    def ready_types(self, now: Millis) -> list[tuple[str, str, Millis]]:
        """Project, queue, and since when a task waits, for every queue with a ready task."""
        return [(row[0], row[1], row[2]) for row in self._connection.all(poll_order.READY_TYPES, now=now)]

    def dead(self, project_id: str, most: int, after: tuple[Millis, str] | None = None) -> list[Task]:
        """Queue tasks that have failed permanently, newest first; `after` is the time and id of the last one shown."""
        at, task_id = after or (_NEVER, "")
        return TASKS.nouns(self._connection.all(_DEAD, project_id=project_id, at=at, id=task_id, most=most))

    # shared values

    def entry(self, project_id: str, key: str) -> Entry | None:
        return ENTRIES.one(self._connection.one(_ENTRY, project_id=project_id, key=key))

    def entries(self, project_id: str) -> list[Entry]:
        return ENTRIES.nouns(self._connection.all(_ENTRIES, project_id=project_id))

    def entries_beside(self, project_id: str, key: str, now: Millis) -> tuple[int, int]:
        """Number and total length of the project's other live values."""
        row: Any = self._connection.one(_BESIDE, project_id=project_id, key=key, now=now)
        return int(row[0]), int(row[1])

    def save_entry(self, entry: Entry) -> None:
        self._connection.run(_SAVE_ENTRY, **ENTRIES.values(entry))

    def forget_expired(self, until: Millis) -> int:
        return self._connection.run(_FORGET, until=until)


def _json(queues: Iterable[Queue]) -> str:
    return orjson.dumps(list(queues)).decode()
