"""Small things the server remembers: tokens, the last decisions, idempotency keys, Coordinators seen."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import sqlalchemy as sa

from toryo.domain.coordinators import Offer
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, upsert
from toryo.storage.rows import from_json, to_json

_t, _d, _b, _c = schema.tokens, schema.decisions, schema.batches, schema.coordinators
_p = sa.bindparam

_TOKEN = Statement(
    sa.select(_t.c.kind, _t.c.agent_id, _t.c.login).where(_t.c.hash == _p("hash"), _t.c.revoked_at.is_(None))
)
_ADD_TOKEN = upsert(_t, ["hash", "kind", "agent_id", "login", "name", "place", "created_at"], ["hash"], ["place"])
_REVOKED = Statement(sa.select(_t.c.revoked_at).where(_t.c.hash == _p("hash"), _t.c.revoked_at.isnot(None)))
_TOKENS = Statement(
    sa.select(_t.c.hash, _t.c.kind, _t.c.name, _t.c.place, _t.c.created_at)
    .where(_t.c.revoked_at.is_(None))
    .order_by(_t.c.created_at, _t.c.hash)
)
_REVOKE = Statement(sa.update(_t).where(_t.c.hash == _p("this_hash")).values(revoked_at=_p("now")))
_SAID = Statement(
    sa.select(_d.c.said, _d.c.since).where(
        _d.c.agent_id == _p("agent_id"), _d.c.project_id == _p("project_id"), _d.c.purpose == _p("purpose")
    )
)
_SAY = upsert(
    _d,
    ["agent_id", "project_id", "purpose", "said", "since"],
    ["agent_id", "project_id", "purpose"],
    ["said", "since"],
)
_BATCH = Statement(
    sa.select(_b.c.content, _b.c.answer).where(
        _b.c.agent_id == _p("agent_id"), _b.c.scope == _p("scope"), _b.c.key == _p("key")
    )
)
_ADD_BATCH = Statement(sa.insert(_b))
_FORGET_BATCHES = Statement(sa.delete(_b).where(_b.c.created_at < _p("before")))
_FORGET_OF_SCOPE = Statement(sa.delete(_b).where(_b.c.created_at < _p("before"), _b.c.scope.startswith(_p("scope"))))
_SAYS = ["providers", "seen_at", "running", "machine"]
_SEE = upsert(_c, ["id", *_SAYS], ["id"], _SAYS)
_MEASURED = upsert(_c, ["id", "providers", "seen_at", "running", "disk"], ["id"], ["disk"])
_SEEN = Statement(sa.select(_c.c.id, *(_c.c[each] for each in (*_SAYS, "disk"))).order_by(_c.c.id))
_SIZE = Statement(
    sa.text("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"),
    postgresql=sa.text("SELECT pg_database_size(current_database())"),
)


@dataclass(frozen=True, slots=True)
class Disk:
    """Bytes that a Coordinator's logs and worktrees take; `complete` is false where it stopped counting."""

    logs: int
    worktrees: int
    complete: bool
    measured_at: Millis


@dataclass(frozen=True, slots=True)
class Seen:
    """A Coordinator as it said of itself when it called: what it can start. None: whatever there is."""

    id: str
    running: int
    providers: list[str] | None = None
    labels: list[str] = field(default_factory=list)
    capabilities: list[str] | None = None
    agents: list[str] | None = None
    seen_at: Millis = 0
    disk: Disk | None = None
    directories: dict[str, str] = field(default_factory=dict)
    """Where agents work on its machine, where its file says so: by `agent:ID` and `project:ID`."""

    @property
    def offer(self) -> Offer:
        return Offer(self.providers, self.agents, self.capabilities, self.labels)

    def directory(self, agent_id: str, project_id: str) -> str | None:
        """The agent's before the project's, as the Coordinator itself decides."""
        return self.directories.get(f"agent:{agent_id}") or self.directories.get(f"project:{project_id}")


@dataclass(frozen=True, slots=True)
class OfDirectory:
    """A token that stands in a file of a server's data directory (`place`; older ones do not say which)."""

    hash: str
    kind: str
    name: str
    place: str | None
    created_at: Millis

    @property
    def id(self) -> str:
        """What people call it."""
        return f"dir_{self.hash[:16]}"


class Keeping:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def token(self, token_hash: str) -> tuple[str, str | None, str | None] | None:
        """Kind, agent and login role of a token that was not revoked."""
        row: Any = self._connection.one(_TOKEN, hash=token_hash)
        return None if row is None else (row[0], row[1], row[2])

    def add_token(
        self,
        token_hash: str,
        kind: str,
        name: str,
        now: Millis,
        agent_id: str | None = None,
        login: str | None = None,
        place: str | None = None,
    ) -> None:
        """Makes it known, or says where it is now. One that was revoked stays revoked."""
        self._connection.run(
            _ADD_TOKEN,
            hash=token_hash,
            kind=kind,
            agent_id=agent_id,
            login=login,
            name=name,
            place=place,
            created_at=now,
        )

    def was_revoked(self, token_hash: str) -> bool:
        return self._connection.one(_REVOKED, hash=token_hash) is not None

    def tokens(self) -> list[OfDirectory]:
        """Those of data directories that were not revoked, the oldest first."""
        return [OfDirectory(*row) for row in self._connection.all(_TOKENS)]

    def revoke_token(self, token_hash: str, now: Millis) -> None:
        self._connection.run(_REVOKE, this_hash=token_hash, now=now)

    def last_decision(self, agent_id: str, project_id: str, purpose: str) -> tuple[str, Millis] | None:
        """What was said last, and since when."""
        row: Any = self._connection.one(_SAID, agent_id=agent_id, project_id=project_id, purpose=purpose)
        return None if row is None else (row[0], row[1])

    def remember_decision(self, agent_id: str, project_id: str, purpose: str, said: str, since: Millis) -> None:
        self._connection.run(_SAY, agent_id=agent_id, project_id=project_id, purpose=purpose, said=said, since=since)

    def batch(self, agent_id: str, scope: str, key: str) -> tuple[str, Any] | None:
        """The content and the answer of an idempotency key that was used."""
        row: Any = self._connection.one(_BATCH, agent_id=agent_id, scope=scope, key=key)
        return None if row is None else (row[0], from_json(row[1]))

    def remember_batch(self, agent_id: str, scope: str, key: str, content: str, answer: Any, now: Millis) -> None:
        self._connection.run(
            _ADD_BATCH,
            agent_id=agent_id,
            scope=scope,
            key=key,
            content=content,
            answer=to_json(answer),
            created_at=now,
        )

    def forget_batches(self, before: Millis, scope: str | None = None) -> None:
        """Of all scopes, or of those that begin so."""
        if scope is None:
            self._connection.run(_FORGET_BATCHES, before=before)
        else:
            self._connection.run(_FORGET_OF_SCOPE, before=before, scope=scope)

    def see_coordinator(self, seen: Seen, now: Millis) -> None:
        can = {"providers": seen.providers, "labels": seen.labels}
        only = {"capabilities": seen.capabilities, "agents": seen.agents, "directories": seen.directories}
        self._connection.run(
            _SEE,
            id=seen.id,
            providers=to_json(seen.providers or []),
            seen_at=now,
            running=seen.running,
            machine=to_json({**can, **only}),
        )

    def measured(self, coordinator_id: str, disk: Disk) -> None:
        """The newest figures of a Coordinator, which may not have claimed anything yet."""
        taken = to_json(asdict(disk))
        self._connection.run(
            _MEASURED, id=coordinator_id, providers="[]", seen_at=disk.measured_at, running=0, disk=taken
        )

    def database_bytes(self) -> int:
        """What the database takes, without what it is just writing."""
        return int(self._connection.value(_SIZE))

    def coordinators(self) -> list[Seen]:
        """Every one that ever called, with what it said of itself then."""
        return [_seen(*row) for row in self._connection.all(_SEEN)]


def _seen(id_: str, providers: str, seen_at: Millis, running: int, machine: str | None, disk: str | None) -> Seen:
    says = from_json(machine) if machine is not None else {"providers": from_json(providers)}
    return Seen(id_, running, seen_at=seen_at, disk=Disk(**from_json(disk)) if disk is not None else None, **says)
