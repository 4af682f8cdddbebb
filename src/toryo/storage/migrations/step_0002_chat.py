"""Messages, conversations, delegations, panels and notices; and whether a launch takes a slot of its Coordinator."""

from __future__ import annotations

from sqlalchemy.schema import CreateIndex, CreateTable

from toryo.storage.engine.database import Connection
from toryo.storage.migrations.tables_0003 import metadata, tasks_unapproved

_NEW = frozenset({"messages", "threads", "mailboxes", "conversations", "delegations", "viewers", "notices"})


def upgrade(connection: Connection) -> None:
    for table in metadata.sorted_tables:
        if table.name in _NEW:
            connection.define(CreateTable(table))
            for index in sorted(table.indexes, key=lambda each: str(each.name)):
                connection.define(CreateIndex(index))
    connection.define(CreateIndex(tasks_unapproved))
    connection.define("ALTER TABLE launches ADD COLUMN takes_slot BOOLEAN NOT NULL DEFAULT TRUE")
