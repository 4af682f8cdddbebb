"""A PostgreSQL that stands still, with or without another one in its place: calls are refused in time, and go on."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Semaphore
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from psycopg.pq.abc import PGconn

from tests.postgres_proxy import proxy
from tests.postgres_server import PostgreSQLServer, postgres_server
from tests.reliability.counting import injected
from toryo.bus.postgres import PostgresBus
from toryo.storage.engine import silent_postgresql
from toryo.storage.engine.database import Connection, Database, Work
from toryo.storage.engine.postgresql import PostgreSQLDatabase
from toryo.storage.engine.statements import Statement
from toryo.storage.errors import DatabaseUnavailable, OutcomeUnknown
from toryo.storage.open_database import open_database

ONE = Statement(sa.text("SELECT 1"))
SLOW = Statement(sa.text("SELECT 1 FROM pg_sleep(0.5)"))

pytestmark = pytest.mark.postgresql


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silent_postgresql, "_LONG_SECONDS", 0.2)
    monkeypatch.setattr(silent_postgresql, "_LOOK_EVERY_SECONDS", 0.1)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgreSQLServer]:
    """For tests that leave it alone."""
    with postgres_server() as started:
        yield started


def one(connection: Connection) -> object:
    return connection.value(ONE)


def _at_last(do: Callable[[Work[object]], object]) -> object:
    """A look at the server that began while it stood still may end one more connection."""
    for _ in range(20):
        with suppress(DatabaseUnavailable):
            return do(one)
    raise AssertionError("it is still refused")


@pytest.mark.deep
def test_a_work_on_a_postgresql_that_stands_still_is_refused_and_the_next_one_works_when_it_goes_on() -> None:
    with postgres_server() as server, open_database(server.url, patience=1) as database:
        assert (database.write(one), database.read(one)) == (1, 1)
        injected("PostgreSQL hung")
        server.freeze()
        for do in (database.write, database.read):
            with pytest.raises(DatabaseUnavailable, match="cannot be reached"):
                do(one)
        server.thaw()
        assert (_at_last(database.write), _at_last(database.read)) == (1, 1)


@pytest.mark.deep
def test_a_work_goes_on_at_the_server_that_took_over_from_one_that_stands_still() -> None:
    with (
        postgres_server() as old,
        postgres_server() as new,
        proxy(old.url) as wire,
        open_database(wire.url) as database,
    ):
        assert (database.write(one), database.read(one)) == (1, 1)
        injected("PostgreSQL failed over")
        wire.stand_still()
        old.freeze()
        wire.lead_to("127.0.0.1", new.port)
        wire.flow_anew()
        assert (database.write(one), database.read(one)) == (1, 1)


def test_a_connection_that_is_just_being_made_is_left_alone_however_long_its_work_has_been_trying(
    server: PostgreSQLServer,
) -> None:
    """Who answers there is not known yet."""
    with psycopg.connect(server.url) as driver:
        line = silent_postgresql.Line()
        line.since = time.monotonic() - 1000
        line.leads(driver)
        assert not line.end_if_of({None}, line.heard - 10)
        assert not line.end_if_of({b""}, line.heard + 10), "only this server is gone"
        assert line.end_if_of({None}, line.heard + 10), "it is being made for long"


@pytest.mark.parametrize("what", ["socket", "file"])
def test_a_descriptor_that_is_somebody_elses_by_now_is_left_alone(server: PostgreSQLServer, what: str) -> None:
    """libpq closes a broken connection at any moment, and the next socket or file gets its number."""
    ours, others = socket.socketpair()
    with psycopg.connect(server.url) as driver, ours, others, Path(os.devnull).open() as f:
        line = silent_postgresql.Line()
        line.leads(driver)
        os.dup2(ours.fileno() if what == "socket" else f.fileno(), driver.pgconn.socket)
        assert not line.end()
        ours.sendall(b"still open")
        assert others.recv(100) == b"still open"


def test_a_connection_whose_rollback_fails_is_not_looked_at_any_longer() -> None:
    with postgres_server() as server, open_database(server.url) as database:
        assert isinstance(database, PostgreSQLDatabase)
        line, seen = silent_postgresql.Line(), []
        connection = database.connect(reads_only=True, line=line)
        server.kill()
        driver = connection._driver
        connection._driver = SimpleNamespace(  # type: ignore[assignment]
            pgconn=driver.pgconn, close=lambda: seen.append(line._driver)
        )
        connection.rollback()
        driver.close()
        assert seen == [None], "its descriptor may be somebody else's as soon as it is closed"


def test_a_connection_that_cannot_be_set_up_is_closed(
    server: PostgreSQLServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_database(server.url) as database:
        assert isinstance(database, PostgreSQLDatabase)
        line = silent_postgresql.Line()
        monkeypatch.setattr(silent_postgresql, "WHO", b"SELECT no_such_function()")
        with pytest.raises(psycopg.errors.UndefinedFunction):
            database.connect(reads_only=True, line=line)
        assert not line.end()


def test_silence_is_noticed_by_a_process_with_more_than_a_thousand_open_files(server: PostgreSQLServer) -> None:
    with open_files(1100), proxy(server.url) as wire, open_database(wire.url) as database:
        assert database.write(one) == 1
        injected("PostgreSQL half-open")
        wire.stand_still()
        wire.flow_anew()
        assert database.write(one) == 1


@contextmanager
def open_files(many: int) -> Iterator[None]:
    """What is opened within has higher numbers."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, many + 1000), hard))
    with ExitStack() as opened:
        for _ in range(many):
            opened.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="TCP_USER_TIMEOUT is an option of Linux")
def test_the_kernel_ends_connections_to_a_postgresql_whose_machine_has_vanished() -> None:
    """Those of works, and those of the bus."""

    def milliseconds(pgconn: PGconn) -> int:
        with socket.socket(fileno=os.dup(pgconn.socket)) as wire:
            return wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)

    async def of_bus(url: str) -> int:
        async with PostgresBus(url).connect() as connection:
            return milliseconds(connection.pgconn)

    with postgres_server() as server, open_database(server.url) as database:
        assert isinstance(database, PostgreSQLDatabase)
        connection = database.connect(reads_only=True)
        assert milliseconds(connection._driver.pgconn) == 15_000
        connection.close()
        assert asyncio.run(of_bus(server.url)) == 15_000


@pytest.mark.parametrize("way", ["write", "read"])
def test_a_work_whose_answer_was_lost_on_the_way_to_a_server_that_lives_is_done_on_a_new_connection(
    server: PostgreSQLServer, way: str
) -> None:
    with proxy(server.url) as wire, open_database(wire.url) as database:
        assert (database.write(one), database.read(one)) == (1, 1)
        injected("PostgreSQL half-open")
        wire.stand_still()
        wire.flow_anew()
        assert getattr(database, way)(one) == 1


def test_a_commit_whose_answer_was_lost_on_the_way_is_told_as_of_unknown_outcome(server: PostgreSQLServer) -> None:
    with proxy(server.url) as wire, open_database(wire.url) as database:

        def lost(connection: Connection) -> None:
            connection.define("CREATE TEMPORARY TABLE made (id INTEGER)")
            wire.stand_still()
            wire.flow_anew()

        injected("PostgreSQL half-open")
        with pytest.raises(OutcomeUnknown):
            database.write(lost)
        assert database.write(one) == 1


def test_a_long_work_that_asks_nothing_meanwhile_is_left_alone(
    server: PostgreSQLServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no fault that PostgreSQL waits for it."""
    judged, forsaken = Semaphore(0), silent_postgresql.Line.forsaken

    def judging(*about: Any) -> bool:
        found = forsaken(*about)
        judged.release()
        return found

    def long(connection: Connection) -> object:
        connection.value(ONE)
        assert all(judged.acquire(timeout=60) for _ in range(60))
        return connection.value(ONE)

    monkeypatch.setattr(silent_postgresql.Line, "forsaken", judging)
    with open_database(server.url) as database:
        assert database.write(long) == 1


def test_a_long_statement_of_a_server_that_answers_is_left_alone(server: PostgreSQLServer) -> None:
    with open_database(server.url) as database:
        assert database.write(lambda c: c.value(SLOW)) == 1
        assert database.read(lambda c: c.value(SLOW)) == 1


Who = Callable[[silent_postgresql.Watch], silent_postgresql.Answering | None]
_who_answers = silent_postgresql.Watch._who_answers


def nobody(_: silent_postgresql.Watch) -> silent_postgresql.Answering:
    return silent_postgresql.Answering()


def another(_: silent_postgresql.Watch) -> silent_postgresql.Answering:
    return silent_postgresql.Answering(b"another server")


def refuses(_: silent_postgresql.Watch) -> None:
    return None


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "row",
    [
        pytest.param((nobody, nobody, _who_answers), id="is too busy to answer twice"),
        pytest.param((nobody, nobody, refuses), id="has too many connections now and then"),
        pytest.param((another, _who_answers), id="is one of two that answer in turn"),
    ],
)
def test_a_statement_is_left_alone_whose_server(
    server: PostgreSQLServer, row: tuple[Who, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_database(server.url) as database:
        assert tries(server, database, list(row) * 4, monkeypatch) == 1


@pytest.mark.first(1)
@pytest.mark.parametrize("row", [(nobody,), (another,)])
def test_a_statement_is_left_alone_while_its_server_answers_others(
    server: PostgreSQLServer, row: tuple[Who, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However busy it is for new connections."""
    with open_database(server.url) as database:

        def meanwhile(who: Who) -> Who:
            def asked(watch: silent_postgresql.Watch) -> silent_postgresql.Answering | None:
                assert database.read(one) == 1
                return who(watch)

            return asked

        assert tries(server, database, [meanwhile(who) for who in row] * 12, monkeypatch) == 1


@pytest.mark.parametrize("row", [(nobody,), (another,)])
def test_a_statement_is_tried_again_when_several_looks_in_a_row_have_not_found_its_server(
    server: PostgreSQLServer, row: tuple[Who, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_database(server.url) as database:
        assert tries(server, database, [*row * silent_postgresql._MISSES], monkeypatch) == 2


def tries(server: PostgreSQLServer, database: Database, answers: list[Who], monkeypatch: pytest.MonkeyPatch) -> int:
    """How often a statement was begun that lasts until these answers were found; afterwards the server answers."""
    found, begun, left = Event(), [], iter(answers)

    def who_answers(watch: silent_postgresql.Watch) -> silent_postgresql.Answering | None:
        who = next(left, None)
        if who is None:
            found.set()
        return (who or _who_answers)(watch)

    def waits(connection: Connection) -> object:
        begun.append(1)
        return connection.value(Statement(sa.text("SELECT 1 FROM pg_advisory_xact_lock(7)")))

    monkeypatch.setattr(silent_postgresql.Watch, "_who_answers", who_answers)
    with psycopg.connect(server.url) as other, ThreadPoolExecutor() as pool:
        other.execute("SELECT pg_advisory_xact_lock(7)")
        work = pool.submit(database.write, waits)
        assert found.wait(60)
        other.rollback()
        assert work.result(60) == 1
    return len(begun)


def test_connections_through_a_pooler_are_left_to_it(
    server: PostgreSQLServer, caplog: pytest.LogCaptureFixture
) -> None:
    with proxy(server.url) as wire, caplog.at_level(logging.INFO):
        wire.pools = True
        with open_database(wire.url) as database:
            assert isinstance(database, PostgreSQLDatabase)
            assert database._watch._closing.wait(60)
            assert database.write(lambda c: c.value(SLOW)) == 1
    assert "a connection pooler answers" in caplog.text


def test_a_work_of_many_short_statements_is_no_reason_to_look(
    server: PostgreSQLServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []
    monkeypatch.setattr(silent_postgresql.Watch, "_who_answers", lambda _: asked.append(1))
    with open_database(server.url) as database:
        assert isinstance(database, PostgreSQLDatabase)
        looked, look = Semaphore(0), silent_postgresql.Watch._look

        def looking(watch: silent_postgresql.Watch) -> None:
            look(watch)
            looked.release()

        def long(connection: Connection) -> object:
            for _ in range(10):
                while not looked.acquire(blocking=False):
                    connection.value(ONE)
            return connection.value(ONE)

        monkeypatch.setattr(silent_postgresql.Watch, "_look", looking)
        assert database.write(long) == 1
    assert asked == []
