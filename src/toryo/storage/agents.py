"""Agents, their memberships, passkeys and cooldowns, as rows. Agents and memberships are remembered between
transactions (`engine/directory_memory.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa

from toryo.domain.agents import Agent
from toryo.domain.launches import Purpose
from toryo.domain.quota_windows import CLOCK_SKEW
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.directory_memory import remembered, remembered_each
from toryo.storage.engine.statements import Statement, in_list, offered, upsert
from toryo.storage.rows import Rows, save_changes, update_by_id
from toryo.workflow.snapshot import Cooldown

_t, _m, _c = schema.agents, schema.memberships, schema.cooldowns
_a = schema.accounts
_w = schema.quota_windows
_p = sa.bindparam

ROWS = Rows(Agent, _t)
_ALL = Statement(ROWS.select().order_by(_t.c.created_at, _t.c.id))
_MANY = Statement(ROWS.select().where(in_list(_t.c.id, "ids")))
_ADD = Statement(sa.insert(_t), columns=[*ROWS.names, "passkey_hash"])
_starts_for_queues = (
    _m.c.removed_at.is_(None),
    _t.c.status == "active",
    _t.c.provider.is_not(None),
    _t.c.agent_type.is_not(None),
)
_QUEUES = Statement(
    sa.select(_t.c.agent_type)
    .distinct()
    .join(_m, _m.c.agent_id == _t.c.id)
    .where(_m.c.project_id == _p("project_id"), *_starts_for_queues)
)
_SERVING = Statement(
    sa.select(_m.c.project_id, _t.c.agent_type, _t.c.id)
    .join(_m, _m.c.agent_id == _t.c.id)
    .where(
        _m.c.removed_at.is_(None),
        _t.c.status == "active",
        _t.c.provider.is_not(None),
        _t.c.kind == "ai",
        _t.c.agent_type.is_not(None),
    )
    .order_by(_t.c.created_at, _t.c.id)
)
_OWNERS = Statement(ROWS.select().where(_t.c.role == "owner", _t.c.kind == "human").order_by(_t.c.created_at, _t.c.id))
_PASSKEY = Statement(sa.select(_t.c.passkey_hash).where(_t.c.id == _p("id")))
_MANAGED = Statement(
    sa.select(_t.c.id)
    .where(_t.c.status == "active", _t.c.provider.is_not(None), _t.c.kind == "ai")
    .order_by(_t.c.created_at, _t.c.id)
)
_down = sa.select(_t.c.id).where(_t.c.reports_to == _p("id")).cte("down", recursive=True)
_down = _down.union(sa.select(_t.c.id).join(_down, _t.c.reports_to == _down.c.id))
_DOWN = Statement(sa.select(_t.c.id).where(_t.c.id.in_(sa.select(_down.c.id))).order_by(_t.c.created_at, _t.c.id))
_TREE = Statement(sa.select(_t.c.id, _t.c.reports_to))
_MEMBERSHIPS = Statement(
    sa.select(_m.c.agent_id, _m.c.created_at, _m.c.removed_at).where(
        _m.c.project_id == _p("project_id"), in_list(_m.c.agent_id, "ids")
    )
)
_MEMBERS = Statement(
    sa.select(_m.c.agent_id)
    .where(_m.c.project_id == _p("project_id"), _m.c.removed_at.is_(None))
    .order_by(_m.c.created_at, _m.c.agent_id)
)
_PROJECTS = Statement(
    sa.select(_m.c.project_id)
    .where(_m.c.agent_id == _p("agent_id"), _m.c.removed_at.is_(None))
    .order_by(_m.c.created_at, _m.c.project_id)
)
_JOIN = upsert(_m, ["project_id", "agent_id", "created_at", "removed_at"], ["project_id", "agent_id"], ["removed_at"])
_LEAVE = Statement(
    sa.update(_m)
    .where(_m.c.project_id == _p("project"), _m.c.agent_id == _p("agent"), _m.c.removed_at.is_(None))
    .values(removed_at=_p("at"))
)
_COOLDOWNS = Statement(
    sa.select(_c.c.purpose, _c.c.until, _c.c.reason, _c.c.failures, _c.c.program)
    .where(_c.c.agent_id == _p("agent_id"))
    .order_by(_c.c.program)
)
_COOL = upsert(
    _c,
    ["agent_id", "purpose", "until", "reason", "failures", "message", "program"],
    ["agent_id", "purpose", "program"],
    ["until", "reason", "failures", "message"],
)
_WARM = Statement(
    sa.delete(_c).where(
        _c.c.agent_id == _p("agent_id"), _c.c.purpose == _p("purpose"), in_list(_c.c.program, "programs")
    )
)
_now = _p("now", type_=sa.BigInteger)
_window_end = _w.c.began_at + _w.c.length_ms
_window_open = _w.c.began_at <= _now + CLOCK_SKEW
_limit = sa.func.coalesce(_w.c.set_limit, _w.c.learnt_limit)
_part_used = 100.0 * _w.c.used / _limit / (100 - _w.c.reserve)
_spare_from = _w.c.began_at + sa.case((_part_used < 1, sa.cast(_part_used * _w.c.length_ms, sa.BigInteger) + 1))
_ends = sa.union_all(
    sa.select(_c.c.until),
    sa.select(_a.c.until),
    sa.select(_window_end).where(sa.or_(_w.c.reserve > 0, _w.c.low_spare), _window_open),
    sa.select(_spare_from).where(_w.c.low_spare, _window_open),
).subquery("ends")
_NEXT_END = Statement(sa.select(sa.func.min(_ends.c.until)).where(_ends.c.until > _now))
_ACCOUNTS = Statement(sa.select(_a.c.id, _a.c.until, _a.c.reason).where(in_list(_a.c.id, "ids")))
_new_account = offered(_a)
_COOL_ACCOUNT = upsert(
    _a,
    ["id", "until", "reason"],
    ["id"],
    {
        "until": sa.case((_a.c.until > _new_account.until, _a.c.until), else_=_new_account.until),
        "reason": _new_account.reason,
    },
)
_WARM_ACCOUNT = Statement(sa.delete(_a).where(_a.c.id == _p("id")))


def managed_member(project_id: Any, agent_type: Any) -> sa.Select[Any]:
    """The members that a Coordinator starts for a queue; the arguments are expressions."""
    found = sa.select(sa.literal(1)).select_from(_t.join(_m, _m.c.agent_id == _t.c.id))
    return found.where(_m.c.project_id == project_id, _t.c.agent_type == agent_type, *_starts_for_queues)


class Agents:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, agent_id: str) -> Agent | None:
        return self._agents((agent_id,)).get(agent_id)

    def find_all(self, agent_ids: Iterable[str]) -> list[Agent]:
        return list(self._agents(dict.fromkeys(agent_ids)).values())

    @remembered_each
    def _agents(self, agent_ids: Collection[str]) -> dict[str, Agent]:
        return {agent.id: agent for agent in ROWS.nouns(self._connection.all(_MANY, ids=list(agent_ids)))}

    @remembered
    def all(self) -> tuple[Agent, ...]:
        return tuple(ROWS.nouns(self._connection.all(_ALL)))

    @remembered
    def managed(self) -> tuple[str, ...]:
        """Ids of the active agents that a Coordinator starts, oldest first."""
        return tuple(row[0] for row in self._connection.all(_MANAGED))

    def startable(self, agent_ids: Iterable[str]) -> dict[str, Agent]:
        """Those of these agents that are active and have a Coordinator to start them."""
        return {agent.id: agent for agent in self.find_all(agent_ids) if agent.active and agent.managed}

    def with_superiors(self, agent_ids: Iterable[str]) -> list[Agent]:
        """These agents and all their superiors."""
        found: dict[str, Agent] = {}
        level = dict.fromkeys(agent_ids)
        while level:
            agents = self._agents(level)
            found |= agents
            above = (agent.reports_to for agent in agents.values())
            level = {each: None for each in above if each is not None and each not in found}
        return list(found.values())

    def below(self, agent_id: str) -> list[Agent]:
        """All subordinates of an agent, at any depth, oldest first."""
        ids = self._below(agent_id)
        agents = self._agents(ids)
        return [agents[each] for each in ids if each in agents]

    @remembered
    def _below(self, agent_id: str) -> tuple[str, ...]:
        return tuple(row[0] for row in self._connection.all(_DOWN, id=agent_id))

    @remembered
    def tree(self) -> Mapping[str, str | None]:
        """The superior of each agent."""
        return MappingProxyType({row[0]: row[1] for row in self._connection.all(_TREE)})

    def add(self, agent: Agent, passkey_hash: str | None) -> None:
        self._connection.run(_ADD, **ROWS.values(agent), passkey_hash=passkey_hash)

    def save(self, before: Agent, after: Agent) -> None:
        save_changes(self._connection, _t, ROWS, before, after)

    @remembered
    def passkey_hash(self, agent_id: str) -> str | None:
        found: str | None = self._connection.value(_PASSKEY, id=agent_id)
        return found

    @remembered
    def queues_of(self, project_id: str) -> frozenset[str]:
        """The queues of a project that are served by agents which a Coordinator starts."""
        return frozenset(row[0] for row in self._connection.all(_QUEUES, project_id=project_id))

    @remembered
    def serving(self) -> tuple[tuple[str, str, str], ...]:
        """Project, queue and agent, of every active agent that a Coordinator starts for a queue."""
        return tuple((row[0], row[1], row[2]) for row in self._connection.all(_SERVING))

    @remembered
    def owners(self) -> tuple[Agent, ...]:
        """The people who own the server."""
        return tuple(ROWS.nouns(self._connection.all(_OWNERS)))

    def set_passkey(self, agent_id: str, passkey_hash: str) -> None:
        self._connection.run(update_by_id(_t, ("passkey_hash",)), this_id=agent_id, passkey_hash=passkey_hash)

    def membership(self, project_id: str, agent_id: str) -> tuple[Millis, Millis | None] | None:
        """When it began and when it ended; None if there never was one."""
        return self._memberships(project_id, (agent_id,)).get(agent_id)

    def members_among(self, project_id: str, agent_ids: Iterable[str]) -> frozenset[str]:
        found = self._memberships(project_id, dict.fromkeys(agent_ids))
        return frozenset(agent_id for agent_id, (_, removed_at) in found.items() if removed_at is None)

    @remembered_each
    def _memberships(self, project_id: str, agent_ids: Collection[str]) -> dict[str, tuple[Millis, Millis | None]]:
        rows = self._connection.all(_MEMBERSHIPS, project_id=project_id, ids=list(agent_ids))
        return {row[0]: (row[1], row[2]) for row in rows}

    @remembered
    def members(self, project_id: str) -> tuple[str, ...]:
        return tuple(row[0] for row in self._connection.all(_MEMBERS, project_id=project_id))

    @remembered
    def projects_of(self, agent_id: str) -> tuple[str, ...]:
        return tuple(row[0] for row in self._connection.all(_PROJECTS, agent_id=agent_id))

    def join(self, project_id: str, agent_id: str, now: Millis) -> None:
        self._connection.run(_JOIN, project_id=project_id, agent_id=agent_id, created_at=now, removed_at=None)

    def leave(self, project_id: str, agent_id: str, now: Millis) -> bool:
        return self._connection.run(_LEAVE, project=project_id, agent=agent_id, at=now) > 0

    def cooldowns(self, agent_id: str) -> dict[Purpose, list[Cooldown]]:
        """Those that are over as well: their failures count until a success."""
        found: dict[Purpose, list[Cooldown]] = {}
        for purpose, *cooldown in self._connection.all(_COOLDOWNS, agent_id=agent_id):
            found.setdefault(Purpose(purpose), []).append(cooldown_of(*cooldown))
        return found

    def accounts(self, names: Iterable[str]) -> dict[str, tuple[Millis, str]]:
        """Until when and why each of these accounts is unusable; usable accounts are missing."""
        rows = self._connection.all(_ACCOUNTS, ids=list(names))
        return {row[0]: (row[1], row[2]) for row in rows}

    def cool_account(self, name: str, until: Millis, reason: str) -> None:
        """Never shorter than before: of several ends, also of calls at the same time, the last one counts."""
        self._connection.run(_COOL_ACCOUNT, id=name, until=until, reason=reason)

    def warm_account(self, name: str) -> bool:
        return self._connection.run(_WARM_ACCOUNT, id=name) > 0

    def cool(self, agent_id: str, purpose: Purpose, cooldown: Cooldown) -> None:
        self._connection.run(
            _COOL,
            agent_id=agent_id,
            purpose=purpose.value,
            until=cooldown.until,
            reason=cooldown.reason,
            failures=cooldown.failures,
            message=None,
            program=_key(cooldown),
        )

    def warm(self, agent_id: str, purpose: Purpose, cooldowns: Collection[Cooldown]) -> None:
        if cooldowns:
            programs = [_key(each) for each in cooldowns]
            self._connection.run(_WARM, agent_id=agent_id, purpose=purpose.value, programs=programs)

    def next_cooldown_end(self, now: Millis) -> Millis | None:
        """The earliest end of a cooldown of an agent or an account, or of what is kept in a quota window."""
        found: Millis | None = self._connection.value(_NEXT_END, now=now)
        return found


def cooldown_of(until: Millis, reason: str, failures: int, key: str) -> Cooldown:
    """A row of cooldowns."""
    program, _, project_id = key.partition(_IN_PROJECT)
    return Cooldown(until, reason, failures, program or None, project_id or None)


def _key(cooldown: Cooldown) -> str:
    """What a cooldown is stored by, beside agent and purpose: its program, and a project if it is for that alone."""
    project = f"{_IN_PROJECT}{cooldown.project_id}" if cooldown.project_id else ""
    return f"{cooldown.program or ''}{project}"


_IN_PROJECT = "\n"
"""Stands in no name of a program."""
