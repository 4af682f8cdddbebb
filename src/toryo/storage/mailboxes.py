"""Mailboxes, as rows: which messages an agent has received."""

from __future__ import annotations

import sqlalchemy as sa

from toryo.domain.messages import Mailbox
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, upsert
from toryo.storage.rows import Rows

_b = schema.mailboxes
_p = sa.bindparam

MAILBOXES = Rows(Mailbox, _b)

_MAILBOX = Statement(MAILBOXES.select().where(_b.c.project_id == _p("project_id"), _b.c.agent_id == _p("agent_id")))
_SAVE_MAILBOX = upsert(
    _b,
    MAILBOXES.names,
    ["project_id", "agent_id"],
    [name for name in MAILBOXES.names if name not in ("project_id", "agent_id")],
)


class Mailboxes:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def mailbox(self, project_id: str, agent_id: str) -> Mailbox:
        """The stored mailbox, or a new one."""
        found = MAILBOXES.one(self._connection.one(_MAILBOX, project_id=project_id, agent_id=agent_id))
        return found or Mailbox(project_id, agent_id)

    def save_mailbox(self, box: Mailbox) -> None:
        self._connection.run(_SAVE_MAILBOX, **MAILBOXES.values(box))
