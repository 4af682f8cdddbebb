"""The stamp of the directory, by which servers know whether what they remember of it is still true; and an index for
the claims of a project that run out.
"""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    connection.define("CREATE TABLE directory (id INTEGER NOT NULL PRIMARY KEY, stamp BIGINT NOT NULL)")
    connection.define("CREATE INDEX claims_expiry ON claims (project_id, expires_at) WHERE ended_at IS NULL")
