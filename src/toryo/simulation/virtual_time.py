"""The virtual clock: a heap of what happens next, and threads that take turns on it.

Nothing ticks: time jumps to the next entry. A program is a thread, so that runners written for real time need no
change; exactly one thread runs at any moment, the others wait for their turn. So the same seed gives the same run.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable

SECOND = 1_000
MOST_AT_ONE_MOMENT = 100_000
"""Entries that are carried out without time passing: more are a circle that would never end."""


class StandsStill(Exception):
    """Time does not pass any longer: what is due makes something else due at the same moment, again and again."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"The simulation stands still at {seconds:.1f} s: {MOST_AT_ONE_MOMENT:,} steps followed each other without "
            "time passing."
        )


class Time:
    """`now` in milliseconds since the epoch."""

    def __init__(self, begins_at: int) -> None:
        self.begins_at = begins_at
        self.now = begins_at
        self._heap: list[tuple[int, int, Timer]] = []
        self._numbers = itertools.count()
        self._at_this_moment = 0

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return (self.now - self.begins_at) / SECOND

    def after(self, seconds: float, action: Callable[[], None]) -> Timer:
        """Time passes in any wait that is not zero: one that is rounded away would be waited for without end."""
        return self.at(self.now + (max(1, round(seconds * SECOND)) if seconds > 0 else 0), action)

    def at(self, moment: int, action: Callable[[], None]) -> Timer:
        timer = Timer(action)
        heapq.heappush(self._heap, (max(moment, self.now), next(self._numbers), timer))
        return timer

    def run(self, until: int, over: Callable[[], bool]) -> None:
        """Carries out what is due, until there is nothing more, the moment has come, or it is over.

        Raises StandsStill.
        """
        while self._heap and not over():
            moment, _, timer = self._heap[0]
            if moment > until:
                break
            heapq.heappop(self._heap)
            if timer.action is not None:
                self._count(moment)
                self.now = moment
                action, timer.action = timer.action, None
                action()

    def _count(self, moment: int) -> None:
        self._at_this_moment = self._at_this_moment + 1 if moment == self.now else 0
        if self._at_this_moment > MOST_AT_ONE_MOMENT:
            raise StandsStill(self.seconds)


class Timer:
    """An entry of the heap; `cancel` leaves it there without effect."""

    __slots__ = ("action",)

    def __init__(self, action: Callable[[], None]) -> None:
        self.action: Callable[[], None] | None = action

    def cancel(self) -> None:
        self.action = None

    @property
    def open(self) -> bool:
        return self.action is not None


class Killed(BaseException):
    """Raised where a thread waits: its process was killed."""


class Thread:
    """One program. `resume` runs it until it pauses or ends, and is called by the clock's thread only."""

    def __init__(self, name: str, work: Callable[[], None]) -> None:
        self._work = work
        self._go, self._back = threading.Lock(), threading.Lock()
        self._go.acquire()
        self._back.acquire()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._started = False
        self._raise: BaseException | None = None
        self._fault: BaseException | None = None
        self.over = False

    def resume(self, exception: BaseException | None = None) -> None:
        """`exception` is raised where it waits. A fault of the program's code is raised here."""
        if self.over:
            return
        self._raise = exception
        if self._started:
            self._go.release()
        else:
            self._started = True
            self._thread.start()
        self._back.acquire()
        if self.over:
            self._thread.join()
        if self._fault is not None:
            raise self._fault

    def pause(self) -> None:
        """Called by the thread itself: returns when it is resumed."""
        self._back.release()
        self._go.acquire()
        if (exception := self._raise) is not None:
            self._raise = None
            raise exception

    def _run(self) -> None:
        try:
            if self._raise is None:
                self._work()
        except Killed:
            pass
        except BaseException as fault:  # noqa: BLE001 - raised in the clock's thread
            self._fault = fault
        finally:
            self.over = True
            self._back.release()
