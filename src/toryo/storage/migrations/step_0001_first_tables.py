"""Every table and index of the first release, as `schema.py` declares them.

The commit that adds step 0002 replaces the import by a copy of the tables as they were released.
"""

from __future__ import annotations

from sqlalchemy.schema import CreateIndex, CreateTable

from toryo.storage.database import Connection
from toryo.storage.schema import metadata


def upgrade(connection: Connection) -> None:
    for table in metadata.sorted_tables:
        connection.define(CreateTable(table))
        for index in sorted(table.indexes, key=lambda each: str(each.name)):
            connection.define(CreateIndex(index))
