"""The steps from an empty database to the present one, and the runner that takes those which are missing.

Each step is a module with `upgrade(connection)`; a step that has been released is never changed. All missing steps
run in one transaction, so a failed upgrade leaves the database as it was.
"""

from __future__ import annotations

from types import ModuleType

import sqlalchemy as sa

from toryo.storage.database import Connection
from toryo.storage.errors import DatabaseTooNew
from toryo.storage.migrations import step_0001_first_tables, step_0002_chat, step_0003_queue
from toryo.storage.statements import Statement

STEPS: tuple[ModuleType, ...] = (step_0001_first_tables, step_0002_chat, step_0003_queue)
"""In order; the position is the version."""

_versions = sa.Table(
    "schema_version",
    sa.MetaData(),
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", sa.Text, nullable=False),
)
_CREATE = sa.schema.CreateTable(_versions, if_not_exists=True)
_LAST = Statement(sa.select(sa.func.coalesce(sa.func.max(_versions.c.version), 0)))
_TAKEN = Statement(sa.insert(_versions), columns=["version", "name"])


def upgrade(connection: Connection, steps: tuple[ModuleType, ...] = STEPS) -> list[str]:
    """Takes the missing steps and answers their names. Two servers may try at once: the second waits and finds none."""
    connection.lock("toryo schema")
    connection.define(_CREATE)
    last = connection.value(_LAST)
    if last > len(steps):
        raise DatabaseTooNew(
            f"The database is at version {last}, this Toryo knows {len(steps)}.",
            "Install the Toryo that upgraded it, or a newer one; or restore a backup from before that.",
        )
    return [_take(connection, version, steps[version - 1]) for version in range(last + 1, len(steps) + 1)]


def _take(connection: Connection, version: int, step: ModuleType) -> str:
    step.upgrade(connection)
    name = step.__name__.rpartition(".")[2].removeprefix("step_")
    connection.run(_TAKEN, version=version, name=name)
    return name
