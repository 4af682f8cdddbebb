"""Small things the server remembers: tokens, the last decisions, idempotency keys, Coordinators seen."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.database import Connection
from toryo.storage.rows import from_json, to_json
from toryo.storage.statements import Statement, insert_or_ignore, upsert

_t, _d, _b, _c = schema.tokens, schema.decisions, schema.batches, schema.coordinators
_p = sa.bindparam

_TOKEN = Statement(
    sa.select(_t.c.kind, _t.c.agent_id, _t.c.login).where(_t.c.hash == _p("hash"), _t.c.revoked_at.is_(None))
)
_ADD_TOKEN = insert_or_ignore(_t, ["hash", "kind", "agent_id", "login", "name", "created_at"])
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
_SEE = upsert(_c, ["id", "providers", "seen_at", "running"], ["id"], ["providers", "seen_at", "running"])
_SEEN = Statement(sa.select(_c.c.id, _c.c.providers, _c.c.seen_at, _c.c.running).order_by(_c.c.id))


class Keeping:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def token(self, token_hash: str) -> tuple[str, str | None, str | None] | None:
        """Kind, agent and login role of a token that was not revoked."""
        row: Any = self._connection.one(_TOKEN, hash=token_hash)
        return None if row is None else (row[0], row[1], row[2])

    def add_token(
        self, token_hash: str, kind: str, name: str, now: Millis, agent_id: str | None = None, login: str | None = None
    ) -> bool:
        added = self._connection.run(
            _ADD_TOKEN, hash=token_hash, kind=kind, agent_id=agent_id, login=login, name=name, created_at=now
        )
        return added == 1

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

    def see_coordinator(self, coordinator_id: str, providers: list[str], running: int, now: Millis) -> None:
        self._connection.run(_SEE, id=coordinator_id, providers=to_json(providers), seen_at=now, running=running)

    def coordinators(self) -> list[dict[str, Any]]:
        return [
            {"coordinator_id": row[0], "providers": from_json(row[1]), "seen_at": row[2], "running": row[3]}
            for row in self._connection.all(_SEEN)
        ]
