"""A queue under fire: agents, servers, PostgreSQL and Redis die or are cut off while tasks are filed, taken and done.

Every task is completed once and keeps the result that was acknowledged; what was done twice for that is counted as
attempts. `TORYO_TEST_QUEUE_TASKS`, `TORYO_TEST_QUEUE_AGENTS` and `TORYO_TEST_OUTAGE_SECONDS` say how much and how long;
`TORYO_TEST_SEED` what is killed when. What is printed is for who looks.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import quantiles

import psycopg
import pytest

from tests.databases import postgres_database
from tests.postgres_proxy import proxy
from tests.redis_server import RedisServer, redis_server
from tests.scenarios.conftest import Build
from tests.scenarios.queues import TYPE, Queue, insist
from tests.scenarios.sites import Site
from toryo.client import Client, RefusalError

TASKS = int(os.environ.get("TORYO_TEST_QUEUE_TASKS", "120"))
AGENTS = int(os.environ.get("TORYO_TEST_QUEUE_AGENTS", "5"))
OUTAGE_SECONDS = float(os.environ.get("TORYO_TEST_OUTAGE_SECONDS", "2"))
SEED = int(os.environ.get("TORYO_TEST_SEED", "17"))
KILLS = TASKS // 25
CUTS = 6
DONE_WITHIN = 200.0 + TASKS / 5
HINTED_WITHIN = 10.0
"""Seconds; who was not hinted looks by itself after 15."""
ROUNDS = 20

pytestmark = [pytest.mark.deep, pytest.mark.timeout(150 + 2 * DONE_WITHIN, method="signal")]


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


# --- whoever dies ----------------------------------------------------------------------------------------------------


def test_agents_and_the_server_are_killed_and_every_task_keeps_one_result(build: Build) -> None:
    _whoever_is_killed(build())


@pytest.mark.postgresql
def test_the_same_with_two_servers_on_one_postgresql(postgres: str, build: Build) -> None:
    _whoever_is_killed(build(database=postgres), build(database=postgres))
    assert _deadlocks(postgres) == 0


@pytest.mark.postgresql
@pytest.mark.redis
def test_the_same_with_two_servers_on_one_postgresql_and_redis(postgres: str, redis: RedisServer, build: Build) -> None:
    with_redis = {"database": postgres, "TORYO_REDIS_URL": redis.url}
    _whoever_is_killed(build(**with_redis), build(**with_redis))
    assert _deadlocks(postgres) == 0


def _whoever_is_killed(*sites: Site) -> None:
    with Queue(*sites, seed=SEED) as queue:
        queue.file(TASKS // 2)
        queue.file_meanwhile(TASKS - TASKS // 2)
        queue.start(AGENTS)
        for number in range(KILLS):
            queue.journal.until("did", (number + 1) * TASKS // (KILLS + 3))
            queue.kill_one()
            if number == KILLS // 3:
                queue.freeze_one()
            if number == KILLS // 2:
                _kill_a_server(queue)
        queue.all_filed()
        queue.until_completed(DONE_WITHIN)
        queue.thaw()
        queue.journal.until("refused", 1)
        assert queue.promises_broken() == []
        print(f"\nseed {SEED}: {queue.figures()}")  # noqa: T201


def _kill_a_server(queue: Queue) -> None:
    """Where there is another, the agents go on with that one; then it is back."""
    victim = queue.sites[0]
    victim.server.kill()
    if len(queue.sites) > 1:
        queue.journal.until_more("kept", AGENTS)
    victim.serve()


# --- what everybody shares is away -----------------------------------------------------------------------------------


@pytest.mark.postgresql
@pytest.mark.redis
def test_redis_stops_and_comes_back_and_only_shared_values_are_away_meanwhile(
    postgres: str, redis: RedisServer, build: Build
) -> None:
    with_redis = {"database": postgres, "TORYO_REDIS_URL": redis.url}
    with Queue(build(**with_redis), build(**with_redis)) as queue:
        one, other = (Client(site.url, queue.chief) for site in queue.sites)
        assert one.call("set_shared_state", key="mill:grain", value=["rye"])["version"] == 1
        queue.file_meanwhile(TASKS)
        queue.start(AGENTS)
        queue.journal.until_more("kept", AGENTS)
        redis.stop()
        start, over = len(queue.journal.lines), time.monotonic() + OUTAGE_SECONDS
        while (left := over - time.monotonic()) > 0:
            for each in (one, other):
                assert _refusal(each, "get_shared_state", key="mill:grain") == "unavailable"
                assert _refusal(each, "set_shared_state", key="mill:grain", value=[]) == "unavailable"
            queue.journal.until_news(left)
        queue.journal.until("kept", AGENTS, since=start)  # results go on
        redis.start()
        assert insist([one], "call", "get_shared_state", key="mill:grain")["value"] == ["rye"]
        assert insist([other], "call", "set_shared_state", key="mill:grain", value=[], expected_version=1)
        queue.all_filed()
        queue.until_completed(DONE_WITHIN)
        assert queue.promises_broken() == []
        assert queue.journal.of("away") == []
        print(f"\n{queue.figures()}")  # noqa: T201


@pytest.mark.postgresql
@pytest.mark.redis
def test_what_was_filed_while_redis_was_away_is_heard_of_when_it_is_back_and_then_hints_are_quick_again(
    postgres: str, redis: RedisServer, build: Build
) -> None:
    with_redis = {"database": postgres, "TORYO_REDIS_URL": redis.url}
    with Queue(build(**with_redis), build(**with_redis)) as queue:
        redis.stop()
        told("missed", [missed := one_round(queue, HINTED_WITHIN, after_filing=redis.start)])
        told("later", found := answered_after(queue, 3))
        assert max(missed, *found) < HINTED_WITHIN


@pytest.mark.postgresql
def test_postgresql_is_cut_off_and_comes_back_and_nothing_is_lost_or_doubled(postgres: str, build: Build) -> None:
    with proxy(postgres) as wire, Queue(build(database=wire.url), build(database=wire.url)) as queue:
        queue.file_meanwhile(TASKS)
        queue.start(AGENTS)
        for number in range(CUTS):
            queue.journal.until("kept", (number + 1) * TASKS // (CUTS + 3))
            wire.cut_after(b"COMMIT")  # of somebody's poll, result or task: it is kept, and nobody is told
            assert wire.was_cut.wait(60), "nobody has committed anything"
            _away_for(queue, OUTAGE_SECONDS / CUTS)
            wire.mend()
        queue.all_filed()
        queue.until_completed(DONE_WITHIN)
        assert queue.promises_broken() == []
        assert {each["code"] for each in queue.journal.of("away")} == {"unavailable"}
        print(f"\n{queue.figures()}")  # noqa: T201


def _away_for(queue: Queue, seconds: float) -> None:
    """Until both servers have said so, and for so long at least."""
    over = time.monotonic() + seconds
    for site in queue.sites:
        with Client(site.url, queue.chief) as client:
            assert _refusal(client, "get_task_status", task_id=queue.filed[0]) == "unavailable"
    while (left := over - time.monotonic()) > 0:
        queue.journal.until_news(left)


# --- two servers -----------------------------------------------------------------------------------------------------


@pytest.mark.postgresql
@pytest.mark.parametrize("hints", ["postgresql", pytest.param("redis", marks=pytest.mark.redis)])
def test_a_poll_at_one_server_answers_when_a_task_is_filed_at_the_other(
    hints: str, postgres: str, build: Build, request: pytest.FixtureRequest
) -> None:
    more = {"TORYO_REDIS_URL": request.getfixturevalue("redis").url} if hints == "redis" else {}
    with Queue(build(database=postgres, **more), build(database=postgres, **more)) as queue:
        told(hints, found := answered_after(queue, ROUNDS))
        assert max(found) < HINTED_WITHIN


def answered_after(queue: Queue, rounds: int) -> list[float]:
    return [one_round(queue, HINTED_WITHIN) for _ in range(rounds)]


def one_round(queue: Queue, within: float, after_filing: Callable[[], object] = lambda: None) -> float:
    """Seconds from filing a task at the first server to the answer of a poll that waits at the last one."""
    answered: list[float] = []
    agent_id = f"waiting-{len(queue.filed)}"
    key = queue.key(agent_id, types=[TYPE])

    def wait() -> None:
        with Client(queue.sites[-1].url, key) as client:
            found = client.call("poll_tasks", agent_id=agent_id, wait_seconds=40)["result"]
            answered.append(time.monotonic())
            client.call("submit_result", task_id=found[0]["task_id"], status="completed")

    with Client(queue.sites[-1].url, key) as client:
        client.call("register_agent", agent_id=agent_id, agent_type=TYPE)
    poll = threading.Thread(target=wait)
    poll.start()
    with Client(queue.sites[-1].url, key) as client:
        for _ in range(3):  # answered behind the poll's first look, as a rule: nothing hangs on it
            client.call("heartbeat", agent_id=agent_id)
    began = time.monotonic()
    queue.file(1, queue.sites[0])
    after_filing()
    poll.join(within)
    assert answered, f"the poll has not answered within {within:g} s"
    return answered[0] - began


def told(what: str, seconds: list[float]) -> None:
    shares = quantiles(seconds, n=100, method="inclusive") if len(seconds) > 1 else seconds * 99
    print(f"\n{what}: p50 {shares[49] * 1000:.1f} ms, p99 {shares[98] * 1000:.1f} ms of {len(seconds)}")  # noqa: T201


def _refusal(client: Client, tool: str, **arguments: object) -> str:
    """The code that a call is refused with."""
    with pytest.raises(RefusalError) as refused:
        client.call(tool, **arguments)
    return refused.value.code


def _deadlocks(url: str) -> int:
    """How often transactions have waited for each other: each time costs somebody a second or more."""
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        row = found.fetchone()
    assert row is not None
    return int(row[0])
