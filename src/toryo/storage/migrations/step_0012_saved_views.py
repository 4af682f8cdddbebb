"""Views of a project that people have saved under a name, for themselves or for everybody."""

from __future__ import annotations

from toryo.storage.engine.database import Connection

_TABLE = """
CREATE TABLE saved_views (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    person_id TEXT NOT NULL REFERENCES agents (id),
    name TEXT NOT NULL,
    view TEXT NOT NULL,
    q TEXT NOT NULL,
    arranged TEXT,
    everybody BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL
)
"""


def upgrade(connection: Connection) -> None:
    connection.define(_TABLE)
    connection.define("CREATE INDEX saved_views_project ON saved_views (project_id)")
