"""Statistics for the query planner.

PostgreSQL collects them by itself (autovacuum), SQLite never does. What every call asks does not depend on them
(`by_index` in engine/statements.py); joins and rare reads are up to a thousand times slower without them.
"""

from __future__ import annotations

from toryo.storage import schema
from toryo.storage.engine.database import Connection

_SAMPLE = "PRAGMA analysis_limit = 400"
"""Rows of each index that are looked at: milliseconds, however many rows there are."""
_AFRESH = "DROP TABLE IF EXISTS sqlite_stat1"
"""Connections load the statistics with the schema, so the others notice only a table that is created again."""


def collect(connection: Connection) -> None:
    """Collects the statistics of all tables again."""
    if connection.dialect == "sqlite":
        for change in (_SAMPLE, _AFRESH, "ANALYZE"):
            connection.define(change)
    else:
        connection.define("ANALYZE " + ", ".join(table.name for table in schema.metadata.sorted_tables))
