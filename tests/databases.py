"""The databases that tests run on: an SQLite file of their own, and a PostgreSQL schema of their own.

PostgreSQL is the server that `TORYO_TEST_POSTGRES` names (default below). Each test session makes a database there
and drops it; each test gets an empty schema in it. Redis is the database that `TORYO_TEST_REDIS` names, emptied for
each test; one test at a time has it. Without a server those tests are skipped and say why; with
`TORYO_TEST_REQUIRE=all` they fail.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import psycopg
import pytest
import sqlalchemy as sa
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from redis import Redis
from redis.exceptions import RedisError

from tests.once import alone, why_not
from toryo.storage import schema
from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.statements import Statement
from toryo.storage.open_database import open_database, upgrade

SERVER = os.environ.get("TORYO_TEST_POSTGRES", "postgresql://127.0.0.1:5432/test")
REDIS = os.environ.get("TORYO_TEST_REDIS", "redis://127.0.0.1:6379/15")
POSTGRESQL = pytest.param("postgresql", marks=[pytest.mark.postgresql, pytest.mark.twin])
KINDS = ["sqlite", POSTGRESQL]


def required() -> bool:
    """Whether nothing that a test needs may be missing."""
    return os.environ.get("TORYO_TEST_REQUIRE") == "all"


def missing(reason: str) -> None:
    """What a test needs is not there: a loud skip, or a failure where everything is required."""
    if required():
        pytest.fail(f"{reason} (TORYO_TEST_REQUIRE=all)", pytrace=False)
    pytest.skip(reason)


@contextmanager
def postgres_database() -> Iterator[str]:
    """The URL of a new database, dropped afterwards. No test tells of a power cut: its commits await no disk."""
    name = f"toryo_test_{secrets.token_hex(6)}"
    try:
        connection = psycopg.connect(SERVER, autocommit=True, connect_timeout=3)
    except psycopg.Error as error:
        missing(f"PostgreSQL at TORYO_TEST_POSTGRES={SERVER} does not answer: {str(error).splitlines()[0]}")
        raise
    with connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        connection.execute(sql.SQL("ALTER DATABASE {} SET synchronous_commit = off").format(sql.Identifier(name)))
        try:
            yield postgres_url(SERVER, dbname=name)
        finally:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@contextmanager
def postgres_schema(database_url: str) -> Iterator[str]:
    """The URL of a new, empty schema in that database, dropped afterwards."""
    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
        try:
            yield postgres_url(database_url, options=f"-csearch_path={name}")
        finally:
            connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(name)))


def postgres_url(url: str, **changes: str) -> str:
    """The URL with other parts."""
    parts = {name: quote(str(value), safe="") for name, value in {**conninfo_to_dict(url), **changes}.items()}
    host, port, dbname, user = (parts.pop(name, "") for name in ("host", "port", "dbname", "user"))
    rest = "&".join(f"{name}={value}" for name, value in parts.items())
    return f"postgresql://{user and user + '@'}{host}{port and ':' + port}/{dbname}{rest and '?' + rest}"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of this session's own PostgreSQL database."""
    with postgres_database() as url:
        yield url


@pytest.fixture
def postgres_empty(postgres_server: str) -> Iterator[str]:
    """The URL of an empty PostgreSQL schema."""
    with postgres_schema(postgres_server) as url:
        yield url


@pytest.fixture(params=KINDS)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'toryo.db'}"
    url: str = request.getfixturevalue("postgres_empty")
    return url


@pytest.fixture(scope="session")
def kept_sqlite() -> Iterator[Database]:
    """An open database with all tables that stays for the whole run: making one costs more than most tests.

    No test tells of a power cut: commits await no disk.
    """
    memory = "/dev/shm"
    with (
        TemporaryDirectory(prefix="toryo_test_", dir=memory if os.access(memory, os.W_OK) else None) as directory,
        open_database(f"sqlite:///{directory}/toryo.db") as opened,
    ):
        upgrade(opened)
        yield opened


@pytest.fixture(scope="session")
def kept_postgresql(postgres_server: str) -> Iterator[Database]:
    """The same on PostgreSQL."""
    with postgres_schema(postgres_server) as url, open_database(url) as opened:
        upgrade(opened)
        yield opened


@pytest.fixture(params=KINDS)
def kept_database(request: pytest.FixtureRequest) -> Database:
    """Each kind of these. The parameter is not the session's: pytest would make each database anew after the other."""
    found: Database = request.getfixturevalue(f"kept_{request.param}")
    return found


def empty(database: Database) -> None:
    """Every row of every table is gone."""

    def work(connection: Connection) -> None:
        for table in reversed(schema.metadata.sorted_tables):
            if table is not schema.directory:  # Without its stamp nothing would be remembered.
                connection.run(_delete(table))

    database.write(work)


@lru_cache(maxsize=64)
def _delete(table: sa.Table) -> Statement:
    return Statement(sa.delete(table))


@pytest.fixture
def database(kept_database: Database) -> Database:
    """An open database with all tables and no rows, of each kind."""
    empty(kept_database)
    return kept_database


# --- Redis -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def redis_url() -> Iterator[str]:
    """The URL of an empty Redis database, emptied afterwards."""
    client = Redis.from_url(REDIS, socket_connect_timeout=3)
    with client, alone(Path(tempfile.gettempdir()) / f"toryo_test_redis.{os.getuid()}.lock"):
        silent = why_not("redis", lambda: _emptied(client))
        if silent is not None:
            missing(f"Redis at TORYO_TEST_REDIS={REDIS} does not answer: {silent}")
        yield REDIS
        client.flushdb()


def _emptied(client: Redis) -> str | None:
    """None if it answered, else what went wrong."""
    try:
        client.flushdb()
    except RedisError as error:
        return str(error)
    return None
