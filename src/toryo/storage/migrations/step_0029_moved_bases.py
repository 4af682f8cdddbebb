"""Of a worktree, that its base was moved by nobody; of a launch, what its sandbox has told of its network."""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    for column in (
        "worktrees ADD COLUMN moved_base TEXT",
        "launches ADD COLUMN refused_hosts TEXT",
        "launches ADD COLUMN ports TEXT",
    ):
        connection.define(f"ALTER TABLE {column}")
