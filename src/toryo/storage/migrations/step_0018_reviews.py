"""Reviews that a success must pass: whose work a task reviews, and the reviews among the questions."""

from __future__ import annotations

from toryo.storage.engine.database import Connection

_COLUMNS = ("tasks ADD COLUMN review_of", "questions ADD COLUMN check_id", "questions ADD COLUMN review_task_id")


def upgrade(connection: Connection) -> None:
    for column in _COLUMNS:
        connection.define(f"ALTER TABLE {column} TEXT")
    connection.define("CREATE INDEX tasks_reviews ON tasks (review_of) WHERE review_of IS NOT NULL")
