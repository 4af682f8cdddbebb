"""A PostgreSQL that stands still, with or without another one in its place: calls are refused in time, and go on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
import sqlalchemy as sa

from tests.postgres_proxy import proxy
from tests.postgres_server import postgres_server
from tests.reliability.counting import injected
from toryo.storage.engine import silent_postgresql
from toryo.storage.engine.database import Connection, Work
from toryo.storage.engine.statements import Statement
from toryo.storage.errors import DatabaseUnavailable
from toryo.storage.open_database import open_database

ONE = Statement(sa.text("SELECT 1"))
SLOW = Statement(sa.text("SELECT 1 FROM pg_sleep(0.5)"))

pytestmark = [pytest.mark.postgresql, pytest.mark.process]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silent_postgresql, "_LONG_SECONDS", 0.2)
    monkeypatch.setattr(silent_postgresql, "_LOOK_EVERY_SECONDS", 0.1)


def one(connection: Connection) -> object:
    return connection.value(ONE)


def _at_last(do: Callable[[Work[object]], object]) -> object:
    """A look at the server that began while it stood still may end one more connection."""
    for _ in range(20):
        with suppress(DatabaseUnavailable):
            return do(one)
    raise AssertionError("it is still refused")


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


def test_a_long_statement_of_a_server_that_answers_is_left_alone() -> None:
    with postgres_server() as server, open_database(server.url) as database:
        assert database.write(lambda c: c.value(SLOW)) == 1
        assert database.read(lambda c: c.value(SLOW)) == 1
