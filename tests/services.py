"""The PostgreSQL and the Redis of a whole run: the ones that answer where the tests look for them, else its own.

`python -m tests.services make test` runs a command with TORYO_TEST_POSTGRES and TORYO_TEST_REDIS, as .ci/run does.
`make bench` takes its PostgreSQL from here. Both are gone when the run has ended.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from redis import Redis
from redis.exceptions import RedisError

from tests.databases import REDIS, SERVER
from tests.postgres_server import postgres_server
from tests.redis_server import redis_server

WITHIN = 3


@contextmanager
def postgresql(*settings: str) -> Iterator[str]:
    """Its URL. The settings are of its own."""
    try:
        psycopg.connect(SERVER, connect_timeout=WITHIN).close()
    except psycopg.Error:
        with postgres_server(*settings) as own:
            yield own.url
    else:
        yield SERVER


@contextmanager
def redis() -> Iterator[str]:
    """Its URL. Its own keeps nothing."""
    try:
        with Redis.from_url(REDIS, socket_connect_timeout=WITHIN, socket_timeout=WITHIN) as client:
            client.ping()
    except RedisError:
        with tempfile.TemporaryDirectory() as folder, redis_server(Path(folder), ("--save", "")) as own:
            yield own.url
    else:
        yield REDIS


def main(command: list[str]) -> int:
    """The exit code of the command."""
    with postgresql() as database, redis() as hints:
        found = {"TORYO_TEST_POSTGRES": database, "TORYO_TEST_REDIS": hints}
        return subprocess.run(command, env={**os.environ, **found}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
