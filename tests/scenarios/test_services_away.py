"""PostgreSQL and Redis die, stand still, or are replaced by another server, while stories are told and a queue is
worked off. The work completes by itself, nothing that was acknowledged is lost, and the rules hold.

What is cut off for a moment, again and again, is in `test_queue_under_fire.py`. `TORYO_TEST_OUTAGE_SECONDS` says how
long each outage lasts: 2 seconds by default. 20 are for those who have time, and then every story is told.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.databases import postgres_database
from tests.postgres_proxy import Proxy, proxy, redis_proxy
from tests.postgres_server import PostgreSQLServer, postgres_server, standby_of
from tests.redis_server import RedisServer, redis_server
from tests.reliability.counting import injected
from tests.scenarios.conftest import Build
from tests.scenarios.queues import Queue
from tests.scenarios.sites import Site
from tests.scenarios.stories import NO_BLAME, Stories, rules_broken

OUTAGE_SECONDS = float(os.environ.get("TORYO_TEST_OUTAGE_SECONDS", "2"))
FOR_THOSE_WHO_HAVE_TIME = pytest.mark.skipif(OUTAGE_SECONDS < 20, reason="TORYO_TEST_OUTAGE_SECONDS is less than 20")
STORIES = 2
TASKS, AGENTS = 12, 2
WITHIN = 100.0 + 2 * OUTAGE_SECONDS

pytestmark = [pytest.mark.deep, pytest.mark.timeout(200 + 4 * WITHIN, method="signal")]


@contextmanager
def at_work(site: Site) -> Iterator[Callable[[], None]]:
    """A story is being told and a part of the queue is done. Afterwards all of it is, as it must be.

    Yields a function that lets an outage pass, in which more is filed.
    """
    stories = Stories(site, workers=2, at_once=1)
    site.coordinator()
    with Queue(site) as queue:
        queue.file(TASKS // 2)
        queue.start(AGENTS)
        stories.keep_busy()
        site.until("a part is begun", lambda: site.history.starts(agent_id="hand-0"))
        queue.journal.until("kept", AGENTS)
        queue.file_meanwhile(TASKS - TASKS // 2)
        yield lambda: pass_by(queue, OUTAGE_SECONDS)
        stories.until_told(STORIES, WITHIN)
        queue.all_filed()
        queue.until_completed(WITHIN)
        stories.calm_down(WITHIN)
        assert stories.promises_broken() == []
        assert queue.promises_broken() == []
    assert rules_broken(site.database) == []


def pass_by(queue: Queue, seconds: float) -> None:
    over = time.monotonic() + seconds
    while (left := over - time.monotonic()) > 0:
        queue.journal.until_news(left)


# --- PostgreSQL ------------------------------------------------------------------------------------------------------


@pytest.fixture
def postgres() -> Iterator[PostgreSQLServer]:
    """A PostgreSQL of the test's own."""
    with postgres_server() as server:
        yield server


@pytest.mark.postgresql
def test_postgresql_is_killed_stays_away_and_is_started_again(postgres: PostgreSQLServer, build: Build) -> None:
    with at_work(build(database=postgres.url, **NO_BLAME)) as outage:
        injected("PostgreSQL killed")
        postgres.kill()
        outage()
        postgres.start()


@FOR_THOSE_WHO_HAVE_TIME
@pytest.mark.postgresql
def test_postgresql_stands_still_and_goes_on(postgres: PostgreSQLServer, build: Build) -> None:
    with at_work(build(database=postgres.url, **NO_BLAME)) as outage:
        injected("PostgreSQL hung")
        postgres.freeze()
        outage()
        postgres.thaw()


@pytest.mark.postgresql
@pytest.mark.parametrize("how", ["dies", pytest.param("stands still", marks=FOR_THOSE_WHO_HAVE_TIME)])
def test_the_standby_takes_over_when_postgresql(how: str, postgres: PostgreSQLServer, build: Build) -> None:
    """The connections to one that stands still stay open and are never answered."""
    with (
        standby_of(postgres) as standby,
        proxy(postgres.url) as wire,
        at_work(build(database=wire.url, **NO_BLAME)) as outage,
    ):
        injected("PostgreSQL failed over")
        if how == "dies":
            postgres.kill()
        else:
            postgres.freeze()
            wire.stand_still()
        outage()
        standby.promote()
        wire.lead_to("127.0.0.1", standby.port)
        wire.flow_anew()


# --- Redis -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis of the test's own."""
    with redis_server(tmp_path) as server:
        yield server


@pytest.fixture
def database() -> Iterator[str]:
    """A PostgreSQL database of the test's own."""
    with postgres_database() as url:
        yield url


@FOR_THOSE_WHO_HAVE_TIME
@pytest.mark.postgresql
@pytest.mark.redis
def test_redis_stands_still_and_goes_on(database: str, redis: RedisServer, build: Build) -> None:
    with at_work(build(database=database, TORYO_REDIS_URL=redis.url, **NO_BLAME)) as outage:
        injected("Redis hung")
        redis.freeze()
        outage()
        redis.thaw()


@pytest.mark.postgresql
@pytest.mark.redis
def test_another_redis_takes_over_from_one_that_is_never_heard_of_again(
    database: str, redis: RedisServer, build: Build, tmp_path: Path
) -> None:
    """Hints go on from server to server, and shared values are those of the new one: none."""
    (tmp_path / "other").mkdir()
    with (
        redis_server(tmp_path / "other") as other,
        redis_proxy(redis.url) as wire,
        at_work(build(database=database, TORYO_REDIS_URL=wire.url, **NO_BLAME)) as outage,
    ):
        injected("Redis failed over")
        wire.stand_still()
        outage()
        _lead_to(wire, other)


def _lead_to(wire: Proxy, redis: RedisServer) -> None:
    wire.lead_to("127.0.0.1", redis.port)
    wire.flow_anew()
