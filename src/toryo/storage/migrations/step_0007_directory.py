"""The stamp of the directory, by which servers know whether what they remember of it is still true, with the triggers
that change it; and indexes for the claims of a project that run out, and
for what people look at.

The stamp is random: a counter would repeat itself in a database that was restored. On PostgreSQL the first change of a
transaction is enough, and the function finds the stamp in the schema of the table that changed.
"""

from __future__ import annotations

from toryo.storage.engine.database import Connection

_TABLES = ("projects", "agents", "memberships", "api_keys", "tokens", "people", "access_tokens", "sign_ins")
_RANDOM = {"sqlite": "random()", "postgresql": "(random() * 9007199254740992)::bigint"}
_FUNCTION = """
CREATE FUNCTION directory_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'UPDATE %I.directory SET stamp = (random() * 9007199254740992)::bigint '
        'WHERE id = 1 AND xmin <> pg_current_xact_id()::xid',
        TG_TABLE_SCHEMA
    );
    RETURN NULL;
END
$$
"""


def upgrade(connection: Connection) -> None:
    connection.define("CREATE TABLE directory (id INTEGER NOT NULL PRIMARY KEY, stamp BIGINT NOT NULL)")
    connection.define(f"INSERT INTO directory (id, stamp) VALUES (1, {_RANDOM[connection.dialect]})")  # noqa: S608
    if connection.dialect == "postgresql":
        connection.define(_FUNCTION)
    for table in _TABLES:
        for trigger in _triggers(connection.dialect, table):
            connection.define(trigger)
    connection.define("CREATE INDEX claims_expiry ON claims (project_id, expires_at) WHERE ended_at IS NULL")
    for name in ("tasks_ended", "worktrees_project"):  # tasks_closed and worktrees_created take their places
        connection.define(f"DROP INDEX {name}")
    for index in _FOR_READS:
        connection.define(f"CREATE INDEX {index}")


def _triggers(dialect: str, table: str) -> list[str]:
    if dialect == "postgresql":
        run = "EXECUTE FUNCTION directory_changed()"
        return [
            f"CREATE TRIGGER {table}_changed AFTER INSERT OR UPDATE OR DELETE ON {table} FOR EACH ROW {run}",
            f"CREATE TRIGGER {table}_truncated AFTER TRUNCATE ON {table} FOR EACH STATEMENT {run}",
        ]
    change = "UPDATE directory SET stamp = random() WHERE id = 1"
    return [
        f"CREATE TRIGGER {table}_{event} AFTER {verb} ON {table} BEGIN {change}; END"
        for event, verb in (("inserted", "INSERT"), ("updated", "UPDATE"), ("deleted", "DELETE"))
    ]


_FOR_READS = (
    "tasks_backlog ON tasks (project_id, priority, created_at) WHERE status = 'backlog'",
    "tasks_closed ON tasks (project_id, status, completed_at) WHERE status IN ('completed', 'failed', 'cancelled')",
    "tasks_not_done ON tasks (project_id, status, priority, created_at) WHERE status IN ('failed', 'cancelled')",
    "tasks_assignee ON tasks (project_id, assignee_id, priority, created_at) WHERE assignee_id IS NOT NULL",
    "tasks_requested ON tasks (project_id, requested_by, created_at) WHERE requested_by IS NOT NULL",
    "worktrees_created ON worktrees (project_id, created_at, task_id)",
    "worktrees_open ON worktrees (created_at) WHERE state = 'open'",
    "conversations_newest ON conversations (project_id, created_at)",
    "events_correlation ON events (correlation_id, sequence) WHERE correlation_id IS NOT NULL",
    "sessions_newest ON sessions (created_at, id)",
)
