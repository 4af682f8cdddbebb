"""Whose quota a launch uses, as its agent was configured when it was started, and what is kept from low priority."""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    connection.define("ALTER TABLE launches ADD COLUMN account TEXT")
    connection.define("ALTER TABLE quota_windows ADD COLUMN low_spare BOOLEAN NOT NULL DEFAULT FALSE")
