"""An upgrade takes the missing steps, all or none, once, and never goes backwards."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import sqlalchemy as sa

from toryo.storage import migrations
from toryo.storage.database import Connection, Database
from toryo.storage.errors import DatabaseTooNew
from toryo.storage.statements import Statement

VERSIONS = Statement(sa.text("SELECT version, name FROM schema_version ORDER BY version"))
WORDS = Statement(sa.text("SELECT word FROM words ORDER BY word"))


def step(name: str, upgrade: Callable[[Connection], None]) -> ModuleType:
    module = ModuleType(f"toryo.storage.migrations.step_{name}")
    module.upgrade = upgrade  # type: ignore[attr-defined]
    return module


def make_words(connection: Connection) -> None:
    connection.define("CREATE TABLE words (word TEXT PRIMARY KEY)")
    connection.run(Statement(sa.text("INSERT INTO words VALUES ('first')")))


def add_word(connection: Connection) -> None:
    connection.run(Statement(sa.text("INSERT INTO words VALUES ('second')")))


def fail(connection: Connection) -> None:
    connection.define("CREATE TABLE half (done TEXT)")
    raise ValueError("a step that fails")


def rows_of(table: sa.Table) -> Callable[[Connection], int]:
    statement = Statement(sa.select(sa.func.count()).select_from(table))
    return lambda connection: connection.value(statement)


ONE = (step("0001_words", make_words),)
TWO = (*ONE, step("0002_word", add_word))


@pytest.fixture
def blank(database_url: str) -> Any:
    with Database.open(database_url) as opened:
        yield opened


def test_an_empty_database_gets_every_table_of_the_schema(blank: Database) -> None:
    names = blank.upgrade()
    assert names == [module.__name__.rpartition("step_")[2] for module in migrations.STEPS]
    from toryo.storage.schema import metadata

    for table in metadata.sorted_tables:
        assert blank.read(rows_of(table)) == 0


def test_an_upgraded_database_is_left_alone(blank: Database) -> None:
    blank.upgrade()
    assert blank.upgrade() == []


def test_only_the_missing_steps_are_taken(blank: Database) -> None:
    assert blank.write(lambda c: migrations.upgrade(c, ONE)) == ["0001_words"]
    assert blank.write(lambda c: migrations.upgrade(c, TWO)) == ["0002_word"]
    assert blank.read(lambda c: c.all(WORDS)) == [("first",), ("second",)]
    assert blank.read(lambda c: c.all(VERSIONS)) == [(1, "0001_words"), (2, "0002_word")]


def test_a_step_that_fails_leaves_the_database_as_it_was(blank: Database) -> None:
    blank.write(lambda c: migrations.upgrade(c, ONE))
    with pytest.raises(ValueError, match="a step that fails"):
        blank.write(lambda c: migrations.upgrade(c, (*TWO, step("0003_half", fail))))
    assert blank.read(lambda c: c.all(WORDS)) == [("first",)]
    assert blank.write(lambda c: migrations.upgrade(c, TWO)) == ["0002_word"]
    blank.write(lambda c: c.define("CREATE TABLE half (done TEXT)"))


def test_a_database_of_a_newer_toryo_is_refused_with_what_to_do(blank: Database) -> None:
    blank.write(lambda c: migrations.upgrade(c, TWO))
    with pytest.raises(DatabaseTooNew) as refused:
        blank.write(lambda c: migrations.upgrade(c, ONE))
    assert "version 2" in refused.value.message
    assert "newer" in refused.value.instruction
    assert blank.read(lambda c: c.all(WORDS)) == [("first",), ("second",)]


def test_servers_that_start_at_once_upgrade_once(
    blank: Database, database_url: str, at_once: Callable[..., list[Any]]
) -> None:
    servers = [Database.open(database_url, exclusive=False) for _ in range(4)]
    outcomes = at_once(4, lambda which: servers[which].upgrade())
    for server in servers:
        server.close()
    assert sorted(map(len, outcomes)) == [0, 0, 0, len(migrations.STEPS)]
