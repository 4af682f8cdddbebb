"""A bus that reaches other servers through a shared service: the common part of `postgres.py` and `redis.py`.

Two tasks on the loop that called `start` receive and send, each with its own connection. While the service is away,
other servers get no hints (waiters look again at intervals); when it is back, every waiter is woken once, because hints
may have been missed. A service that stands still, or was replaced behind a proxy, is noticed by a beat: the sender
sends an empty notification at intervals, and the receiver, which hears its own server too, connects again when it hears
nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Generic, TypeVar

import orjson

from toryo.bus.bus import Subscription, Subscriptions

_log = logging.getLogger(__name__)
_WAITING_TOPICS = 20_000
_BEAT_SECONDS = 10.0
_SILENT_SECONDS = 25.0
"""Longer than two beats: only on a connection that is lost is nothing heard for this long."""
_ANSWERS_WITHIN_SECONDS = 10.0
_PAUSES_SECONDS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)

Connection = TypeVar("Connection")


class RemoteBus(ABC, Generic[Connection]):
    """See `Bus`. `start` returns when it listens to other servers, or when the first attempt has failed."""

    failures: tuple[type[Exception], ...]
    """The exceptions raised while the service is away."""
    longest_payload: int
    """Maximum size of one notification, in bytes."""

    def __init__(self) -> None:
        self._name = secrets.token_hex(8)
        self._lost: tuple[type[Exception], ...] = (*self.failures, TimeoutError)
        self._subscriptions = Subscriptions()
        self._lock = threading.Lock()
        self._unsent: set[str] = set()
        self._lost_some = False
        self._wake_sender: Callable[[], object] | None = None
        self._tasks: list[asyncio.Task[None]] = []

    @abstractmethod
    def connect(self) -> AbstractAsyncContextManager[Connection]:
        """A new connection that is open during the `with` block."""

    @abstractmethod
    def listen(self, connection: Connection) -> AsyncIterator[str | None]:
        """Yields None once it listens, then each notification. Ends or raises one of `failures` when the connection is
        lost.
        """

    @abstractmethod
    async def notify(self, connection: Connection, payloads: list[str], topics: Collection[str]) -> None:
        """Sends these payloads to other servers; `topics` are those contained in them."""

    def publish(self, topics: Iterable[str]) -> None:
        topics = frozenset(topics)
        self._subscriptions.hint(topics)
        self._send_later(topics)

    def subscribe(self, topics: Iterable[str]) -> Subscription:
        return self._subscriptions.add(topics)

    async def start(self) -> None:
        loop, tried, something = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
        self._wake_sender = lambda: loop.call_soon_threadsafe(something.set)
        something.set()  # Topics may have been published before the start.
        self._tasks = [
            asyncio.create_task(self._keep(lambda connection: self._hear(connection, tried), tried)),
            asyncio.create_task(self._keep(lambda connection: self._send(connection, something), asyncio.Event())),
        ]
        await tried.wait()

    async def close(self) -> None:
        self._wake_sender = None
        tasks, self._tasks = set(self._tasks), []
        while tasks:  # A client may swallow the first cancellation (Redis' does while it connects).
            for task in tasks:
                task.cancel()
            _, tasks = await asyncio.wait(tasks, timeout=0.1)
        self._subscriptions.hint_all()

    def _send_later(self, topics: frozenset[str]) -> None:
        with self._lock:
            told = bool(self._unsent)  # In that case the sender is awake or will be soon.
            if len(self._unsent) < _WAITING_TOPICS:
                self._unsent |= topics
            else:
                self._lost_some = True
        wake = self._wake_sender
        if wake is None or told:
            return
        try:
            wake()
        except RuntimeError:
            _log.debug("other servers do not get hints: the event loop of the bus is closed")

    async def _keep(self, work: Callable[[Connection], Awaitable[None]], tried: asyncio.Event) -> None:
        """Connects and works until cancelled; retries after a failure, more slowly each time."""
        now, failures = asyncio.get_running_loop().time, 0
        while True:
            began = now()
            try:
                async with self.connect() as one:
                    await work(one)
            except self._lost as error:
                failures = 1 if now() - began > _PAUSES_SECONDS[-1] else failures + 1
                _log.log(
                    logging.WARNING if failures == 1 else logging.DEBUG,
                    "no hints from other servers: %s",
                    str(error) or "nothing was heard in time",
                )
            tried.set()
            await asyncio.sleep(_PAUSES_SECONDS[min(failures, len(_PAUSES_SECONDS)) - 1])

    async def _hear(self, connection: Connection, tried: asyncio.Event) -> None:
        heard, patience = self.listen(connection), _ANSWERS_WITHIN_SECONDS
        while True:
            async with asyncio.timeout(patience):
                try:
                    payload = await anext(heard)
                except StopAsyncIteration:
                    return
            patience = _SILENT_SECONDS
            if payload is not None:
                self._heard(payload)
                continue
            if tried.is_set():
                self._subscriptions.hint_all()
            tried.set()

    def _heard(self, payload: str) -> None:
        try:
            sender, topics = orjson.loads(payload)
            if sender == self._name:
                return
            if topics is None:
                self._subscriptions.hint_all()
            else:
                self._subscriptions.hint(topics)
        except (ValueError, TypeError):
            _log.warning("a notification on the channel does not come from Toryo: %.80s", payload)

    async def _send(self, connection: Connection, something: asyncio.Event) -> None:
        if self._lost_some:
            something.set()
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(something.wait(), _BEAT_SECONDS)
            something.clear()
            payloads, topics = self._payloads()
            try:
                async with asyncio.timeout(_ANSWERS_WITHIN_SECONDS):
                    await self.notify(connection, payloads or [_payload(self._name, [])], topics)
            except self._lost:
                self._lost_some = True
                raise

    def _payloads(self) -> tuple[list[str], Collection[str]]:
        """The waiting topics in as few notifications as possible; "everything" if some were lost."""
        with self._lock:
            topics, self._unsent = self._unsent, set()
            lost_some, self._lost_some = self._lost_some, False
        if lost_some:
            return [_payload(self._name, None)], topics
        return [_payload(self._name, part) for part in _parts(sorted(topics), self.longest_payload)], topics


def _payload(sender: str, topics: list[str] | None) -> str:
    return orjson.dumps([sender, topics]).decode()


def _parts(topics: list[str], longest: int) -> list[list[str]]:
    """Splits topics so that each part fits into one notification."""
    parts: list[list[str]] = []
    room = 0
    for topic in topics:
        size = len(orjson.dumps(topic)) + 1
        if size > room:
            parts.append([])
            room = longest - 64
        parts[-1].append(topic)
        room -= size
    return parts
