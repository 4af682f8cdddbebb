"""What is remembered of the directory is never older than the call that uses it, and never what was not committed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from threading import Event, Thread
from typing import Any
from unittest.mock import patch

import pytest
import sqlalchemy as sa
from sqlalchemy.sql.visitors import iterate

from tests.storage.makers import NOW, Store, agent, project
from toryo import storage
from toryo.domain.launches import Purpose
from toryo.domain.projects import Settings
from toryo.storage import schema
from toryo.storage.backup import backup, restore
from toryo.storage.engine import directory_memory
from toryo.storage.engine.database import _STAMP as STAMP
from toryo.storage.engine.database import _VERSION as VERSION
from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.statements import Statement
from toryo.storage.many_rows import ManyRows
from toryo.storage.many_rows import _together as together
from toryo.storage.open_database import open_database, upgrade
from toryo.storage.rows import update_by_id
from toryo.storage.transaction import Transaction
from toryo.workflow.snapshot import Cooldown

pytestmark = pytest.mark.both

SECONDS = 60


@pytest.fixture
def url(database_url: str) -> str:
    """An empty database of each kind, with all tables: for several servers."""
    with open_database(database_url, exclusive=False) as made:
        upgrade(made)
    return database_url


@pytest.fixture
def servers(url: str) -> Iterator[tuple[Store, Store]]:
    """Two servers on one database, with a project and three agents."""
    with open_database(url, exclusive=False) as one, open_database(url, exclusive=False) as other:
        yield Store(one), _without_rows(other)


def _without_rows(database: Database) -> Store:
    store = Store.__new__(Store)
    store.database = database
    return store


@contextmanager
def statements(database: Database) -> Iterator[list[Statement]]:
    """What is asked of the database within."""
    kind: Any = database.read(type)
    ran: list[Statement] = []

    def noting(original: Callable[..., Any]) -> Callable[..., Any]:
        def noted(connection: Connection, statement: Statement, params: dict[str, Any]) -> Any:
            ran.append(statement)
            return original(connection, statement, params)

        return noted

    with ExitStack() as patches:
        for name in ("fetch_all", "fetch_one"):
            patches.enter_context(patch.object(kind, name, noting(getattr(kind, name))))
        yield ran


def stamp(store: Store) -> int:
    found: int = store.database.read(lambda connection: connection.value(STAMP))
    return found


def define(store: Store, sql: str) -> None:
    store.database.write(lambda connection: connection.define(sql))


def add(store: Store, agent_id: str) -> None:
    store.write(lambda tx: tx.agents.add(agent(agent_id), None))


def tables_of(statement: Statement) -> set[str]:
    parts: Any = iterate(statement._core)  # type: ignore[arg-type]
    return {str(part.name) for part in parts if isinstance(part, sa.Table)}


# --- the stamp -------------------------------------------------------------------------------------------------------

DEFAULTS: dict[type, Any] = {str: "'x'", int: "1", bool: "true"}
ROWS = {"project_id": "'prj_1'", "agent_id": "'spare'", "reports_to": "NULL"}


def insert(table: sa.Table) -> str:
    """SQL that adds a row to a table of the directory."""
    values = {
        column.name: ROWS.get(column.name) or DEFAULTS[column.type.python_type]
        for column in table.columns
        if not column.nullable
    }
    return f"INSERT INTO {table.name} ({', '.join(values)}) VALUES ({', '.join(values.values())})"


@pytest.mark.parametrize("table", schema.DIRECTORY, ids=lambda table: table.name)
def test_whoever_writes_to_a_table_of_the_directory_changes_the_stamp(store: Store, table: sa.Table) -> None:
    """SQL that Toryo did not write: a trigger does it."""
    add(store, "spare")
    key = next(iter(table.primary_key.columns)).name
    where = f"WHERE {key} = {ROWS.get(key, repr('x'))}" + (" AND agent_id = 'spare'" if key == "project_id" else "")
    known = {stamp(store)}
    for sql in (insert(table), f"UPDATE {table.name} SET {key} = {key} {where}", f"DELETE FROM {table.name} {where}"):
        define(store, sql)
        assert stamp(store) not in known, sql
        known.add(stamp(store))
    define(store, f"DELETE FROM {table.name} WHERE {key} = 'none'")
    assert stamp(store) in known


@pytest.mark.parametrize("table", schema.DIRECTORY, ids=lambda table: table.name)
def test_emptying_a_table_changes_the_stamp(store: Store, table: sa.Table) -> None:
    """TRUNCATE; on SQLite, which has none, DELETE without a condition is as fast and calls no trigger if it may."""
    sql = f"TRUNCATE {table.name} CASCADE"
    if store.database.read(lambda connection: connection.dialect) == "sqlite":
        sql = "DELETE FROM memberships"
    before = stamp(store)
    define(store, sql)
    assert stamp(store) != before


def test_the_stamp_stays_while_other_tables_change(store: Store) -> None:
    before = stamp(store)
    others = {name for name in schema.metadata.tables if name not in {table.name for table in schema.DIRECTORY}}
    store.write(lambda tx: tx.agents.cool("w1", Purpose.TASK, Cooldown(NOW, "quota")))
    assert stamp(store) == before
    assert {"tasks", "sessions", "launches", "presences", "cooldowns", "mailboxes", "accounts"} <= others


def test_a_change_that_is_rolled_back_leaves_the_stamp(store: Store) -> None:
    before = stamp(store)

    def fail(tx: Transaction) -> None:
        tx.agents.add(agent("spare"), None)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.write(fail)
    assert stamp(store) == before


def test_thousands_of_changes_in_one_transaction_leave_one_stamp(store: Store) -> None:
    def work(tx: Transaction) -> None:
        for number in range(2000):
            tx.agents.add(agent(f"a{number}"), None)

    before = stamp(store)
    store.write(work)
    assert stamp(store) != before
    assert len(store.read(lambda tx: tx.agents.all())) == 2003


# --- the statements --------------------------------------------------------------------------------------------------


def _every_statement() -> Iterator[tuple[str, Statement]]:
    for module in walk_packages(storage.__path__, "toryo.storage."):
        for name, value in vars(import_module(module.name)).items():
            if isinstance(value, Statement):
                yield f"{module.name}.{name}", value
    for table in schema.metadata.sorted_tables:
        if "id" in table.c:
            for column in table.c:
                yield f"update_by_id({table.name}.{column.name})", update_by_id(table, (column.name,))


_WRITES = re.compile(r"(?:INSERT INTO|(?<!DO )UPDATE|DELETE FROM)\s+(\w+)")


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"], ids=["SQLite", "PostgreSQL"])
def test_a_transaction_that_writes_to_the_directory_is_known_by_its_statements(dialect: str) -> None:
    """By the text that the database gets: each statement that names one of the tables counts as a change of it."""
    names = {table.name for table in schema.DIRECTORY}
    written: set[str] = set()
    for name, statement in _every_statement():
        compiled = getattr(statement, dialect)
        found = set(_WRITES.findall(compiled.text)) & names
        assert compiled.changes_directory == bool(found) or isinstance(statement._core, sa.TextClause), name
        written |= found
    assert written == names


def test_statements_of_many_rows_write_to_their_table_only_and_are_known_by_it() -> None:
    found = [
        each
        for module in walk_packages(storage.__path__, "toryo.storage.")
        for each in vars(import_module(module.name)).values()
        if isinstance(each, ManyRows)
    ]
    assert found
    for each in found:
        for statement in (each.by_row, together((each,))):
            text = statement.sqlite.text
            (written,) = set(_WRITES.findall(text))
            assert statement.tables == frozenset({written})
            assert statement.sqlite.changes_directory == (written in {table.name for table in schema.DIRECTORY})


def test_a_written_text_counts_as_a_change_of_the_directory() -> None:
    assert Statement(sa.text("UPDATE agents SET name = 'x'")).sqlite.changes_directory
    assert not Statement(sa.text("SELECT name FROM agents")).sqlite.changes_directory
    of_one = "UPDATE claims SET outcome = 1"
    assert Statement(sa.text(of_one)).sqlite.changes_directory
    assert not Statement(sa.text(of_one), only=[schema.claims]).sqlite.changes_directory
    assert Statement(sa.text("UPDATE agents SET name = 'x'"), only=[schema.agents]).sqlite.changes_directory
    hidden = sa.delete(schema.agents).returning(schema.agents.c.id).cte("gone")
    assert Statement(sa.select(hidden.c.id)).postgresql.changes_directory


def _aggregate(tx: Transaction, name: str) -> Any:
    owner = name.partition(".")[0]
    made = [getattr(tx, each) for each, value in vars(Transaction).items() if hasattr(value, "__set_name__")]
    (found,) = [each for each in made if type(each).__name__ == owner]
    return found


@pytest.mark.parametrize("name", sorted(directory_memory.REMEMBERED))
def test_what_is_remembered_depends_on_the_directory_alone(store: Store, name: str) -> None:
    read = directory_memory.REMEMBERED[name]
    values = [
        ["w1"] if "Collection" in str(parameter.annotation) else "w1"
        for parameter in list(inspect.signature(read).parameters.values())[1:]
    ]
    with statements(store.database) as ran:
        answer = store.read(lambda tx: getattr(_aggregate(tx, name), name.partition(".")[2])(*values))
        again = store.read(lambda tx: getattr(_aggregate(tx, name), name.partition(".")[2])(*values))
    (asked,) = [statement for statement in ran if statement not in (STAMP, VERSION)]
    assert tables_of(asked) <= {table.name for table in schema.DIRECTORY}
    assert answer == again
    assert not isinstance(answer, list | set)


# --- a transaction ---------------------------------------------------------------------------------------------------


def test_what_was_read_once_is_read_from_memory(store: Store) -> None:
    def look(tx: Transaction) -> Any:
        return (
            tx.agents.find("w1"),
            tx.agents.find("nobody"),
            tx.agents.with_superiors(["w1", "w2"]),
            tx.agents.below("boss"),
            tx.agents.members_among("prj_1", ["w1", "boss"]),
            tx.agents.membership("prj_1", "w2"),
            tx.projects.find("prj_1"),
        )

    for run in (store.read, store.write):
        first = run(look)
        with statements(store.database) as ran:
            assert run(look) == first
        assert ran == [STAMP]


def test_a_transaction_sees_its_own_changes(store: Store) -> None:
    def work(tx: Transaction) -> None:
        before = tx.agents.find("w1")
        assert before is not None
        tx.agents.save(before, agent("w1", name="Ann", reports_to="boss"))
        assert tx.agents.find("w1") == agent("w1", name="Ann", reports_to="boss")
        tx.agents.join("prj_1", "boss", NOW)
        assert "boss" in tx.agents.members("prj_1")

    store.write(lambda tx: tx.agents.members("prj_1"))
    store.write(work)
    assert store.read(lambda tx: tx.agents.find("w1")) == agent("w1", name="Ann", reports_to="boss")
    assert "boss" in store.read(lambda tx: tx.agents.members("prj_1"))


def test_what_was_rolled_back_is_not_remembered(store: Store) -> None:
    seen: list[Any] = []

    def fail(tx: Transaction) -> None:
        tx.agents.join("prj_1", "boss", NOW)
        seen.append(tx.agents.membership("prj_1", "boss"))
        raise ZeroDivisionError

    assert store.read(lambda tx: tx.agents.membership("prj_1", "boss")) is None
    with pytest.raises(ZeroDivisionError):
        store.write(fail)
    assert seen == [(NOW, None)] * len(seen)
    assert seen
    for run in (store.read, store.write):
        assert run(lambda tx: tx.agents.membership("prj_1", "boss")) is None


def test_what_a_savepoint_has_undone_is_not_remembered(store: Store) -> None:
    def work(connection: Connection) -> Any:
        tx = Transaction(connection)
        with suppress(ZeroDivisionError), connection.savepoint():
            tx.agents.join("prj_1", "boss", NOW)
            assert tx.agents.membership("prj_1", "boss") == (NOW, None)
            raise ZeroDivisionError
        return tx.agents.membership("prj_1", "boss")

    assert store.database.write(work) is None
    assert store.read(lambda tx: tx.agents.membership("prj_1", "boss")) is None


def test_works_that_share_a_transaction_see_what_the_others_changed(store: Store, at_once: Any) -> None:
    """Also when one of them fails, and all of them run again."""

    def work(number: int) -> Any:
        def carry_out(tx: Transaction) -> Any:
            known = tx.agents.find(f"a{number // 2}")
            if known is None:
                tx.agents.add(agent(f"a{number // 2}"), None)
            if number % 5 == 0:
                raise ZeroDivisionError
            return tx.agents.find(f"a{number // 2}")

        return store.write(carry_out)

    outcomes = at_once(24, work)
    for number, outcome in enumerate(outcomes):
        if number % 5:
            assert outcome == agent(f"a{number // 2}") or type(outcome).__name__ == "Duplicate", outcome
    made = {f"a{number // 2}" for number in range(24) if number % 5}
    assert {each.id for each in store.read(lambda tx: tx.agents.all())} == made | {"boss", "w1", "w2"}


def test_without_a_stamp_nothing_is_remembered(store: Store) -> None:
    define(store, "DELETE FROM directory")
    try:
        assert store.read(lambda tx: tx.agents.find("w1")) is not None
        store.write(lambda tx: tx.agents.join("prj_1", "boss", NOW))
        assert store.read(lambda tx: tx.agents.membership("prj_1", "boss")) == (NOW, None)
        with statements(store.database) as ran:
            store.read(lambda tx: (tx.agents.find("w1"), tx.agents.find("w2")))
        assert len(ran) == 3
    finally:
        define(store, "INSERT INTO directory VALUES (1, 7)")


# --- threads and servers ---------------------------------------------------------------------------------------------


def aside(store: Store, work: Callable[[Transaction], Any], *, reads: bool) -> tuple[Thread, list[Any]]:
    """Runs a work in a thread of its own."""
    outcome: list[Any] = []
    run = store.read if reads else store.write
    thread = Thread(target=lambda: outcome.append(run(work)))
    thread.start()
    return thread, outcome


def test_a_reader_on_an_older_snapshot_neither_sees_nor_spoils_the_newer_directory(
    servers: tuple[Store, Store],
) -> None:
    here, other = servers
    began, changed = Event(), Event()

    def read(tx: Transaction) -> Any:
        before = tx.agents.membership("prj_1", "w1")
        began.set()
        assert changed.wait(SECONDS)
        return before, tx.agents.find("w1"), tx.agents.members("prj_1"), tx.agents.find("new")

    thread, outcome = aside(here, read, reads=True)
    assert began.wait(SECONDS)

    def change(tx: Transaction) -> None:
        tx.agents.leave("prj_1", "w1", NOW + 1)
        tx.agents.add(agent("new"), None)

    other.write(change)
    for store in servers:
        assert store.read(lambda tx: tx.agents.membership("prj_1", "w1")) == (NOW, NOW + 1)
    changed.set()
    thread.join(SECONDS)
    ((before, found, members, new),) = outcome
    assert (before, members, new) == ((NOW, None), ("w1", "w2"), None)
    assert found == agent("w1", reports_to="boss", created_at=NOW + 1)
    for store in servers:
        assert store.read(lambda tx: tx.agents.members("prj_1")) == ("w2",)
        assert store.read(lambda tx: tx.agents.find("new")) == agent("new")


@pytest.mark.postgresql
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_writer_that_waited_for_a_lock_sees_what_changed_meanwhile(servers: tuple[Store, Store]) -> None:
    here, other = servers
    looked, changing = Event(), Event()

    def waits(tx: Transaction) -> Any:
        before = tx.agents.membership("prj_1", "w1")
        looked.set()
        assert changing.wait(SECONDS)
        tx.lock_project("prj_1")
        return before, tx.agents.membership("prj_1", "w1")

    def changes(tx: Transaction) -> None:
        tx.lock_everything()
        changing.set()
        tx.agents.leave("prj_1", "w1", NOW + 1)

    here.write(lambda tx: tx.agents.membership("prj_1", "w1"))
    thread, outcome = aside(here, waits, reads=False)
    assert looked.wait(SECONDS)
    other.write(changes)
    thread.join(SECONDS)
    assert outcome == [((NOW, None), (NOW, NOW + 1))]


@pytest.mark.postgresql
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_what_a_writer_read_after_a_change_is_not_remembered_for_the_time_before(
    servers: tuple[Store, Store],
) -> None:
    """READ COMMITTED: the stamp is older than the row. A reader on the older snapshot must not get the row."""
    here, other = servers
    began, changed, filled = Event(), Event(), Event()

    def old(tx: Transaction) -> Any:
        tx.projects.find("prj_1")
        began.set()
        assert filled.wait(SECONDS)
        return tx.agents.membership("prj_1", "w1")

    def late(tx: Transaction) -> Any:
        tx.projects.find("prj_1")
        changed.set()
        other.write(lambda theirs: theirs.agents.leave("prj_1", "w1", NOW + 1))
        return tx.agents.membership("prj_1", "w1")

    thread, outcome = aside(here, old, reads=True)
    assert began.wait(SECONDS)
    writer, written = aside(here, late, reads=False)
    writer.join(SECONDS)
    filled.set()
    thread.join(SECONDS)
    assert written == [(NOW, NOW + 1)]
    assert outcome == [(NOW, None)]
    assert here.read(lambda tx: tx.agents.membership("prj_1", "w1")) == (NOW, NOW + 1)


def test_threads_that_look_while_the_directory_changes_see_each_state_whole(servers: tuple[Store, Store]) -> None:
    """The name of the project, and of each agent, are changed together, through both servers in turn."""
    names, over = ["state 0"], Event()
    problems: list[Any] = []

    def look(store: Store) -> None:
        while not over.is_set():
            known = len(names) - 1  # Answered before the look begins.

            def read(tx: Transaction) -> list[str]:
                house = tx.projects.find("prj_1")
                assert house is not None
                agents = tx.agents.with_superiors(["w1", "w2"])
                return [house.name, *(each.name for each in agents), *(each.name for each in tx.agents.all())]

            seen = set(store.read(read))
            if len(seen) != 1 or int(seen.pop().removeprefix("state ")) < known:
                problems.append((seen, known))

    def change(name: str, tx: Transaction) -> None:
        for each in tx.agents.all():
            tx.agents.save(each, agent(each.id, reports_to=each.reports_to, name=name))
        before = tx.projects.find("prj_1")
        assert before is not None
        tx.projects.save(before, project(name=name, settings=Settings()))

    servers[0].write(partial(change, "state 0"))
    threads = [Thread(target=look, args=(servers[number % 2],)) for number in range(4)]
    for thread in threads:
        thread.start()
    for number in range(1, 41):
        servers[number % 2].write(partial(change, f"state {number}"))
        names.append(f"state {number}")
    over.set()
    for thread in threads:
        thread.join(SECONDS)
        assert not thread.is_alive()
    assert problems == []


# --- how much --------------------------------------------------------------------------------------------------------


def test_only_the_latest_states_are_kept(store: Store) -> None:
    for number in range(20):
        add(store, f"a{number}")
        store.read(lambda tx: tx.agents.all())
    assert len(store.database.memory._states) <= directory_memory.STATES_KEPT


def test_asking_for_what_does_not_exist_does_not_fill_the_memory(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def guess(number: int, tx: Transaction) -> Any:
        return tx.tokens.find(f"guess {number}")

    monkeypatch.setattr(directory_memory, "MOST_ANSWERS", 50)
    for number in range(200):
        assert store.read(partial(guess, number)) is None
    assert max(len(state.answers) for state in store.database.memory._states.values()) <= 51


def test_a_restored_database_has_a_stamp_of_its_own(url: str, tmp_path: Path) -> None:
    """What was remembered of the contents before is of no use."""
    file = tmp_path / "backup"
    with open_database(url, exclusive=False) as opened:
        store = Store(opened)
        before, ann = stamp(store), store.read(lambda tx: tx.agents.find("w1"))
        backup(opened, file)
    with open_database(f"sqlite:///{tmp_path / 'other.db'}") as other:
        upgrade(other)
        empty = _without_rows(other)
        assert empty.read(lambda tx: tx.agents.find("w1")) is None
        restore(other, file)
        assert empty.read(lambda tx: tx.agents.find("w1")) == ann
        assert stamp(empty) != before
