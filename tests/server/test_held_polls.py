"""Polls that wait: a task is claimed for one of them in the commit that files it, and what nobody hears is not lost."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.invariants import hold
from tests.operations.test_queue import key
from tests.stories import Answer, World
from toryo.bus.in_process import InProcessBus
from toryo.operations.calls.batches import Batches
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import catalogue
from toryo.operations.calls.dispatch import Dispatcher
from toryo.operations.calls.grants import Door
from toryo.operations.calls.together import Held, Together
from toryo.server.long_polling import Waiting
from toryo.storage import schema
from toryo.storage.engine.database import Connection, Database


class Site:
    """A dispatcher with a bus, whose polls wait; counts the batches."""

    def __init__(self, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world = World(database)
        self.world.project()
        self.bus = InProcessBus()
        self.batches = 0
        self.before: Callable[[], None] = lambda: None
        """Runs before each batch, in its thread."""
        carry_out = Batches.carry_out

        def counting(batches: Batches, connection: Connection, batch: Any) -> Any:
            self.batches += 1
            self.before()
            return carry_out(batches, connection, batch)

        monkeypatch.setattr(Batches, "carry_out", counting)
        real = self.world.dispatcher
        self.dispatcher = Dispatcher(database, real.settings, real.clock, real.context.entropy, self.bus.publish)
        self.waiting = Waiting(self.dispatcher, self.bus, catalogue(), real.clock)
        self.keys: dict[str, Credentials] = {}
        self.holds: Counter[str | None] = Counter()
        self.news = asyncio.Event()
        hold_one = Together.hold

        def noting(calls: Together, held: Held) -> None:
            hold_one(calls, held)
            assert held.asked is not None
            self.holds[held.asked.credentials.bearer] += 1
            self.news.set()

        monkeypatch.setattr(Together, "hold", noting)

    def agent(self, agent_id: str) -> str:
        caller = key(self.world, agent_id, orchestrator=True)
        caller.call("register_agent", agent_id=agent_id, agent_type="numbers")
        self.keys[agent_id] = caller.credentials
        return agent_id

    async def call(self, agent_id: str, tool: str, /, **arguments: Any) -> Answer:
        outcome = await self.waiting.answer(tool, arguments, self.keys[agent_id], Door.OWN)
        assert outcome.result is not None and not outcome.refused, outcome
        return outcome.result

    async def file(self) -> str:
        task: Answer = await self.call("chief", "create_task", agent_type="numbers", task_description="Return it")
        return str(task["task_id"])

    async def held(self, agent_id: str, seconds: int = 30) -> asyncio.Task[Answer]:
        """A poll that waits now: it has looked, subscribed, and looked again."""
        token = self.keys[agent_id].bearer
        wanted, self.news = self.holds[token] + 2, asyncio.Event()
        polling = asyncio.create_task(self.call(agent_id, "poll_tasks", agent_id=agent_id, wait_seconds=seconds))
        while self.holds[token] < wanted:
            self.news.clear()
            await self.news.wait()
        return polling


@pytest.fixture
def site(database: Database, monkeypatch: pytest.MonkeyPatch) -> Site:
    site = Site(database, monkeypatch)
    for agent_id in ("chief", "one", "two"):
        site.agent(agent_id)
    return site


def told(story: Callable[[], Awaitable[None]]) -> None:
    async def within() -> None:
        async with asyncio.timeout(30):
            await story()

    asyncio.run(within())


def ids(answer: Answer) -> list[str]:
    return [each["task_id"] for each in answer["result"]]


def test_a_task_goes_to_the_poll_that_waits_longest_in_the_commit_that_files_it(site: Site) -> None:
    async def story() -> None:
        first, second = await site.held("one"), await site.held("two")
        looks = site.batches
        task = await site.file()
        assert ids(await first) == [task]
        assert site.batches == looks + 1, "nobody looked again"
        assert not second.done()
        other = await site.file()
        assert ids(await second) == [other]
        assert site.batches == looks + 2

    told(story)
    hold(site.world)


def test_two_tasks_at_once_go_to_two_polls_that_wait(site: Site) -> None:
    async def story() -> None:
        polls = [await site.held("one"), await site.held("two")]
        tasks = await asyncio.gather(site.file(), site.file())
        assert sorted(ids(await polls[0]) + ids(await polls[1])) == sorted(tasks)

    told(story)


def test_a_poll_whose_time_ends_while_a_task_is_claimed_for_it_answers_with_the_task(site: Site) -> None:
    async def story() -> None:
        poll = await site.held("one")
        loop, asked_again = asyncio.get_running_loop(), []

        def rouse() -> None:
            for subscriptions in list(site.bus._subscriptions._by_topic.values()):
                for subscription in subscriptions:
                    subscription.rouse()
            asked_again.append(True)

        site.before = lambda: asyncio.run_coroutine_threadsafe(done(rouse), loop).result(20)
        task = await site.file()
        assert asked_again and ids(await poll) == [task]

    async def done(act: Callable[[], None]) -> None:
        act()
        await asyncio.sleep(0)  # who was woken looks again, while the batch is under way

    told(story)


def test_a_poll_whose_client_has_left_is_given_nothing(site: Site) -> None:
    async def story() -> None:
        poll = await site.held("one")
        poll.cancel()
        await asyncio.gather(poll, return_exceptions=True)
        task = await site.file()
        assert ids(await site.call("two", "poll_tasks", agent_id="two")) == [task]

    told(story)


def test_a_poll_that_may_not_have_the_task_waits_on_and_another_gets_it(site: Site) -> None:
    async def story() -> None:
        site.world.owner.call("edit_agent", agent_id="one", max_parallel_tasks=1)
        site.world.task("one")
        poll = await site.held("one")
        task = await site.file()
        assert ids(await site.call("two", "poll_tasks", agent_id="two", wait_seconds=5)) == [task]
        assert not poll.done()
        await site.call("two", "submit_result", task_id=task, status="completed")
        poll.cancel()
        await asyncio.gather(poll, return_exceptions=True)

    told(story)


def test_after_a_batch_that_failed_the_poll_gets_the_task_all_the_same(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        poll = await site.held("one")
        fails = [True]

        def fail_once() -> None:
            if fails:
                fails.clear()
                raise RuntimeError("the first batch fails")

        site.before = fail_once
        task = await site.file()
        assert ids(await poll) == [task]

    told(story)
    assert len(site.world.rows(schema.claims)["claims"]) == 1


def test_a_server_that_stops_answers_the_polls_that_wait(site: Site) -> None:
    async def story() -> None:
        poll = await site.held("one")
        site.waiting.stop()
        outcome: Any = await poll
        assert outcome["result"] == []

    told(story)
