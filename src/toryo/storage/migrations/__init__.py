"""The steps from an empty database to the present one, and the runner that takes those which are missing.

Each step is a module with `upgrade(connection)`; a step that has been released is never changed. The first one makes
the tables of version 26, the oldest that is upgraded: what is older is refused untouched. All missing steps run in one
transaction, so a failed upgrade leaves the database as it was. Servers of the version before notice it
(`engine/directory_memory.py`) and refuse from then on.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType

import sqlalchemy as sa

from toryo.deeds import terminal
from toryo.storage import schema, statistics
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement
from toryo.storage.errors import DatabaseMisfit, DatabaseTooNew, DatabaseTooOld, StorageError


def _read_when_used(name: str) -> ModuleType:
    """A module that is executed when it is first used: who starts with a present database needs no step."""
    spec = importlib.util.find_spec(f"toryo.storage.migrations.{name}")
    assert spec is not None
    assert spec.loader is not None
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


STEPS: tuple[ModuleType, ...] = (
    _read_when_used("step_0026_first_tables"),
    _read_when_used("step_0027_sign_ins_of_origins"),
    _read_when_used("step_0028_stored_amounts"),
    _read_when_used("step_0029_moved_bases"),
    _read_when_used("step_0030_merged_subtasks"),
    _read_when_used("step_0031_task_origins"),
    _read_when_used("step_0032_task_budgets"),
    _read_when_used("step_0033_checks_tried"),
    _read_when_used("step_0034_lines"),
    _read_when_used("step_0035_pools"),
    _read_when_used("step_0036_places_in_line"),
)
"""In order; the first one makes version `OLDEST`, each other one the version after it."""
OLDEST = 26
PRESENT = OLDEST + len(STEPS) - 1

Before = Callable[[Connection, int], None]
"""What is done with a database before it is upgraded, and which version it has. It may be done again, as every work."""

_versions = sa.Table(
    "schema_version",
    sa.MetaData(),
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", sa.Text, nullable=False),
)
_CREATE = sa.schema.CreateTable(_versions, if_not_exists=True)
_LAST = Statement(sa.select(sa.func.coalesce(sa.func.max(_versions.c.version), 0)))
_NEW_STAMP = {
    "sqlite": Statement(sa.text("UPDATE directory SET stamp = random() WHERE id = 1")),
    "postgresql": Statement(
        sa.text("UPDATE directory SET stamp = (random() * 9007199254740992)\\:\\:bigint WHERE id = 1")
    ),
}
_FORGET = Statement(sa.delete(_versions))
_TAKEN = Statement(sa.insert(_versions), columns=["version", "name"])


def upgrade(
    connection: Connection, steps: tuple[ModuleType, ...] = STEPS, before: Before = lambda _, __: None
) -> list[str]:
    """Takes the missing steps and answers their names. Two servers may try at once: the second waits and finds none.

    Nobody else writes between `before` and the steps. If it raises, nothing is upgraded.
    """
    connection.lock("toryo schema")
    known = OLDEST + len(steps) - 1
    last = _supported(connection, known)
    missing = range(max(last + 1, OLDEST), known + 1)
    if last and missing:
        if connection.dialect == "postgresql":
            connection.define("LOCK TABLE directory IN ACCESS EXCLUSIVE MODE")  # waits for all who have read the stamp
        before(connection, last)
    connection.define(_CREATE)
    taken = [_take(connection, version, steps[version - OLDEST]) for version in missing]
    if last and missing:
        connection.run(_NEW_STAMP[connection.dialect])
    return taken


def require_present(connection: Connection) -> None:
    """For who must not upgrade: raises DatabaseTooNew or DatabaseTooOld if the tables are not of this version."""
    last = _supported(connection, PRESENT)
    if last < PRESENT:
        raise DatabaseTooOld(
            f"The database is at version {last}, this Toryo knows {PRESENT}.",
            f"Upgrade it ({terminal('db upgrade')}, or start the server), or use the Toryo that made it.",
        )


def _supported(connection: Connection, known: int) -> int:
    """The version of the database; 0 without tables. Raises DatabaseTooNew, or DatabaseTooOld if no step leads on."""
    last: int = connection.value(_LAST) if "schema_version" in columns(connection) else 0
    if last > known:
        raise DatabaseTooNew(
            f"The database is at version {last}, this Toryo knows {known}.",
            "Install the Toryo that upgraded it, or a newer one; or restore a backup from before that.",
        )
    if 0 < last < OLDEST:
        raise DatabaseTooOld(f"The database is at version {last}. {UPGRADES_FROM}", START_ONCE)
    return last


UPGRADES_FROM = f"The oldest version that this Toryo upgrades is {OLDEST}; nothing was changed."
START_ONCE = f"Start it once with Toryo's commit 0cac07d8, which upgrades it to version {OLDEST}, then with this one."


_COLUMNS = {
    "sqlite": "SELECT t.name, c.name FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'",
    "postgresql": (
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()"
    ),
}
_INDEXES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'index'",
    "postgresql": "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema()",
}
_TRIGGERS = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": (
        "SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
        "WHERE relnamespace = current_schema()::regnamespace AND tgenabled IN ('O', 'A')"
    ),
}
_SHOWN = 4


def bring(connection: Connection, before: Before) -> list[str]:
    """As `upgrade`, and looks whether the tables are then what this Toryo asks. Raises DatabaseMisfit."""
    try:
        taken = upgrade(connection, before=before)
    except StorageError:
        raise
    except Exception as error:  # whatever the driver says of a table that is there already, or is not
        raise _misfit(f"a step cannot be taken ({str(error).splitlines()[0]})") from error
    _refuse_misfit(connection)
    if taken and len(taken) < len(STEPS):
        statistics.collect(connection)  # new indexes have none
    return taken


def columns(connection: Connection) -> dict[str, set[str]]:
    """The columns of every table that is there."""
    found: dict[str, set[str]] = {}
    for table, column in connection.all(Statement(sa.text(_COLUMNS[connection.dialect]))):
        found.setdefault(table, set()).add(column)
    return found


def steps_to(version: int) -> tuple[ModuleType, ...]:
    """Those that lead from nothing to that version."""
    return STEPS[: version - OLDEST + 1]


def begin_at(connection: Connection, version: int) -> None:
    """Replaces all tables, and what is in them, by the empty ones of that version. `upgrade` leads on from there."""
    for table in reversed(schema.metadata.sorted_tables):
        connection.define(sa.schema.DropTable(table))
    if connection.dialect == "postgresql":
        connection.define("DROP FUNCTION directory_changed()")
    connection.run(_FORGET)
    upgrade(connection, steps_to(version))


def _refuse_misfit(connection: Connection) -> None:
    """Tables, columns, indexes and triggers must be those of the schema.

    Released steps lead to the same tables everywhere; a step that is still being written may have been taken in an
    earlier form. Tables and indexes that others keep in the same database are none of ours.
    """
    found = columns(connection)
    indexes = {row[0] for row in connection.all(Statement(sa.text(_INDEXES[connection.dialect])))}
    wrong = [
        difference for table in schema.metadata.sorted_tables for difference in _differences(table, found, indexes)
    ]
    triggers = {row[0] for row in connection.all(Statement(sa.text(_TRIGGERS[connection.dialect])))}
    wrong += [f"no trigger {each}" for each in schema.TRIGGERS[connection.dialect] if each not in triggers]
    if wrong:
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise _misfit(", ".join(wrong[:_SHOWN]) + more)


def _misfit(what: str) -> DatabaseMisfit:
    return DatabaseMisfit(
        f"The tables of this database do not fit the version that it says it has: {what}. Another state of Toryo's "
        "development has made them.",
        f"Start with the Toryo that made it and take its teams along ({terminal('export')}), then begin a new database "
        f"(another --data-dir or --database) and import them ({terminal('import')}); or restore a backup.",
    )


def _differences(table: sa.Table, found: dict[str, set[str]], indexes: set[str]) -> list[str]:
    if table.name not in found:
        return [f"no table {table.name}"]
    wanted = {column.name for column in table.columns}
    missing = [f"no {table.name}.{each}" for each in sorted(wanted - found[table.name])]
    unknown = [f"unknown {table.name}.{each}" for each in sorted(found[table.name] - wanted)]
    lost = [f"no index {each}" for each in sorted(str(index.name) for index in table.indexes) if each not in indexes]
    return missing + unknown + lost


def _take(connection: Connection, version: int, step: ModuleType) -> str:
    step.upgrade(connection)
    name = step.__name__.rpartition(".")[2].removeprefix("step_")
    connection.run(_TAKEN, version=version, name=name)
    return name
