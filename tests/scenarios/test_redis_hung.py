"""Two servers on one PostgreSQL whose Redis stands still: nobody is told anything, and then hints are quick again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import postgres_database
from tests.redis_server import RedisServer, redis_server
from tests.reliability.counting import injected
from tests.scenarios.conftest import Build
from tests.scenarios.queues import Queue
from tests.scenarios.sites import Site
from tests.scenarios.test_queue_under_fire import HINTED_WITHIN, OUTAGE_SECONDS, answered_after, one_round, told
from toryo.server.long_polling import LOOK_AGAIN

LOOKS_AGAIN_WITHIN = 2 * LOOK_AGAIN + 10.0
"""Without a hint, also where something before it waits for one."""

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]


@pytest.fixture
def postgres() -> Iterator[str]:
    """A PostgreSQL database of the test's own."""
    with postgres_database() as url:
        yield url


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis of the test's own."""
    with redis_server(tmp_path) as server:
        yield server


@pytest.mark.postgresql
@pytest.mark.redis
def test_who_waits_at_one_server_learns_what_is_filed_at_the_other_also_while_redis_stands_still_and_soon_afterwards(
    postgres: str, redis: RedisServer, build: Build
) -> None:
    """An agent that polls, and a Coordinator. Meanwhile they hear of it as soon as they look again by themselves."""
    with_redis = {"database": postgres, "TORYO_REDIS_URL": redis.url}
    with Queue(build(**with_redis), build(**with_redis)) as queue:
        here, there = queue.sites
        here.project("house")
        here.hire("ann", "house")
        there.coordinator()
        injected("Redis hung")
        redis.freeze()
        over = time.monotonic() + OUTAGE_SECONDS
        first = _filed_for(here)
        told("Redis stands still", [one_round(queue, LOOKS_AGAIN_WITHIN)])
        here.until_status(first, "completed", within=LOOKS_AGAIN_WITHIN)
        while (left := over - time.monotonic()) > 0:
            queue.journal.until_news(left)
        second = _filed_for(here)
        told("goes on", found := [one_round(queue, HINTED_WITHIN, after_filing=redis.thaw)])
        here.until_status(second, "completed")
        found += answered_after(queue, 3)
        assert max(found) < HINTED_WITHIN
        here.until_idle()
        assert [here.history.double_launches(), here.history.completed_twice(), here.history.lost()] == [[], [], []]


def _filed_for(site: Site) -> str:
    return site.file("house", "Build", assignee_id="ann", status="in_progress", context={"command": "true"})
