"""What agents' programs used, worktrees, errands of Coordinators, cooldowns of accounts; people's browsers, tokens
and visits; and indexes for glances.
"""

from __future__ import annotations

from sqlalchemy.schema import CreateIndex, CreateTable

from toryo.storage.engine.database import Connection
from toryo.storage.migrations.tables_0004 import metadata

_NEW = frozenset(
    {
        "accounts",
        "usages",
        "worktrees",
        "errands",
        "sign_ins",
        "sign_in_links",
        "people",
        "access_tokens",
        "departures",
        "visits",
    }
)
_NEW_INDEXES = frozenset(
    {"tasks_todo", "tasks_ended", "tasks_failed", "events_decided", "messages_about", "batches_created"}
)


def upgrade(connection: Connection) -> None:
    for table in metadata.sorted_tables:
        if table.name in _NEW:
            connection.define(CreateTable(table))
            for index in sorted(table.indexes, key=lambda each: str(each.name)):
                connection.define(CreateIndex(index))
        else:
            for index in sorted(table.indexes, key=lambda each: str(each.name)):
                if index.name in _NEW_INDEXES:
                    connection.define(CreateIndex(index))
    for column in ("nudged_at BIGINT", "program_session TEXT"):
        connection.define(f"ALTER TABLE launches ADD COLUMN {column}")
    connection.define("ALTER TABLE cooldowns ADD COLUMN provider TEXT")
    for column in ("machine TEXT", "disk TEXT"):
        connection.define(f"ALTER TABLE coordinators ADD COLUMN {column}")
