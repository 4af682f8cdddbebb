"""How the databases read after a long past: every statement of the product is explained on a filled database.

Statements are found where they are declared, so a new one is covered without anyone thinking of it; functions that
build statements are listed here with what they are called with, and a new one that is missing fails.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

import toryo.storage
from tests.databases import postgres_schema
from tests.filled import Past, fill
from toryo.domain.tasks import CLOSED, Status
from toryo.storage import (
    events,
    launches,
    questions,
    retention,
    saved_views,
    schema,
    sources,
    task_lists,
    usages,
)
from toryo.storage.engine.statements import Statement
from toryo.storage.open_database import open_database, upgrade

pytestmark = pytest.mark.both

PAST = Past(tasks=30_000)
"""Enough for both planners to choose as they do with a million tasks."""
GROWS = {
    *("tasks", "dependencies", "events", "claims", "launches", "sessions", "usages", "logs", "notes", "handoffs"),
    *("notifications", "messages", "threads", "conversations", "delegations", "worktrees", "worktree_jobs", "checks"),
    *("notices", "viewers", "batches", "usage_days", "memories", "search_terms"),
}
"""Tables that have more rows the longer a server is used. The others have as many as there are agents or people."""

READ_WHOLE = {
    "backup": "a backup reads everything",
    "integrity": "toryo db check reads everything",
    "stored_measures": "once an hour at most, where half of a limit is used, by who only reads",
}
"""Modules whose statements may read whole tables."""
COUNTS = {
    "measures._MEASURES[tasks][1]": "metrics count closed tasks, within one index",
    "task_lists._COUNT_CLOSED": "so does the report of a project",
    "stored_amounts._OPEN_OF_PROJECT": "where a limit of open tasks is reached, and then not again for a while",
    **{
        f"retention.{name}[{each}]": "an owner asks how much there is, and how much is due"
        for name, kinds in (
            ("_ROWS", retention._ROWS),
            ("_COUNT_TASKS", retention._COUNT_TASKS),
            ("_COUNT_LAUNCHES_OF_TASKS", retention._COUNT_LAUNCHES_OF_TASKS),
            ("_COUNT_EVENTS_OF_TASKS", retention._COUNT_EVENTS_OF_TASKS),
        )
        for each in kinds
    },
}
"""Statements that may read one index as a whole."""


def _asked(function: Callable[..., Statement], *before: Any, names: Iterable[str]) -> Iterator[Statement]:
    """A statement for each filter alone."""
    return (function(*before, (name,)) for name in names)


BUILDERS: dict[str, Callable[[], Iterable[Statement]]] = {
    "task_lists.listing": lambda: (
        each for asked in product((None, *Status), *[(False, True)] * 3) for each in task_lists.listing(*asked)
    ),
    "task_lists.counting": lambda: (
        each for asked in product((None, *Status), *[(False, True)] * 2) for each in task_lists.counting(*asked)
    ),
    "launches._paging": lambda: _asked(launches._paging, names=launches._PAGE),
    "events._reading": lambda: (
        each for back in (False, True) for each in _asked(events._reading, back, names=events._WANTED)
    ),
    "questions._listed": lambda: (
        questions._listed(of_task=of_task, in_state=in_state) for of_task, in_state in product((False, True), repeat=2)
    ),
    "saved_views._counting": lambda: (
        saved_views._counting((saved_views._Shape._make((*asked[:5], 1, asked[5])),), tuple(CLOSED))
        for asked in product((False, True), repeat=6)
    ),
    "sources._statements": lambda: (*sources._OF_SCHEDULES.values(), *sources._OF_WEBHOOKS.values()),
    "usages._summing": lambda: _asked(
        usages._summing, ("project_id",), names=("projects", "tasks", "agent_id")
    ),  # by day alone is never asked
}
"""Functions that build statements with conditions, and calls of them."""
NEEDS_NO_LOOK = {
    "rows.update_by_id": "by primary key",
    **dict.fromkeys(("many_rows.__init__", "many_rows._together"), "adds and changes rows by primary key"),
    **{f"backup.{each}": "of a backup" for each in ("_chunks", "_emptied", "_read", "_insert", "_continue_sequence")},
    **dict.fromkeys(("backup.forget_credentials", "backup._hold_everything", "backup.work"), "of a backup"),
    "integrity.check": "reads everything",
    "stored_measures._measuring": "reads everything",
    **dict.fromkeys(
        ("needs._unread", "overview._open_cards", "task_lists._open", "task_lists._closed", "tasks._line"),
        "its results are declared",
    ),
}
"""Functions whose statements need no look, and why."""


def modules() -> Iterator[Any]:
    for found in pkgutil.walk_packages(toryo.storage.__path__, "toryo.storage."):
        if not found.name.startswith(("toryo.storage.engine", "toryo.storage.migrations")):
            yield importlib.import_module(found.name)


def declared() -> dict[str, Statement]:
    found: dict[int, tuple[str, Statement]] = {}
    for module in modules():
        own = module.__name__.removeprefix("toryo.storage.")
        for name, value in vars(module).items():
            for place, statement in _within(f"{own}.{name}", value):
                found.setdefault(id(statement), (place, statement))
    for name, build in BUILDERS.items():
        for number, statement in enumerate(build()):
            found[id(statement)] = (f"{name}#{number}", statement)
    return dict(found.values())


def _within(place: str, value: Any) -> Iterator[tuple[str, Statement]]:
    if isinstance(value, Statement):
        yield place, value
    elif isinstance(value, dict | list | tuple):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in parts:
            yield from _within(f"{place}[{key}]", part)


STATEMENTS = {
    name: statement
    for name, statement in declared().items()
    if name.split(".")[0] not in READ_WHOLE and not isinstance(statement._core, sa.Insert)
}


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    """A filled file; what the planner knows of it was counted."""
    file = tmp_path_factory.mktemp("filled") / "toryo.db"
    _fill(f"sqlite:///{file}")
    connection = sqlite3.connect(file)
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def postgresql(postgres_server: str) -> Iterator[psycopg.Connection]:
    with postgres_schema(postgres_server) as url:
        _fill(url)
        with psycopg.connect(url, autocommit=True, prepare_threshold=None) as connection:
            connection.execute("SET plan_cache_mode = force_generic_plan")
            yield connection


def _fill(url: str) -> None:
    with open_database(url) as database:
        upgrade(database)
        fill(database, PAST)


def test_every_function_that_builds_statements_is_looked_at() -> None:
    found = {
        f"{module.__name__.removeprefix('toryo.storage.')}.{function}"
        for module in modules()
        for function in _builders(Path(module.__file__ or ""))
    }
    assert found == {*BUILDERS, *NEEDS_NO_LOOK}, "a new one belongs to BUILDERS, with calls of it"


def _builders(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef):
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Statement":
                    yield node.name
                    break


@pytest.mark.deep
def test_sqlite_reads_no_whole_table_that_grows(sqlite: sqlite3.Connection) -> None:
    assert _read_whole_by_sqlite(sqlite) == {}


@pytest.mark.deep
def test_sqlite_reads_no_whole_table_before_anything_was_counted(sqlite: sqlite3.Connection) -> None:
    """A server that has just been filled, or upgraded, has no statistics yet."""
    sqlite.execute("BEGIN")
    sqlite.execute("DELETE FROM sqlite_stat1")
    sqlite.execute("ANALYZE sqlite_schema")  # reads them again
    try:
        assert _read_whole_by_sqlite(sqlite) == {}
    finally:
        sqlite.execute("ROLLBACK")
        sqlite.execute("ANALYZE sqlite_schema")


@pytest.mark.deep
def test_a_look_at_a_line_begins_where_the_index_of_lines_has_it(sqlite: sqlite3.Connection) -> None:
    """Whatever an agent has completed, and however many tasks are in line."""
    looks = {
        name: each
        for name, each in STATEMENTS.items()
        if name.startswith(("tasks._READY", "tasks._LINE", "tasks._LEFT_TO", "tasks._POOLS"))
    }
    assert len(looks) >= 9
    for name, statement in looks.items():
        plan = " ".join(_plan_of_sqlite(sqlite, statement.sqlite.text))
        searches = re.findall(r"SEARCH tasks USING (?:COVERING )?INDEX (\w+)", plan)
        in_line = {"tasks_in_line", "tasks_parts_in_line", "tasks_in_pool"}
        assert in_line & {*searches}, name
        assert {*searches} <= in_line | {"sqlite_autoindex_tasks_1"}, name
        assert plan.count("SEARCH tasks") == len(searches), name


@pytest.mark.deep
def test_postgresql_reads_no_whole_table_that_grows(postgresql: psycopg.Connection) -> None:
    found = {name: _plan_of_postgresql(postgresql, statement) for name, statement in STATEMENTS.items()}
    assert {name: plan for name, plan in found.items() if name not in COUNTS and _costly(plan)} == {}


WORTH_AN_INDEX = 350
"""What reading a whole table costs PostgreSQL if it is too large for that: tables of a few hundred rows are not."""


def _costly(plan: list[str]) -> bool:
    """A LIMIT above it ends the reading early: nothing is sorted below one that costs this little."""
    scans = (re.search(rf"Seq Scan on ({'|'.join(GROWS)})\b.*\.\.(\d+)", line) for line in plan)
    limits = [float(found[1]) for line in plan if (found := re.search(r"Limit .*\.\.([\d.]+)", line))]
    return any(scan and int(scan[2]) > WORTH_AN_INDEX for scan in scans) and not any(
        limit < WORTH_AN_INDEX for limit in limits
    )


def _read_whole_by_sqlite(connection: sqlite3.Connection) -> dict[str, list[str]]:
    found = {name: _plan_of_sqlite(connection, statement.sqlite.text) for name, statement in STATEMENTS.items()}
    return {
        name: plan
        for name, plan in found.items()
        if name not in COUNTS and any(_is_whole(line, plan, STATEMENTS[name]) for line in plan)
    }


def _plan_of_sqlite(connection: sqlite3.Connection, text: str) -> list[str]:
    names = dict.fromkeys(re.findall(r"(?<![:\w]):(\w+)", text))
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {text}", names)]


HISTORY = {
    *("tasks_closed", "tasks_assignee", "tasks_correlation", "tasks_requested", "tasks_dead"),
    *("messages_about", "events_facts", "events_correlation"),
}
"""Partial indexes that grow with the past."""
LIVE = {
    str(index.name)
    for table in schema.metadata.sorted_tables
    for index in table.indexes
    if index.dialect_options["sqlite"]["where"] is not None
} - HISTORY
"""Those that hold what is open, and nothing of the past: they may be read as a whole."""


def _is_whole(line: str, plan: list[str], statement: Statement) -> bool:
    """All rows of a table, or all tasks of a project; not a page in the order of the index."""
    if "LIMIT" in statement.sqlite.text and not any(each == "USE TEMP B-TREE FOR ORDER BY" for each in plan):
        return False
    scan = re.match(r"SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?", line)
    if scan is not None:
        return scan[1] in GROWS and scan[2] not in LIVE
    return re.search(r"INDEX (tasks_project|tasks_closed) \(project_id=\?\)", line) is not None


def _plan_of_postgresql(connection: psycopg.Connection, statement: Statement) -> list[str]:
    names: list[str] = []

    def numbered(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    text = re.sub(r"%\((\w+)\)s", numbered, statement.postgresql.text).replace("%%", "%")
    connection.execute(f"PREPARE asked AS {text}")
    try:
        values = f"({', '.join('NULL' for _ in names)})" if names else ""
        return [row[0] for row in connection.execute(f"EXPLAIN EXECUTE asked{values}")]
    finally:
        connection.execute("DEALLOCATE asked")
