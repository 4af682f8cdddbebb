"""Of a worktree, what has become of the work of its task's subtasks."""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    connection.define("ALTER TABLE worktrees ADD COLUMN subtasks TEXT")
