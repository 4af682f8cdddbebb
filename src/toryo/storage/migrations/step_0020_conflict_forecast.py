"""What a task will touch, and which paths are changed in its worktree."""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    connection.define("ALTER TABLE tasks ADD COLUMN touches TEXT")
    connection.define("ALTER TABLE worktrees ADD COLUMN touched TEXT")
