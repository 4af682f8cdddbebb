"""An upgrade takes the missing steps, all or none, once, never goes backwards, and loses nothing that was stored."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import sqlalchemy as sa

from tests.storage import released_versions
from tests.storage.releases import first_rows, sample
from tests.stories import World
from toryo.domain.projects import Settings as ProjectSettings
from toryo.storage import integrity, migrations, schema
from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.statements import Statement
from toryo.storage.errors import DatabaseMisfit, DatabaseTooNew
from toryo.storage.open_database import open_database, upgrade

pytestmark = pytest.mark.both

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


def drop_trigger(connection: Connection, table: str) -> None:
    if connection.dialect == "postgresql":
        connection.define(f"ALTER TABLE {table} DISABLE TRIGGER {table}_changed")
    else:
        connection.define(f"DROP TRIGGER {table}_deleted")


ONE = (step("0001_words", make_words),)
TWO = (*ONE, step("0002_word", add_word))


@pytest.fixture
def blank(database_url: str) -> Any:
    with open_database(database_url) as opened:
        yield opened


def test_an_empty_database_gets_every_table_of_the_schema(blank: Database) -> None:
    names = upgrade(blank)
    assert names == [module.__name__.rpartition("step_")[2] for module in migrations.STEPS]
    for table in schema.metadata.sorted_tables:
        assert blank.read(rows_of(table)) == (1 if table is schema.directory else 0), table.name


def test_an_upgraded_database_is_left_alone(blank: Database) -> None:
    upgrade(blank)
    assert upgrade(blank) == []


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


@pytest.mark.parametrize("version", [1, 25])  # those from 26 on are recorded: tests/storage/test_released_versions.py
def test_a_database_of_an_older_release_keeps_every_row_and_works(blank: Database, version: int) -> None:
    blank.write(lambda c: migrations.upgrade(c, migrations.STEPS[:version]))
    before = blank.write(lambda c: sample(c, version))
    assert all(before.values())
    upgrade(blank)
    after = blank.read(first_rows)
    assert after == before
    assert blank.read(integrity.check) == []
    world = World(blank, now=2_000_000_000_000)
    world.project_id = "prj_old"
    shown = world.owner.call("list_launches", project_id="prj_old")["launches"]
    assert [each["launch_id"] for each in shown] == ["lau_old"]
    world.say("old", "Are you still there?")
    chat = world.start_chat("old")
    assert [pending_message["content"] for pending_message in chat.fetch()["pending_messages"]] == [
        "Are you still there?"
    ]
    task = world.task("old")
    worker = world.start("old")
    worker.report()
    assert world.status(task) == "completed"


def test_launches_of_the_first_release_took_slots(blank: Database) -> None:
    blank.write(lambda c: migrations.upgrade(c, migrations.STEPS[:1]))
    blank.write(sample)
    upgrade(blank)
    launches = schema.launches
    takes = blank.read(lambda c: c.all(Statement(sa.select(launches.c.id, launches.c.takes_slot))))
    assert [(each, bool(slot)) for each, slot in takes] == [("lau_old", True)]


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


def test_programs_that_shared_a_cooldown_have_one_each_afterwards(blank: Database) -> None:
    blank.write(lambda c: migrations.upgrade(c, migrations.STEPS[:25]))
    blank.write(lambda c: sample(c, 25))
    add = "INSERT INTO cooldowns (agent_id, purpose, until, reason, failures, provider) VALUES "
    rows = (
        "('old', 'both', 9, 'rate_limited', 2, 'claude\ngemini (ours)\nclaude'), ('old', 'chat', 8, 'runaway', 1, NULL)"
    )
    blank.write(lambda c: c.define(add + rows))
    upgrade(blank)
    kept = schema.cooldowns
    wanted = [kept.c.purpose, kept.c.program, kept.c.until, kept.c.reason, kept.c.failures]
    found = blank.read(lambda c: c.all(Statement(sa.select(*wanted).order_by(kept.c.purpose, kept.c.program))))
    assert [tuple(row) for row in found if row[0] != "task"] == [
        ("both", "claude", 9, "rate_limited", 2),
        ("both", "gemini (ours)", 9, "rate_limited", 2),
        ("chat", "", 8, "runaway", 1),
    ]


def test_settings_that_a_project_of_the_first_release_lacks_have_their_usual_values(blank: Database) -> None:
    blank.write(lambda c: migrations.upgrade(c, migrations.STEPS[:1]))
    blank.write(sample)
    upgrade(blank)
    world = World(blank)
    shown = world.owner.call("show_project", project_id="prj_old")["project"]["settings"]
    assert shown["open_delegations"] == ProjectSettings().open_delegations
    assert shown["network"] == "open", "what its agents reached they still reach"
    world.project(project_id="prj_new")
    assert world.owner.call("show_project", project_id="prj_new")["project"]["settings"]["network"] == "model"
