"""Notes, handoffs and notifications, as rows."""

from __future__ import annotations

import sqlalchemy as sa

from toryo.domain.fast_dataclasses import replace
from toryo.domain.handover import INTERRUPT, PAUSED, Handoff, Note, Notification
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement
from toryo.storage.rows import Rows

_n, _h, _f = schema.notes, schema.handoffs, schema.notifications
_p = sa.bindparam

NOTES = Rows(Note, _n)
HANDOFFS = Rows(Handoff, _h)
NOTIFICATIONS = Rows(Notification, _f)

_ADD_NOTE = Statement(sa.insert(_n), columns=NOTES.names)
_NOTES = Statement(
    NOTES.select().where(_n.c.task_id == _p("task_id")).order_by(_n.c.created_at.desc(), _n.c.id.desc()).limit(20)
)
_ADD_HANDOFF = Statement(sa.insert(_h), columns=HANDOFFS.names)
_HANDOFF = Statement(HANDOFFS.select().where(_h.c.id == _p("id")))
_HANDOFFS = Statement(
    HANDOFFS.select().where(_h.c.task_id == _p("task_id")).order_by(_h.c.created_at.desc(), _h.c.id.desc()).limit(20)
)
_ACCEPT = Statement(sa.update(_h).where(_h.c.id == _p("this_id")).values(accepted_at=_p("at"), accepted_by=_p("by")))
_ADD_NOTIFICATION = Statement(sa.insert(_f), columns=NOTIFICATIONS.names)
_WAITING = Statement(
    NOTIFICATIONS.select()
    .where(_f.c.session_id == _p("session_id"), _f.c.delivered_at.is_(None))
    .order_by(_f.c.created_at, _f.c.id)
)
_DELIVER = Statement(
    sa.update(_f).where(_f.c.session_id == _p("session"), _f.c.delivered_at.is_(None)).values(delivered_at=_p("at"))
)
_READDRESS = Statement(
    sa.update(_f).where(_f.c.session_id == _p("address"), _f.c.delivered_at.is_(None)).values(session_id=_p("session"))
)
_interrupts = (_f.c.session_id == _p("session_id"), _f.c.delivered_at.is_(None), _f.c.kind == INTERRUPT)
_DROP_OF_PAUSE = Statement(sa.delete(_f).where(*_interrupts, _f.c.cause == PAUSED))
_DROP_OF_TASK = Statement(sa.delete(_f).where(*_interrupts, _f.c.cause != PAUSED))


class Handovers:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add_note(self, note: Note) -> None:
        self._connection.run(_ADD_NOTE, **NOTES.values(note))

    def notes(self, task_id: str) -> list[Note]:
        """Newest first, at most 20."""
        return NOTES.nouns(self._connection.all(_NOTES, task_id=task_id))

    def add_handoff(self, handoff: Handoff) -> None:
        self._connection.run(_ADD_HANDOFF, **HANDOFFS.values(handoff))

    def handoff(self, handoff_id: str) -> Handoff | None:
        return HANDOFFS.one(self._connection.one(_HANDOFF, id=handoff_id))

    def handoffs(self, task_id: str) -> list[Handoff]:
        return HANDOFFS.nouns(self._connection.all(_HANDOFFS, task_id=task_id))

    def accept(self, handoff: Handoff, agent_id: str, now: Millis) -> Handoff:
        self._connection.run(_ACCEPT, this_id=handoff.id, at=now, by=agent_id)
        return replace(handoff, accepted_at=now, accepted_by=agent_id)

    def notify(self, notification: Notification) -> None:
        self._connection.run(_ADD_NOTIFICATION, **NOTIFICATIONS.values(notification))

    def waiting(self, session_id: str) -> list[Notification]:
        return NOTIFICATIONS.nouns(self._connection.all(_WAITING, session_id=session_id))

    def count_waiting(self, session_id: str) -> int:
        return len(self._connection.all(_WAITING, session_id=session_id))  # The decision has read them already.

    def deliver(self, session_id: str, now: Millis) -> None:
        self._connection.run(_DELIVER, session=session_id, at=now)

    def readdress(self, address: str, session_id: str) -> None:
        """Assigns the notifications of an address to a session that has signed in."""
        self._connection.run(_READDRESS, address=address, session=session_id)

    def drop_interrupts(self, session_id: str, *, of_pause: bool) -> None:
        """Deletes interrupts whose cause is over: the project's pause, or the state of the task."""
        self._connection.run(_DROP_OF_PAUSE if of_pause else _DROP_OF_TASK, session_id=session_id)
