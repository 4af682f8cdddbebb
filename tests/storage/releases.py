"""A database of the first release: rows in every table it had. Nothing here knows today's schema."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement
from toryo.storage.migrations.tables_0001 import metadata as first

NOW = 1_700_000_000_000

_TEXTS = {
    "status": "active",
    "settings": "{}",
    "kind": "ai",
    "role": "worker",
    "state": "exited",
    "purpose": "task",
    "data": "{}",
    "capabilities": "[]",
    "provider_options": "{}",
    "provider": "claude",
    "providers": "[]",
    "agent_id": "old",
    "project_id": "prj_old",
    "task_id": "tsk_old",
    "root_id": "tsk_old",
    "launch_id": "lau_old",
    "session_id": "ses_old",
    "assignee_id": "old",
    "created_by": "old",
    "actor_id": "old",
    "approval": "approved",
    "checks": "none",
    "from_agent_id": "old",
    "to_agent_id": "old",
    "coordinator_id": "c_old",
}
_IDS = {
    "projects": "prj_old",
    "agents": "old",
    "tasks": "tsk_old",
    "launches": "lau_old",
    "sessions": "ses_old",
    "coordinators": "c_old",
}
_FILLED = frozenset(
    {"provider", "ended_at", "completed_at", "finished_at", "revoked_at", "delivered_at", "accepted_at"}
)
"""What may be null and is not: everything is over."""
_OWN: dict[tuple[str, str], Any] = {
    ("tasks", "status"): "completed",
    ("tasks", "depth"): 1,
    ("tasks", "priority"): 1,
    ("tasks", "version"): 1,
    ("dependencies", "task_id"): "tsk_old",
    ("dependencies", "depends_on"): "tsk_other",
    ("memberships", "left_at"): None,
    ("tokens", "revoked_at"): NOW,
    ("agents", "max_parallel_tasks"): 3,
}


_REQUIRED = {"cooldowns": (26, {"program": "claude"})}
"""What later steps have made required, with the version that did."""
_DROPPED = {"sign_in_failures": 5}
"""What later steps have taken away, each with the version that did."""


def tables() -> list[sa.Table]:
    """The tables of the first release; those of later ones begin empty."""
    return list(first.sorted_tables)


def sample(connection: Connection, version: int = 1) -> dict[str, list[tuple[Any, ...]]]:
    """Stores rows in every table of the first release that a database at `version` has; answers them all."""
    for table in tables():
        if _DROPPED.get(table.name, version + 1) <= version:
            continue
        since, more = _REQUIRED.get(table.name, (version + 1, {}))
        row = {**_row(table), **(more if since <= version else {})}
        now = sa.Table(table.name, sa.MetaData(), *map(sa.Column, row))
        into = Statement(sa.insert(now), columns=list(row))
        connection.run(into, **row)
        if table.name == "tasks":
            connection.run(into, **{**row, "id": "tsk_other", "root_id": "tsk_other"})
    return first_rows(connection)


def _row(table: sa.Table) -> dict[str, Any]:
    """A row of something that is over, every column that must be there filled."""
    return {
        column.name: _value(table, column)
        for column in table.columns
        if column.name != "sequence" and (not column.nullable or column.name in _FILLED)
    }


def _value(table: sa.Table, column: sa.Column[Any]) -> Any:
    if (table.name, column.name) in _OWN:
        return _OWN[table.name, column.name]
    if column.name == "id":
        return _IDS.get(table.name, f"{table.name}_old")
    if isinstance(column.type, sa.Boolean):
        return False
    if isinstance(column.type, sa.BigInteger):
        return NOW
    if isinstance(column.type, sa.Integer):
        return 1
    return _TEXTS.get(column.name, f"{column.name} of old")


def first_rows(connection: Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of the tables of the first release that are still there, in the columns they had."""
    return {
        table.name: sorted((tuple(row) for row in connection.all(Statement(sa.select(*table.columns)))), key=repr)
        for table in tables()
        if table.name not in _DROPPED
    }
