"""API keys, presence, claims and shared values; and what a queue task counts.

Released together with step 0002: the commit that adds step 0004 replaces the import in both by one copy of the tables.
"""

from __future__ import annotations

from sqlalchemy.schema import CreateIndex, CreateTable

from toryo.storage.database import Connection
from toryo.storage.schema import metadata, tasks

_NEW = frozenset({"api_keys", "presences", "claims", "shared_entries"})
_COLUMNS = ("not_before", "timeout_seconds", "max_attempts")


def upgrade(connection: Connection) -> None:
    for table in metadata.sorted_tables:
        if table.name in _NEW:
            connection.define(CreateTable(table))
            for index in sorted(table.indexes, key=lambda each: str(each.name)):
                connection.define(CreateIndex(index))
    for column in _COLUMNS:
        connection.define(f"ALTER TABLE tasks ADD COLUMN {column} BIGINT")
    for index in sorted(tasks.indexes, key=lambda each: str(each.name)):
        if index.name in ("tasks_correlation", "tasks_queued"):
            connection.define(CreateIndex(index))
