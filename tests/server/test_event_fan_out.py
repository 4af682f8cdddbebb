"""One reading for all streams: who joins while it runs or fetches slowly misses nothing."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any

import pytest
import structlog

from tests.server.fakes import ObservedBus
from tests.server.http import LIMIT
from toryo.domain.errors import Code, Refusal
from toryo.operations.calls.call import DOING, RIGHTS
from toryo.operations.calls.callers import Caller, Credentials, Kind
from toryo.operations.overview.event_feed import News, Reader, Signs
from toryo.server import event_fan_out, event_stream
from toryo.server.event_fan_out import FanOut, Follower
from toryo.server.event_stream import EventStreams

ANN, BOB = Credentials(bearer="ann"), Credentials(bearer="bob")


class Log:
    """A server with a log of events (`text` is what a stream sends of one), as far as the fan-out asks for it."""

    def __init__(self) -> None:
        self.bus = ObservedBus()
        self.events: list[tuple[int, bytes]] = []
        self.may_read = {ANN, BOB}
        self.hidden: dict[Credentials, set[int]] = {}
        self.readings = 0
        self.doing: dict[str, tuple[int, bytes]] = {}
        """By launch: when its agent did something, and what a stream sends of it."""
        self.before_reading: Callable[[], Any] = lambda: None
        self.stopping = False

    def listen(self, topics: AbstractSet[str]) -> Any:
        return self.bus.subscribe({*topics, RIGHTS})

    def rights(self) -> Any:
        return self.bus.subscribe({RIGHTS})

    async def as_server(self, step: Any, *, reads: bool) -> News | Signs:
        if not reads:
            raise Refusal(Code.UNAVAILABLE, "Somebody else writes.", "Wait.")
        if "since" in step.keywords:
            return Signs(0, dict(self.doing), dict.fromkeys(step.keywords["readers"], frozenset(self.doing)))
        after, known = step.keywords["after"], step.keywords["readers"]
        shown = [*known]
        self.readings += 1
        self.before_reading()
        await asyncio.sleep(0)
        found = [each for each in self.events if each[0] > after]
        unasked = () if step.keywords["again"] else [each for each in shown if known[each] is not None]
        still = [each for each in shown if each in self.may_read or each in unasked]
        seen = {each: tuple(number not in self.hidden.get(each, ()) for number, _ in found) for each in still}
        readers = {each: Reader(Caller(Kind.PERSON), None) for each in still}
        return News(found[-1][0] if found else after, found, readers, seen)

    def happens(self, *numbers: int) -> None:
        self.events += [(number, b"<%d>" % number) for number in numbers]
        self.bus.publish(("events",))


async def fetched(follower: Follower, after: int, until: int) -> bytes:
    text = b""
    async with asyncio.timeout(LIMIT):
        while after < until:
            after, more = await follower.next(after, LIMIT)
            text += more
    return text


def test_all_get_the_same_bytes_of_one_reading() -> None:
    async def story() -> None:
        log = Log()
        fan_out = FanOut(log)  # type: ignore[arg-type]
        followers = [fan_out.join(shown, 0) for shown in (ANN, ANN, BOB)]
        await log.bus.until(lambda topics: "events" in topics)
        log.hidden[BOB] = {2}
        before = log.readings
        log.happens(1, 2, 3)
        first, second, other = [await fetched(each, 0, 3) for each in followers]
        assert (first, other) == (b"<1><2><3>", b"<1><3>")
        assert first == second
        assert log.readings <= before + 2, "streams do not read for themselves"

    asyncio.run(story())


def test_who_joins_while_events_are_read_reads_them_and_is_told_what_follows() -> None:
    async def story() -> None:
        log = Log()
        fan_out = FanOut(log)  # type: ignore[arg-type]
        late: list[Follower] = []
        first = fan_out.join(ANN, 0)
        log.before_reading = lambda: late.append(fan_out.join(BOB, 0)) if log.events and not late else None
        log.happens(1)
        assert await fetched(first, 0, 1) == b"<1>"
        assert late[0].since == 1, "it was not among those for whom that was read"
        log.happens(2)
        assert await fetched(late[0], 1, 2) == b"<2>"

    asyncio.run(story())


def test_what_a_stream_has_read_for_itself_is_not_told_again() -> None:
    async def story() -> None:
        log = Log()
        fan_out = FanOut(log)  # type: ignore[arg-type]
        ahead = fan_out.join(ANN, 0)
        log.happens(1, 2, 3)
        assert await fetched(ahead, 2, 3) == b"<3>"

    asyncio.run(story())


def test_of_a_stream_that_fetches_nothing_only_so_much_is_kept() -> None:
    async def story() -> None:
        log = Log()
        fan_out = FanOut(log)  # type: ignore[arg-type]
        slow, quick = fan_out.join(ANN, 0), fan_out.join(BOB, 0)
        log.happens(*range(1, event_fan_out.KEPT))
        await fetched(quick, 0, event_fan_out.KEPT - 1)
        assert slow.since == 0
        log.happens(*range(event_fan_out.KEPT, event_fan_out.KEPT + 2))
        await fetched(quick, event_fan_out.KEPT - 1, event_fan_out.KEPT + 1)
        assert slow.since == event_fan_out.KEPT + 1, "it reads for itself up to here"
        assert await slow.next(0, LIMIT) == (0, b"")
        log.happens(event_fan_out.KEPT + 2)
        assert await fetched(slow, slow.since, slow.since + 1) == b"<%d>" % (event_fan_out.KEPT + 2)

    asyncio.run(story())


def test_a_right_that_is_lost_ends_its_streams_and_no_others() -> None:
    async def story() -> None:
        log = Log()
        fan_out = FanOut(log)  # type: ignore[arg-type]
        hers, his = fan_out.join(ANN, 0), fan_out.join(BOB, 0)
        log.happens(1)
        for each in (hers, his):
            await fetched(each, 0, 1)
        log.may_read = {BOB}
        log.bus.publish((RIGHTS,))
        log.happens(2)
        assert await fetched(his, 1, 2) == b"<2>"
        assert hers.ended
        assert await hers.next(1, LIMIT) == (1, b"")
        assert not his.ended

    asyncio.run(story())


def test_a_right_that_nobody_hints_at_is_missed_at_the_next_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is over with its time, for example."""
    monkeypatch.setattr(event_fan_out, "LOOK_AGAIN", 0.01)

    async def story() -> None:
        log = Log()
        fan_out = FanOut(log)  # type: ignore[arg-type]
        hers = fan_out.join(ANN, 0)
        log.happens(1)
        await fetched(hers, 0, 1)
        log.may_read = {BOB}
        assert await asyncio.wait_for(hers.next(1, 2 * LIMIT), LIMIT) == (1, b"")
        assert hers.ended

    asyncio.run(story())


def test_what_agents_do_is_told_while_somebody_writes() -> None:
    async def story() -> None:
        log = Log()
        fan_out = FanOut(log)  # type: ignore[arg-type]
        follower = fan_out.join(ANN, 0)
        log.happens(1)
        await fetched(follower, 0, 1)
        log.doing["lau_1"] = (1, b"<reads>")
        log.bus.publish((DOING,))
        assert await asyncio.wait_for(follower.next(1, 2 * LIMIT), LIMIT) == (1, b"<reads>")

    asyncio.run(story())


def test_a_stream_that_was_told_something_is_not_woken_for_what_it_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        loop, timers = asyncio.get_running_loop(), list[asyncio.TimerHandle]()
        call_later = loop.call_later

        def noted(*given: Any) -> asyncio.TimerHandle:
            timers.append(call_later(*given))
            return timers[-1]

        follower = Follower(ANN, 0)
        monkeypatch.setattr(loop, "call_later", noted)
        waits = asyncio.create_task(follower.next(0, LIMIT))
        loop.call_soon(follower.show, {"lau_1": b"<reads>"})
        assert await waits == (0, b"<reads>")
        assert [each.cancelled() for each in timers] == [True]

    asyncio.run(story())


def test_a_silent_stream_says_that_it_is_there_and_looks_no_more_often(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        asked: list[float] = []

        async def silent(follower: Follower, after: int, seconds: float) -> tuple[int, bytes]:
            asked.append(seconds)
            follower.end()
            return after, b""

        monkeypatch.setattr(Follower, "next", silent)
        streams = event_stream.EventStreams(Log())  # type: ignore[arg-type]
        told = [piece async for piece in streams._told({}, ANN, {"last": 0, "events": []})]
        assert told == [b": still here\n\n"]
        assert 0 < asked[0] <= event_stream.BREATH

    asyncio.run(story())


def test_when_the_events_cannot_be_read_all_streams_end_and_the_next_one_begins_anew() -> None:
    async def story() -> None:
        log = Log()
        fan_out = FanOut(log)  # type: ignore[arg-type]
        broken = fan_out.join(ANN, 0)

        def fail() -> None:
            raise Refusal(Code.UNAVAILABLE, "The disk is away.", "Wait.")

        log.before_reading = fail
        log.happens(1)
        assert await broken.next(0, LIMIT) == (0, b"")
        assert broken.ended
        fan_out.leave(broken)
        log.before_reading = lambda: None
        again = fan_out.join(ANN, 1)
        log.happens(2)
        assert await fetched(again, 1, 2) == b"<2>"

    asyncio.run(story())


@pytest.mark.parametrize(
    ("fault", "logged"), [(Refusal(Code.UNAVAILABLE, "The disk is away.", "Wait."), False), (RuntimeError("oh"), True)]
)
def test_a_fault_of_the_reading_is_logged_and_a_refusal_is_not(
    fault: Exception, logged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who refuses has logged why."""
    with structlog.testing.capture_logs() as lines:
        monkeypatch.setattr(event_fan_out, "_log", structlog.get_logger())

        async def story() -> None:
            log = Log()

            def fail() -> None:
                raise fault

            log.before_reading = fail
            follower = FanOut(log).join(ANN, 0)  # type: ignore[arg-type]
            assert await follower.next(0, LIMIT) == (0, b"")

        asyncio.run(story())
    assert [line["event"] for line in lines] == ["event_streams_ended"] * logged


def test_without_streams_nothing_is_read() -> None:
    async def story() -> None:
        log = Log()
        fan_out = FanOut(log)  # type: ignore[arg-type]
        follower = fan_out.join(ANN, 0)
        await log.bus.until(lambda topics: "events" in topics)
        fan_out.leave(follower)
        await log.bus.until(lambda topics: not topics)
        before = log.readings
        log.happens(1)
        assert log.readings == before

    asyncio.run(story())


def test_a_stream_is_silent_about_events_that_its_reader_does_not_see() -> None:
    async def story() -> None:
        log = Log()
        log.hidden[BOB] = {2}
        streams = EventStreams(log)  # type: ignore[arg-type]
        his = streams._told({}, BOB, {"last": 0, "events": []})
        async with asyncio.timeout(LIMIT), contextlib.aclosing(his) as told:
            await anext(told)
            following = asyncio.ensure_future(anext(told))
            await log.bus.until(lambda topics: "events" in topics)
            log.happens(1)
            assert await following == b"<1>"
            other = streams._fan_out.join(ANN, 1)
            log.happens(2)
            assert await fetched(other, 1, 2) == b"<2>"
            streams._fan_out.leave(other)
            log.happens(3)
            assert await anext(told) == b"<3>"

    asyncio.run(story())
