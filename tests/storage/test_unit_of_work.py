"""A row is read once and written once in a transaction, and every statement sees what was changed before it."""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from threading import Event, Thread
from typing import Any
from unittest.mock import patch

import pytest
import sqlalchemy as sa

import toryo.storage
from tests.storage.makers import NOW, Store, launch, session, task
from toryo.domain import events
from toryo.domain.queue import Claim, ended
from toryo.domain.tasks import Details, Status
from toryo.storage import many_rows, schema
from toryo.storage.engine import unit_of_work
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement
from toryo.storage.engine.unit_of_work import Target
from toryo.storage.errors import ConstraintBroken
from toryo.storage.events import LOCK
from toryo.storage.transaction import Transaction

pytestmark = pytest.mark.both

SECONDS = 100
_TITLES = Statement(sa.select(schema.tasks.c.title).order_by(schema.tasks.c.id))
_IDS = Statement(sa.select(schema.tasks.c.id))
_COUNT = Statement(sa.select(sa.func.count()).select_from(schema.tasks))
_AGENTS = Statement(sa.select(sa.func.count()).select_from(schema.agents))
_RENAME_ALL = Statement(sa.update(schema.tasks).values(title=sa.bindparam("title")))
_OF_ANYTHING = Statement(sa.text("SELECT title FROM tasks ORDER BY id"))


@pytest.fixture
def three(store: Store) -> Store:
    """A database with the tasks tsk_a, tsk_b and tsk_c."""
    store.add_tasks(*(task(f"tsk_{each}") for each in "abc"))
    return store


def rename(tx: Transaction, task_id: str, title: str) -> None:
    found = tx.tasks.find(task_id)
    assert found is not None
    tx.tasks.save(found, replace(found, title=title))


def titles(connection: Connection) -> list[str]:
    return [row[0] for row in connection.all(_TITLES)]


class Sent:
    """What is sent to the database within: the verb of each statement. Nothing is known before."""

    def __init__(self, store: Store) -> None:
        store.write(lambda tx: tx.connection.unit.forget())
        self.kind: Any = store.read(lambda tx: type(tx.connection))
        self.verbs: list[str] = []
        self.patches = [patch.object(self.kind, name, self._noting(name)) for name in _SENDING]

    def _noting(self, name: str) -> Any:
        send = getattr(self.kind, name)

        def noted(connection: Connection, statement: Statement, *rows: Any, **params: Any) -> Any:
            self.verbs.append(statement.sqlite.text.split(maxsplit=1)[0])
            return send(connection, statement, *rows, **params)

        return noted

    def __enter__(self) -> list[str]:
        for each in self.patches:
            each.start()
        return self.verbs

    def __exit__(self, *_: object) -> None:
        for each in self.patches:
            each.stop()


_SENDING = ("fetch_all", "fetch_one", "run", "many")


def test_a_row_is_read_once_and_written_once_however_often_it_changes(three: Store) -> None:
    def work(tx: Transaction) -> None:
        for number in range(5):
            rename(tx, "tsk_a", f"Title {number}")
        found = tx.tasks.find("tsk_a")
        assert found is not None
        assert (found.title, found.version) == ("Title 4", 6)

    with Sent(three) as verbs:
        three.write(work)
    assert verbs == ["SELECT", "UPDATE"]
    assert three.read(lambda tx: tx.tasks.find("tsk_a")).title == "Title 4"  # type: ignore[union-attr]


def test_rows_that_change_alike_are_written_in_one_statement(three: Store) -> None:
    def work(tx: Transaction) -> None:
        for each in tx.tasks.find_all(["tsk_a", "tsk_b", "tsk_c"]):
            tx.tasks.save(each, replace(each, title="New"))
        for number in range(3):
            tx.tasks.add(task(f"tsk_d{number}"), Details())

    with Sent(three) as verbs:
        three.write(work)
    assert verbs == ["SELECT", "INSERT", "UPDATE"]
    assert three.read(lambda tx: titles(tx.connection)) == ["New"] * 3 + ["tsk_d0", "tsk_d1", "tsk_d2"]


def test_a_row_that_was_added_and_changed_is_inserted_as_it_is_in_the_end(three: Store) -> None:
    def work(tx: Transaction) -> None:
        tx.tasks.add(task("tsk_d"), Details())
        rename(tx, "tsk_d", "New")

    with Sent(three) as verbs:
        three.write(work)
    assert verbs == ["INSERT"]
    assert three.read(lambda tx: tx.tasks.find("tsk_d").title) == "New"  # type: ignore[union-attr]


EDGES = many_rows.insert(schema.dependencies, ["task_id", "depends_on", "root_id"])


def test_rows_of_several_tables_are_written_together_before_one_of_them_is_read(three: Store) -> None:
    def work(tx: Transaction) -> None:
        EDGES.run(tx.connection, [("tsk_a", "tsk_b", "tsk_a")])
        tx.idempotency_keys.remember([(("wrk_1", "prj_1", "key"), "content", "answer", NOW)])
        assert tx.tasks.depends_on(["tsk_a"]) == {"tsk_a": ["tsk_b"]}
        EDGES.run(tx.connection, [("tsk_a", "tsk_c", "tsk_a")])
        EDGES.run(tx.connection, [("tsk_b", "tsk_c", "tsk_b")])

    with Sent(three) as verbs:
        three.write(work)
    both = {"sqlite": ["INSERT", "INSERT"], "postgresql": ["WITH"]}
    one = {"sqlite": ["INSERT"], "postgresql": ["WITH"]}
    dialect = three.read(lambda tx: tx.connection.dialect)
    assert verbs == [*both[dialect], "SELECT", *one[dialect], *one[dialect]]
    assert three.read(lambda tx: tx.tasks.depends_on(["tsk_b"])) == {"tsk_b": ["tsk_c"]}


def test_a_row_that_was_put_is_changed_after_it_was_written(three: Store) -> None:
    def work(tx: Transaction) -> None:
        found = tx.tasks.find("tsk_a")
        assert found is not None
        tx.tasks.start([replace(found, title="Unused", status=Status.IN_PROGRESS, version=found.version + 1)])
        rename(tx, "tsk_a", "New")

    three.write(work)
    after = three.read(lambda tx: tx.tasks.find("tsk_a"))
    assert after is not None
    assert (after.title, after.status) == ("New", Status.IN_PROGRESS)


def test_events_are_locked_from_their_write_to_the_commit(three: Store) -> None:
    def work(tx: Transaction) -> bool:
        tx.events.append(events.Event("evt_1", NOW, "wrk_1", False, "task.created"))
        tx.events.flush()
        return tx.connection.lock(LOCK) if tx.events.last() else True

    assert not three.write(work)


def test_a_query_is_asked_once_until_one_of_its_tables_changes(three: Store) -> None:
    def work(tx: Transaction) -> None:
        c = tx.connection
        assert [c.value(_COUNT), c.value(_COUNT), c.value(_AGENTS), c.value(_AGENTS)] == [3, 3, 3, 3]
        tx.tasks.add(task("tsk_d"), Details())
        assert [c.value(_AGENTS), c.value(_COUNT), c.value(_COUNT)] == [3, 4, 4]

    with Sent(three) as verbs:
        three.write(work)
    assert verbs == ["SELECT", "SELECT", "INSERT", "SELECT"]


def test_a_work_keeps_only_so_many_answers(three: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit_of_work, "MOST_ANSWERS", 2)

    def work(tx: Transaction) -> None:
        for statement in (_COUNT, _AGENTS, _TITLES, _TITLES, _COUNT):
            tx.connection.all(statement)

    with Sent(three) as verbs:
        three.read(work)
    assert len(verbs) == 4


def test_a_long_answer_is_not_kept(three: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backup reads every row of the database in one work, a page at a time."""
    monkeypatch.setattr(unit_of_work, "MOST_ROWS", 2)
    with Sent(three) as verbs:
        three.read(lambda tx: (titles(tx.connection), titles(tx.connection)))
    assert len(verbs) == 2


def test_a_work_keeps_only_so_many_rows(three: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who reads all events page by page, to find those that a reader sees, must not keep them all."""
    monkeypatch.setattr(unit_of_work, "MOST_ROWS_IN_ALL", 4)

    def work(tx: Transaction) -> None:
        for statement in (_TITLES, _TITLES, _IDS, _IDS, _TITLES):
            assert len(tx.connection.all(statement)) == 3

    with Sent(three) as verbs:
        three.read(work)
    assert len(verbs) == 3


def test_a_list_that_a_caller_changes_is_its_own(three: Store) -> None:
    def work(tx: Transaction) -> None:
        tx.connection.all(_TITLES).clear()
        assert len(tx.connection.all(_TITLES)) == 3

    three.read(work)


@pytest.mark.parametrize("statement", [_TITLES, _OF_ANYTHING])
def test_a_statement_sees_what_was_changed_before_it(three: Store, statement: Statement) -> None:
    def work(tx: Transaction) -> list[str]:
        rename(tx, "tsk_a", "New")
        return [row[0] for row in tx.connection.all(statement)]

    assert three.write(work) == ["New", "tsk_b", "tsk_c"]


def test_what_a_statement_writes_is_read_anew(three: Store) -> None:
    def work(tx: Transaction) -> list[str]:
        rename(tx, "tsk_a", "Older")
        tx.tasks.tree("tsk_b")
        tx.connection.run(_RENAME_ALL, title="All")
        found = [tx.tasks.find("tsk_a"), tx.tasks.tree("tsk_b").tasks["tsk_b"]]
        return [each.title for each in found if each is not None]

    assert three.write(work) == ["All", "All"]
    assert three.read(lambda tx: titles(tx.connection)) == ["All"] * 3


def test_what_was_changed_before_a_part_that_is_undone_stays_and_what_it_changed_is_unknown(three: Store) -> None:
    def work(tx: Transaction) -> None:
        rename(tx, "tsk_a", "Before")
        with suppress(ZeroDivisionError), tx.connection.savepoint():
            rename(tx, "tsk_a", "Within")
            rename(tx, "tsk_b", "Within")
            tx.tasks.add(task("tsk_d"), Details())
            raise ZeroDivisionError
        found = [tx.tasks.find(each) for each in ("tsk_a", "tsk_b", "tsk_d")]
        assert [each and each.title for each in found] == ["Before", "tsk_b", None]
        rename(tx, "tsk_c", "After")

    three.write(work)
    assert three.read(lambda tx: titles(tx.connection)) == ["Before", "tsk_b", "After"]


def test_a_change_that_the_database_refuses_ends_the_part_in_which_it_was_made(three: Store) -> None:
    def work(tx: Transaction) -> None:
        with suppress(Exception), tx.connection.savepoint():
            tx.tasks.add(task("tsk_a"), Details())
        rename(tx, "tsk_b", "After")

    three.write(work)
    assert three.read(lambda tx: titles(tx.connection)) == ["tsk_a", "After", "tsk_c"]


def test_a_work_that_fails_writes_nothing_and_its_neighbours_keep_what_they_changed(three: Store) -> None:
    """Nothing was sent before it failed: the others need not run again."""
    ran: list[str] = []

    def work(task_id: str) -> Any:
        def change(connection: Connection) -> None:
            ran.append(task_id)
            rename(Transaction(connection), task_id, "New")
            if task_id == "tsk_b":
                raise ZeroDivisionError

        return change

    async def together() -> list[Any]:
        running, release = Event(), Event()
        busy = []
        for _ in range(8 if three.database.dialect == "postgresql" else 1):
            running.clear()

            def wait(_: Connection) -> None:
                running.set()
                assert release.wait(SECONDS)

            busy.append(asyncio.create_task(three.database.write_async(wait)))
            assert await asyncio.to_thread(running.wait, SECONDS)
        waiting = [asyncio.create_task(three.database.write_async(work(f"tsk_{each}"))) for each in "abc"]
        await asyncio.sleep(0)
        release.set()
        await asyncio.gather(*busy)
        return await asyncio.gather(*waiting, return_exceptions=True)

    assert [type(each).__name__ for each in asyncio.run(together())] == ["NoneType", "ZeroDivisionError", "NoneType"]
    assert ran == ["tsk_a", "tsk_b", "tsk_c"]
    assert three.read(lambda tx: titles(tx.connection)) == ["New", "tsk_b", "New"]


def test_a_transaction_that_has_only_changed_knows_that_it_wrote(three: Store) -> None:
    def work(tx: Transaction) -> list[bool]:
        before = tx.wrote
        rename(tx, "tsk_a", "New")
        return [before, tx.wrote]

    assert three.write(work) == [False, True]


def test_what_was_read_before_a_lock_was_waited_for_is_read_again(three: Store) -> None:
    """On SQLite nobody waits, and nobody else writes meanwhile."""
    if three.database.dialect == "sqlite":
        assert three.write(lambda tx: tx.lock_project("prj_1")) is False
        return
    locked, read = Event(), Event()

    def first(tx: Transaction) -> None:
        tx.lock_project("prj_1")
        locked.set()
        assert read.wait(SECONDS)
        rename(tx, "tsk_a", "Theirs")

    def second(tx: Transaction) -> str:
        before, tree = tx.tasks.find("tsk_a"), tx.tasks.tree("tsk_a")
        assert before is not None
        assert tree.tasks["tsk_a"].title == before.title == "tsk_a"
        read.set()
        assert tx.lock_project("prj_1")
        assert titles(tx.connection)[0] == tx.tasks.tree("tsk_a").tasks["tsk_a"].title
        found = tx.tasks.find("tsk_a")
        assert found is not None
        return found.title

    thread = Thread(target=lambda: three.write(first))
    thread.start()
    assert locked.wait(SECONDS)  # Or one writer might take both, one after the other.
    assert three.write(second) == "Theirs"
    thread.join(SECONDS)


def test_sessions_launches_and_claims_are_known_as_they_will_be(store: Store) -> None:
    store.add_tasks(task("tsk_a", agent_type="planning"))
    one, signed_in, held = launch("lch_1"), session("ses_1", "lch_1"), Claim("tsk_a", 1, "prj_1", "w1", NOW, NOW + 1, 1)

    def work(tx: Transaction) -> None:
        assert tx.launches.add(one, "hash")
        tx.launches.save(one, replace(one, coordinator_id="c2"))
        tx.sessions.add(signed_in, "token")
        tx.sessions.save(signed_in, replace(signed_in, calls=3))
        tx.queues.add_claim(held)
        assert look(tx) == ("c2", 3, {"w1"}, held, [held])
        tx.sessions.save(signed_in, replace(signed_in, calls=4, ended_at=NOW))
        tx.queues.save_claim(ended(held, "submitted", NOW))
        assert look(tx) == ("c2", 4, set(), None, [])
        tx.queues.delete_claim(held)
        tx.queues.add_claim(held)
        assert look(tx) == ("c2", 4, set(), held, [held])

    def look(tx: Transaction) -> tuple[Any, ...]:
        found, stored = tx.launches.find("lch_1"), tx.sessions.by_token("token")
        assert found is not None
        assert stored is not None
        assert tx.sessions.find("ses_1") == stored
        live = {agent_id for agent_id, _ in tx.sessions.signed_in("prj_1")}
        assert {each.agent_id for each in tx.sessions.live_of("prj_1", "w1").values()} == live
        return found.coordinator_id, stored.calls, live, tx.queues.live_claim("tsk_a"), tx.queues.claims_of("w1")

    store.write(work)
    assert store.read(look) == ("c2", 4, set(), held, [held])


def test_who_saves_from_an_older_version_changes_what_differs_only(three: Store) -> None:
    def work(tx: Transaction) -> None:
        old = tx.tasks.find("tsk_a")
        assert old is not None
        rename(tx, "tsk_a", "New")
        tx.tasks.save(old, replace(old, status=Status.CANCELLED))
        found = tx.tasks.find("tsk_a")
        assert found is not None
        assert (found.title, found.status) == ("New", Status.CANCELLED)

    three.write(work)
    stored = three.read(lambda tx: tx.tasks.find("tsk_a"))
    assert stored is not None
    assert (stored.title, stored.status) == ("New", Status.CANCELLED)


_NAMED = re.compile(r"(?:FROM|JOIN|INTO|UPDATE|,)\s+(\w+)")


def test_a_statement_knows_all_tables_that_its_text_names() -> None:
    names, checked = set(schema.metadata.tables), 0
    columns = {column.name for table in schema.metadata.tables.values() for column in table.columns}
    for found in pkgutil.walk_packages(toryo.storage.__path__, "toryo.storage."):
        if ".migrations" in found.name:
            continue
        for statement in vars(importlib.import_module(found.name)).values():
            if not isinstance(statement, Statement) or statement.tables is None:
                continue
            for compiled in (statement.sqlite, statement.postgresql):
                named = set(_NAMED.findall(compiled.text)) & names
                assert named - columns <= statement.tables, compiled.text
                assert compiled.writes == statement.writes
                checked += 1
    assert checked > 200


ON_SQLITE = pytest.mark.parametrize("kept_database", ["sqlite"], indirect=True)
"""Only the writer of SQLite remembers between transactions: everything is written by it."""


def title(store: Store) -> str | None:
    return store.write(lambda tx: found.title if (found := tx.tasks.find("tsk_a")) else None)


@ON_SQLITE
def test_what_the_writer_of_sqlite_has_read_is_known_to_its_next_transaction(three: Store) -> None:
    with Sent(three) as verbs:
        three.write(lambda tx: rename(tx, "tsk_a", "New"))
        assert title(three) == "New"
        three.write(lambda tx: titles(tx.connection))
        three.write(lambda tx: titles(tx.connection))
    assert verbs == ["SELECT", "UPDATE", "SELECT"]


@ON_SQLITE
def test_readers_see_what_was_written_since_their_last_snapshot(three: Store) -> None:
    before = three.read(lambda tx: titles(tx.connection))
    three.write(lambda tx: rename(tx, "tsk_a", "New"))
    assert (before, three.read(lambda tx: titles(tx.connection))) == (
        ["tsk_a", "tsk_b", "tsk_c"],
        ["New", "tsk_b", "tsk_c"],
    )


@ON_SQLITE
def test_what_another_program_has_written_to_sqlite_is_read(three: Store) -> None:
    before = title(three)
    with closing(sqlite3.connect(three.database.place)) as other, other:
        other.execute("UPDATE tasks SET title = 'Of another program' WHERE id = 'tsk_a'")
    assert (before, title(three)) == ("tsk_a", "Of another program")


@ON_SQLITE
@pytest.mark.parametrize("written", [False, True], ids=["before it is written", "once it is written"])
def test_what_a_failed_work_has_changed_is_not_known_to_the_next(three: Store, written: bool) -> None:
    def fails(tx: Transaction) -> None:
        rename(tx, "tsk_a", "Never")
        if written:
            tx.connection.unit.flush()
        raise ValueError

    before = title(three)
    with suppress(ValueError):
        three.write(fails)
    assert title(three) == before


@ON_SQLITE
def test_what_is_not_committed_is_not_known_to_the_next(three: Store) -> None:
    def refers_to_nobody(tx: Transaction) -> None:
        rename(tx, "tsk_a", "Never")
        found = tx.tasks.find("tsk_b")
        assert found is not None
        tx.tasks.save(found, replace(found, assignee_id="nobody"))

    before = title(three)
    with pytest.raises(ConstraintBroken):
        three.write(refers_to_nobody)
    assert title(three) == before


@ON_SQLITE
@pytest.mark.parametrize("most", ["MOST_BETWEEN", "MOST_TEXT_BETWEEN"])
def test_the_writer_keeps_only_so_much(three: Store, most: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit_of_work, most, 2)
    with Sent(three) as verbs:
        three.write(lambda tx: titles(tx.connection))
        three.write(lambda tx: titles(tx.connection))
    assert verbs == ["SELECT", "SELECT"]


def test_a_session_is_found_by_its_new_token_only(three: Store) -> None:
    three.each(
        lambda tx: tx.launches.add(launch("lch_1"), "hash"),
        lambda tx: tx.sessions.add(session("ses_1", "lch_1"), "old"),
    )
    assert three.write(lambda tx: getattr(tx.sessions.by_token("old"), "id", None)) == "ses_1"
    three.write(lambda tx: tx.sessions.renew_token("ses_1", "new"))
    found = three.write(lambda tx: [tx.sessions.by_token(each) is not None for each in ("old", "new")])
    assert found == [False, True]


# --- in which order rows are written ---------------------------------------------------------------------------------

_ROWS = Target(schema.dependencies, ["task_id", "depends_on"], key=("task_id", "depends_on"))
_KEY, _OTHER = ("tsk_a", "tsk_b"), ("tsk_a", "tsk_c")


class Wire:
    """Notes the verb of each statement, and the row."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def run(self, statement: Statement, **params: Any) -> int:
        verb, row = statement.sqlite.text.split(maxsplit=1)[0], params.get("this_depends_on", params.get("depends_on"))
        self.sent.append(f"{verb} {row}")
        return 1

    def many(self, statement: Statement, rows: Sequence[Mapping[str, Any]]) -> None:
        for row in rows:
            self.run(statement, **row)


@pytest.mark.parametrize(
    ("steps", "sent"),
    [
        ([("add", _KEY), ("remove", _KEY)], ["DELETE tsk_b"]),
        ([("add", _KEY), ("add", _OTHER), ("remove", _KEY)], ["DELETE tsk_b", "INSERT tsk_c"]),
        ([("change", _KEY), ("remove", _KEY)], ["DELETE tsk_b"]),
        ([("change", _KEY), ("change", _OTHER), ("remove", _KEY)], ["DELETE tsk_b", "UPDATE tsk_c"]),
        ([("add", _KEY), ("change", _KEY), ("remove", _KEY)], ["DELETE tsk_b"]),
        ([("remove", _KEY), ("add", _KEY)], ["DELETE tsk_b", "INSERT tsk_b"]),
        ([("remove", _KEY), ("add", _KEY), ("remove", _KEY)], ["DELETE tsk_b"]),
        ([("remove", _KEY), ("remove", _KEY)], ["DELETE tsk_b"]),
        ([("change", _OTHER), ("add", _KEY)], ["INSERT tsk_b", "UPDATE tsk_c"]),
    ],
)
def test_the_last_word_about_a_row_is_what_is_written(
    steps: list[tuple[str, tuple[str, str]]], sent: list[str]
) -> None:
    wire = Wire()
    unit = unit_of_work.UnitOfWork(wire)
    take: dict[str, Callable[[tuple[str, str]], None]] = {
        "add": lambda key: unit.add(_ROWS, key, {"task_id": key[0], "depends_on": key[1]}),
        "change": lambda key: unit.change(_ROWS, key, {"root_id": "tsk_r"}),
        "remove": lambda key: unit.remove(_ROWS, key),
    }
    for step, key in steps:
        take[step](key)
        assert unit.unwritten
    unit.flush()
    assert wire.sent == sent
    unit.flush()
    assert wire.sent == sent, "it is written once"
    assert not unit.unwritten
