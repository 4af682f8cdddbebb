"""Lines and pools while two servers on one PostgreSQL write at once: each task starts once, and no agent has two."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from tests.invariants import hold
from tests.stories import Refused, World
from toryo.storage.open_database import open_database, upgrade

WORKERS, CHAINS, STEPS = 4, 8, 4


@pytest.fixture
def servers(postgres_empty: str, quiet: None) -> Iterator[list[World]]:
    with ExitStack() as held:
        databases = [held.enter_context(open_database(postgres_empty)) for _ in range(2)]
        upgrade(databases[0])
        yield [World(database, seed=number) for number, database in enumerate(databases)]


def at_work(world: World) -> list[str]:
    found = world.owner.call("list_project_tasks", project_id=world.project_id, status="in_progress", limit=100)
    return [each["task_id"] for each in found["tasks"]]


@pytest.mark.deep
@pytest.mark.postgresql
def test_what_two_servers_complete_at_once_starts_each_task_once_and_gives_no_agent_two(servers: list[World]) -> None:
    here, there = servers
    here.crew(WORKERS, start="when_ready")
    here.coordinator().claim(free_slots=0)
    there.now, there.project_id = here.now, here.project_id
    tasks: list[str] = []
    for chain in range(CHAINS):
        behind: list[str] = []
        for step in range(STEPS):
            who = "any" if chain % 2 else f"w{1 + (chain + step) % WORKERS}"
            title = f"Chain {chain}, step {step}"
            behind = [here.task(who, status="todo", title=title, dependencies=behind)]
            tasks += behind

    def go_on(number: int) -> None:
        chance, world = random.Random(number), servers[number % 2]
        while running := at_work(world):
            try:
                world.move(chance.choice(running), "completed")
            except Refused:
                continue  # another thread was first
            if chance.random() < 0.2:
                world.housekeep()

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(go_on, range(6)))
    assert {here.status(each) for each in tasks} == {"completed"}
    events = sorted(here.events("task.started") + here.events("task.completed"), key=lambda each: each["sequence"])
    started = Counter(each["task_id"] for each in events if each["kind"] == "task.started")
    assert started == Counter(tasks)
    whose = {each: here.show(each)["assignee_id"] for each in tasks}
    has: dict[str, str | None] = {}
    for each in events:
        agent = whose[each["task_id"]]
        if each["kind"] == "task.started":
            assert has.get(agent) is None, "its agent had another one"
        has[agent] = each["task_id"] if each["kind"] == "task.started" else None
    hold(here)
