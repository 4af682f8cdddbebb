"""API keys, presences, claims, dead letters and shared values, as rows. A key is stored as its hash only.

Which tasks of a queue are ready, and in which order they are returned, is in `poll_order.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from toryo.domain.queue import ApiKey, Claim, Entry, Presence
from toryo.domain.tasks import Task
from toryo.domain.times import Millis
from toryo.storage import poll_order, schema
from toryo.storage.agents import managed_member
from toryo.storage.engine.database import Connection
from toryo.storage.engine.directory_memory import remembered
from toryo.storage.engine.statements import Statement, by_index, in_list, octets, upsert
from toryo.storage.engine.unit_of_work import Target
from toryo.storage.rows import Rows, save_changes
from toryo.storage.tables import from_json, to_json
from toryo.storage.tasks import ROWS as TASKS
from toryo.storage.tasks import Tasks

_k, _s, _c, _e, _t = schema.api_keys, schema.presences, schema.claims, schema.shared_entries, schema.tasks
_p = sa.bindparam

KEYS = Rows(ApiKey, _k)
PRESENCES = Rows(Presence, _s)
CLAIMS = Rows(Claim, _c)
ENTRIES = Rows(Entry, _e, {"value": (lambda value: to_json([value]), lambda text: from_json(text)[0])})
"""A shared value may itself be null: it is stored within a list."""

# --- keys and presences ----------------------------------------------------------------------------------------------

_ADD_KEY = Statement(sa.insert(_k), columns=[*KEYS.names, "key_hash"])
_BY_HASH = Statement(KEYS.select().where(_k.c.key_hash == _p("key_hash")))
_KEY = Statement(KEYS.select().where(_k.c.id == _p("id")))
_KEYS = Statement(KEYS.select().where(_k.c.project_id == _p("project_id")).order_by(_k.c.created_at, _k.c.id))
_KEYS_OF = Statement(KEYS.select().where(_k.c.agent_id == _p("agent_id"), _k.c.revoked_at.is_(None)).order_by(_k.c.id))
_PRESENCE = Statement(PRESENCES.select().where(_s.c.agent_id == _p("agent_id")))
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


_SAVE_PRESENCE = upsert(_s, PRESENCES.names, ["agent_id"], [name for name in PRESENCES.names if name != "agent_id"])

# --- claims ----------------------------------------------------------------------------------------------------------

_unended: sa.ColumnElement[bool] = sa.literal_column("ended_at IS NULL")
_CLAIM_ROW = Target(_c, CLAIMS.names, key=("task_id", "attempt"))
_LIVE = Statement(CLAIMS.select().where(_c.c.task_id == _p("task_id"), _unended))
_CHANGING = ("expires_at", "ended_at", "end_reason", "outcome")
_CLAIM = Statement(CLAIMS.select().where(_c.c.task_id == _p("task_id"), _c.c.attempt == _p("attempt")))
_OF_TASK = Statement(CLAIMS.select().where(_c.c.task_id == _p("task_id")).order_by(_c.c.attempt))
_OF_AGENT = Statement(
    CLAIMS.select().where(_c.c.agent_id == _p("agent_id"), _unended).order_by(_c.c.claimed_at, _c.c.task_id)
)
_EXPIRED = Statement(
    by_index(CLAIMS.select(), _c, "claims_expiry")
    .where(in_list(_c.c.project_id, "projects"), _unended, _c.c.expires_at <= _p("now"))
    .order_by(_c.c.expires_at)
)

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
        return PRESENCES.one(self._connection.one(_PRESENCE, agent_id=agent_id))

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

    # claims

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

    def next_retry(self, project_id: str, agent_type: str, now: Millis) -> Millis | None:
        """When the back-off of the next task of a queue ends."""
        found: Millis | None = self._connection.value(
            poll_order.NEXT_RETRY, project_id=project_id, agent_type=agent_type, now=now
        )
        return found

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
