"""Idempotency keys: stored answers, so that a repeated call gets the same answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from toryo.domain.times import Millis
from toryo.storage import many_rows, schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, in_list
from toryo.storage.tables import from_json, to_json

_b = schema.batches
_p = sa.bindparam

_FIND = Statement(
    sa.select(_b.c.agent_id, _b.c.scope, _b.c.key, _b.c.content, _b.c.answer).where(
        in_list(_b.c.agent_id, "agents"), in_list(_b.c.scope, "scopes"), in_list(_b.c.key, "keys")
    )
)
_ADD = many_rows.insert(_b, ["agent_id", "scope", "key", "content", "answer", "created_at"])
_FORGET = Statement(sa.delete(_b).where(_b.c.created_at < _p("before")))
_FORGET_OF_SCOPE = Statement(sa.delete(_b).where(_b.c.created_at < _p("before"), _b.c.scope.startswith(_p("scope"))))

Key = tuple[str, str, str]
"""Who, scope and key."""


class IdempotencyKeys:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, keys: Iterable[Key]) -> dict[Key, tuple[str, Any]]:
        """The content and answer stored for each of these keys that was used."""
        asked = set(keys)
        if not asked:
            return {}
        agents, scopes, names = (sorted(set(each)) for each in zip(*asked, strict=True))
        rows = self._connection.all(_FIND, agents=agents, scopes=scopes, keys=names)
        return {(row[0], row[1], row[2]): (row[3], from_json(row[4])) for row in rows}

    def remember(self, keys: Sequence[tuple[Key, str, Any, Millis]]) -> None:
        """Keys with their content, what is answered, and when they were used."""
        _ADD.run(self._connection, [(*key, content, to_json(answer), now) for key, content, answer, now in keys])

    def forget(self, before: Millis, scope: str | None = None) -> None:
        """Deletes keys of all scopes, or of scopes with this prefix."""
        if scope is None:
            self._connection.run(_FORGET, before=before)
        else:
            self._connection.run(_FORGET_OF_SCOPE, before=before, scope=scope)
