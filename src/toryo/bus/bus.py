"""The interface of a bus, and the subscriptions of one process, which all implementations share.

A hint says *read this topic again* and carries no data. Publishers are threads (after a commit); subscribers are tasks,
possibly of several event loops. `postgres.py` and `redis.py` send hints to other servers.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterable
from itertools import islice
from types import TracebackType
from typing import Protocol, Self

QUEUE = "queue:"
"""Topics that wake only some listeners: an agent that gets a task sends another hint if more tasks are ready."""
WOKEN_OF_A_QUEUE = 8
"""How many listeners of a queue are woken. More than one, because a listener may be gone; waking thousands would make
all of them look for the same task.
"""

_log = logging.getLogger(__name__)


class Bus(Protocol):
    def publish(self, topics: Iterable[str]) -> None:
        """Hints at the topics; from any thread, after the commit. Never blocks and never raises."""

    def subscribe(self, topics: Iterable[str]) -> Subscription:
        """Collects hints at these topics from now on. Call on an event loop."""

    async def start(self) -> None:
        """Starts listening to other servers, if there are any."""

    async def close(self) -> None:
        """Wakes every waiter once and stops; idempotent."""


class Subscription:
    """The hints at some topics since the last `wait`, folded into one. Belongs to the loop that subscribed."""

    __slots__ = ("_hinted", "_subscriptions", "_waiter", "loop", "topics")

    def __init__(self, topics: frozenset[str], subscriptions: Subscriptions) -> None:
        self.topics = topics
        self.loop = asyncio.get_running_loop()
        self._subscriptions = subscriptions
        self._hinted = False
        self._waiter: asyncio.Future[None] | None = None

    async def wait(self, timeout_seconds: float) -> bool:
        """True for a hint, also one since the last `wait`; False after the timeout. One waiter at a time."""
        if not self._hinted:
            self._waiter = self.loop.create_future()
            timer = self.loop.call_later(max(0.0, timeout_seconds), self._end_waiting)
            try:
                await self._waiter
            finally:
                timer.cancel()
                self._waiter = None
        return self.hinted()

    def hinted(self) -> bool:
        """As `wait`, without waiting."""
        hinted, self._hinted = self._hinted, False
        return hinted

    def close(self) -> None:
        """Stops receiving hints; idempotent."""
        self._subscriptions.remove(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def take(self) -> bool:
        """Notes a hint; from any thread. False if one was already noted, so the loop has been told."""
        if self._hinted:
            return False
        self._hinted = True
        return True

    def wake(self) -> None:
        """Ends `wait`; on the loop that subscribed. Does nothing if the last `wait` has returned this hint."""
        if self._hinted:
            self._end_waiting()

    def rouse(self) -> None:
        """A hint for this subscription alone; on its loop."""
        self.take()
        self.wake()

    def _end_waiting(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Subscriptions:
    """The subscriptions of this process by topic. A thousand held polls are a thousand entries and no tasks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_topic: dict[str, set[Subscription]] = {}

    def add(self, topics: Iterable[str]) -> Subscription:
        subscription = Subscription(frozenset(topics), self)
        with self._lock:
            for topic in subscription.topics:
                self._by_topic.setdefault(topic, set()).add(subscription)
        return subscription

    def remove(self, subscription: Subscription) -> None:
        with self._lock:
            for topic in subscription.topics:
                listening = self._by_topic.get(topic, set())
                listening.discard(subscription)
                if not listening:
                    self._by_topic.pop(topic, None)

    def hint(self, topics: Iterable[str]) -> None:
        """Wakes the listeners of any of the topics, with one call per loop; of a queue's listeners only some."""
        with self._lock:
            heard = [subscription for topic in topics for subscription in self._heard(topic)]
        _wake(heard)

    def _heard(self, topic: str) -> Iterable[Subscription]:
        news = (subscription for subscription in self._by_topic.get(topic, ()) if subscription.take())
        return islice(news, WOKEN_OF_A_QUEUE) if topic.startswith(QUEUE) else news

    def hint_all(self) -> None:
        """Wakes every listener, when hints may have been missed."""
        with self._lock:
            heard = [
                subscription
                for listening in self._by_topic.values()
                for subscription in listening
                if subscription.take()
            ]
        _wake(heard)


def _wake(heard: list[Subscription]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[Subscription]] = {}
    for subscription in heard:
        by_loop.setdefault(subscription.loop, []).append(subscription)
    for loop, theirs in by_loop.items():
        try:
            loop.call_soon_threadsafe(_wake_each, theirs)
        except RuntimeError:
            _log.debug("%d subscribers can no longer be notified: their event loop is closed", len(theirs))


def _wake_each(subscriptions: list[Subscription]) -> None:
    for subscription in subscriptions:
        subscription.wake()
