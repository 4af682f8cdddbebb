"""Of a task, who starts it, and how many tasks it waits for. What agents have created stays theirs to start."""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    connection.define("ALTER TABLE tasks ADD COLUMN start TEXT")
    connection.define("ALTER TABLE tasks ADD COLUMN dependencies_left INTEGER NOT NULL DEFAULT 0")
    connection.define(
        "UPDATE tasks SET start = 'manual' WHERE status IN ('backlog', 'todo', 'in_progress', 'blocked', 'failed') "
        "AND created_by IN (SELECT id FROM agents WHERE kind = 'ai')"
    )
    connection.define(
        "UPDATE tasks SET dependencies_left = (SELECT count(*) FROM dependencies "
        "JOIN tasks AS needed ON needed.id = dependencies.depends_on "
        "WHERE dependencies.task_id = tasks.id AND needed.status <> 'completed') "
        "WHERE agent_type IS NULL AND status IN ('backlog', 'todo', 'in_progress', 'blocked', 'failed') "
        "AND id IN (SELECT task_id FROM dependencies)"
    )
    connection.define(
        "CREATE INDEX tasks_in_line ON tasks (project_id, assignee_id, start, priority, created_at) "
        "WHERE status = 'todo' AND agent_type IS NULL AND dependencies_left = 0"
    )
