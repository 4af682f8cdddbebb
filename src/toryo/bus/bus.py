"""What a bus promises, and the subscriptions of one process that all implementations keep.

A hint says *look at this topic again*, never what there is to see. Publishers are threads (after a commit);
subscribers are tasks, possibly of several event loops. How hints reach other servers: `postgres.py`, `redis.py`.
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
"""Topics of which one listener is enough: whoever gets a task hints again if there are more."""
WOKEN_OF_A_QUEUE = 8
"""More than one, because a listener may be gone; all of thousands would look for the same task at once."""

_log = logging.getLogger(__name__)


class Bus(Protocol):
    def publish(self, topics: Iterable[str]) -> None:
        """Hints at the topics; from any thread, after the commit. Never blocks and never raises."""

    def subscribe(self, topics: Iterable[str]) -> Subscription:
        """On an event loop: hints at these topics are kept from now on."""

    async def start(self) -> None:
        """Begins to hear other servers, if there are any to hear."""

    async def close(self) -> None:
        """Wakes every waiter once and stops; repeatable."""


class Subscription:
    """The hints at some topics since the last `wait`, folded into one. Lives on the loop that subscribed."""

    __slots__ = ("_hinted", "_subscriptions", "_waiter", "loop", "topics")

    def __init__(self, topics: frozenset[str], subscriptions: Subscriptions) -> None:
        self.topics = topics
        self.loop = asyncio.get_running_loop()
        self._subscriptions = subscriptions
        self._hinted = False
        self._waiter: asyncio.Future[None] | None = None

    async def wait(self, timeout_seconds: float) -> bool:
        """True for a hint, also one since the last `wait`; False when the time is over. One waiter at a time."""
        if not self._hinted:
            self._waiter = self.loop.create_future()
            timer = self.loop.call_later(max(0.0, timeout_seconds), self._end_waiting)
            try:
                await self._waiter
            finally:
                timer.cancel()
                self._waiter = None
        hinted, self._hinted = self._hinted, False
        return hinted

    def close(self) -> None:
        """No more hints; repeatable."""
        self._subscriptions.remove(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def take(self) -> bool:
        """Notes a hint; from any thread. False if one was noted already: its loop has been told."""
        if self._hinted:
            return False
        self._hinted = True
        return True

    def wake(self) -> None:
        """Ends `wait`; on the loop that subscribed. Nothing if the last `wait` has seen the hint already."""
        if self._hinted:
            self._end_waiting()

    def _end_waiting(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Subscriptions:
    """Who in this process wants to hear of which topic. A thousand held polls are a thousand entries, nothing more."""

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
        """Wakes those who listen to any of the topics, each loop with one message; of a queue's listeners a few."""
        with self._lock:
            heard = [subscription for topic in topics for subscription in self._heard(topic)]
        _wake(heard)

    def _heard(self, topic: str) -> Iterable[Subscription]:
        news = (subscription for subscription in self._by_topic.get(topic, ()) if subscription.take())
        return islice(news, WOKEN_OF_A_QUEUE) if topic.startswith(QUEUE) else news

    def hint_all(self) -> None:
        """Wakes everybody: nobody knows what was missed."""
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
