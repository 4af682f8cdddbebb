"""How much API keys and sessions store is counted from now on; what was there before counts for nobody."""

from __future__ import annotations

from toryo.storage.engine.database import Connection

_AMOUNTS = """
CREATE TABLE stored_amounts (
    project_id TEXT NOT NULL REFERENCES projects (id),
    holder TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    tasks BIGINT NOT NULL,
    measured_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, holder)
)
"""


def upgrade(connection: Connection) -> None:
    connection.define(_AMOUNTS)
    connection.define("ALTER TABLE sessions ADD COLUMN stored_bytes BIGINT NOT NULL DEFAULT 0")
    connection.define(
        "CREATE INDEX tasks_open ON tasks (created_by, project_id) "
        "WHERE coalesce(status, '') NOT IN ('completed', 'failed', 'cancelled')"
    )
