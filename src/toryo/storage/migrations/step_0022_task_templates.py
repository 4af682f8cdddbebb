"""Templates: trees of tasks with parameters."""

from __future__ import annotations

from toryo.storage.engine.database import Connection

_TEMPLATES = """
CREATE TABLE task_templates (
    project_id TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    content TEXT NOT NULL,
    changed_by TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, name)
)
"""


def upgrade(connection: Connection) -> None:
    connection.define(_TEMPLATES)
