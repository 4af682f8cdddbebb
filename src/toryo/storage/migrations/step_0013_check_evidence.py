"""How each acceptance check ended, with what its command printed."""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    connection.define("ALTER TABLE checks ADD COLUMN evidence TEXT")
