"""An upgrade takes the missing steps, all or none, once, never goes backwards, and loses nothing that was stored."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import sqlalchemy as sa

import toryo
from tests.storage import released_versions, table_facts
from tests.storage.recording import PROJECT
from tests.stories import World
from toryo.storage import migrations, schema
from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.statements import Statement
from toryo.storage.errors import DatabaseMisfit, DatabaseTooNew, DatabaseTooOld
from toryo.storage.open_database import open_database, upgrade

pytestmark = pytest.mark.both

VERSIONS = Statement(sa.text("SELECT version, name FROM schema_version ORDER BY version"))
WORDS = Statement(sa.text("SELECT word FROM words ORDER BY word"))


def step(name: str, upgrade: Callable[[Connection], None]) -> ModuleType:
    module = ModuleType(f"toryo.storage.migrations.step_{name}")
    module.upgrade = upgrade  # type: ignore[attr-defined]
    return module


def make_words(connection: Connection) -> None:
    connection.define("CREATE TABLE directory (id INTEGER PRIMARY KEY, stamp BIGINT)")
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


def drop_trigger(connection: Connection, table: str) -> None:
    if connection.dialect == "postgresql":
        connection.define(f"ALTER TABLE {table} DISABLE TRIGGER {table}_changed")
    else:
        connection.define(f"DROP TRIGGER {table}_deleted")


ONE = (step("0026_words", make_words),)
TWO = (*ONE, step("0027_word", add_word))


@pytest.fixture
def blank(database_url: str) -> Any:
    with open_database(database_url) as opened:
        yield opened


def test_an_empty_database_gets_every_table_of_the_schema(blank: Database) -> None:
    names = upgrade(blank)
    assert names == [module.__name__.rpartition("step_")[2] for module in migrations.STEPS]
    for table in schema.metadata.sorted_tables:
        assert blank.read(rows_of(table)) == (1 if table is schema.directory else 0), table.name


RELEASED: dict[int, str] = {}
"""Of the versions of the tables, the Toryo with which each was released."""


def test_the_version_of_toryo_changes_with_the_tables() -> None:
    """Two builds are told apart by `toryo --version`, and an installer sees that one is newer."""
    version = toryo.__version__
    assert version == RELEASED.get(migrations.PRESENT) or re.fullmatch(
        rf"\d+\.\d+\.\d+\.dev{migrations.PRESENT}", version
    )


def test_an_upgraded_database_is_left_alone(blank: Database) -> None:
    upgrade(blank)
    assert upgrade(blank) == []


def test_only_the_missing_steps_are_taken(blank: Database) -> None:
    assert blank.write(lambda c: migrations.upgrade(c, ONE)) == ["0026_words"]
    assert blank.write(lambda c: migrations.upgrade(c, TWO)) == ["0027_word"]
    assert blank.read(lambda c: c.all(WORDS)) == [("first",), ("second",)]
    assert blank.read(lambda c: c.all(VERSIONS)) == [(26, "0026_words"), (27, "0027_word")]


def test_a_step_that_fails_leaves_the_database_as_it_was(blank: Database) -> None:
    blank.write(lambda c: migrations.upgrade(c, ONE))
    with pytest.raises(ValueError, match="a step that fails"):
        blank.write(lambda c: migrations.upgrade(c, (*TWO, step("0028_half", fail))))
    assert blank.read(lambda c: c.all(WORDS)) == [("first",)]
    assert blank.write(lambda c: migrations.upgrade(c, TWO)) == ["0027_word"]
    blank.write(lambda c: c.define("CREATE TABLE half (done TEXT)"))


def test_a_database_of_a_newer_toryo_is_refused_with_what_to_do(blank: Database) -> None:
    blank.write(lambda c: migrations.upgrade(c, TWO))
    with pytest.raises(DatabaseTooNew) as refused:
        blank.write(lambda c: migrations.upgrade(c, ONE))
    assert "version 27" in refused.value.message
    assert "newer" in refused.value.instruction
    assert blank.read(lambda c: c.all(WORDS)) == [("first",), ("second",)]


@pytest.mark.first(1)
@pytest.mark.parametrize("version", [25, 1])
def test_a_database_that_no_step_leads_on_from_is_refused_untouched_with_the_commit_that_does(
    blank: Database, version: int
) -> None:
    recorded = released_versions.fill(blank, 26)
    blank.write(lambda c: c.define(f"UPDATE schema_version SET version = {version}"))
    before = released_versions.kept(blank, recorded), blank.read(table_facts.read)
    for upgrading in (upgrade, lambda database: database.read(migrations.require_present)):
        with pytest.raises(DatabaseTooOld) as refused:
            upgrading(blank)
        assert refused.value.message == (
            f"The database is at version {version}. The oldest version that this Toryo upgrades is 26; nothing was "
            "changed."
        )
        assert "once with Toryo's commit 0cac07d8" in refused.value.instruction
    assert (released_versions.kept(blank, recorded), blank.read(table_facts.read)) == before
    assert blank.read(lambda c: c.all(VERSIONS)) == [(version, "0026_first_tables")]


@pytest.mark.first(6)
@pytest.mark.parametrize(
    ("done", "told"),
    [
        ("DROP TABLE visits", "no table visits"),
        ("ALTER TABLE launches DROP COLUMN nudged_at", "no launches.nudged_at"),
        ("ALTER TABLE agents ADD COLUMN colour TEXT", "unknown agents.colour"),
        ("DROP INDEX tasks_todo", "no index tasks_todo"),
        (lambda c: drop_trigger(c, "agents"), "no trigger agents_"),
        (
            "DELETE FROM schema_version WHERE version = (SELECT max(version) FROM schema_version)",
            "a step cannot be taken",
        ),
    ],
)
def test_tables_that_another_state_of_development_has_made_are_refused_with_what_is_wrong_and_what_to_do(
    blank: Database, done: str | Callable[[Connection], None], told: str
) -> None:
    upgrade(blank)
    blank.write(lambda c: c.define(done) if isinstance(done, str) else done(c))
    with pytest.raises(DatabaseMisfit) as refused:
        upgrade(blank)
    assert told in refused.value.message
    assert "toryo export" in refused.value.instruction


def test_what_others_keep_in_the_same_database_is_none_of_ours(blank: Database) -> None:
    upgrade(blank)
    blank.write(lambda c: c.define("CREATE TABLE of_others (name TEXT PRIMARY KEY)"))
    blank.write(lambda c: c.define("CREATE INDEX of_others_too ON agents (name)"))
    assert upgrade(blank) == []


def test_servers_that_start_at_once_upgrade_once(
    blank: Database, database_url: str, at_once: Callable[..., list[Any]]
) -> None:
    servers = [open_database(database_url, exclusive=False) for _ in range(4)]
    outcomes = at_once(4, lambda which: upgrade(servers[which]))
    for server in servers:
        server.close()
    assert sorted(map(len, outcomes)) == [0, 0, 0, len(migrations.STEPS)]


# --- the released steps ----------------------------------------------------------------------------------------------


def shape(database: Database, url: str) -> dict[str, Any]:
    """Every column (type, null, default or not) and index of every table, as the database itself says."""
    driver = url.replace("postgresql://", "postgresql+psycopg://")
    engine = sa.create_engine(driver, poolclass=sa.NullPool)
    try:
        found = sa.inspect(engine)
        return {
            name: {
                "columns": {
                    column["name"]: (_type(column["type"]), column["nullable"]) for column in found.get_columns(name)
                },
                "key": found.get_pk_constraint(name)["constrained_columns"],
                "refers": sorted(
                    (*foreign_key["constrained_columns"], foreign_key["referred_table"])
                    for foreign_key in found.get_foreign_keys(name)
                ),
                "indexes": sorted(
                    (str(get_index["name"]), get_index["column_names"], bool(get_index["unique"]))
                    for get_index in found.get_indexes(name)
                ),
                "unique": sorted(constraint["column_names"] for constraint in found.get_unique_constraints(name)),
            }
            for name in found.get_table_names()
            if name != "schema_version"
        }
    finally:
        engine.dispose()


def _type(found: Any) -> str:
    return str(found).split(" ")[0]


@pytest.mark.first(1)
def test_the_steps_end_at_the_tables_that_the_code_asks(blank: Database, database_url: str) -> None:
    """Columns, keys and indexes; a table that is only in one of the two, or a forgotten column, is a difference."""
    upgrade(blank)
    stepped = shape(blank, database_url)
    assert stepped.keys() == schema.metadata.tables.keys()
    for name, table in schema.metadata.tables.items():
        seen = stepped[name]
        assert seen["columns"].keys() == {column.name for column in table.columns}, name
        assert {each for each, (_, null) in seen["columns"].items() if null} == {
            column.name for column in table.columns if column.nullable
        }, name
        assert seen["key"] == [column.name for column in table.primary_key.columns], name
        indexes = {name: (columns, unique) for name, columns, unique in seen["indexes"]}
        wanted = {str(index.name): ([one.name for one in index.columns], bool(index.unique)) for index in table.indexes}
        assert {each: indexes.get(each) for each in wanted} == wanted, name


@pytest.mark.first(1)
def test_the_steps_end_where_the_tables_of_the_code_would_begin(database_url: str, blank: Database) -> None:
    """Types, references and the conditions of indexes as well: made by the steps, and made at once."""
    upgrade(blank)
    stepped = shape(blank, database_url)
    definitions = blank.read(_definitions)

    def make(connection: Connection) -> None:
        for table in reversed(schema.metadata.sorted_tables):
            connection.define(sa.schema.DropTable(table))
        for table in schema.metadata.sorted_tables:
            connection.define(sa.schema.CreateTable(table))
            for index in table.indexes:
                connection.define(sa.schema.CreateIndex(index))

    blank.write(make)
    assert shape(blank, database_url) == stepped
    assert blank.read(_definitions) == definitions


def _definitions(connection: Connection) -> list[tuple[str, ...]]:
    """The indexes, as they were defined: with their conditions."""
    asked = {
        "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name",
        "postgresql": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1",
    }[connection.dialect]
    return [tuple(row) for row in connection.all(Statement(sa.text(asked)))]


def test_the_first_step_makes_to_the_name_and_the_default_what_the_26_steps_before_it_made(blank: Database) -> None:
    """What they made was recorded before they were removed."""
    blank.write(lambda c: migrations.upgrade(c, migrations.steps_to(26)))
    recorded = released_versions.FILES / f"tables_26_{blank.dialect}.txt"
    assert blank.read(table_facts.read) == recorded.read_text().splitlines()


def test_browsers_of_before_sign_in_once_more(blank: Database) -> None:
    """They have no secret of their origin, so nothing of what they show is enough."""
    released_versions.fill(blank, 26)
    blank.write(
        lambda c: c.define(
            "INSERT INTO sign_ins (id, agent_id, at_most, how, created_at, expires_at, token_hash) "
            "VALUES ('sin_old', 'owner', 'owner', 'link', 1, 9999999999999, 'x')"
        )
    )
    live = Statement(sa.text("SELECT id FROM sign_ins WHERE ended_at IS NULL"))
    assert blank.read(lambda c: c.all(live))
    upgrade(blank)
    assert blank.read(lambda c: c.all(live)) == []
    world = World(blank)
    code = world.owner.call("make_sign_in_link")["code"]
    assert world.nobody.call("sign_in", code=code)["page_secret"]


def test_what_agents_of_a_project_of_the_oldest_version_reached_they_still_reach(blank: Database) -> None:
    """Settings that it lacks have the values that it had; those of a new project are narrower."""
    released_versions.fill(blank, migrations.OLDEST)
    upgrade(blank)
    world = World(blank)
    world.project(project_id="prj_new")
    networks = [
        world.owner.call("show_project", project_id=each)["project"]["settings"]["network"]
        for each in (PROJECT, "prj_new")
    ]
    assert networks == ["open", "model"]
