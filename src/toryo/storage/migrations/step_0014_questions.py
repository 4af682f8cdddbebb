"""Questions of agents to people, with the answers; and how many a task has asked."""

from __future__ import annotations

from toryo.storage.engine.database import Connection

_TABLE = """
CREATE TABLE questions (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    task_id TEXT NOT NULL REFERENCES tasks (id),
    agent_id TEXT NOT NULL REFERENCES agents (id),
    question TEXT NOT NULL,
    options TEXT,
    multiple BOOLEAN NOT NULL,
    free_text BOOLEAN NOT NULL,
    fallback TEXT,
    deadline BIGINT,
    to_person TEXT REFERENCES agents (id),
    alike TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    choices TEXT,
    written TEXT,
    ended_by TEXT,
    ended_at BIGINT,
    reason TEXT
)
"""
_INDEXES = (
    "questions_task ON questions (task_id, created_at)",
    "questions_project ON questions (project_id, created_at)",
    "questions_alike ON questions (project_id, alike)",
    "questions_open ON questions (deadline) WHERE state = 'open'",
)


def upgrade(connection: Connection) -> None:
    connection.define(_TABLE)
    for index in _INDEXES:
        connection.define(f"CREATE INDEX {index}")
    for column in ("questions_ever", "open_questions"):
        connection.define(f"ALTER TABLE tasks ADD COLUMN {column} BIGINT NOT NULL DEFAULT 0")
