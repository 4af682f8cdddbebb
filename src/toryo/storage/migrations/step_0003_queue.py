"""API keys, presence, claims and shared values; and what a queue task counts."""

from __future__ import annotations

from sqlalchemy.schema import CreateIndex, CreateTable

from toryo.storage.engine.database import Connection
from toryo.storage.migrations.tables_0003 import metadata, tasks_correlation, tasks_queued

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
    for index in (tasks_correlation, tasks_queued):
        connection.define(CreateIndex(index))
