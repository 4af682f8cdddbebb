"""Webhooks, and what became of their deliveries."""

from __future__ import annotations

from toryo.storage.engine.database import Connection

_TABLES = (
    """
CREATE TABLE webhooks (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    secret TEXT NOT NULL,
    events TEXT,
    failures_allowed BIGINT NOT NULL,
    task TEXT NOT NULL,
    runs_as TEXT NOT NULL REFERENCES agents (id),
    login TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    state TEXT NOT NULL,
    state_by TEXT,
    state_at BIGINT,
    reason TEXT,
    failures BIGINT NOT NULL,
    tasks BIGINT NOT NULL
)
""",
    """
CREATE TABLE webhook_deliveries (
    id TEXT NOT NULL PRIMARY KEY,
    webhook_id TEXT NOT NULL REFERENCES webhooks (id),
    project_id TEXT NOT NULL REFERENCES projects (id),
    key TEXT NOT NULL,
    event TEXT,
    at BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    times BIGINT NOT NULL,
    task_id TEXT REFERENCES tasks (id),
    waits BOOLEAN NOT NULL,
    reason TEXT,
    result TEXT
)
""",
)
_RUNNING = "WHERE task_id IS NOT NULL AND result IS NULL"
_INDEXES = (
    "INDEX webhooks_project ON webhooks (project_id)",
    "INDEX webhook_deliveries_webhook ON webhook_deliveries (webhook_id, at)",
    "INDEX webhook_deliveries_task ON webhook_deliveries (task_id)",
    f"INDEX webhook_deliveries_open ON webhook_deliveries (webhook_id) {_RUNNING}",
    'UNIQUE INDEX webhook_deliveries_key ON webhook_deliveries (webhook_id, "key") WHERE task_id IS NOT NULL',
)


def upgrade(connection: Connection) -> None:
    for table in _TABLES:
        connection.define(table)
    for index in _INDEXES:
        connection.define(f"CREATE {index}")
