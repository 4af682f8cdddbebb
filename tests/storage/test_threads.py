"""Callers get an answer whatever happens to the threads that should give it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from threading import Event, Thread
from typing import Any

import pytest

from toryo.storage.errors import DatabaseUnavailable
from toryo.storage.threads import AwaitedCall, BlockedCall, Call, Crew, Inside

SECONDS = 20


class Hand:
    """Does what it is told with the calls it gets."""

    def __init__(self, carry_out: Callable[[list[Call]], None]) -> None:
        self.carry_out = carry_out

    def close(self) -> None:
        pass


def echo(calls: list[Call]) -> None:
    for call in calls:
        call.result = call.work(None)


def crew_of(carry_out: Callable[[list[Call]], None], threads: int = 1, most: int = 100) -> Crew:
    return Crew("test", threads, most, lambda: Hand(carry_out), Inside())


def ask(crew: Crew, work: Callable[[Any], Any] = lambda _: "done") -> Any:
    call = BlockedCall(work)
    crew.submit(call)
    return call.wait(crew.alive)


def test_a_failure_outside_the_works_reaches_the_callers_and_the_thread_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    failures = [OSError("the hand slipped")]

    def slip_once(calls: list[Call]) -> None:
        if failures:
            raise failures.pop()
        echo(calls)

    crew = crew_of(slip_once)
    with caplog.at_level(logging.CRITICAL), pytest.raises(RuntimeError, match="the hand slipped"):
        ask(crew)
    assert ask(crew) == "done"
    crew.close()


def test_when_every_thread_is_gone_callers_are_refused_instead_of_waiting(caplog: pytest.LogCaptureFixture) -> None:
    def no_hand() -> Hand:
        raise OSError("nobody to hire")

    with caplog.at_level(logging.CRITICAL):
        crew = Crew("test", 3, 1, no_hand, Inside())
        with pytest.raises(DatabaseUnavailable):
            ask(crew)

        async def awaited() -> None:
            call = AwaitedCall(lambda _: "never")
            crew.submit(call)
            await call.future

        with pytest.raises(DatabaseUnavailable):
            asyncio.run(awaited())
    crew.close()


def test_a_call_that_is_queued_just_after_the_last_thread_left_is_refused() -> None:
    crew = crew_of(echo)
    queue = crew._calls

    class SlowQueue:
        """Lets the crew close between the decision to queue a call and the queueing."""

        def put(self, call: Call | None) -> None:
            if call is not None:
                crew.close()
            queue.put(call)

        def __getattr__(self, name: str) -> Any:
            return getattr(queue, name)

    crew._calls = SlowQueue()  # type: ignore[assignment]
    call = BlockedCall(lambda _: "never")
    crew.submit(call)
    with pytest.raises(DatabaseUnavailable):
        call.wait(crew.alive)
    assert isinstance(call.error, DatabaseUnavailable)


def test_calls_that_wait_are_taken_together_up_to_the_limit() -> None:
    sizes: list[int] = []
    first, release = Event(), Event()

    def measure(calls: list[Call]) -> None:
        sizes.append(len(calls))
        first.set()
        assert release.wait(SECONDS)
        echo(calls)

    async def ask_many() -> None:
        crew = crew_of(measure, most=10)
        calls = [AwaitedCall(lambda _: "done")]
        crew.submit(calls[0])
        await asyncio.to_thread(first.wait, SECONDS)
        calls += [AwaitedCall(lambda _: "done") for _ in range(25)]
        for call in calls[1:]:
            crew.submit(call)
        release.set()
        assert await asyncio.gather(*(call.future for call in calls)) == ["done"] * 26
        crew.close()

    asyncio.run(ask_many())
    assert sizes == [1, 10, 10, 5]


def test_threads_share_what_waits_instead_of_one_taking_all() -> None:
    sizes: list[int] = []
    both_busy, release = Event(), Event()

    def measure(calls: list[Call]) -> None:
        sizes.append(len(calls))
        if len(sizes) == 2:
            both_busy.set()
        assert release.wait(SECONDS)
        echo(calls)

    async def ask_many() -> None:
        crew = crew_of(measure, threads=2, most=100)
        calls = [AwaitedCall(lambda _: "done") for _ in range(2)]
        for call in calls:
            crew.submit(call)
        await asyncio.to_thread(both_busy.wait, SECONDS)
        calls += [AwaitedCall(lambda _: "done") for _ in range(40)]
        for call in calls[2:]:
            crew.submit(call)
        release.set()
        await asyncio.gather(*(call.future for call in calls))
        crew.close()

    asyncio.run(ask_many())
    assert sizes[:2] == [1, 1]
    assert max(sizes[2:]) <= 21


def test_a_loop_gets_one_message_for_all_its_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    first, release = Event(), Event()

    def wait_once(calls: list[Call]) -> None:
        first.set()
        assert release.wait(SECONDS)
        echo(calls)

    async def ask_many() -> int:
        loop, messages = asyncio.get_running_loop(), 0
        crew = crew_of(wait_once)
        calls = [AwaitedCall(lambda _: "done") for _ in range(50)]
        crew.submit(calls[0])
        await asyncio.to_thread(first.wait, SECONDS)
        plain = loop.call_soon_threadsafe

        def counted(*args: Any, **kw: Any) -> Any:
            nonlocal messages
            messages += 1
            return plain(*args, **kw)

        monkeypatch.setattr(loop, "call_soon_threadsafe", counted)
        for call in calls[1:]:
            crew.submit(call)
        release.set()
        await asyncio.gather(*(call.future for call in calls))
        crew.close()
        return messages

    assert asyncio.run(ask_many()) == 2


def test_nobody_who_asks_while_the_crew_closes_waits_for_ever() -> None:
    for _ in range(50):
        crew = crew_of(echo, threads=2)
        outcomes: list[Any] = []
        started = Event()

        def keep_asking(crew: Crew = crew, outcomes: list[Any] = outcomes, started: Event = started) -> None:
            try:
                while True:
                    outcomes.append(ask(crew))
                    started.set()
            except DatabaseUnavailable as refused:
                outcomes.append(refused)

        asking = [Thread(target=keep_asking) for _ in range(4)]
        for thread in asking:
            thread.start()
        assert started.wait(SECONDS)
        crew.close()
        for thread in asking:
            thread.join(SECONDS)
            assert not thread.is_alive()
        assert sum(isinstance(each, DatabaseUnavailable) for each in outcomes) == 4
