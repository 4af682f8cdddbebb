"""Of a task, that anyone who is free may take it."""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    connection.define("ALTER TABLE tasks ADD COLUMN pool TEXT")
