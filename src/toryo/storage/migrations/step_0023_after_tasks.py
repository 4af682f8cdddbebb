"""Schedules that create a task when another one is completed."""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    connection.define("ALTER TABLE schedules ADD COLUMN after_task TEXT")
