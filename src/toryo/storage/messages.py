"""Messages, as rows. Threads are in `threads.py`, delivery in `mailboxes.py`.

Writers must hold the project's lock: sequences continue from the last one read.
"""

from __future__ import annotations

import sqlalchemy as sa

from toryo.domain.conversations import ONE_WAY
from toryo.domain.fast_dataclasses import replace
from toryo.domain.messages import Mailbox, Message, MessageKind
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement
from toryo.storage.rows import Rows, save_changes
from toryo.storage.threads import Threads

_m, _c = schema.messages, schema.conversations
_p = sa.bindparam

MESSAGES = Rows(Message, _m)

_LAST_SEQUENCE = Statement(sa.select(sa.func.max(_m.c.sequence)).where(_m.c.project_id == _p("project_id")))
_ADD_MESSAGE = Statement(sa.insert(_m), columns=MESSAGES.names)
_AT = Statement(MESSAGES.select().where(_m.c.project_id == _p("project_id"), _m.c.sequence == _p("sequence")))
_MESSAGE = Statement(MESSAGES.select().where(_m.c.id == _p("id")))
_inbox = (_m.c.project_id == _p("project_id"), _m.c.to_agent_id == _p("agent_id"), _m.c.kind == _p("kind"))
_UNDELIVERED = Statement(
    MESSAGES.select()
    .where(*_inbox, _m.c.sequence > _p("cursor"))
    .order_by(_m.c.sequence)
    .limit(_p("limit", type_=sa.Integer))
)
_NEWEST_REASON = Statement(
    sa.select(sa.func.max(_m.c.sequence))
    .select_from(_m.outerjoin(_c, _c.c.id == _m.c.conversation_id))
    .where(
        *_inbox,
        _m.c.sequence > _p("cursor"),
        sa.or_(
            _c.c.id.is_(None),
            _c.c.state.in_([sa.literal("pending"), sa.literal("active")]),
            # A one-way message: its sender ended the conversation before the receiver joined.
            sa.and_(_c.c.reason == ONE_WAY, _c.c.told_partner_at.is_(None)),
        ),
    )
)
_IN_THREAD = Statement(
    MESSAGES.select()
    .where(_m.c.project_id == _p("project_id"), _m.c.thread == _p("thread"), _m.c.sequence < _p("before"))
    .order_by(_m.c.sequence.desc())
    .limit(_p("limit", type_=sa.Integer))
)
_AFTER = Statement(
    MESSAGES.select()
    .where(_m.c.project_id == _p("project_id"), _m.c.thread == _p("thread"), _m.c.sequence > _p("after"))
    .order_by(_m.c.sequence)
    .limit(_p("limit", type_=sa.Integer))
)
_ABOUT = Statement(
    MESSAGES.select()
    .where(_m.c.related_task_id == _p("task_id"), _m.c.sequence > _p("after"))
    .order_by(_m.c.sequence)
    .limit(_p("limit", type_=sa.Integer))
)
_IN_CONVERSATION = Statement(
    MESSAGES.select()
    .where(_m.c.conversation_id == _p("conversation_id"))
    .order_by(_m.c.sequence.desc())
    .limit(_p("limit", type_=sa.Integer))
)
_NTH_LAST = Statement(
    sa.select(_m.c.created_at)
    .where(
        _m.c.project_id == _p("project_id"),
        _m.c.from_agent_id == _p("from_agent_id"),
        _m.c.to_agent_id == _p("to_agent_id"),
    )
    .order_by(_m.c.sequence.desc())
    .limit(1)
    .offset(_p("skip", type_=sa.Integer))
)
_LATEST = 1_000
_latest = (
    sa.select(_m.c.created_at, _m.c.conversation_id, _m.c.sequence)
    .where(
        _m.c.project_id == _p("project_id"),
        _m.c.from_agent_id == _p("from_agent_id"),
        _m.c.to_agent_id == _p("to_agent_id"),
    )
    .order_by(_m.c.sequence.desc())
    .limit(_LATEST)  # bounded: two agents that have never sent a notice may have talked for years
    .subquery()
)
_NTH_LAST_NOTICE = Statement(
    sa.select(_latest.c.created_at)
    .where(_latest.c.conversation_id.is_(None))
    .order_by(_latest.c.sequence.desc())
    .limit(1)
    .offset(_p("skip", type_=sa.Integer))
)
_is_watched: sa.ColumnElement[bool] = sa.literal_column("watched")
_OVERDUE = Statement(MESSAGES.select().where(_is_watched, _m.c.created_at <= _p("until")).order_by(_m.c.created_at))
_UNWATCH = Statement(
    # Coalesce keeps SQLite from reading the whole inbox: few messages are watched, and those have an index.
    sa.update(_m)
    .where(_is_watched, sa.func.coalesce(_m.c.project_id, "") == _p("project"), _m.c.to_agent_id == _p("agent"))
    .values(watched=sa.false())
)

_NEWER_THAN_ALL = 1 << 62


class Messages:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._threads = Threads(connection)

    def next_sequence(self, project_id: str) -> int:
        return int(self._connection.value(_LAST_SEQUENCE, project_id=project_id) or 0) + 1

    def add(self, message: Message) -> None:
        """Stores a message and makes its thread the newest."""
        self._connection.run(_ADD_MESSAGE, **MESSAGES.values(message))
        self._threads.touch(message)

    def message(self, message_id: str) -> Message | None:
        return MESSAGES.one(self._connection.one(_MESSAGE, id=message_id))

    def at(self, project_id: str, sequence: int) -> Message | None:
        return MESSAGES.one(self._connection.one(_AT, project_id=project_id, sequence=sequence))

    def save_message(self, before: Message, after: Message) -> None:
        save_changes(self._connection, _m, MESSAGES, before, after)

    def undelivered(self, box: Mailbox, limit: int) -> list[Message]:
        """Oldest first. System messages are for people only and left out."""
        rows = self._connection.all(
            _UNDELIVERED,
            project_id=box.project_id,
            agent_id=box.agent_id,
            kind=MessageKind.MESSAGE.value,
            cursor=box.cursor,
            limit=limit,
        )
        return MESSAGES.nouns(rows)

    def newest_reason(self, box: Mailbox) -> int:
        """The newest undelivered message outside ended conversations; 0 if there is none."""
        found = self._connection.value(
            _NEWEST_REASON,
            project_id=box.project_id,
            agent_id=box.agent_id,
            kind=MessageKind.MESSAGE.value,
            cursor=box.cursor,
        )
        return int(found or 0)

    def before(self, project_id: str, thread: str, sequence: int | None, limit: int) -> list[Message]:
        """The last messages of a thread, optionally before a sequence number; oldest first."""
        newest = _NEWER_THAN_ALL if sequence is None else sequence
        rows = self._connection.all(_IN_THREAD, project_id=project_id, thread=thread, before=newest, limit=limit)
        return MESSAGES.nouns(rows)[::-1]

    def after(self, project_id: str, thread: str, sequence: int, limit: int) -> list[Message]:
        rows = self._connection.all(_AFTER, project_id=project_id, thread=thread, after=sequence, limit=limit)
        return MESSAGES.nouns(rows)

    def about(self, task_id: str, after: int, limit: int) -> list[Message]:
        """Messages about the task, in the order of storing."""
        return MESSAGES.nouns(self._connection.all(_ABOUT, task_id=task_id, after=after, limit=limit))

    def of_conversation(self, conversation_id: str, limit: int) -> list[Message]:
        """The last messages of a conversation, oldest first."""
        rows = self._connection.all(_IN_CONVERSATION, conversation_id=conversation_id, limit=limit)
        return MESSAGES.nouns(rows)[::-1]

    def nth_last(self, project_id: str, from_agent_id: str, to_agent_id: str, n: int) -> Millis | None:
        """When the n-th newest message between the two in this direction was stored; None if there are fewer."""
        found: Millis | None = self._connection.value(
            _NTH_LAST, project_id=project_id, from_agent_id=from_agent_id, to_agent_id=to_agent_id, skip=n - 1
        )
        return found

    def nth_last_notice(self, project_id: str, from_agent_id: str, to_agent_id: str, n: int) -> Millis | None:
        """The same, of messages outside conversations."""
        found: Millis | None = self._connection.value(
            _NTH_LAST_NOTICE, project_id=project_id, from_agent_id=from_agent_id, to_agent_id=to_agent_id, skip=n - 1
        )
        return found

    def overdue(self, until: Millis) -> list[Message]:
        """Watched messages stored up to this time."""
        return MESSAGES.nouns(self._connection.all(_OVERDUE, until=until))

    def unwatch(self, project_id: str, agent_id: str) -> None:
        """Stops watching this agent's messages: a session has come, or the senders have been told."""
        self._connection.run(_UNWATCH, project=project_id, agent=agent_id)

    def unwatch_message(self, message: Message) -> None:
        """Stops watching a message whose sender has been told."""
        self.save_message(message, replace(message, watched=False))
