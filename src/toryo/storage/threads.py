"""Threads, as rows: the messages of two members, and how far a person among them has read.

What is unread is in `unread.py`. Writers must hold the project's lock.
"""

from __future__ import annotations

import sqlalchemy as sa

from toryo.domain.messages import Message, Thread, thread_of
from toryo.storage import schema, unread
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, upsert
from toryo.storage.rows import Rows

_m, _h = schema.messages, schema.threads
_p = sa.bindparam


THREADS = Rows(Thread, _h)


_TOUCH = upsert(_h, THREADS.names, ["project_id", "thread"], ["newest", "newest_at"])
_THREAD = Statement(THREADS.select().where(_h.c.project_id == _p("project_id"), _h.c.thread == _p("thread")))
_THREADS = Statement(
    # two reads, as of the conversations in `conversations.py`
    sa.union_all(
        *(
            THREADS.select().where(_h.c.project_id == _p("project_id"), side == _p("agent_id"))
            for side in (_h.c.low_id, _h.c.high_id)
        )
    )
    .order_by(sa.desc("newest"))
    .limit(500)
)
_SEE_LOW, _SEE_HIGH = (
    Statement(
        sa.update(_h)
        .where(_h.c.project_id == _p("project"), _h.c.thread == _p("this_thread"), _h.c[name] < _p("sequence"))
        .values({name: _p("sequence")})
    )
    for name in ("seen_low", "seen_high")
)


class Threads:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def touch(self, message: Message) -> None:
        """Makes the thread of a message that was just stored the newest."""
        low, high = message.thread.split("|", 1)
        self._connection.run(
            _TOUCH,
            project_id=message.project_id,
            thread=message.thread,
            low_id=low,
            high_id=high,
            newest=message.sequence,
            newest_at=message.created_at,
            seen_low=0,
            seen_high=0,
        )

    def find(self, project_id: str, one: str, other: str) -> Thread | None:
        return THREADS.one(self._connection.one(_THREAD, project_id=project_id, thread=thread_of(one, other)))

    def listed(self, project_id: str, agent_id: str) -> list[Thread]:
        """Newest first, at most 500."""
        return THREADS.nouns(self._connection.all(_THREADS, project_id=project_id, agent_id=agent_id))

    def unread(self, thread: Thread, person_id: str) -> int:
        """Number of messages to a person that they have not seen."""
        return int(
            self._connection.value(
                unread.COUNT,
                project_id=thread.project_id,
                thread=thread.thread,
                seen=thread.seen_by(person_id),
                person_id=person_id,
            )
        )

    def see(self, project_id: str, person_id: str, other: str, sequence: int) -> bool:
        """Marks a thread as read up to here; True if that changed anything."""
        thread = thread_of(person_id, other)
        statement = _SEE_LOW if thread.split("|", 1)[0] == person_id else _SEE_HIGH
        return self._connection.run(statement, project=project_id, this_thread=thread, sequence=sequence) > 0
