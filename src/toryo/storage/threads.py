"""How callers hand their works to the database's threads and get their answers back.

Callers are threads (they block) or tasks on an event loop (they await); the two may share one database. What a
thread does with the works it takes stands in `sqlite.py` and `postgresql.py`, as a `Hand`.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from toryo.storage.errors import DatabaseUnavailable, MisusedDatabase

_log = logging.getLogger(__name__)
_LOOK_AGAIN_SECONDS = 5.0


class Call:
    """One work on its way, and afterwards its result or its error."""

    __slots__ = ("error", "result", "work")

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.work = work
        self.result: Any = None
        self.error: BaseException | None = None

    @property
    def abandoned(self) -> bool:
        """Whether nobody waits any more; a work that has not begun by then need not begin."""
        return False

    def fail(self, error: BaseException) -> None:
        if isinstance(error, StopIteration):  # a future would not take it, and a generator would swallow it
            error = RuntimeError(f"a work raised {error!r}")
        self.error = error

    def outcome(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.result


class BlockedCall(Call):
    """A call that a thread waits for."""

    __slots__ = ("_answered",)

    def __init__(self, work: Callable[[Any], Any]) -> None:
        super().__init__(work)
        self._answered = threading.Lock()  # held until the answer is there: the cheapest thing to wait on
        self._answered.acquire()

    def wake(self) -> None:
        self._answered.release()

    def wait(self, still_alive: Callable[[], bool]) -> Any:
        """Blocks until the answer is there, or until nobody is left who could give it."""
        while not self._answered.acquire(timeout=_LOOK_AGAIN_SECONDS):
            if not still_alive() and not self._answered.acquire(blocking=False):
                raise gone()
        return self.outcome()


class AwaitedCall(Call):
    """A call that a task of an event loop waits for; made on that loop."""

    __slots__ = ("future", "loop")

    def __init__(self, work: Callable[[Any], Any]) -> None:
        super().__init__(work)
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()

    @property
    def abandoned(self) -> bool:
        return self.future.cancelled()

    def settle(self) -> None:
        """Answers the task; runs on its loop. A cancelled one gets nothing."""
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


def answer(calls: Iterable[Call]) -> None:
    """Answers everybody: threads at once, the tasks of one loop with one message to it."""
    by_loop: dict[asyncio.AbstractEventLoop, list[AwaitedCall]] = {}
    for call in calls:
        if isinstance(call, AwaitedCall):
            by_loop.setdefault(call.loop, []).append(call)
        elif isinstance(call, BlockedCall):
            call.wake()
    for loop, theirs in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, theirs)
        except RuntimeError:
            _log.debug("%d callers are gone: their event loop is closed", len(theirs))


def _settle(calls: list[AwaitedCall]) -> None:
    for call in calls:
        call.settle()


def gone() -> DatabaseUnavailable:
    return DatabaseUnavailable("The database has been closed.", "Start the server again.")


class Hand(Protocol):
    """What one thread of a crew does. It lives in that thread alone and keeps its connection there."""

    def carry_out(self, calls: list[Call]) -> None:
        """Runs the works, sets every call's `result` or `error`, and does not answer: the crew does."""

    def close(self) -> None: ...


class Inside(threading.local):
    """Marks the threads that are running a work, so that a work cannot ask for another one and wait for itself."""

    work: bool = False

    def refuse(self) -> None:
        if self.work:
            raise MisusedDatabase(
                "A work called read() or write() itself. Use the connection it was given: a second transaction "
                "would wait for the first for ever."
            )


class Crew:
    """Threads that take calls from one queue: each time their fair share of those that wait, but at most `most`."""

    def __init__(self, name: str, threads: int, most: int, hire: Callable[[], Hand], inside: Inside) -> None:
        self._calls: SimpleQueue[Call | None] = SimpleQueue()
        self._inside = inside
        self._most = most
        self._hire = hire
        self._closing = False
        self._left = False
        self._serving = threads
        self._counting = threading.Lock()
        self._threads = [
            threading.Thread(target=self._serve, name=f"toryo-{name}-{number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, call: Call) -> None:
        """Queues the call; it will be answered whatever happens. Raises DatabaseUnavailable once closed."""
        if self._closing:
            raise gone()
        self._calls.put(call)
        if self._left:  # the last thread may have looked through the queue before this call stood in it
            self._refuse_waiting()

    def alive(self) -> bool:
        return any(thread.is_alive() for thread in self._threads)

    def close(self) -> None:
        """Carries out what waits already, refuses what comes later, and ends the threads."""
        self._closing = True
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join()

    def _serve(self) -> None:
        self._inside.work = True  # this thread does nothing else
        try:
            hand = self._hire()
            while self._serve_once(hand):
                pass
            hand.close()
        except BaseException:  # noqa: BLE001 - told here; its callers are told by `_leave`
            _log.exception("a database thread ended")
        finally:
            self._leave()

    def _serve_once(self, hand: Hand) -> bool:
        calls, more = self._take()
        try:
            if calls:
                hand.carry_out(calls)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the callers must hear of it
            _log.exception("a database thread failed")
            for call in calls:
                call.fail(RuntimeError(f"The database thread failed: {error!r}"))
        answer(calls)
        return more

    def _take(self) -> tuple[list[Call], bool]:
        """Waits for one call and takes others that wait with it; False says that the crew is closing."""
        calls: list[Call] = []
        call = self._calls.get()
        share = min(self._most, 1 + self._calls.qsize() // len(self._threads))
        while call is not None:
            if not call.abandoned:
                calls.append(call)
            if len(calls) >= share:
                return calls, True
            try:
                call = self._calls.get_nowait()
            except Empty:
                return calls, True
        return calls, False

    def _leave(self) -> None:
        with self._counting:
            self._serving -= 1
            if self._serving:
                return
        self._closing = self._left = True
        self._refuse_waiting()

    def _refuse_waiting(self) -> None:
        while True:
            try:
                call = self._calls.get_nowait()
            except Empty:
                return
            if call is not None:
                call.fail(gone())
                answer([call])
