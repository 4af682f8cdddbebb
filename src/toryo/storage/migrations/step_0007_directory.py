"""The stamp of the directory, by which servers know whether what they remember of it is still true; and indexes for
the claims of a project that run out, and for what people look at.
"""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    connection.define("CREATE TABLE directory (id INTEGER NOT NULL PRIMARY KEY, stamp BIGINT NOT NULL)")
    connection.define("CREATE INDEX claims_expiry ON claims (project_id, expires_at) WHERE ended_at IS NULL")
    for name in ("tasks_ended", "worktrees_project"):  # tasks_closed and worktrees_created take their places
        connection.define(f"DROP INDEX {name}")
    for index in _FOR_READS:
        connection.define(f"CREATE INDEX {index}")


_FOR_READS = (
    "tasks_backlog ON tasks (project_id, priority, created_at) WHERE status = 'backlog'",
    "tasks_closed ON tasks (project_id, status, completed_at) WHERE status IN ('completed', 'failed', 'cancelled')",
    "tasks_not_done ON tasks (project_id, status, priority, created_at) WHERE status IN ('failed', 'cancelled')",
    "tasks_assignee ON tasks (project_id, assignee_id, priority, created_at) WHERE assignee_id IS NOT NULL",
    "tasks_requested ON tasks (project_id, requested_by, created_at) WHERE requested_by IS NOT NULL",
    "worktrees_created ON worktrees (project_id, created_at, task_id)",
    "worktrees_open ON worktrees (created_at) WHERE state = 'open'",
    "conversations_newest ON conversations (project_id, created_at)",
    "events_correlation ON events (correlation_id, sequence) WHERE correlation_id IS NOT NULL",
    "sessions_newest ON sessions (created_at, id)",
)
