"""Retention: how far old events were deleted, the usage of deleted launches by day, and the indexes by which foreign
keys are checked when a task or a launch is deleted.

A database with tasks waits for two weeks before anything is deleted by itself, so that people can choose the periods.
"""

from __future__ import annotations

from toryo.storage.engine.database import Connection

_WAIT_MS = 14 * 24 * 60 * 60 * 1000
_NOW = {
    "sqlite": "CAST(strftime('%s', 'now') AS INTEGER) * 1000",
    "postgresql": "(extract(epoch FROM now()) * 1000)::bigint",
}
_STATE = """
CREATE TABLE retention (
    id INTEGER NOT NULL PRIMARY KEY,
    begins_at BIGINT NOT NULL,
    events_to BIGINT NOT NULL,
    audit_to BIGINT NOT NULL,
    horizon BIGINT NOT NULL
)
"""
_USAGE_DAYS = """
CREATE TABLE usage_days (
    project_id TEXT NOT NULL REFERENCES projects (id),
    day BIGINT NOT NULL,
    agent_id TEXT NOT NULL REFERENCES agents (id),
    task_id TEXT NOT NULL,
    purpose TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    launches BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost_usd FLOAT,
    turns BIGINT NOT NULL,
    tool_calls BIGINT NOT NULL,
    without_price BIGINT NOT NULL,
    lower_bounds BIGINT NOT NULL,
    PRIMARY KEY (project_id, day, agent_id, task_id, purpose, provider, model)
)
"""


def upgrade(connection: Connection) -> None:
    connection.define(_STATE)
    begin = f"{_NOW[connection.dialect]} + {_WAIT_MS}"
    connection.define(
        f"INSERT INTO retention SELECT 1, {begin}, 0, 0, 0 WHERE EXISTS (SELECT 1 FROM tasks)"  # noqa: S608
    )
    connection.define(_USAGE_DAYS)
    for index in (
        "usage_days_agent ON usage_days (agent_id, day)",
        "usage_days_task ON usage_days (task_id)",
        "sessions_task ON sessions (task_id)",
        "checks_task ON checks (task_id)",
        "checks_launch ON checks (launch_id)",
    ):
        connection.define(f"CREATE INDEX {index}")
