"""Whose quota a launch uses, as its agent was configured when it was started."""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    connection.define("ALTER TABLE launches ADD COLUMN account TEXT")
