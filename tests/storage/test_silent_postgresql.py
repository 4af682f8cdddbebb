"""A PostgreSQL that stands still, with or without another one in its place: calls are refused in time, and go on."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Semaphore
from types import SimpleNamespace

import psycopg
import pytest
import sqlalchemy as sa
from psycopg.pq.abc import PGconn

from tests.postgres_proxy import proxy
from tests.postgres_server import PostgreSQLServer, postgres_server
from tests.reliability.counting import injected
from toryo.bus.postgres import PostgresBus
from toryo.storage.engine import postgresql, silent_postgresql
from toryo.storage.engine.database import Connection, Work
from toryo.storage.engine.postgresql import PostgreSQLDatabase
from toryo.storage.engine.statements import Statement
from toryo.storage.errors import DatabaseUnavailable, OutcomeUnknown
from toryo.storage.open_database import open_database

ONE = Statement(sa.text("SELECT 1"))
SLOW = Statement(sa.text("SELECT 1 FROM pg_sleep(0.5)"))
LONGER = Statement(sa.text("SELECT 1 FROM pg_sleep(1.5)"))

pytestmark = pytest.mark.postgresql


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The looks come soon; a work that shall be found silent says when."""
    monkeypatch.setattr(silent_postgresql, "_LOOK_EVERY_SECONDS", 0.1)
    monkeypatch.setattr(postgresql, "_ANSWER_SECONDS", 1.0)


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
        monkeypatch.setattr(postgresql, "_BY_INDEX", b"SELECT no_such_function()")
        with pytest.raises(psycopg.errors.UndefinedFunction):
            database.connect(reads_only=False, line=line)
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
    monkeypatch.setattr(postgresql, "_ANSWER_SECONDS", 1e-9)
    looked, look = Semaphore(0), silent_postgresql.Watch._look

    def looking(watch: silent_postgresql.Watch) -> None:
        look(watch)
        looked.release()

    def long(connection: Connection) -> int:
        begun.append(1)
        assert all(looked.acquire(timeout=60) for _ in range(3))
        return 1

    begun: list[int] = []
    with open_database(server.url) as database:
        monkeypatch.setattr(silent_postgresql.Watch, "_look", looking)
        assert database.write(long) == 1
    assert begun == [1]


def test_an_upgrade_may_take_any_time(server: PostgreSQLServer) -> None:
    with open_database(server.url) as database:
        assert database.write_patiently(lambda c: c.value(LONGER)) == 1


def test_a_statement_that_takes_longer_than_it_may_is_ended_by_postgresql_and_the_connection_goes_on(
    server: PostgreSQLServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silent_postgresql, "STATEMENT_SECONDS", 0.2)
    with open_database(server.url) as database:
        assert isinstance(database, PostgreSQLDatabase)
        connection = database.connect(reads_only=True)
        with pytest.raises(DatabaseUnavailable, match="cancelled the statement"):
            connection.value(SLOW)
        connection.rollback()
        assert not connection.broken
        connection.close()
