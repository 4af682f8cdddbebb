"""Of a task, where it stands among those of its priority, and in which order indexes hold tasks: until now by age."""

from __future__ import annotations

from toryo.storage.engine.database import Connection

_IN_LINE = "status = 'todo' AND agent_type IS NULL"
_INDEXES = {
    "tasks_project": "project_id, priority, line_at",
    "tasks_queued": "project_id, agent_type, priority, line_at) WHERE (status = 'todo' AND agent_type IS NOT NULL",
    "tasks_in_line": (
        "project_id, assignee_id, start, priority, line_at, line_rank) "
        f"WHERE ({_IN_LINE} AND dependencies_left = 0 AND not_before IS NULL"
    ),
    "tasks_todo": f"project_id, priority, line_at, line_rank) WHERE ({_IN_LINE}",
    "tasks_backlog": "project_id, priority, line_at) WHERE (status = 'backlog'",
    "tasks_not_done": "project_id, status, priority, line_at) WHERE (status IN ('failed', 'cancelled')",
    "tasks_assignee": "project_id, assignee_id, priority, line_at) WHERE (assignee_id IS NOT NULL",
}


def upgrade(connection: Connection) -> None:
    for name in _INDEXES:
        connection.define(f"DROP INDEX {name}")
    connection.define("ALTER TABLE tasks ADD COLUMN line_at BIGINT NOT NULL DEFAULT 0")
    connection.define("ALTER TABLE tasks ADD COLUMN line_rank BIGINT NOT NULL DEFAULT 0")
    connection.define("UPDATE tasks SET line_at = created_at, line_rank = ordinal * 4294967296")
    for name, what in _INDEXES.items():
        connection.define(f"CREATE INDEX {name} ON tasks ({what})")
    connection.define(
        f"CREATE INDEX tasks_not_before ON tasks (not_before) WHERE {_IN_LINE} AND not_before IS NOT NULL"
    )
