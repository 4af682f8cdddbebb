"""Memories of projects, the terms by which texts are found, and up to which event texts were indexed."""

from __future__ import annotations

from toryo.storage.engine.database import Connection

_TABLES = (
    """
CREATE TABLE memories (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    text TEXT NOT NULL,
    alike TEXT NOT NULL,
    author_id TEXT NOT NULL,
    task_id TEXT REFERENCES tasks (id),
    pinned BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    edited_by TEXT,
    edited_at BIGINT
)
""",
    """
CREATE TABLE search_terms (
    project_id TEXT NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL,
    term TEXT NOT NULL,
    source_id TEXT NOT NULL,
    task_id TEXT,
    PRIMARY KEY (project_id, kind, term, source_id)
)
""",
    """
CREATE TABLE search_progress (
    id INTEGER NOT NULL PRIMARY KEY,
    events_to BIGINT NOT NULL
)
""",
)
_INDEXES = (
    "memories_project ON memories (project_id, created_at)",
    "memories_alike ON memories (project_id, alike)",
    "memories_task ON memories (task_id)",
    "search_terms_source ON search_terms (source_id)",
    "search_terms_task ON search_terms (task_id)",
)


def upgrade(connection: Connection) -> None:
    for table in _TABLES:
        connection.define(table)
    for index in _INDEXES:
        connection.define(f"CREATE INDEX {index}")
