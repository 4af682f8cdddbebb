"""Pitfalls of queues that are shown as they would happen: two servers at once, a worker that dies again and again."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from tests.invariants import hold
from tests.operations.test_queue import claimed, filed, key, poller
from tests.stories import Caller, World
from toryo.operations.calls.catalogue import catalogue
from toryo.operations.calls.grants import KEYED
from toryo.storage.open_database import open_database, upgrade


@pytest.fixture
def servers(postgres_empty: str, quiet: None) -> Iterator[list[World]]:
    """Two servers on one database."""
    with ExitStack() as held:
        databases = [held.enter_context(open_database(postgres_empty)) for _ in range(2)]
        upgrade(databases[0])
        yield [World(database, seed=number) for number, database in enumerate(databases)]


@pytest.mark.deep
@pytest.mark.pitfall("F133")
@pytest.mark.postgresql
def test_f133_of_a_hundred_tasks_each_is_claimed_once_by_twenty_pollers_at_two_servers(servers: list[World]) -> None:
    here, there = servers
    here.project()
    chief = key(here, "chief", orchestrator=True)
    tasks = [filed(chief, f"Task {number}") for number in range(100)]
    keys = {f"p{number}": poller(here, f"p{number}").bearer for number in range(20)}
    pollers = [(Caller(servers[number % 2], bearer), name) for number, (name, bearer) in enumerate(keys.items())]

    def poll(who: tuple[Caller, str]) -> list[str]:
        got: list[str] = []
        while tasks_now := claimed(*who, max_tasks=3):
            got += [each["task_id"] for each in tasks_now]
        return got

    with ThreadPoolExecutor(20) as threads:
        got = [task for each in threads.map(poll, pollers) for task in each]
    assert sorted(got) == sorted(tasks)
    for who in pollers:
        for held in who[0].call("heartbeat", agent_id=who[1])["claims"]:
            who[0].call("submit_result", task_id=held["task_id"], status="completed")
    there.now = here.now
    assert {there.status(each) for each in tasks} == {"completed"}
    hold(here)


@pytest.mark.pitfall("F134")
def test_f134_a_task_whose_workers_all_die_goes_from_one_to_the_next_and_is_then_a_dead_letter(world: World) -> None:
    world.project()
    task = filed(key(world, "chief", orchestrator=True))
    for attempt in (1, 2, 3):
        (got,) = claimed(poller(world, f"p{attempt}"), f"p{attempt}")
        assert (got["task_id"], got["attempt"]) == (task, attempt)
        world.advance(1801)
        world.housekeep()
        world.advance(300)
    (dead,) = world.owner.call("list_dead_letters", project_id=world.project_id)["tasks"]
    assert (dead["task_id"], dead["status"], dead["error"]) == (task, "failed", "attemptsExhausted")
    assert [event["data"]["attempt"] for event in world.events("claim.lost")] == [1, 2, 3]
    hold(world)


@pytest.mark.pitfall("F135")
def test_f135_tasks_of_queues_that_would_wait_for_each_other_are_refused_on_every_path(world: World) -> None:
    """A waits for B; nobody makes B wait for A later. What a key files below B is told as coming from it, and is waited
    for by nobody."""
    world.project()
    chief = key(world, "chief", orchestrator=True)
    b = filed(chief, "B")
    a = filed(chief, "A", dependencies=[b])
    filed(chief, "C", parent_task_id=b, dependencies=[a])
    refusal = world.owner.refused("edit_task", "dependencyCycle", task_id=b, add_dependencies=[a])
    assert {a, b} <= set(refusal["cycle"])


@pytest.mark.pitfall("F142")
def test_f142_every_tool_of_queues_wants_a_key_also_those_that_come(world: World) -> None:
    """A tool that belongs to queues by its file has a grant that API keys open."""
    found = {each.name for each in catalogue().values() if ".operations.queue." in each.handler.__module__}
    tools = {name for name in found if catalogue()[name].tool}
    assert tools
    assert all(catalogue()[name].grant in KEYED for name in tools)
