"""Idempotency keys: stored answers, so that a repeated call gets the same answer."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement
from toryo.storage.tables import from_json, to_json

_b = schema.batches
_p = sa.bindparam

_ONE = Statement(
    sa.select(_b.c.content, _b.c.answer).where(
        _b.c.agent_id == _p("agent_id"), _b.c.scope == _p("scope"), _b.c.key == _p("key")
    )
)
_ADD = Statement(sa.insert(_b))
_FORGET = Statement(sa.delete(_b).where(_b.c.created_at < _p("before")))
_FORGET_OF_SCOPE = Statement(sa.delete(_b).where(_b.c.created_at < _p("before"), _b.c.scope.startswith(_p("scope"))))


class IdempotencyKeys:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, agent_id: str, scope: str, key: str) -> tuple[str, Any] | None:
        """The content and answer stored for a key; None if it is unused."""
        row: Any = self._connection.one(_ONE, agent_id=agent_id, scope=scope, key=key)
        return None if row is None else (row[0], from_json(row[1]))

    def remember(self, agent_id: str, scope: str, key: str, content: str, answer: Any, now: Millis) -> None:
        self._connection.run(
            _ADD,
            agent_id=agent_id,
            scope=scope,
            key=key,
            content=content,
            answer=to_json(answer),
            created_at=now,
        )

    def forget(self, before: Millis, scope: str | None = None) -> None:
        """Deletes keys of all scopes, or of scopes with this prefix."""
        if scope is None:
            self._connection.run(_FORGET, before=before)
        else:
            self._connection.run(_FORGET_OF_SCOPE, before=before, scope=scope)
