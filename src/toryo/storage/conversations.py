"""Conversations, as rows."""

from __future__ import annotations

import sqlalchemy as sa

from toryo.domain.conversations import Conversation
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, by_index
from toryo.storage.rows import Rows, save_changes

_c = schema.conversations
_p = sa.bindparam

CONVERSATIONS = Rows(Conversation, _c)

is_open: sa.ColumnElement[bool] = sa.literal_column("state IN ('pending', 'active')")
not_settled: sa.ColumnElement[bool] = sa.literal_column("NOT settled")
_ADD_CONVERSATION = Statement(sa.insert(_c), columns=CONVERSATIONS.names)
_CONVERSATION = Statement(CONVERSATIONS.select().where(_c.c.id == _p("id")))
_OPEN_BETWEEN = Statement(
    CONVERSATIONS.select().where(
        _c.c.project_id == _p("project_id"), _c.c.low_id == _p("low_id"), _c.c.high_id == _p("high_id"), is_open
    )
)
_UNSETTLED_OF = Statement(
    # Two reads: for an OR, SQLite would read every unsettled conversation of the project.
    sa.union_all(
        *(
            by_index(CONVERSATIONS.select(), _c, index).where(
                _c.c.project_id == _p("project_id"), not_settled, side == _p("agent_id")
            )
            for side, index in (
                (_c.c.initiator_id, "conversations_initiator"),
                (_c.c.partner_id, "conversations_partner"),
            )
        )
    ).order_by("created_at", "id")
)
_ALL_UNSETTLED = Statement(
    CONVERSATIONS.select().where(
        not_settled, _c.c.state.in_([sa.literal("pending"), sa.literal("active"), sa.literal("ending")])
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


class Conversations:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add_conversation(self, conversation: Conversation) -> None:
        self._connection.run(_ADD_CONVERSATION, **CONVERSATIONS.values(conversation))

    def conversation(self, conversation_id: str) -> Conversation | None:
        return CONVERSATIONS.one(self._connection.one(_CONVERSATION, id=conversation_id))

    def save_conversation(self, before: Conversation, after: Conversation) -> None:
        save_changes(self._connection, _c, CONVERSATIONS, before, after)

    def open_between(self, project_id: str, low_id: str, high_id: str) -> Conversation | None:
        return CONVERSATIONS.one(
            self._connection.one(_OPEN_BETWEEN, project_id=project_id, low_id=low_id, high_id=high_id)
        )

    def unsettled(self, project_id: str, agent_id: str) -> list[Conversation]:
        """An agent's conversations that are open, or over and not yet announced to both sides; oldest first."""
        return CONVERSATIONS.nouns(self._connection.all(_UNSETTLED_OF, project_id=project_id, agent_id=agent_id))

    def all_unsettled(self) -> list[Conversation]:
        """Conversations of all projects that may still change because of time."""
        return CONVERSATIONS.nouns(self._connection.all(_ALL_UNSETTLED))

    def started_since(self, project_id: str, low_id: str, high_id: str, since: Millis) -> int:
        return int(
            self._connection.value(_STARTED_SINCE, project_id=project_id, low_id=low_id, high_id=high_id, since=since)
        )

    def conversations_of_task(self, task_id: str) -> list[Conversation]:
        return CONVERSATIONS.nouns(self._connection.all(_OF_TASK, task_id=task_id))

    def conversations(self, project_id: str) -> list[Conversation]:
        """Newest first, at most 200."""
        return CONVERSATIONS.nouns(self._connection.all(_OF_PROJECT, project_id=project_id))
