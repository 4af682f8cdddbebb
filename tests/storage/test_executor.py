"""Callers get an answer whatever happens to the threads that should give it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from threading import Event, Lock, Thread, current_thread
from typing import Any

import pytest

from toryo.storage.engine.executor import AwaitedCall, BlockedCall, Call, ReentrancyGuard, WorkerPool
from toryo.storage.errors import DatabaseUnavailable

SECONDS = 100


class Hand:
    """Does what it is told with the calls it gets."""

    def __init__(self, carry_out: Callable[[list[Call]], None]) -> None:
        self._carry_out = carry_out

    def carry_out(self, calls: list[Call]) -> int:
        self._carry_out(calls)
        return len(calls)

    def close(self) -> None:
        pass


def echo(calls: list[Call]) -> None:
    for call in calls:
        call.result = call.work(None)


def crew_of(carry_out: Callable[[list[Call]], None], threads: int = 1, most: int = 100) -> WorkerPool:
    return WorkerPool("test", threads, lambda: Hand(carry_out), ReentrancyGuard(), most=most)


def ask(crew: WorkerPool, work: Callable[[Any], Any] = lambda _: "done") -> Any:
    call = BlockedCall(work)
    crew.submit(call)
    return call.wait(crew.alive)


def slow_call(release: Event) -> tuple[BlockedCall, Event]:
    """A call that takes until the event is set, and the event that tells that it has begun."""
    running = Event()

    def wait(_: Any) -> bool:
        running.set()
        return release.wait(SECONDS)

    return BlockedCall(wait), running


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
        crew = WorkerPool("test", 3, no_hand, ReentrancyGuard(), most=1)
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


def test_one_thread_does_what_it_can_do_alone() -> None:
    """Others would only take turns with it, and what could have been done together would be done apart."""
    names: set[str] = set()

    def note(calls: list[Call]) -> None:
        names.add(current_thread().name)
        echo(calls)

    crew = crew_of(note, threads=4)
    for _ in range(300):
        assert ask(crew) == "done"
    crew.close()
    assert "toryo-test-0" in names
    assert len(names) <= 2  # on a busy machine the first may have been held up for a moment


def test_slow_works_do_not_stop_the_others_while_there_are_threads() -> None:
    crew = crew_of(echo, threads=4)
    release = Event()
    slow = [slow_call(release) for _ in range(3)]
    for call, running in slow:
        crew.submit(call)
        assert running.wait(SECONDS)
    assert [ask(crew) for _ in range(20)] == ["done"] * 20
    release.set()
    assert [call.wait(crew.alive) for call, _ in slow] == [True] * 3
    assert ask(crew) == "done"
    crew.close()


def test_calls_that_wait_behind_a_slow_one_are_taken_over() -> None:
    crew = crew_of(echo, threads=2, most=1)
    release = Event()
    slow, running = slow_call(release)
    others = [BlockedCall(lambda _: "done") for _ in range(20)]
    for call in [slow, *others]:
        crew.submit(call)
    assert running.wait(SECONDS)
    assert [call.wait(crew.alive) for call in others] == ["done"] * 20
    release.set()
    assert slow.wait(crew.alive) is True
    crew.close()


def test_a_thread_that_could_not_begin_is_replaced_by_the_next(caplog: pytest.LogCaptureFixture) -> None:
    hands: list[Hand | None] = [None, Hand(echo), Hand(echo)]
    counting = Lock()

    def one_missing() -> Hand:
        with counting:
            hand = hands[int(current_thread().name[-1])]
        if hand is None:
            raise OSError("no hand for the first")
        return hand

    with caplog.at_level(logging.CRITICAL):
        crew = WorkerPool("test", 3, one_missing, ReentrancyGuard(), most=1)
        assert [ask(crew) for _ in range(5)] == ["done"] * 5
    crew.close()


def test_an_idle_crew_does_not_keep_the_machine_awake() -> None:
    crew = crew_of(echo, threads=2)
    assert ask(crew) == "done"
    rested = Event()
    plain = crew._watching[1].clear

    def clear() -> None:
        plain()
        rested.set()

    crew._watching[1].clear = clear  # type: ignore[method-assign]
    assert ask(crew) == "done"
    assert rested.wait(SECONDS)
    assert not crew._watching[1].is_set()
    assert ask(crew) == "done"
    crew.close()


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

        def keep_asking(crew: WorkerPool = crew, outcomes: list[Any] = outcomes, started: Event = started) -> None:
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
        assert sum(isinstance(outcome, DatabaseUnavailable) for outcome in outcomes) == 4
