"""Every table and index of the first release."""

from __future__ import annotations

from sqlalchemy.schema import CreateIndex, CreateTable

from toryo.storage.engine.database import Connection
from toryo.storage.migrations.tables_0001 import metadata


def upgrade(connection: Connection) -> None:
    for table in metadata.sorted_tables:
        connection.define(CreateTable(table))
        for index in sorted(table.indexes, key=lambda each: str(each.name)):
            connection.define(CreateIndex(index))
