"""Passes works from callers to the database's threads, and the results back.

Callers are threads (blocking) or tasks of an event loop (awaiting); both may use one database. How a thread runs its
works is in `sqlite.py` and `postgresql.py`, as a `Worker`.
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
_SLOW_SECONDS = 0.01


class Call:
    """One submitted work, and later its result or error."""

    __slots__ = ("error", "result", "work")

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.work = work
        self.result: Any = None
        self.error: BaseException | None = None

    @property
    def abandoned(self) -> bool:
        """Whether no caller waits any longer; a work that has not started can then be skipped."""
        return False

    def fail(self, error: BaseException) -> None:
        if isinstance(error, StopIteration):  # A future would refuse it, and a generator would swallow it.
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
        self._answered = threading.Lock()  # Held until the answer is there: the cheapest primitive to wait on.
        self._answered.acquire()

    def wake(self) -> None:
        self._answered.release()

    def wait(self, still_alive: Callable[[], bool]) -> Any:
        """Blocks until the answer is there, or until no thread is left to give it."""
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
        """Answers the task, on its loop; a cancelled task gets nothing."""
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


def answer(calls: Iterable[Call]) -> None:
    """Answers all calls: threads directly, the tasks of each loop with one callback."""
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
            _log.debug("%d callers can no longer be answered: their event loop is closed", len(theirs))


def _settle(calls: list[AwaitedCall]) -> None:
    for call in calls:
        call.settle()


def gone() -> DatabaseUnavailable:
    return DatabaseUnavailable("The database has been closed.", "Restart the server.")


class Worker(Protocol):
    """The work of one pool thread. Used by that thread only, and keeps its connection there."""

    def carry_out(self, calls: list[Call]) -> int:
        """Runs the first calls, sets their `result` or `error`, and returns how many it ran: at least one.

        The pool answers these and calls again with the rest.
        """

    def close(self) -> None: ...


class ReentrancyGuard(threading.local):
    """Marks threads that run a work, so that a work cannot submit another one and wait for itself."""

    work: bool = False

    def refuse(self) -> None:
        if self.work:
            raise MisusedDatabase(
                "A work called read() or write() itself. Use the connection it was given: a second transaction "
                "would wait for the first without end."
            )


class WorkerPool:
    """Threads that take calls from one queue, up to `most` at a time.

    The first thread takes all calls while it keeps up: under the interpreter lock threads only take turns, and works
    that run together share a transaction. Each further thread starts when the previous one has been busy with the same
    calls for more than `_SLOW_SECONDS`, so that a slow work does not block the others.
    """

    def __init__(
        self, name: str, threads: int, hire: Callable[[], Worker], inside: ReentrancyGuard, *, most: int
    ) -> None:
        self._calls: SimpleQueue[Call | None] = SimpleQueue()
        self._hire = hire
        self._inside = inside
        self._most = most
        self._closing = threading.Event()
        self._left = False
        self._serving = threads
        self._counting = threading.Lock()
        self._steps = [0] * threads
        """Per thread: odd while it runs calls, and different for each batch."""
        self._watching = [threading.Event() for _ in range(threads)]
        """Per thread: set while the previous thread is at work and must be monitored."""
        self._threads = [
            threading.Thread(target=self._serve, args=(rank,), name=f"toryo-{name}-{rank}", daemon=True)
            for rank in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, call: Call) -> None:
        """Queues the call; it is always answered. Raises DatabaseUnavailable after `close`."""
        if self._closing.is_set():
            raise gone()
        self._calls.put(call)
        if self._left:  # The last thread may have checked the queue before this call was in it.
            self._refuse_waiting()

    def alive(self) -> bool:
        return any(thread.is_alive() for thread in self._threads)

    def close(self) -> None:
        """Runs waiting calls, refuses new ones, and ends the threads."""
        self._closing.set()
        for watching in self._watching:
            watching.set()
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join()

    def _serve(self, rank: int) -> None:
        self._inside.work = True  # this thread does nothing else
        try:
            hand = self._hire()
            while self._serve_once(hand, rank):
                pass
            hand.close()
        except BaseException:  # noqa: BLE001 - told here; its callers are told by `_leave`
            _log.exception("a database thread ended")
        finally:
            self._leave(rank)

    def _serve_once(self, hand: Worker, rank: int) -> bool:
        """Takes calls on this thread's turn, runs and answers them; False when the pool closes."""
        if rank:
            self._wait_until_needed(rank)
        calls, more = self._taken(patiently=rank == 0 or self._closing.is_set())
        if calls:
            self._steps[rank] += 1
            if rank + 1 < len(self._watching) and not self._watching[rank + 1].is_set():
                self._watching[rank + 1].set()
            while calls:
                done = self._carried_out(hand, calls)
                answer(calls[:done])
                calls = calls[done:]
                self._steps[rank] += 2
            self._steps[rank] += 1
        return more

    def _carried_out(self, hand: Worker, calls: list[Call]) -> int:
        try:
            return hand.carry_out(calls)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the callers must hear of it
            _log.exception("a database thread failed")
            for call in calls:
                call.fail(RuntimeError(f"The database thread failed: {error!r}"))
            return len(calls)

    def _wait_until_needed(self, rank: int) -> None:
        """Returns when calls wait and the previous thread is stuck, or when the pool closes."""
        watching = self._watching[rank]
        while not self._closing.is_set():
            watching.wait()
            before = self._steps[rank - 1]
            self._closing.wait(_SLOW_SECONDS)
            stands_still, at_work = self._steps[rank - 1] == before, before % 2
            if stands_still and at_work and not self._calls.empty():
                return
            if stands_still and not at_work:
                watching.clear()
                if self._steps[rank - 1] != before or self._closing.is_set():  # It began just before.
                    watching.set()

    def _taken(self, *, patiently: bool) -> tuple[list[Call], bool]:
        """The waiting calls, at least one if `patiently`; False when the pool closes."""
        calls: list[Call] = []
        try:
            call = self._calls.get(block=patiently)
            while call is not None:
                if not call.abandoned:
                    calls.append(call)
                if len(calls) >= self._most:
                    return calls, True
                call = self._calls.get_nowait()
        except Empty:
            return calls, True
        return calls, False

    def _leave(self, rank: int) -> None:
        self._steps[rank] |= 1  # If it was the only thread to end, the next one takes its place.
        for watching in self._watching[rank + 1 : rank + 2]:
            watching.set()
        with self._counting:
            self._serving -= 1
            if self._serving:
                return
        self._left = True
        self._closing.set()
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
