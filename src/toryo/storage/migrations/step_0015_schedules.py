"""Schedules, and what became of their times."""

from __future__ import annotations

from toryo.storage.engine.database import Connection

_TABLES = (
    """
CREATE TABLE schedules (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    cron TEXT,
    every BIGINT,
    once BIGINT,
    time_zone TEXT NOT NULL,
    anchor BIGINT NOT NULL,
    overlap TEXT NOT NULL,
    catch_up BIGINT NOT NULL,
    failures_allowed BIGINT NOT NULL,
    task TEXT NOT NULL,
    runs_as TEXT NOT NULL REFERENCES agents (id),
    login TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    state TEXT NOT NULL,
    state_by TEXT,
    state_at BIGINT,
    reason TEXT,
    next_at BIGINT,
    buffered BIGINT,
    failures BIGINT NOT NULL,
    runs BIGINT NOT NULL
)
""",
    """
CREATE TABLE schedule_runs (
    id TEXT NOT NULL PRIMARY KEY,
    schedule_id TEXT NOT NULL REFERENCES schedules (id),
    project_id TEXT NOT NULL REFERENCES projects (id),
    scheduled_at BIGINT NOT NULL,
    at BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    times BIGINT NOT NULL,
    task_id TEXT REFERENCES tasks (id),
    reason TEXT,
    started_by TEXT,
    result TEXT
)
""",
)
_INDEXES = (
    "schedules_project ON schedules (project_id)",
    "schedules_due ON schedules (next_at) WHERE state = 'active'",
    "schedule_runs_schedule ON schedule_runs (schedule_id, scheduled_at)",
    "schedule_runs_task ON schedule_runs (task_id)",
    "schedule_runs_open ON schedule_runs (schedule_id) WHERE task_id IS NOT NULL AND result IS NULL",
)


def upgrade(connection: Connection) -> None:
    for table in _TABLES:
        connection.define(table)
    for index in _INDEXES:
        connection.define(f"CREATE INDEX {index}")
