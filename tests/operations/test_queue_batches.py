"""Queue calls that arrive at the same time are carried out together: each gets its own answer or refusal, a failing one
hurts no other, and many cost hardly more statements than one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any

import pytest
import sqlalchemy as sa

from tests.databases import empty
from tests.invariants import hold
from tests.operations.test_queue import key
from tests.stories import Answer, World, hold_to_promise
from toryo.domain.errors import Code
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.dispatch import Outcome
from toryo.settings import AuthSettings, Settings
from toryo.storage import schema
from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.statements import Statement
from toryo.storage.events import Events
from toryo.storage.queues import Queues
from toryo.storage.tasks import Tasks
from toryo.storage.transaction import Transaction

pytestmark = pytest.mark.both

SECONDS = 100
WITHOUT_WAITING = 8
"""Seconds: less than PostgreSQL waits for a lock."""


@dataclass
class Crowd:
    """Agents that file, poll and submit, each with a key of its own."""

    world: World
    keys: dict[str, Credentials]

    @classmethod
    def of(cls, world: World, agents: int, projects: int = 1) -> Crowd:
        names = [world.project(name=f"P{number}") for number in range(projects)]
        found = {}
        for number in range(agents):
            world.project_id = names[number % projects]
            agent = key(world, f"a{number}", orchestrator=True)
            agent.call("register_agent", agent_id=f"a{number}", agent_type="numbers")
            found[f"a{number}"] = agent.credentials
        return cls(world, found)

    def at_once(self, tool: str, **arguments: Any) -> list[Answer]:
        """Each agent calls it, all at the same time; an argument that is a list has one value for each."""
        return asyncio.run(self._all(tool, arguments))

    async def _all(self, tool: str, arguments: Answer) -> list[Answer]:
        outcomes = await asyncio.gather(
            *(
                self.call(agent, tool, **{name: self._one(value, place) for name, value in arguments.items()})
                for place, agent in enumerate(self.keys)
            )
        )
        return list(outcomes)

    @staticmethod
    def _one(value: Any, place: int) -> Any:
        return value[place] if isinstance(value, list) else value

    async def call(self, agent: str, tool: str, **arguments: Any) -> Answer:
        outcome = await self.world.dispatcher.perform_async(tool, arguments, self.keys[agent])
        hold_to_promise(tool, outcome)
        assert not outcome.refused and outcome.result is not None, outcome.result
        return outcome.result

    def cycle(self) -> None:
        self.at_once("create_task", agent_type="numbers", task_description="Return it")
        got = self.at_once("poll_tasks", agent_id=list(self.keys))
        assert all(len(each["result"]) == 1 for each in got)
        self.at_once("submit_result", task_id=[each["result"][0]["task_id"] for each in got], status="completed")


@pytest.fixture
def statements(fresh: Database, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that the database is sent, BEGIN, COMMIT and locks too."""
    kind: Any = fresh.read(type)
    ran: list[str] = []

    def noting(name: str) -> Any:
        real = getattr(kind, name)

        def run(self: Any, *given: Any, **more: Any) -> Any:
            ran.append(repr(given[0]))
            return real(self, *given, **more)

        return run

    for name in ("all", "one", "run", "many", "command"):
        monkeypatch.setattr(kind, name, noting(name))
    return ran


@pytest.mark.parametrize("projects", [1, 20])
def test_a_cycle_of_64_callers_is_half_a_statement_however_many_projects_there_are(
    fresh: Database, statements: list[str], projects: int
) -> None:
    crowd = Crowd.of(World(fresh), 64, projects)
    crowd.cycle()
    statements.clear()
    crowd.cycle()
    assert len(statements) <= 32, statements


def test_a_cycle_of_a_lone_caller_is_few_statements(fresh: Database, statements: list[str]) -> None:
    crowd = Crowd.of(World(fresh), 1)
    crowd.cycle()
    statements.clear()
    crowd.cycle()
    assert len(statements) <= 35, statements


def test_callers_of_every_kind_at_once_claim_each_task_once(fresh: Database) -> None:
    """Each agent files, polls and submits at its own pace, so that batches hold calls of every kind."""
    world = World(fresh)
    crowd = Crowd.of(world, 12, projects=2)
    claimed: list[str] = []

    async def serve(agent: str) -> None:
        for number in range(6):
            await crowd.call(agent, "create_task", agent_type="numbers", task_description=f"{agent} {number}")
            got = await crowd.call(agent, "poll_tasks", agent_id=agent, max_tasks=1 + number % 3)
            claimed.extend(each["task_id"] for each in got["result"])
            for each in got["result"]:
                await crowd.call(agent, "submit_result", task_id=each["task_id"], status="completed", result=number)

    async def all_of_them() -> None:
        await asyncio.gather(*(serve(agent) for agent in crowd.keys))

    asyncio.run(all_of_them())
    assert len(claimed) == len(set(claimed)) == 72
    assert {row[7] for row in world.rows(schema.tasks)["tasks"]} == {"completed"}
    hold(world)


@pytest.mark.parametrize("undone", [False, True])
def test_calls_of_one_key_at_the_same_time_count_once_each_even_if_their_batch_is_undone(
    fresh: Database, monkeypatch: pytest.MonkeyPatch, undone: bool
) -> None:
    world = World(fresh, Settings(auth=AuthSettings(key_calls_per_minute=20)))
    crowd = Crowd.of(world, 1)  # whose registration is the first call
    real, broken = Tasks.file, list[int]()

    def failing(rows: Any, tasks: Sequence[Any]) -> None:
        real(rows, tasks)
        if undone and not broken:
            broken.append(len(tasks))
            rows._connection.run(Statement(sa.insert(schema.claims).values(task_id="none", attempt=1)))

    async def at_once(count: int) -> list[Outcome]:
        create = {"agent_type": "numbers", "task_description": "Return it"}
        return await asyncio.gather(
            *(world.dispatcher.perform_async("create_task", create, crowd.keys["a0"]) for _ in range(count))
        )

    monkeypatch.setattr(Tasks, "file", failing)
    assert not any(each.refused for each in asyncio.run(at_once(10)))
    assert bool(broken) is undone
    refused = [each.result for each in asyncio.run(at_once(20)) if each.refused]
    assert [each and each["error"] for each in refused] == [Code.RATE_LIMITED] * 11
    assert len(world.rows(schema.tasks)["tasks"]) == 19


@pytest.mark.parametrize(
    ("writer", "fails"),
    [(Tasks, "file"), (Tasks, "start"), (Tasks, "end"), (Queues, "take"), (Queues, "end"), (Events, "flush")],
)
def test_a_batch_with_a_failing_statement_is_undone_and_each_of_its_calls_gets_its_own_answer(
    fresh: Database, monkeypatch: pytest.MonkeyPatch, writer: type[Any], fails: str
) -> None:
    world = World(fresh)
    crowd = Crowd.of(world, 5)
    crowd.at_once("create_task", agent_type="numbers", task_description="First")
    (held, *_) = crowd.at_once("poll_tasks", agent_id=list(crowd.keys))
    real, broken = getattr(writer, fails), list[str]()

    def failing(rows: Any, *values: Sequence[Any]) -> None:
        real(rows, *values)
        if not broken and all(values):
            broken.append(fails)
            rows._connection.run(Statement(sa.insert(schema.claims).values(task_id="none", attempt=1)))

    async def at_once() -> tuple[Outcome, ...]:
        perform, keys = world.dispatcher.perform_async, crowd.keys
        (mine,) = held["result"]
        return await asyncio.gather(
            perform("create_task", {"agent_type": "numbers", "task_description": "Second"}, keys["a1"]),
            perform("create_task", {"agent_type": "numbers", "task_description": " "}, keys["a2"]),
            perform("submit_result", {"task_id": mine["task_id"], "status": "completed", "result": 1}, keys["a0"]),
            perform("submit_result", {"task_id": mine["task_id"], "status": "completed"}, keys["a4"]),
            perform("poll_tasks", {"agent_id": "a3"}, keys["a3"]),
        )

    with monkeypatch.context() as patched:
        patched.setattr(writer, fails, failing)
        created, invalid, submitted, foreign, polled = asyncio.run(at_once())
    assert broken
    assert [each.refused for each in (created, invalid, submitted, foreign, polled)] == [
        False,
        True,
        False,
        True,
        False,
    ]
    assert created.result is not None and polled.result is not None
    assert [each["task_id"] for each in polled.result["result"]] == [created.result["task_id"]]
    assert len(world.rows(schema.tasks)["tasks"]) == 6
    hold(world)


def test_many_tasks_and_many_results_of_one_call_cost_no_more_statements_than_one(
    fresh: Database, statements: list[str]
) -> None:
    crowd = Crowd.of(World(fresh), 1)
    crowd.cycle()
    statements.clear()
    tasks = [{"agent_type": "numbers", "task_description": f"No. {number}"} for number in range(40)]
    (made,) = crowd.at_once("create_queue_tasks", tasks=[tasks], idempotency_key="forty")
    (got,) = crowd.at_once("poll_tasks", agent_id="a0", max_tasks=40)
    assert [each["task_id"] for each in got["result"]] == made["task_ids"], "in the order in which they were named"
    results = [{"task_id": each, "status": "completed", "result": each} for each in made["task_ids"]]
    (submitted,) = crowd.at_once("submit_results", results=[results])
    assert all(each["accepted"] for each in submitted["results"])
    assert len(statements) <= 35
    (again,) = crowd.at_once("create_queue_tasks", tasks=[tasks], idempotency_key="forty")
    assert again["task_ids"] == made["task_ids"]
    (repeated,) = crowd.at_once("submit_results", results=[results])
    assert repeated == submitted


def test_of_many_results_the_refused_ones_change_nothing_and_the_others_are_kept(world: World) -> None:
    world.project()
    crowd = Crowd.of(world, 2)
    crowd.at_once("create_task", agent_type="numbers", task_description="Return it")
    mine, foreign = (each["result"][0]["task_id"] for each in crowd.at_once("poll_tasks", agent_id=["a0", "a1"]))
    results = [{"task_id": each, "status": "completed"} for each in (foreign, mine, "tsk_none")]
    answer = world.perform("submit_results", {"results": results}, crowd.keys["a0"]).result
    assert answer is not None
    assert [(each["accepted"], each.get("error")) for each in answer["results"]] == [
        (False, "permissionDenied"),
        (True, None),
        (False, "taskNotFound"),
    ]
    assert (world.status(mine), world.status(foreign)) == ("completed", "in_progress")


def test_of_many_tasks_none_is_created_if_one_is_refused(world: World) -> None:
    world.project()
    crowd = Crowd.of(world, 1)
    task = {"agent_type": "numbers", "task_description": "Return it"}
    asked = {"tasks": [task, {**task, "dependencies": ["tsk_none"]}], "idempotency_key": "k"}
    refused = world.perform("create_queue_tasks", asked, crowd.keys["a0"])
    assert refused.refused and refused.result is not None
    assert (refused.result["error"], refused.result["place"]) == ("taskNotFound", 1)
    assert world.rows(schema.tasks)["tasks"] == []
    assert world.perform("create_queue_tasks", {**asked, "tasks": [task]}, crowd.keys["a0"]).refused is False


def test_the_same_idempotency_key_at_the_same_time_creates_one_task(fresh: Database) -> None:
    world = World(fresh)
    crowd = Crowd.of(world, 1)

    async def at_once() -> list[Answer]:
        asked = {"agent_type": "numbers", "task_description": "Once", "idempotency_key": "k"}
        return list(await asyncio.gather(*(crowd.call("a0", "create_task", **asked) for _ in range(5))))

    answers = asyncio.run(at_once())
    assert len({each["task_id"] for each in answers}) == 1 == len(world.rows(schema.tasks)["tasks"])


@pytest.mark.postgresql
def test_a_project_that_somebody_has_locked_does_not_delay_the_calls_of_others(kept_postgresql: Database) -> None:
    """The call that waits is answered by itself, as soon as it can be."""
    empty(kept_postgresql)
    crowd = Crowd.of(World(kept_postgresql), 2, projects=2)
    held, release = Event(), Event()

    def stands_still(connection: Connection) -> None:
        Transaction(connection).lock_project(crowd.world.project_id)
        held.set()
        release.wait(SECONDS)

    async def story() -> None:
        holding = asyncio.create_task(crowd.world.database.write_async(stands_still))
        assert await asyncio.to_thread(held.wait, SECONDS)
        asked = {"agent_type": "numbers", "task_description": "Do it"}
        here, there = (asyncio.create_task(crowd.call(agent, "create_task", **asked)) for agent in ("a1", "a0"))
        try:
            await asyncio.wait_for(there, WITHOUT_WAITING)
            assert not here.done()
        finally:
            release.set()
        await here
        await holding

    asyncio.run(story())
