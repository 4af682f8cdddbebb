"""What both databases promise about works: whole or nothing, one after the other, answered when kept."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from threading import Barrier, Event, Thread
from typing import Any

import pytest

from tests.storage.tables import (
    NEW_COUNTED_ITEM,
    NEW_ITEM,
    NEW_LATER,
    NEW_LIVE_ITEM,
    SET_NUMBER,
    increment,
    item_ids,
    number,
)
from toryo.storage.engine.database import Connection, Database
from toryo.storage.errors import ConstraintBroken, DatabaseUnavailable, Duplicate, MisusedDatabase
from toryo.storage.open_database import open_database

pytestmark = pytest.mark.both

AtOnce = Callable[..., list[Any]]
SECONDS = 100


class Refused(Exception):
    """What a rule of the domain raises in a work."""


def test_eight_threads_that_read_then_write_fifty_times_lose_no_increment(engine: Database, at_once: AtOnce) -> None:
    at_once(8, lambda _: [engine.write(increment) for _ in range(50)])
    assert engine.read(number) == 400


def test_a_partial_unique_index_lets_one_of_sixteen_through(engine: Database, at_once: AtOnce) -> None:
    ready = Barrier(16)

    def sign_in(which: int) -> int:
        ready.wait(SECONDS)
        return engine.write(lambda c: c.run(NEW_LIVE_ITEM, id=f"item {which}", place="desk"))

    outcomes = at_once(16, sign_in)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Duplicate"] * 15 + ["int"]
    assert {outcome.table for outcome in outcomes if isinstance(outcome, Duplicate)} <= {"items"}
    assert len(engine.read(item_ids)) == 1


def test_a_work_that_fails_after_its_first_write_leaves_nothing(engine: Database) -> None:
    def fail(connection: Connection) -> None:
        connection.run(NEW_ITEM, id="lost")
        raise Refused

    with pytest.raises(Refused):
        engine.write(fail)
    assert engine.read(item_ids) == []


def test_a_failed_work_does_not_touch_the_neighbours_it_waited_with(engine: Database) -> None:
    def work(which: int) -> Callable[[Connection], int]:
        def write_then_maybe_fail(connection: Connection) -> int:
            connection.run(NEW_ITEM, id=f"{which:02}")
            if which % 5 == 0:
                raise Refused(which)
            return which

        return write_then_maybe_fail

    outcomes = asyncio.run(_while_the_writer_is_busy(engine, [work(which) for which in range(20)]))
    assert [str(outcome) if isinstance(outcome, Refused) else outcome for outcome in outcomes] == [
        str(which) if which % 5 == 0 else which for which in range(20)
    ]
    assert engine.read(item_ids) == [f"{which:02}" for which in range(20) if which % 5]


def test_a_work_that_fails_before_its_first_write_does_not_touch_its_neighbours(engine: Database) -> None:
    def fail(connection: Connection) -> None:
        raise Refused

    works = [fail, lambda c: c.run(NEW_ITEM, id="kept"), fail]
    outcomes = asyncio.run(_while_the_writer_is_busy(engine, works))
    assert [type(outcome) for outcome in outcomes] == [Refused, int, Refused]
    assert engine.read(item_ids) == ["kept"]


def test_a_constraint_that_is_checked_at_commit_answers_to_the_work_that_broke_it(engine: Database) -> None:
    works: list[Callable[[Connection], Any]] = [
        lambda c: c.run(NEW_ITEM, id="before"),
        lambda c: c.run(NEW_LATER, id=1, counter="nobody"),
        lambda c: c.run(NEW_ITEM, id="after"),
    ]
    outcomes = asyncio.run(_while_the_writer_is_busy(engine, works))
    assert [type(outcome) for outcome in outcomes] == [int, ConstraintBroken, int]
    assert engine.read(item_ids) == ["after", "before"]


def test_a_work_that_overlooks_a_failed_statement_fails_with_it(engine: Database) -> None:
    def overlook(connection: Connection) -> str:
        connection.run(NEW_ITEM, id="first")
        with contextlib.suppress(Duplicate):
            connection.run(NEW_ITEM, id="first")
        return "all is well"

    with pytest.raises(Duplicate):
        engine.write(overlook)
    assert engine.read(item_ids) == []


def test_what_was_answered_is_seen_by_another_connection(engine: Database, database_url: str) -> None:
    with open_database(database_url, exclusive=False) as other:
        for expected in range(1, 51):
            engine.write(increment)
            assert other.read(number) == expected


def test_a_read_sees_one_state_from_its_first_statement_to_its_last(engine: Database) -> None:
    looked, changed = Event(), Event()

    def look_twice(connection: Connection) -> tuple[int, int]:
        before = number(connection)
        looked.set()
        assert changed.wait(SECONDS)
        return before, number(connection)

    def change() -> None:
        looked.wait(SECONDS)
        engine.write(increment)
        changed.set()

    changing = Thread(target=change)
    changing.start()
    assert engine.read(look_twice) == (0, 0)
    changing.join(SECONDS)
    assert engine.read(number) == 1


def test_a_read_that_tries_to_write_is_a_mistake(engine: Database) -> None:
    with pytest.raises(MisusedDatabase, match="write"):
        engine.read(lambda c: c.run(NEW_ITEM, id="never"))
    assert engine.read(item_ids) == []


@pytest.mark.parametrize("outer", ["read", "write"])
@pytest.mark.parametrize("inner", ["read", "write"])
def test_a_work_inside_a_work_fails_loudly_instead_of_waiting_for_itself(
    engine: Database, outer: str, inner: str
) -> None:
    with pytest.raises(MisusedDatabase, match="connection it was given"):
        getattr(engine, outer)(lambda _: getattr(engine, inner)(number))
    assert engine.write(increment) == 1


def test_a_work_cannot_close_its_database(engine: Database) -> None:
    with pytest.raises(MisusedDatabase):
        engine.write(lambda _: engine.close())
    assert engine.write(increment) == 1


@pytest.mark.parametrize("raised", [SystemExit(3), KeyboardInterrupt(), MemoryError()])
def test_whatever_a_work_raises_reaches_its_caller_and_the_database_lives(
    engine: Database, raised: BaseException
) -> None:
    def fail(connection: Connection) -> None:
        connection.run(NEW_ITEM, id="lost")
        raise raised

    with pytest.raises(type(raised)):
        engine.write(fail)
    assert engine.write(increment) == 1
    assert engine.read(item_ids) == []


def test_a_work_that_stops_an_iteration_does_not_confuse_an_event_loop(engine: Database) -> None:
    async def ask() -> None:
        with pytest.raises(RuntimeError, match="StopIteration"):
            await engine.write_async(lambda _: next(iter(())))

    asyncio.run(ask())


def test_threads_and_tasks_may_write_together(engine: Database) -> None:
    async def tasks() -> None:
        await asyncio.gather(*(engine.write_async(increment) for _ in range(100)))

    thread = Thread(target=lambda: [engine.write(increment) for _ in range(100)])
    thread.start()
    asyncio.run(tasks())
    thread.join(SECONDS)
    assert engine.read(number) == 200


def test_tasks_read_what_was_answered_to_them(engine: Database) -> None:
    async def ask() -> None:
        for expected in range(1, 21):
            assert await engine.write_async(increment) == expected
            assert await asyncio.gather(*(engine.read_async(number) for _ in range(20))) == [expected] * 20

    asyncio.run(ask())


def test_a_failing_read_reaches_its_task_and_no_other(engine: Database) -> None:
    def fail(connection: Connection) -> int:
        raise Refused

    async def ask() -> list[Any]:
        return await asyncio.gather(
            *(engine.read_async(fail if which % 3 == 0 else number) for which in range(9)), return_exceptions=True
        )

    assert [type(each) for each in asyncio.run(ask())] == [Refused, int, int] * 3


def test_a_task_cancelled_before_its_work_began_changes_nothing(engine: Database) -> None:
    async def ask() -> None:
        release, blocked = await _busy(engine)
        tasks = [asyncio.create_task(engine.write_async(increment)) for _ in range(20)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        await asyncio.sleep(0)
        release.set()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        await blocked
        assert [type(outcome) for outcome in outcomes[::2]] == [asyncio.CancelledError] * 10
        assert sorted(outcome for outcome in outcomes[1::2] if isinstance(outcome, int)) == list(range(1, 11))

    asyncio.run(ask())
    assert engine.read(number) == 10


def test_a_task_cancelled_while_its_work_runs_keeps_all_of_it(engine: Database) -> None:
    running, release = Event(), Event()

    def slow(connection: Connection) -> None:
        connection.run(NEW_ITEM, id="first half")
        running.set()
        assert release.wait(SECONDS)
        connection.run(NEW_ITEM, id="second half")

    async def ask() -> None:
        task = asyncio.create_task(engine.write_async(slow))
        await asyncio.to_thread(running.wait, SECONDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        release.set()
        assert await engine.write_async(increment) == 1

    asyncio.run(ask())
    engine.close()
    assert running.is_set()


def test_a_cancelled_task_does_not_keep_the_answer_from_those_it_waited_with(engine: Database) -> None:
    running, go_on = Event(), Event()

    def slow(_: Connection) -> None:
        running.set()
        assert go_on.wait(SECONDS)

    async def ask() -> list[Any]:
        release, blocked = await _busy(engine)
        works: list[Callable[[Connection], Any]] = [increment, slow, increment]
        tasks = [asyncio.create_task(engine.write_async(work)) for work in works]
        await asyncio.sleep(0)
        release.set()
        await blocked
        await asyncio.to_thread(running.wait, SECONDS)
        tasks[1].cancel()
        await asyncio.sleep(0)
        go_on.set()
        return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), SECONDS)

    outcomes = asyncio.run(ask())
    assert isinstance(outcomes[1], asyncio.CancelledError)
    assert sorted([outcomes[0], outcomes[2]]) == [1, 2]


def test_an_event_loop_that_went_away_does_not_stop_the_others(engine: Database) -> None:
    running, release = Event(), Event()

    def slow(connection: Connection) -> int:
        running.set()
        assert release.wait(SECONDS)
        return increment(connection)

    async def leave() -> None:
        asyncio.get_running_loop().create_task(engine.write_async(slow))
        await asyncio.to_thread(running.wait, SECONDS)

    asyncio.run(leave())
    release.set()
    engine.write(increment)
    engine.close()


def test_closing_finishes_what_waits_and_refuses_what_comes(engine: Database, database_url: str) -> None:
    async def ask() -> None:
        release, blocked = await _busy(engine)
        tasks = [asyncio.create_task(engine.write_async(increment)) for _ in range(20)]
        await asyncio.sleep(0)
        closing = asyncio.create_task(asyncio.to_thread(engine.close))
        release.set()
        await closing
        await blocked
        assert sorted(await asyncio.gather(*tasks)) == list(range(1, 21))
        with pytest.raises(DatabaseUnavailable, match="closed"):
            await engine.write_async(increment)
        with pytest.raises(DatabaseUnavailable, match="closed"):
            await engine.read_async(number)

    asyncio.run(ask())
    for call in (engine.read, engine.write):
        with pytest.raises(DatabaseUnavailable, match="closed"):
            call(number)
    engine.close()
    with open_database(database_url) as again:
        assert again.read(number) == 20


def test_a_work_knows_whether_it_wrote(engine: Database) -> None:
    def look(connection: Connection) -> list[bool]:
        seen = [connection.wrote]
        number(connection)
        connection.run(SET_NUMBER, which="nobody", new=1)
        seen.append(connection.wrote)
        increment(connection)
        return [*seen, connection.wrote]

    assert engine.write(look) == [False, False, True]
    assert engine.write(lambda c: c.wrote) is False


def test_a_key_is_locked_by_one_work_at_a_time(engine: Database) -> None:
    order: list[str] = []
    first_has_it, second_asks = Event(), Event()

    def first(connection: Connection) -> bool:
        locked = connection.lock("desk")
        first_has_it.set()
        if locked:
            assert second_asks.wait(SECONDS)
        order.append("first")
        return locked

    def second(connection: Connection) -> None:
        second_asks.set()
        connection.lock("desk")
        order.append("second")

    def after_first() -> None:
        first_has_it.wait(SECONDS)
        engine.write(second)

    thread = Thread(target=after_first)
    thread.start()
    assert engine.write(first) is (engine.dialect == "postgresql")
    thread.join(SECONDS)
    assert order == ["first", "second"]


def test_a_shared_lock_is_shared(engine: Database) -> None:
    first_has_it, second_has_it = Event(), Event()

    def first(connection: Connection) -> bool:
        locked = connection.lock_shared("desk")
        first_has_it.set()
        return locked and second_has_it.wait(SECONDS)

    def second(connection: Connection) -> None:
        connection.lock_shared("desk")
        second_has_it.set()

    def after_first() -> None:
        first_has_it.wait(SECONDS)
        engine.write(second)

    thread = Thread(target=after_first)
    thread.start()
    assert engine.write(first) is (engine.dialect == "postgresql")
    thread.join(SECONDS)


def test_a_key_is_locked_once_and_until_the_end(engine: Database) -> None:
    def lock_again(connection: Connection) -> list[bool]:
        return [connection.lock("desk"), connection.lock("desk"), connection.lock_shared("desk")]

    needed = engine.dialect == "postgresql"
    assert [engine.write(lock_again) for _ in range(2)] == [[needed, False, False]] * 2


def test_connections_are_kept(engine: Database, monkeypatch: pytest.MonkeyPatch, at_once: AtOnce) -> None:
    opened: list[Any] = []
    connect = type(engine).connect  # type: ignore[attr-defined]

    def counted(self: Database, *how: Any, **more: Any) -> Any:
        opened.append(how or more)
        return connect(self, *how, **more)

    monkeypatch.setattr(type(engine), "connect", counted)

    async def ask() -> None:
        for _ in range(20):
            await asyncio.gather(*(engine.read_async(number) for _ in range(10)))
            await asyncio.gather(*(engine.write_async(increment) for _ in range(10)))

    at_once(8, lambda _: [(engine.write(increment), engine.read(number)) for _ in range(50)])
    asyncio.run(ask())
    assert len(opened) <= 8 + 8


def test_many_threads_that_come_and_go_leave_no_connection_behind(engine: Database, at_once: AtOnce) -> None:
    before = threading.active_count()
    for _ in range(5):
        assert at_once(20, lambda _: engine.read(number)) == [0] * 20
    assert threading.active_count() == before


def test_a_foreign_key_is_checked(engine: Database) -> None:
    with pytest.raises(ConstraintBroken) as refused:
        engine.write(lambda c: c.run(NEW_COUNTED_ITEM, id="one", counter="nobody"))
    assert not isinstance(refused.value, Duplicate)
    assert engine.read(item_ids) == []


async def _busy(engine: Database) -> tuple[Event, Awaitable[list[None]]]:
    """Keeps every writing thread busy until the event is set, so that what comes now waits together."""
    release, blocked = Event(), []
    for _ in range(8 if engine.dialect == "postgresql" else 1):
        running = Event()

        def wait(_: Connection, running: Event = running) -> None:
            running.set()
            assert release.wait(SECONDS)

        blocked.append(asyncio.create_task(engine.write_async(wait)))
        assert await asyncio.to_thread(running.wait, SECONDS)
    return release, asyncio.gather(*blocked)


async def _while_the_writer_is_busy(engine: Database, works: list[Callable[[Connection], Any]]) -> list[Any]:
    release, blocked = await _busy(engine)
    tasks = [asyncio.create_task(engine.write_async(work)) for work in works]
    await asyncio.sleep(0)
    release.set()
    await blocked
    return await asyncio.gather(*tasks, return_exceptions=True)
