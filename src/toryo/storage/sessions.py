"""Sessions, as rows. A token is stored as its hash only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Purpose
from toryo.domain.sessions import Session
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, by_index, in_list
from toryo.storage.engine.unit_of_work import Target
from toryo.storage.rows import Rows

_t = schema.sessions
_p = sa.bindparam

ROWS = Rows(Session, _t)
_ONE = Statement(ROWS.select().where(_t.c.id == _p("id")))
_MANY = Statement(ROWS.select().where(in_list(_t.c.id, "ids")))
_BY_TOKEN = Statement(ROWS.select().where(_t.c.token_hash == _p("token_hash")))
_OF_LAUNCH = Statement(ROWS.select().where(_t.c.launch_id == _p("launch_id")))
_OF_LAUNCHES = Statement(ROWS.select().where(in_list(_t.c.launch_id, "launch_ids")).order_by(_t.c.created_at, _t.c.id))
_LIVE_OF = Statement(
    ROWS.select().where(_t.c.project_id == _p("project_id"), _t.c.agent_id == _p("agent_id"), _t.c.ended_at.is_(None))
)
_LIVE_HERE = Statement(
    sa.select(_t.c.agent_id, _t.c.task_id).where(
        _t.c.project_id == _p("project_id"), _t.c.purpose == "task", _t.c.ended_at.is_(None)
    )
)
_LIVE = Statement(
    by_index(ROWS.select(), _t, "sessions_live").where(_t.c.ended_at.is_(None)).order_by(_t.c.created_at, _t.c.id)
)
_NEWEST = Statement(
    by_index(ROWS.select(), _t, "sessions_newest").order_by(_t.c.created_at.desc(), _t.c.id.desc()).limit(200)
)
_EXPIRED = Statement(ROWS.select().where(_t.c.ended_at.is_(None), _t.c.expires_at <= _p("now")))
_SESSION = Target(_t, [*ROWS.names, "token_hash"])


class _Known:
    """Sessions as their rows are or will be."""

    tables = frozenset({_t.name})

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.by_token: dict[str, str] = {}


class Sessions:
    """Each session is read once and written once in a transaction: see `engine/unit_of_work.py`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def _known(self) -> dict[str, Session]:
        return self._connection.unit.known(_Known).sessions

    def _kept(self, rows: Iterable[Any]) -> list[Session]:
        sessions = ROWS.nouns(rows)
        known = self._known
        return [known.setdefault(session.id, session) for session in sessions]

    def _first(self, rows: Iterable[Any]) -> Session | None:
        return next(iter(self._kept(rows)), None)

    def find(self, session_id: str) -> Session | None:
        return self._known.get(session_id) or self._first(self._connection.all(_ONE, id=session_id))

    def find_all(self, session_ids: Iterable[str]) -> list[Session]:
        return self._kept(self._connection.all(_MANY, ids=list(session_ids)))

    def by_token(self, token_hash: str) -> Session | None:
        unit = self._connection.unit
        known = unit.known(_Known)
        if token_hash in known.by_token:
            return known.sessions[known.by_token[token_hash]]
        found = self._first(self._connection.all(_BY_TOKEN, token_hash=token_hash))
        if found is not None:
            unit.known(_Known).by_token[token_hash] = found.id
        return found

    def of_launch(self, launch_id: str) -> Session | None:
        return self._first(self._connection.all(_OF_LAUNCH, launch_id=launch_id))

    def of_launches(self, launch_ids: Iterable[str]) -> list[Session]:
        """Oldest first."""
        return self._kept(self._connection.all(_OF_LAUNCHES, launch_ids=list(launch_ids)))

    def live_of(self, project_id: str, agent_id: str) -> dict[Purpose, Session]:
        rows = self._connection.all(_LIVE_OF, project_id=project_id, agent_id=agent_id)
        return {session.purpose: session for session in self._kept(rows)}

    def signed_in(self, project_id: str) -> list[tuple[str, str | None]]:
        """Agent and main task of every live task session of a project."""
        return [(row[0], row[1]) for row in self._connection.all(_LIVE_HERE, project_id=project_id)]

    def live(self) -> list[Session]:
        return self._kept(self._connection.all(_LIVE))

    def newest(self) -> list[Session]:
        return self._kept(self._connection.all(_NEWEST))

    def expired(self, now: Millis) -> list[Session]:
        return self._kept(self._connection.all(_EXPIRED, now=now))

    def add(self, session: Session, token_hash: str) -> None:
        self._connection.unit.add(_SESSION, (session.id,), {**ROWS.values(session), "token_hash": token_hash})
        self._known[session.id] = session

    def renew_token(self, session_id: str, token_hash: str) -> None:
        self._connection.unit.change(_SESSION, (session_id,), {"token_hash": token_hash})
        self._connection.unit.known(_Known).by_token.clear()

    def save(self, before: Session, after: Session) -> None:
        changes: dict[str, Any] = ROWS.changes(before, after)
        if not changes:
            return
        self._connection.unit.change(_SESSION, (after.id,), changes)
        known = self._known
        if after.id in known:
            # Only what differs: `before` may be older than what is known.
            known[after.id] = replace(known[after.id], **{name: getattr(after, name) for name in changes})
