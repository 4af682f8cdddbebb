"""PostgreSQL's own troubles: conflicts and outages, and two servers on one database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from threading import Event, Thread
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from tests.databases import postgres_url
from tests.postgres_proxy import Proxy, proxy
from tests.storage.tables import NEW_COUNTER, NEW_ITEM, define, increment, item_ids, number
from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.postgresql import PostgreSQLDatabase
from toryo.storage.engine.statements import Statement
from toryo.storage.errors import DatabaseUnavailable, OutcomeUnknown, Unstorable
from toryo.storage.open_database import open_database, upgrade

pytestmark = pytest.mark.postgresql
SECONDS = 100
AtOnce = Callable[..., list[Any]]


@pytest.fixture
def postgres(postgres_empty: str) -> Iterator[Database]:
    with open_database(postgres_empty) as opened:
        opened.write(define)
        yield opened


@pytest.fixture
def wire(postgres_empty: str) -> Iterator[Proxy]:
    with proxy(postgres_empty) as forwarding:
        yield forwarding


@pytest.fixture
def behind_wire(postgres: Database, wire: Proxy) -> Iterator[Database]:
    with open_database(wire.url, threads=2, patience=2) as opened:
        yield opened


@pytest.mark.pitfall("F6")
def test_two_servers_share_one_database_and_lose_nothing(
    postgres: Database, postgres_empty: str, at_once: AtOnce
) -> None:
    with open_database(postgres_empty) as other:
        at_once(8, lambda which: [(postgres, other)[which % 2].write(increment) for _ in range(50)])
    assert postgres.read(number) == 400


def test_a_pool_that_gives_each_transaction_another_connection_is_refused_at_the_start(
    postgres_empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Any] = []
    connect = PostgreSQLDatabase.connect

    def pooled(self: PostgreSQLDatabase, **how: Any) -> Any:
        """What such a pool does: two clients that are idle get one connection."""
        if not how["reads_only"] or not kept:
            kept.append(connect(self, **how))
        return kept[-1]

    monkeypatch.setattr(PostgreSQLDatabase, "connect", pooled)
    with pytest.raises(DatabaseUnavailable, match="pool_mode = session"):
        open_database(postgres_empty)


def test_works_that_lock_in_opposite_order_are_both_done(postgres: Database) -> None:
    postgres.write(lambda c: c.run(NEW_COUNTER, name="other", number=0))
    first_holds_one, second_holds_one = Event(), Event()

    def first(connection: Connection) -> None:
        increment(connection, "all")
        first_holds_one.set()
        assert second_holds_one.wait(SECONDS)
        increment(connection, "other")

    def second(connection: Connection) -> None:
        increment(connection, "other")
        second_holds_one.set()
        increment(connection, "all")

    thread = Thread(target=lambda: postgres.write(first))
    thread.start()
    assert first_holds_one.wait(SECONDS)
    postgres.write(second)
    thread.join(SECONDS)
    assert postgres.read(lambda c: (number(c, "all"), number(c, "other"))) == (2, 2)


def together(postgres: Database, works: list[Callable[[Connection], Any]]) -> list[Any]:
    """What works answer that were waiting when a connection became free: they share a transaction."""
    running, release = Event(), Event()

    def busy(_: Connection) -> None:
        running.set()
        assert release.wait(SECONDS)

    async def ask() -> list[Any]:
        blocked = asyncio.create_task(postgres.write_async(busy))
        await asyncio.to_thread(running.wait, SECONDS)
        tasks = [asyncio.create_task(postgres.write_async(work)) for work in works]
        await asyncio.sleep(0)
        release.set()
        await blocked
        return await asyncio.gather(*tasks, return_exceptions=True)

    return asyncio.run(ask())


@pytest.fixture
def one_thread(postgres: Database, postgres_empty: str) -> Iterator[Database]:
    with open_database(postgres_empty, threads=1) as opened:
        yield opened


TRANSACTION = Statement(sa.text("SELECT pg_current_xact_id()::text"))


def test_a_work_that_waits_for_a_lock_lets_those_behind_it_go_first(one_thread: Database, postgres: Database) -> None:
    held, release = Event(), Event()

    def holds(connection: Connection) -> None:
        connection.lock("desk")
        held.set()
        assert release.wait(SECONDS)

    def waits(connection: Connection) -> int:
        connection.lock("desk")
        return increment(connection)

    def goes(connection: Connection) -> int:
        release.set()
        return increment(connection)

    holder = Thread(target=lambda: postgres.write(holds))
    holder.start()
    assert held.wait(SECONDS)
    outcomes = together(one_thread, [waits, goes])
    holder.join(SECONDS)
    assert outcomes == [2, 1]


def test_works_that_wait_share_a_transaction_and_its_locks(one_thread: Database) -> None:
    def work(connection: Connection) -> tuple[bool, int, str]:
        return connection.lock("desk"), increment(connection), connection.value(TRANSACTION)

    outcomes = together(one_thread, [work] * 10)
    assert [counted for _, counted, _ in outcomes] == list(range(1, 11))
    assert [locked for locked, _, _ in outcomes] == [True] + [False] * 9
    assert len({transaction for _, _, transaction in outcomes}) == 1


@pytest.fixture
def desk_is_held(postgres_empty: str) -> Iterator[Event]:
    """Another server holds the key `desk` until the event is set."""
    held, release = Event(), Event()

    def hold(connection: Connection) -> None:
        connection.lock("desk")
        held.set()
        assert release.wait(SECONDS)

    with open_database(postgres_empty) as other:
        holding = Thread(target=lambda: other.write(hold))
        holding.start()
        assert held.wait(SECONDS)
        yield release
        release.set()
        holding.join(SECONDS)


def test_a_work_that_would_have_to_wait_lets_those_before_it_go_first(
    one_thread: Database, desk_is_held: Event
) -> None:
    runs: list[str] = []

    def wait(connection: Connection) -> str:
        runs.append("wait")
        if len(runs) == 2:
            desk_is_held.set()
        connection.lock("desk")
        return str(connection.value(TRANSACTION))

    def go(connection: Connection) -> str:
        return str(connection.value(TRANSACTION))

    before, waited, after = together(one_thread, [go, wait, go])
    assert runs == ["wait", "wait"]
    assert before != waited
    assert waited == after


def test_works_that_fail_together_are_done_by_themselves(one_thread: Database, desk_is_held: Event) -> None:
    runs: list[str] = []

    def write_then_wait(connection: Connection) -> int:
        counted = increment(connection)
        runs.append("write")
        if len(runs) == 2:
            desk_is_held.set()
        connection.lock("desk")
        return counted

    assert together(one_thread, [increment, write_then_wait, increment]) == [1, 2, 3]
    assert runs == ["write", "write"]
    assert one_thread.read(number) == 3


def test_works_whose_common_commit_is_lost_are_all_told_and_never_repeated(wire: Proxy, postgres: Database) -> None:
    runs: list[int] = []

    def work(connection: Connection) -> int:
        runs.append(1)
        wire.cut_after(b"COMMIT")
        return increment(connection)

    with open_database(wire.url, threads=1) as behind_wire:
        outcomes = together(behind_wire, [work] * 3)
    assert [type(outcome) for outcome in outcomes] == [OutcomeUnknown] * 3
    assert wire.was_cut.wait(SECONDS)
    assert (len(runs), postgres.read(number)) == (3, 3)


def test_a_conflict_is_repeated_even_if_the_work_hides_it(postgres: Database) -> None:
    conflict = Statement(sa.text("DO $$ BEGIN RAISE EXCEPTION 'pretended' USING ERRCODE = '40001'; END $$"))
    tries: list[int] = []

    def hide(connection: Connection) -> int:
        tries.append(len(tries))
        if len(tries) < 3:
            try:
                connection.run(conflict)
            except DatabaseUnavailable:
                raise ValueError("something else") from None
        return increment(connection)

    assert postgres.write(hide) == 1
    assert tries == [0, 1, 2]


def test_a_conflict_that_never_ends_is_unavailable(postgres: Database) -> None:
    conflict = Statement(sa.text("DO $$ BEGIN RAISE EXCEPTION 'pretended' USING ERRCODE = '40001'; END $$"))
    with pytest.raises(DatabaseUnavailable, match="too busy"):
        postgres.write(lambda c: c.run(conflict))
    assert postgres.write(increment) == 1


def test_a_server_that_is_away_is_named_without_the_password(postgres_empty: str) -> None:
    url = postgres_url(postgres_empty, port="1", password="very secret", dbname="toryo")
    with pytest.raises(DatabaseUnavailable, match="cannot be reached") as refused:
        open_database(url)
    assert ":1/toryo" in refused.value.message
    assert "secret" not in str(refused.value)


def test_a_url_that_nobody_can_read_is_answered_with_one_that_can_be_read() -> None:
    with pytest.raises(DatabaseUnavailable) as refused:
        open_database("postgresql://localhost/x?nonsense=1")
    assert "postgresql://USER:PASSWORD@HOST:5432/NAME" in refused.value.instruction


def test_connections_that_broke_while_idle_are_replaced_unnoticed(postgres: Database, postgres_empty: str) -> None:
    assert postgres.write(increment) == 1
    assert postgres.read(number) == 1
    with psycopg.connect(postgres_empty, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name = 'toryo'"
        )
    assert [postgres.write(increment) for _ in range(20)] == list(range(2, 22))
    assert postgres.read(number) == 21


def test_a_work_whose_connection_breaks_is_done_once_on_a_new_one(postgres: Database, postgres_empty: str) -> None:
    pid = Statement(sa.text("SELECT pg_backend_pid()"))
    tries: list[int] = []

    def cut_off_at_first(connection: Connection) -> int:
        connection.run(NEW_ITEM, id=f"try {len(tries)}")
        tries.append(connection.value(pid))
        if len(tries) == 1:
            with psycopg.connect(postgres_empty, autocommit=True) as admin:
                admin.execute("SELECT pg_terminate_backend(%s, 5000)", [tries[0]])
        return increment(connection)

    assert postgres.write(cut_off_at_first) == 1
    assert len(set(tries)) == 2
    assert postgres.read(item_ids) == ["try 1"]


def test_while_the_server_is_away_calls_are_refused_and_afterwards_served(behind_wire: Database, wire: Proxy) -> None:
    assert behind_wire.write(increment) == 1
    wire.cut()
    for call in (behind_wire.write, behind_wire.read):
        with pytest.raises(DatabaseUnavailable, match="cannot be reached"):
            call(number)
    wire.mend()
    assert behind_wire.write(increment) == 2
    assert behind_wire.read(number) == 2


def test_tasks_are_refused_too_while_the_server_is_away(behind_wire: Database, wire: Proxy) -> None:
    async def ask() -> list[Any]:
        return await asyncio.gather(*(behind_wire.write_async(increment) for _ in range(10)), return_exceptions=True)

    wire.cut()
    assert [type(each) for each in asyncio.run(ask())] == [DatabaseUnavailable] * 10
    wire.mend()
    assert sorted(asyncio.run(ask())) == list(range(1, 11))


def test_a_commit_whose_answer_is_lost_is_told_and_never_repeated(
    behind_wire: Database, wire: Proxy, postgres: Database
) -> None:
    runs: list[int] = []

    def work(connection: Connection) -> int:
        runs.append(1)
        return increment(connection)

    wire.cut_after(b"COMMIT")
    with pytest.raises(OutcomeUnknown) as unknown:
        behind_wire.write(work)
    assert "before you repeat it" in unknown.value.instruction
    assert wire.was_cut.wait(SECONDS)
    assert (runs, postgres.read(number)) == ([1], 1)
    wire.mend()
    assert behind_wire.write(increment) == 2


def test_a_read_whose_end_is_lost_is_answered(behind_wire: Database, wire: Proxy) -> None:
    assert behind_wire.read(number) == 0
    wire.cut_after(b"ROLLBACK")
    assert behind_wire.read(number) == 0
    assert wire.was_cut.wait(SECONDS)
    wire.mend()
    assert behind_wire.read(number) == 0


def test_a_lock_that_another_program_keeps_is_told(behind_wire: Database, postgres_empty: str) -> None:
    with open_database(postgres_empty, patience=0.05) as hurried, psycopg.connect(postgres_empty) as other:
        other.execute("SELECT number FROM counters FOR UPDATE")
        with pytest.raises(DatabaseUnavailable, match="lock"):
            hurried.write(increment)
        other.rollback()
        assert hurried.write(increment) == 1


def test_a_table_changed_by_another_server_does_not_confuse_prepared_statements(
    postgres: Database, postgres_empty: str
) -> None:
    everything = Statement(sa.text("SELECT * FROM counters"))
    assert [postgres.read(lambda c: c.all(everything)) for _ in range(30)][-1] == [("all", 0)]
    with psycopg.connect(postgres_empty, autocommit=True) as other:
        other.execute("ALTER TABLE counters ADD COLUMN more text")
    assert [postgres.read(lambda c: c.all(everything)) for _ in range(30)] == [[("all", 0, None)]] * 30


def test_a_text_with_a_nul_character_is_refused_by_name(postgres: Database) -> None:
    with pytest.raises(Unstorable):
        postgres.write(lambda c: c.run(NEW_ITEM, id="nul \0"))
    assert postgres.write(increment) == 1


def test_a_database_that_takes_no_changes_is_unavailable(postgres: Database, postgres_empty: str) -> None:
    standby = postgres_url(postgres_empty, options="-cdefault_transaction_read_only=on")
    standby = standby.replace("options=", f"options={_search_path(postgres_empty)}%20")
    with open_database(standby) as database, pytest.raises(DatabaseUnavailable, match="is read-only"):
        database.write(increment)


def test_a_user_without_rights_is_told_which_to_get(postgres: Database, postgres_empty: str) -> None:
    with psycopg.connect(postgres_empty, autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS toryo_test_guest")
        admin.execute("CREATE ROLE toryo_test_guest LOGIN")
    try:
        with open_database(postgres_url(postgres_empty, user="toryo_test_guest")) as guest:
            with pytest.raises(DatabaseUnavailable) as refused:
                upgrade(guest)
            assert "GRANT" in refused.value.instruction
    finally:
        with psycopg.connect(postgres_empty, autocommit=True) as admin:
            admin.execute("DROP ROLE toryo_test_guest")


def test_a_slow_work_does_not_hold_up_the_others(postgres: Database) -> None:
    running, release = Event(), Event()

    def slow(connection: Connection) -> None:
        running.set()
        assert release.wait(SECONDS)

    thread = Thread(target=lambda: postgres.write(slow))
    thread.start()
    running.wait(SECONDS)
    assert postgres.write(increment) == 1
    release.set()
    thread.join(SECONDS)


def _search_path(url: str) -> str:
    return url.partition("options=")[2]
