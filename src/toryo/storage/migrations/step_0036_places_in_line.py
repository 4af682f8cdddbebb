"""Of a task, where it stands among those of its priority, and in which order indexes hold tasks: until now by age.

The new indexes begin where a look at a line begins, whatever else is in it; a task that waits for its time is in none.
"""

from __future__ import annotations

from toryo.storage.engine.database import Connection

_TODO = "status = 'todo' AND agent_type IS NULL"
_READY = f"{_TODO} AND dependencies_left = 0 AND not_before IS NULL"
_LINE = "project_id, assignee_id, start, priority, line_at, line_rank"
_CHANGED = (
    ("tasks_project", "project_id, priority, line_at", None),
    ("tasks_queued", "project_id, agent_type, priority, line_at", "status = 'todo' AND agent_type IS NOT NULL"),
    ("tasks_in_line", _LINE, _READY),
    ("tasks_todo", "project_id, priority, line_at, line_rank", _TODO),
    ("tasks_backlog", "project_id, priority, line_at", "status = 'backlog'"),
    ("tasks_not_done", "project_id, status, priority, line_at", "status IN ('failed', 'cancelled')"),
    ("tasks_assignee", "project_id, assignee_id, priority, line_at", "assignee_id IS NOT NULL"),
)
_NEW = (
    ("tasks_not_before", "not_before", f"{_TODO} AND not_before IS NOT NULL"),
    ("tasks_reviews_in_todo", "project_id, assignee_id", "status = 'todo' AND review_of IS NOT NULL"),
    ("tasks_parts_in_line", _LINE, f"{_READY} AND parent_id IS NOT NULL"),
    (
        "tasks_in_pool",
        "project_id, start, pool, priority, line_at, line_rank",
        f"{_READY} AND assignee_id IS NULL AND pool IS NOT NULL",
    ),
)


def upgrade(connection: Connection) -> None:
    for name, _, _ in _CHANGED:
        connection.define(f"DROP INDEX {name}")
    connection.define("ALTER TABLE tasks ADD COLUMN line_at BIGINT NOT NULL DEFAULT 0")
    connection.define("ALTER TABLE tasks ADD COLUMN line_rank BIGINT NOT NULL DEFAULT 0")
    connection.define("UPDATE tasks SET line_at = created_at, line_rank = ordinal * 4294967296")
    for name, columns, condition in (*_CHANGED, *_NEW):
        where = "" if condition is None else f" WHERE {condition}"
        connection.define(f"CREATE INDEX {name} ON tasks ({columns}){where}")
