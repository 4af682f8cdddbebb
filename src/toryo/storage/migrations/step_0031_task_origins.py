"""Of a queue task, the task that its orchestrator named as its parent."""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    connection.define("ALTER TABLE tasks ADD COLUMN origin_id TEXT")
