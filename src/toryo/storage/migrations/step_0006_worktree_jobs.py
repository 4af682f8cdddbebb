"""What people ask a Coordinator to do with a worktree is called a worktree job everywhere, in the database as well."""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    connection.define("ALTER TABLE errands RENAME TO worktree_jobs")
    if connection.dialect == "postgresql":
        connection.define("ALTER INDEX errands_pkey RENAME TO worktree_jobs_pkey")
    for index in ("errands_task", "errands_waiting"):
        connection.define(f"DROP INDEX {index}")
    connection.define("CREATE INDEX worktree_jobs_task ON worktree_jobs (task_id, created_at)")
    connection.define("CREATE INDEX worktree_jobs_waiting ON worktree_jobs (coordinator_id) WHERE finished_at IS NULL")
