"""Messages, mailboxes, conversations, delegations and panels, as rows. Threads stand in `threads.py`.

Whoever writes here holds the project's lock: sequences and cursors are counted by reading the last one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from toryo.domain.conversations import ONE_WAY, Conversation, State
from toryo.domain.delegations import Delegation, DelegationStatus
from toryo.domain.messages import Mailbox, Message, MessageKind
from toryo.domain.panels import Viewer
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, in_list, upsert
from toryo.storage.rows import JSON, TUPLE, Rows, enum, update_by_id
from toryo.storage.threads import Threads

_m, _b, _c, _d, _v = (
    schema.messages,
    schema.mailboxes,
    schema.conversations,
    schema.delegations,
    schema.viewers,
)
_p = sa.bindparam

MESSAGES = Rows(Message, _m, {"kind": enum(MessageKind)})
MAILBOXES = Rows(Mailbox, _b, {"handed_endings": TUPLE})
CONVERSATIONS = Rows(Conversation, _c, {"state": enum(State)})
DELEGATIONS = Rows(Delegation, _d, {"status": enum(DelegationStatus), "context": JSON, "result": JSON})
VIEWERS = Rows(Viewer, _v)


# --- messages --------------------------------------------------------------------------------------------------------

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
            # a one-way word: ended before its receiver came, by whoever said it
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
_is_watched: sa.ColumnElement[bool] = sa.literal_column("watched")
_OVERDUE = Statement(MESSAGES.select().where(_is_watched, _m.c.created_at <= _p("until")).order_by(_m.c.created_at))
_UNWATCH = Statement(
    # coalesce keeps SQLite from reading the whole inbox: only a few messages are watched, and those have an index
    sa.update(_m)
    .where(_is_watched, sa.func.coalesce(_m.c.project_id, "") == _p("project"), _m.c.to_agent_id == _p("agent"))
    .values(watched=sa.false())
)

# --- mailboxes -------------------------------------------------------------------------------------------------------

_MAILBOX = Statement(MAILBOXES.select().where(_b.c.project_id == _p("project_id"), _b.c.agent_id == _p("agent_id")))
_SAVE_MAILBOX = upsert(
    _b,
    MAILBOXES.names,
    ["project_id", "agent_id"],
    [name for name in MAILBOXES.names if name not in ("project_id", "agent_id")],
)

# --- conversations ---------------------------------------------------------------------------------------------------

_is_open: sa.ColumnElement[bool] = sa.literal_column("state IN ('pending', 'active')")
_not_settled: sa.ColumnElement[bool] = sa.literal_column("NOT settled")
_ADD_CONVERSATION = Statement(sa.insert(_c), columns=CONVERSATIONS.names)
_CONVERSATION = Statement(CONVERSATIONS.select().where(_c.c.id == _p("id")))
_OPEN_BETWEEN = Statement(
    CONVERSATIONS.select().where(
        _c.c.project_id == _p("project_id"), _c.c.low_id == _p("low_id"), _c.c.high_id == _p("high_id"), _is_open
    )
)
_UNSETTLED_OF = Statement(
    # two reads, for SQLite answers an OR by reading everything that is unsettled in the project
    sa.union_all(
        *(
            CONVERSATIONS.select().where(_c.c.project_id == _p("project_id"), _not_settled, side == _p("agent_id"))
            for side in (_c.c.initiator_id, _c.c.partner_id)
        )
    ).order_by("created_at", "id")
)
_ALL_OPEN = Statement(CONVERSATIONS.select().where(_is_open, _not_settled).order_by(_c.c.last_turn_at, _c.c.id))
_ALL_UNSETTLED = Statement(
    CONVERSATIONS.select().where(
        _not_settled, _c.c.state.in_([sa.literal("pending"), sa.literal("active"), sa.literal("ending")])
    )
)
_STARTED_SINCE = Statement(
    sa.select(sa.func.count()).where(
        _c.c.project_id == _p("project_id"),
        _c.c.low_id == _p("low_id"),
        _c.c.high_id == _p("high_id"),
        _c.c.created_at > _p("since"),
    )
)
_OF_TASK = Statement(
    CONVERSATIONS.select().where(_c.c.task_id == _p("task_id")).order_by(_c.c.created_at, _c.c.id).limit(100)
)
_OF_PROJECT = Statement(
    CONVERSATIONS.select().where(_c.c.project_id == _p("project_id")).order_by(_c.c.created_at.desc()).limit(200)
)

# --- delegations -----------------------------------------------------------------------------------------------------

_is_undone: sa.ColumnElement[bool] = sa.literal_column("status IN ('pending', 'processing')")
_ADD_DELEGATION = Statement(sa.insert(_d), columns=DELEGATIONS.names)
_DELEGATION = Statement(DELEGATIONS.select().where(_d.c.id == _p("id")))
_OPEN_OF_AGENT = Statement(
    DELEGATIONS.select()
    .where(_d.c.project_id == _p("project_id"), _d.c.agent_id == _p("agent_id"), _is_undone)
    .order_by(_d.c.created_at, _d.c.id)
)
_DELEGATIONS_OF_TASK = Statement(
    DELEGATIONS.select().where(_d.c.task_id == _p("task_id")).order_by(_d.c.created_at, _d.c.id)
)
_AWAITED = Statement(
    sa.select(_d.c.task_id, sa.func.count())
    .where(_d.c.root_id == _p("root_id"), _is_undone, _d.c.await_result)
    .group_by(_d.c.task_id)
)
_ALL_OPEN_DELEGATIONS = Statement(DELEGATIONS.select().where(_is_undone).order_by(_d.c.created_at, _d.c.id))

# --- panels ----------------------------------------------------------------------------------------------------------

_is_unclosed: sa.ColumnElement[bool] = sa.literal_column("closed_at IS NULL")
_ADD_VIEWER = Statement(sa.insert(_v), columns=VIEWERS.names)
_VIEWER = Statement(VIEWERS.select().where(_v.c.id == _p("id")))
_VIEWERS_OF = Statement(
    VIEWERS.select().where(
        _v.c.project_id == _p("project_id"),
        _v.c.agent_id == _p("agent_id"),
        _is_unclosed,
        _v.c.seen_at > _p("after"),
    )
)
_ALL_VIEWERS = Statement(VIEWERS.select().where(_is_unclosed, _v.c.seen_at > _p("after")))
_CLOSE_STALE = Statement(sa.update(_v).where(_is_unclosed, _v.c.seen_at <= _p("until")).values(closed_at=_v.c.seen_at))

# --- who is wanted ---------------------------------------------------------------------------------------------------

_MAIL_WAITS = Statement(
    sa.select(_b.c.waiting_since, _b.c.agent_id, _b.c.project_id).where(sa.literal_column("newest > cursor"))
)
_DELEGATIONS_WAIT = Statement(
    sa.select(_d.c.created_at, _d.c.agent_id, _d.c.project_id).where(_is_undone, _d.c.status == "pending")
)
_LEFT_AT = Statement(
    sa.select(_b.c.project_id, _b.c.agent_id, _b.c.left_at).where(
        in_list(_b.c.project_id, "project_ids"), in_list(_b.c.agent_id, "agent_ids")
    )
)


_NEWER_THAN_ALL = 1 << 62


class Chats:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._threads = Threads(connection)

    # messages

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
        self._save(_m, MESSAGES, before, after)

    def undelivered(self, box: Mailbox, limit: int) -> list[Message]:
        """The oldest first. System messages are people's."""
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
        """The newest undelivered message that does not belong to a conversation that is over; 0 if there is none."""
        found = self._connection.value(
            _NEWEST_REASON,
            project_id=box.project_id,
            agent_id=box.agent_id,
            kind=MessageKind.MESSAGE.value,
            cursor=box.cursor,
        )
        return int(found or 0)

    def before(self, project_id: str, thread: str, sequence: int | None, limit: int) -> list[Message]:
        """The last ones of a thread (before a sequence number, if one is named), oldest first."""
        newest = _NEWER_THAN_ALL if sequence is None else sequence
        rows = self._connection.all(_IN_THREAD, project_id=project_id, thread=thread, before=newest, limit=limit)
        return MESSAGES.nouns(rows)[::-1]

    def after(self, project_id: str, thread: str, sequence: int, limit: int) -> list[Message]:
        rows = self._connection.all(_AFTER, project_id=project_id, thread=thread, after=sequence, limit=limit)
        return MESSAGES.nouns(rows)

    def about(self, task_id: str, after: int, limit: int) -> list[Message]:
        """Those that name the task, in the order of storing."""
        return MESSAGES.nouns(self._connection.all(_ABOUT, task_id=task_id, after=after, limit=limit))

    def of_conversation(self, conversation_id: str, limit: int) -> list[Message]:
        """Its last ones, oldest first."""
        rows = self._connection.all(_IN_CONVERSATION, conversation_id=conversation_id, limit=limit)
        return MESSAGES.nouns(rows)[::-1]

    def nth_last(self, project_id: str, from_agent_id: str, to_agent_id: str, n: int) -> Millis | None:
        """When the n-th newest message from one to the other was stored; None if there are fewer."""
        found: Millis | None = self._connection.value(
            _NTH_LAST, project_id=project_id, from_agent_id=from_agent_id, to_agent_id=to_agent_id, skip=n - 1
        )
        return found

    def overdue(self, until: Millis) -> list[Message]:
        """Watched messages that were stored by then."""
        return MESSAGES.nouns(self._connection.all(_OVERDUE, until=until))

    def unwatch(self, project_id: str, agent_id: str) -> None:
        """Somebody has come for this agent's messages (or their writers have been told)."""
        self._connection.run(_UNWATCH, project=project_id, agent=agent_id)

    def unwatch_message(self, message: Message) -> None:
        """Its writer has been told."""
        self.save_message(message, replace(message, watched=False))

    # mailboxes

    def mailbox(self, project_id: str, agent_id: str) -> Mailbox:
        """A new one where there was none."""
        found = MAILBOXES.one(self._connection.one(_MAILBOX, project_id=project_id, agent_id=agent_id))
        return found or Mailbox(project_id, agent_id)

    def save_mailbox(self, box: Mailbox) -> None:
        self._connection.run(_SAVE_MAILBOX, **MAILBOXES.values(box))

    # conversations

    def add_conversation(self, conversation: Conversation) -> None:
        self._connection.run(_ADD_CONVERSATION, **CONVERSATIONS.values(conversation))

    def conversation(self, conversation_id: str) -> Conversation | None:
        return CONVERSATIONS.one(self._connection.one(_CONVERSATION, id=conversation_id))

    def save_conversation(self, before: Conversation, after: Conversation) -> None:
        self._save(_c, CONVERSATIONS, before, after)

    def open_between(self, project_id: str, low_id: str, high_id: str) -> Conversation | None:
        return CONVERSATIONS.one(
            self._connection.one(_OPEN_BETWEEN, project_id=project_id, low_id=low_id, high_id=high_id)
        )

    def unsettled(self, project_id: str, agent_id: str) -> list[Conversation]:
        """Those of an agent that are open, or over and not told to everybody; oldest first."""
        return CONVERSATIONS.nouns(self._connection.all(_UNSETTLED_OF, project_id=project_id, agent_id=agent_id))

    def all_unsettled(self) -> list[Conversation]:
        """Those that the passing of time may still change, in all projects."""
        return CONVERSATIONS.nouns(self._connection.all(_ALL_UNSETTLED))

    def started_since(self, project_id: str, low_id: str, high_id: str, since: Millis) -> int:
        return int(
            self._connection.value(_STARTED_SINCE, project_id=project_id, low_id=low_id, high_id=high_id, since=since)
        )

    def conversations_of_task(self, task_id: str) -> list[Conversation]:
        return CONVERSATIONS.nouns(self._connection.all(_OF_TASK, task_id=task_id))

    def conversations(self, project_id: str) -> list[Conversation]:
        """The newest first, at most 200."""
        return CONVERSATIONS.nouns(self._connection.all(_OF_PROJECT, project_id=project_id))

    # delegations

    def add_delegation(self, delegation: Delegation) -> None:
        self._connection.run(_ADD_DELEGATION, **DELEGATIONS.values(delegation))

    def delegation(self, delegation_id: str) -> Delegation | None:
        return DELEGATIONS.one(self._connection.one(_DELEGATION, id=delegation_id))

    def save_delegation(self, before: Delegation, after: Delegation) -> None:
        self._save(_d, DELEGATIONS, before, after)

    def open_delegations(self, project_id: str, agent_id: str) -> list[Delegation]:
        """Oldest first."""
        return DELEGATIONS.nouns(self._connection.all(_OPEN_OF_AGENT, project_id=project_id, agent_id=agent_id))

    def delegations_of_task(self, task_id: str) -> list[Delegation]:
        return DELEGATIONS.nouns(self._connection.all(_DELEGATIONS_OF_TASK, task_id=task_id))

    def awaited(self, root_id: str) -> dict[str, int]:
        """Open delegations whose result is awaited, counted by main task, in one tree."""
        return {row[0]: int(row[1]) for row in self._connection.all(_AWAITED, root_id=root_id)}

    def all_open_delegations(self) -> list[Delegation]:
        return DELEGATIONS.nouns(self._connection.all(_ALL_OPEN_DELEGATIONS))

    # panels

    def add_viewer(self, viewer: Viewer) -> None:
        self._connection.run(_ADD_VIEWER, **VIEWERS.values(viewer))

    def viewer(self, viewer_id: str) -> Viewer | None:
        return VIEWERS.one(self._connection.one(_VIEWER, id=viewer_id))

    def save_viewer(self, before: Viewer, after: Viewer) -> None:
        self._save(_v, VIEWERS, before, after)

    def viewers(self, project_id: str, agent_id: str, heard_after: Millis) -> list[Viewer]:
        """Open panels on an agent that were heard of since."""
        rows = self._connection.all(_VIEWERS_OF, project_id=project_id, agent_id=agent_id, after=heard_after)
        return VIEWERS.nouns(rows)

    def close_stale_viewers(self, until: Millis) -> int:
        return self._connection.run(_CLOSE_STALE, until=until)

    # who is wanted

    def wanted(self, viewers_heard_after: Millis) -> list[tuple[Millis, str, str, bool]]:
        """Since when, agent, project, and whether a partner waits for it: of everybody whose chat has something to do.

        A hint: whether it runs is decided elsewhere.
        """
        found: dict[tuple[str, str], Millis] = {}
        awaited: set[tuple[str, str]] = set()

        def note(since: Millis, agent_id: str, project_id: str) -> None:
            pair = (agent_id, project_id)
            found[pair] = min(since, found.get(pair, since))

        for row in (*self._connection.all(_MAIL_WAITS), *self._connection.all(_DELEGATIONS_WAIT)):
            note(row[0], row[1], row[2])
        for noun in CONVERSATIONS.nouns(self._connection.all(_ALL_OPEN)):
            invited = noun.state is State.PENDING
            agent_id = noun.partner_id if invited else noun.turn_of
            note(noun.last_turn_at, agent_id, noun.project_id)
            awaited.add((agent_id, noun.project_id))
        for viewer in self._fresh_viewers(viewers_heard_after):
            note(viewer.opened_at, viewer.agent_id, viewer.project_id)
        return sorted((since, *pair, pair in awaited) for pair, since in found.items())

    def _fresh_viewers(self, heard_after: Millis) -> Iterable[Viewer]:
        """Those that were opened after the last session of their agent's chat had ended."""
        open_ = VIEWERS.nouns(self._connection.all(_ALL_VIEWERS, after=heard_after))
        left = self._left_at(open_) if open_ else {}
        return (viewer for viewer in open_ if viewer.opened_at > left.get((viewer.project_id, viewer.agent_id), 0))

    def _left_at(self, viewers: Collection[Viewer]) -> dict[tuple[str, str], Millis]:
        """By project and agent of these panels (and of some others)."""
        rows = self._connection.all(
            _LEFT_AT,
            project_ids=sorted({viewer.project_id for viewer in viewers}),
            agent_ids=sorted({viewer.agent_id for viewer in viewers}),
        )
        return {(row[0], row[1]): row[2] for row in rows}

    def _save(self, table: sa.Table, rows: Rows[Any], before: Any, after: Any) -> None:
        changes = rows.changes(before, after)
        if changes:
            self._connection.run(update_by_id(table, tuple(changes)), this_id=after.id, **changes)
