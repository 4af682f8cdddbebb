"""Tokens of people, and of files in data directories. Only hashes are stored."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.directory_memory import remembered
from toryo.storage.engine.statements import Statement, upsert

_t = schema.tokens
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


@dataclass(frozen=True, slots=True)
class FileToken:
    """A token stored in a file of a server's data directory (`place`; unknown for older ones)."""

    hash: str
    kind: str
    name: str
    place: str | None
    created_at: Millis

    @property
    def id(self) -> str:
        """The short id shown to people."""
        return f"dir_{self.hash[:16]}"


class Tokens:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @remembered
    def find(self, token_hash: str) -> tuple[str, str | None, str | None] | None:
        """Kind, agent and role of a token that is not revoked."""
        row: Any = self._connection.one(_TOKEN, hash=token_hash)
        return None if row is None else (row[0], row[1], row[2])

    def add(
        self,
        token_hash: str,
        kind: str,
        name: str,
        now: Millis,
        agent_id: str | None = None,
        login: str | None = None,
        place: str | None = None,
    ) -> None:
        """Stores a token, or updates its place. A revoked one stays revoked."""
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

    def all(self) -> list[FileToken]:
        """Tokens of data directories that are not revoked, oldest first."""
        return [FileToken(*row) for row in self._connection.all(_TOKENS)]

    def revoke(self, token_hash: str, now: Millis) -> None:
        self._connection.run(_REVOKE, this_hash=token_hash, now=now)
