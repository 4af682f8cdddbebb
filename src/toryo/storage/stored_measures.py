"""How many bytes are there of what a key's holder, or a project, has stored: a sum over all of its rows.

The tables and their authors are those of the schema, so a new table counts without anybody thinking of it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sqlalchemy as sa

from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement
from toryo.storage.stored_amounts import PROJECT, Due

ROW = 200
"""Bytes that a row counts as, besides its texts."""
AUTHORS = ("created_by", "actor_id", "from_agent_id", "updated_by", "author_id", "agent_id")
"""The columns that say whose a row is; the first one that a table has counts."""
OF_NOBODY = frozenset({"projects", "memberships", "launches", "sessions", "logs", "usages", "stored_amounts"})
"""Tables that have a project but nothing that agents store by calling: people and Coordinators fill them."""

_t = schema.tasks
_p = sa.bindparam


def _size(table: sa.Table, dialect: str) -> sa.ColumnElement[int]:
    """Bytes of a row."""
    texts = [column for column in table.c if isinstance(column.type, sa.Text)]
    if dialect == "sqlite":
        lengths = [sa.func.length(sa.cast(each, sa.LargeBinary)) for each in texts]
    else:
        lengths = [sa.func.octet_length(each) for each in texts]
    size: Any = sa.literal(ROW)
    for each in lengths:
        size = size + sa.func.coalesce(each, 0)
    return sa.func.coalesce(sa.func.sum(size), 0)


def _measuring(table: sa.Table, *, of_holder: bool) -> Statement | None:
    """What the rows of a table take, of a project or of one holder in it; None: that holder has none there."""
    project = table.c.get("project_id")
    author = next((table.c[name] for name in AUTHORS if name in table.c), None)
    if of_holder and author is None:
        return None

    def core(dialect: str) -> sa.Select[Any]:
        found = sa.select(_size(table, dialect)).select_from(table)
        if project is not None:
            found = found.where(project == _p("project_id"))
        else:
            found = found.where(table.c.task_id == _t.c.id, _t.c.project_id == _p("project_id"))
        return found.where(author == _p("holder")) if author is not None and of_holder else found

    return Statement(core("sqlite"), postgresql=core("postgresql"))


_MEASURED = [
    table
    for table in schema.metadata.sorted_tables
    if table.name not in OF_NOBODY and ("project_id" in table.c or "task_id" in table.c)
]


@cache
def _statements(*, of_holder: bool) -> list[Statement]:
    """Made when they are first asked for: a start of the server waits for none of them."""
    return [found for table in _MEASURED if (found := _measuring(table, of_holder=of_holder)) is not None]


def measure(connection: Connection, due: Due) -> int:
    """Bytes."""
    of_project = due.holder == PROJECT
    given = {"project_id": due.project_id} if of_project else {"project_id": due.project_id, "holder": due.holder}
    return sum(int(connection.value(each, **given)) for each in _statements(of_holder=not of_project))
