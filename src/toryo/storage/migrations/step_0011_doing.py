"""What the program of a launch was last seen doing, and when each piece of its output came."""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    for column in (
        "launches ADD COLUMN doing TEXT",
        "launches ADD COLUMN doing_at BIGINT",
        "logs ADD COLUMN at BIGINT",
    ):
        connection.define(f"ALTER TABLE {column}")
