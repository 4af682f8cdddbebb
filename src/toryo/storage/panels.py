"""Panels that people have open on an agent's chat, as rows."""

from __future__ import annotations

import sqlalchemy as sa

from toryo.domain.panels import Viewer
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement
from toryo.storage.rows import Rows, save_changes

_v = schema.viewers
_p = sa.bindparam

VIEWERS = Rows(Viewer, _v)

is_unclosed: sa.ColumnElement[bool] = sa.literal_column("closed_at IS NULL")
_ADD_VIEWER = Statement(sa.insert(_v), columns=VIEWERS.names)
_VIEWER = Statement(VIEWERS.select().where(_v.c.id == _p("id")))
_VIEWERS_OF = Statement(
    VIEWERS.select().where(
        _v.c.project_id == _p("project_id"),
        _v.c.agent_id == _p("agent_id"),
        is_unclosed,
        _v.c.seen_at > _p("after"),
    )
)
_CLOSE_STALE = Statement(sa.update(_v).where(is_unclosed, _v.c.seen_at <= _p("until")).values(closed_at=_v.c.seen_at))
_HEARD = Statement(sa.update(_v).where(is_unclosed).values(seen_at=_p("now")))


class Panels:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add_viewer(self, viewer: Viewer) -> None:
        self._connection.run(_ADD_VIEWER, **VIEWERS.values(viewer))

    def viewer(self, viewer_id: str) -> Viewer | None:
        return VIEWERS.one(self._connection.one(_VIEWER, id=viewer_id))

    def save_viewer(self, before: Viewer, after: Viewer) -> None:
        save_changes(self._connection, _v, VIEWERS, before, after)

    def viewers(self, project_id: str, agent_id: str, heard_after: Millis) -> list[Viewer]:
        """Panels open on an agent that have reported since then."""
        rows = self._connection.all(_VIEWERS_OF, project_id=project_id, agent_id=agent_id, after=heard_after)
        return VIEWERS.nouns(rows)

    def close_stale_viewers(self, until: Millis) -> int:
        return self._connection.run(_CLOSE_STALE, until=until)

    def count_viewers_as_heard(self, now: Millis) -> None:
        """Every open panel has as much time to report as if it had just done so."""
        self._connection.run(_HEARD, now=now)
