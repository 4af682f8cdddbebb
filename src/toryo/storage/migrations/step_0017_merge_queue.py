"""The merge queue: the work that waits to be merged, and what people have set for the queue of a project."""

from __future__ import annotations

from toryo.storage.engine.database import Connection

_ENTRIES = """
CREATE TABLE merge_queue_entries (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    task_id TEXT NOT NULL REFERENCES tasks (id),
    coordinator_id TEXT NOT NULL,
    target TEXT NOT NULL,
    position BIGINT NOT NULL,
    state TEXT NOT NULL,
    added_by TEXT NOT NULL,
    added_at BIGINT NOT NULL,
    part TEXT,
    job_id TEXT,
    sent_back BIGINT NOT NULL,
    removal_by TEXT,
    trouble TEXT,
    retry_at BIGINT,
    base_commit TEXT,
    merged_commit TEXT,
    evidence TEXT,
    conflict TEXT,
    changes_task_id TEXT,
    ended_at BIGINT,
    ended_by TEXT,
    reason TEXT
)
"""
_QUEUES = """
CREATE TABLE merge_queues (
    project_id TEXT NOT NULL PRIMARY KEY REFERENCES projects (id),
    paused_at BIGINT,
    paused_by TEXT
)
"""
_QUEUED = "WHERE state IN ('queued', 'checking')"
_RETURNED = "WHERE state IN ('failed', 'conflict') AND changes_task_id IS NULL"
_INDEXES = (
    "INDEX merge_queue_entries_task ON merge_queue_entries (task_id, added_at)",
    "INDEX merge_queue_entries_ended ON merge_queue_entries (project_id, ended_at)",
    f"INDEX merge_queue_entries_waiting ON merge_queue_entries (project_id, position) {_QUEUED}",
    f"UNIQUE INDEX merge_queue_entries_of_task ON merge_queue_entries (task_id) {_QUEUED}",
    f"INDEX merge_queue_entries_returned ON merge_queue_entries (ended_at) {_RETURNED}",
)


def upgrade(connection: Connection) -> None:
    connection.define(_ENTRIES)
    connection.define(_QUEUES)
    for index in _INDEXES:
        connection.define(f"CREATE {index}")
