"""Of a task, what the work on it may use: US dollars and tokens."""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    connection.define("ALTER TABLE tasks ADD COLUMN budget_usd FLOAT")
    connection.define("ALTER TABLE tasks ADD COLUMN budget_tokens BIGINT")
    connection.define(
        "CREATE INDEX tasks_budgeted ON tasks (root_id) WHERE budget_usd IS NOT NULL OR budget_tokens IS NOT NULL"
    )
