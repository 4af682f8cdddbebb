"""Files that acceptance checks leave as evidence."""

from __future__ import annotations

from toryo.storage.engine.database import Connection

_ARTIFACTS = """
CREATE TABLE artifacts (
    id TEXT NOT NULL PRIMARY KEY,
    check_id TEXT NOT NULL REFERENCES checks (id),
    task_id TEXT NOT NULL REFERENCES tasks (id),
    place INTEGER NOT NULL,
    name TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    media_type TEXT NOT NULL,
    created_at BIGINT NOT NULL
)
"""
_PIECES = """
CREATE TABLE artifact_pieces (
    artifact_id TEXT NOT NULL REFERENCES artifacts (id),
    start BIGINT NOT NULL,
    content {bytes} NOT NULL,
    PRIMARY KEY (artifact_id, start)
)
"""
_BYTES = {"sqlite": "BLOB", "postgresql": "BYTEA"}


def upgrade(connection: Connection) -> None:
    connection.define(_ARTIFACTS)
    connection.define("CREATE UNIQUE INDEX artifacts_name ON artifacts (check_id, place, name)")
    connection.define("CREATE INDEX artifacts_task ON artifacts (task_id)")
    connection.define(_PIECES.format(bytes=_BYTES[connection.dialect]))
