"""Metrics of the server as a whole: a few grouped reads per request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from toryo.domain.measures import Measure
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, by_index
from toryo.storage.task_lists import OPEN

_t, _s, _l, _c, _b, _d = (
    schema.tasks,
    schema.sessions,
    schema.launches,
    schema.claims,
    schema.mailboxes,
    schema.delegations,
)
_count = sa.func.count()


def _tasks() -> Iterable[sa.Select[Any]]:
    """The closed ones are counted within one index, the open ones by the indexes that hold nothing else."""
    grouped = sa.select(_t.c.project_id, _t.c.status, _count).group_by(_t.c.project_id, _t.c.status)
    yield by_index(grouped.where(sa.literal_column(schema.IS_CLOSED)), _t, "tasks_closed")
    for index, wanted in OPEN.items():
        yield by_index(grouped.where(*wanted), _t, index)


_MEASURES: dict[str, tuple[tuple[str, ...], Statement]] = {
    "tasks": (
        ("project", "status"),
        Statement(sa.union_all(*_tasks())),
    ),
    "queued_tasks": (
        ("project", "agent_type"),
        Statement(
            sa.select(_t.c.project_id, _t.c.agent_type, _count)
            .where(sa.literal_column("status = 'todo' AND agent_type IS NOT NULL"))
            .group_by(_t.c.project_id, _t.c.agent_type)
        ),
    ),
    "sessions": (
        ("purpose",),
        Statement(sa.select(_s.c.purpose, _count).where(_s.c.ended_at.is_(None)).group_by(_s.c.purpose)),
    ),
    "launches": (
        ("state",),
        Statement(
            sa.select(_l.c.state, _count)
            .where(_l.c.state.in_([sa.literal("ordered"), sa.literal("signed_in")]))
            .group_by(_l.c.state)
        ),
    ),
    "claims": (
        ("project",),
        Statement(sa.select(_c.c.project_id, _count).where(_c.c.ended_at.is_(None)).group_by(_c.c.project_id)),
    ),
    "mailboxes_waiting": (
        ("project",),
        Statement(
            sa.select(_b.c.project_id, _count).where(sa.literal_column("newest > cursor")).group_by(_b.c.project_id)
        ),
    ),
    "delegations_open": (
        ("project",),
        Statement(
            sa.select(_d.c.project_id, _count)
            .where(sa.literal_column("status IN ('pending', 'processing')"))
            .group_by(_d.c.project_id)
        ),
    ),
}

_SIZE = Statement(
    sa.text("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"),
    postgresql=sa.text("SELECT pg_database_size(current_database())"),
)


def measures(connection: Connection) -> list[Measure]:
    """The metrics; zero counts are left out."""
    return [
        Measure(name, dict(zip(labels, map(str, row[:-1]), strict=True)), int(row[-1]))
        for name, (labels, statement) in _MEASURES.items()
        for row in connection.all(statement)
    ]


def database_bytes(connection: Connection) -> int:
    """Size of the database, without the write-ahead log."""
    return int(connection.value(_SIZE))
