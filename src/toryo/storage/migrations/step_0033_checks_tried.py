"""Of a project, what its required checks said before anybody had worked."""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    connection.define("ALTER TABLE projects ADD COLUMN checks_tried TEXT")
