"""The bus of servers that share one PostgreSQL database: hints go by NOTIFY, and within a process directly.

Two tasks on the loop that called `start`, each with a connection of its own, hear and send. While PostgreSQL is away
other servers are not hinted (waiters look again by themselves from time to time); when it is back everybody is hinted
once, because nobody knows what was missed.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections.abc import Awaitable, Callable, Iterable

import orjson
import psycopg
from psycopg import conninfo

from toryo.bus.bus import Subscription, Subscriptions

_log = logging.getLogger(__name__)

_PAYLOAD_BYTES = 7900  # PostgreSQL takes 7999
_WAITING_TOPICS = 20_000
_PAUSES_SECONDS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
_LISTEN = "LISTEN toryo"
_NOTIFY = "SELECT pg_notify('toryo', payload) FROM unnest(%s::text[]) AS payload"
_KEEPALIVES = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "connect_timeout": 5}


class PostgresBus:
    """See `Bus`. `start` returns when other servers are heard, or when the first attempt at that has failed."""

    def __init__(self, url: str) -> None:
        scheme, _, rest = url.partition("://")
        self._conninfo = conninfo.make_conninfo(f"{scheme.partition('+')[0]}://{rest}", **_KEEPALIVES)
        self._name = secrets.token_hex(8)
        self._subscriptions = Subscriptions()
        self._lock = threading.Lock()
        self._unsent: set[str] = set()
        self._lost_some = False
        self._wake_sender: Callable[[], object] | None = None
        self._tasks: list[asyncio.Task[None]] = []

    def publish(self, topics: Iterable[str]) -> None:
        topics = frozenset(topics)
        self._subscriptions.hint(topics)
        self._send_later(topics)

    def subscribe(self, topics: Iterable[str]) -> Subscription:
        return self._subscriptions.add(topics)

    async def start(self) -> None:
        loop, tried, something = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
        self._wake_sender = lambda: loop.call_soon_threadsafe(something.set)
        something.set()  # what was published before the start waits already
        self._tasks = [
            asyncio.create_task(self._keep(lambda connection: self._hear(connection, tried), tried)),
            asyncio.create_task(self._keep(lambda connection: self._send(connection, something), asyncio.Event())),
        ]
        await tried.wait()

    async def close(self) -> None:
        self._wake_sender = None
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._subscriptions.hint_all()

    def _send_later(self, topics: frozenset[str]) -> None:
        with self._lock:
            told = bool(self._unsent)  # then the sender is awake, or soon will be
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
            _log.debug("other servers are not hinted: the event loop of the bus is closed")

    async def _keep(self, work: Callable[[psycopg.AsyncConnection], Awaitable[None]], tried: asyncio.Event) -> None:
        """Connects and works until cancelled; after a failure again, more slowly each time."""
        now, failures = asyncio.get_running_loop().time, 0
        while True:
            began = now()
            try:
                async with await psycopg.AsyncConnection.connect(self._conninfo, autocommit=True) as one:
                    await work(one)
            except psycopg.Error as error:
                failures = 1 if now() - began > _PAUSES_SECONDS[-1] else failures + 1
                _log.log(logging.WARNING if failures == 1 else logging.DEBUG, "other servers are not heard: %s", error)
            tried.set()
            await asyncio.sleep(_PAUSES_SECONDS[min(failures, len(_PAUSES_SECONDS)) - 1])

    async def _hear(self, connection: psycopg.AsyncConnection, tried: asyncio.Event) -> None:
        await connection.execute(_LISTEN)
        if tried.is_set():
            self._subscriptions.hint_all()
        tried.set()
        async for notification in connection.notifies():
            self._heard(notification.payload)

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
            _log.warning("somebody else than Toryo notifies its channel: %.80s", payload)

    async def _send(self, connection: psycopg.AsyncConnection, something: asyncio.Event) -> None:
        if self._lost_some:
            something.set()
        while True:
            await something.wait()
            something.clear()
            try:
                await connection.execute(_NOTIFY, [self._payloads()])
            except psycopg.Error:
                self._lost_some = True
                raise

    def _payloads(self) -> list[str]:
        """The topics that wait, as few notifications; "everything" if some were lost."""
        with self._lock:
            topics, self._unsent = self._unsent, set()
            lost_some, self._lost_some = self._lost_some, False
        if lost_some:
            return [_payload(self._name, None)]
        return [_payload(self._name, part) for part in _parts(sorted(topics))]


def _payload(sender: str, topics: list[str] | None) -> str:
    return orjson.dumps([sender, topics]).decode()


def _parts(topics: list[str]) -> list[list[str]]:
    """Cut so that each part fits into one notification."""
    parts: list[list[str]] = []
    room = 0
    for topic in topics:
        size = len(orjson.dumps(topic)) + 1
        if size > room:
            parts.append([])
            room = _PAYLOAD_BYTES - 64
        parts[-1].append(topic)
        room -= size
    return parts
