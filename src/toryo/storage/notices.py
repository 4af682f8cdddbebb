"""The outbox of notices, as rows."""

from __future__ import annotations

import sqlalchemy as sa

from toryo.domain.notices import Channel, Notice
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, insert_or_ignore
from toryo.storage.rows import Rows, update_by_id

_t = schema.notices
_p = sa.bindparam

ROWS = Rows(Notice, _t)

_is_lasting: sa.ColumnElement[bool] = sa.literal_column("over_at IS NULL")
_is_to_send: sa.ColumnElement[bool] = sa.literal_column("next_at IS NOT NULL")
_ADD = insert_or_ignore(_t, ROWS.names, key=["person_id", "key", "channel"], key_where=_is_lasting)
_ONE = Statement(ROWS.select().where(_t.c.id == _p("id")))
_LASTING = Statement(ROWS.select().where(_is_lasting).order_by(_t.c.created_at, _t.c.id))
_DUE = Statement(
    ROWS.select()
    .where(_is_to_send, _t.c.channel == _p("channel"), _t.c.next_at <= _p("now"))
    .order_by(_t.c.next_at, _t.c.id)
    .limit(_p("limit", type_=sa.Integer))
)
_LAST = Statement(
    sa.select(sa.func.max(_t.c.created_at)).where(
        _t.c.person_id == _p("person_id"), _t.c.key == _p("key"), _t.c.channel == _p("channel")
    )
)
_FORGET = Statement(sa.delete(_t).where(_t.c.over_at <= _p("until")))


class Notices:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, notice: Notice) -> bool:
        """Adds the notice; False if the person already has a current one for this need and channel."""
        return self._connection.run(_ADD, **ROWS.values(notice)) == 1

    def find(self, notice_id: str) -> Notice | None:
        return ROWS.one(self._connection.one(_ONE, id=notice_id))

    def lasting(self) -> list[Notice]:
        """Notices whose need still exists, sent or not; oldest first."""
        return ROWS.nouns(self._connection.all(_LASTING))

    def due(self, channel: Channel, now: Millis, limit: int) -> list[Notice]:
        """Due notices, longest overdue first."""
        return ROWS.nouns(self._connection.all(_DUE, channel=channel.value, now=now, limit=limit))

    def last_told(self, person_id: str, key: str, channel: Channel) -> Millis | None:
        """When the person was last notified of this need by this channel."""
        found: Millis | None = self._connection.value(_LAST, person_id=person_id, key=key, channel=channel.value)
        return found

    def save(self, before: Notice, after: Notice) -> None:
        changes = ROWS.changes(before, after)
        if changes:
            self._connection.run(update_by_id(_t, tuple(changes)), this_id=after.id, **changes)

    def forget(self, until: Millis) -> int:
        """Deletes notices whose need was gone by then; returns how many."""
        return self._connection.run(_FORGET, until=until)
