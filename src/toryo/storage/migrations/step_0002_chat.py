"""Messages, conversations, delegations, panels and notices; and whether a launch takes a slot of its Coordinator.

Released together with step 0003: the commit that adds step 0004 replaces the import in both by one copy of the tables.
"""

from __future__ import annotations

from sqlalchemy.schema import CreateIndex, CreateTable

from toryo.storage.database import Connection
from toryo.storage.schema import metadata

_NEW = frozenset({"messages", "threads", "mailboxes", "conversations", "delegations", "viewers", "notices"})


def upgrade(connection: Connection) -> None:
    for table in metadata.sorted_tables:
        if table.name in _NEW:
            connection.define(CreateTable(table))
            for index in sorted(table.indexes, key=lambda each: str(each.name)):
                connection.define(CreateIndex(index))
    (unapproved,) = (each for each in metadata.tables["tasks"].indexes if each.name == "tasks_unapproved")
    connection.define(CreateIndex(unapproved))
    connection.define("ALTER TABLE launches ADD COLUMN takes_slot BOOLEAN NOT NULL DEFAULT TRUE")
