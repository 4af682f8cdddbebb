"""One reading of new events for all streams that follow everything they may see.

While somebody follows, one task waits for hints and reads (`operations/overview/event_feed.py`). Each stream then gets
the bytes of what its reader sees: streams that see the same get the same bytes. What waits for a stream is bounded;
beyond that the stream must read for itself (`Follower.since`), as it does before it joins.

The same streams are told what agents do at the moment: of the newest state, some times a second at most. Nobody has to
catch up on that, so what a stream does not fetch is replaced by what comes then.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Mapping
from functools import partial

import structlog

from toryo.domain.errors import Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.times import Millis
from toryo.operations.calls.call import DOING
from toryo.operations.calls.callers import NOTHING_SHOWN, Credentials
from toryo.operations.overview import event_feed
from toryo.operations.overview.event_feed import News, Reader, Signs
from toryo.server.long_polling import LOOK_AGAIN, Waiting

KEPT = 1000
"""Events that wait for one stream at most."""

SIGNS_EVERY = 0.5
"""Seconds between two looks at what agents do."""
OVERLAP = 5_000
"""Milliseconds: what is stored at the same time by several servers may be seen in another order."""

_log = structlog.get_logger("toryo.server")


class Follower:
    """One stream's part: `since` is the event up to which it must read for itself before it fetches further ones."""

    __slots__ = ("_batches", "_kept", "_signs", "_waiter", "ended", "shown", "since")

    def __init__(self, shown: Credentials, since: int) -> None:
        self.shown = shown
        self.since = since
        self.ended = False
        """Whether nothing follows: the reader lost the right to read, or the server stops."""
        self._batches: deque[_Batch] = deque()
        self._kept = 0
        self._signs: dict[str, bytes] = {}
        """By launch: what its agent does now, and was not fetched yet."""
        self._waiter: asyncio.Future[None] | None = None

    async def next(self, after: int, seconds: float) -> tuple[int, bytes]:
        """Up to which event this reaches, and the bytes of those after `after` that the reader sees. Without bytes when
        `seconds` are over, when it has ended, or when it must read for itself first.
        """
        if not self._batches and not self._signs and not self.ended and self.since <= after:
            loop = asyncio.get_running_loop()
            self._waiter = loop.create_future()
            timer = loop.call_later(seconds, self._wake)
            try:
                await self._waiter
            finally:
                timer.cancel()
                self._waiter = None
        if self.ended or self.since > after:
            return after, b""
        if not self._batches:
            signs, self._signs = b"".join(self._signs.values()), {}
            return after, signs
        batch = self._batches.popleft()
        self._kept -= len(batch.news.events)
        return max(after, batch.news.last), batch.after(after)

    def give(self, batch: _Batch) -> None:
        self._kept += len(batch.news.events)
        if self._kept > KEPT:
            self.miss(batch.news.last)
        else:
            self._batches.append(batch)
            self._wake()

    def show(self, signs: Mapping[str, bytes]) -> None:
        self._signs.update(signs)
        self._wake()

    def miss(self, until: int) -> None:
        """It reads for itself up to that event."""
        self._batches.clear()
        self._kept, self.since = 0, until
        self._wake()

    def end(self) -> None:
        self.ended = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class _Batch:
    """Some events for all readers who see the same of them."""

    __slots__ = ("_seen", "_text", "news")

    def __init__(self, news: News, seen: tuple[bool, ...]) -> None:
        self.news = news
        self._seen = seen
        self._text = self._joined(0)

    def after(self, sequence: int) -> bytes:
        return self._text if sequence < self.news.events[0][0] else self._joined(sequence)

    def _joined(self, after: int) -> bytes:
        told = zip(self.news.events, self._seen, strict=True)
        return b"".join([text for (sequence, text), seen in told if seen and sequence > after])


class FanOut:
    """All streams of a server. Belongs to one event loop."""

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting
        self._followers: set[Follower] = set()
        self._readers: Mapping[Credentials, Reader] = {}
        self._last = 0
        """The newest event that was read."""
        self._task: asyncio.Task[None] | None = None
        self._telling: asyncio.Task[None] | None = None

    def join(self, credentials: Credentials, after: int) -> Follower:
        """Follows from now on. The first one sets where the reading begins."""
        if self._task is None:
            self._last = after
            self._task = asyncio.create_task(self._read_on())
            self._task.add_done_callback(self._done)
            self._telling = asyncio.create_task(self._tell_signs())
        shown = replace(NOTHING_SHOWN, bearer=credentials.bearer, cookie=credentials.cookie, page=credentials.page)
        follower = Follower(shown, self._last)
        self._followers.add(follower)
        return follower

    def leave(self, follower: Follower) -> None:
        self._followers.discard(follower)
        if not self._followers and self._task is not None:
            self._task.cancel()
            self._task = None
            self._tell_no_more()

    async def _read_on(self) -> None:
        loop, looked_up = asyncio.get_running_loop(), 0.0
        async with self._waiting.listen({"events"}) as hints, self._waiting.rights() as rights:
            while not self._waiting.stopping:
                again = rights.hinted() or loop.time() - looked_up >= LOOK_AGAIN
                if again:
                    looked_up = loop.time()
                readers = {each.shown: self._readers.get(each.shown) for each in self._followers}
                step = partial(event_feed.read, after=self._last, readers=readers, again=again)
                news = await self._waiting.as_server(step, reads=True)
                self._hand_out(news, readers.keys())
                if len(news.events) < event_feed.AT_ONCE:
                    await hints.wait(LOOK_AGAIN)

    def _hand_out(self, news: News, asked: Collection[Credentials]) -> None:
        self._last, self._readers = news.last, news.readers
        batches: dict[tuple[bool, ...], _Batch] = {}
        for follower in [*self._followers]:
            if follower.shown not in asked:
                follower.miss(news.last)  # it joined while these were read
            elif follower.shown not in news.seen:
                follower.end()
            elif news.events:
                seen = news.seen[follower.shown]
                if seen not in batches:
                    batches[seen] = _Batch(news, seen)
                follower.give(batches[seen])

    async def _tell_signs(self) -> None:
        since = 0
        told: dict[str, Millis] = {}
        async with self._waiting.listen({DOING}) as hints:
            while not self._waiting.stopping:
                await hints.wait(LOOK_AGAIN)
                step = partial(event_feed.signs, since=since, readers=dict(self._readers))
                try:
                    signs: Signs = await self._waiting.as_server(step, reads=True)
                except Refusal:  # at the next hint the same is asked again
                    continue
                since = max(since, signs.last - OVERLAP)
                new = {launch: text for launch, (at, text) in signs.told.items() if told.get(launch) != at}
                told = {launch: at for launch, (at, _) in signs.told.items()}
                for follower in self._followers:
                    seen = signs.seen.get(follower.shown, frozenset())
                    if mine := {launch: text for launch, text in new.items() if launch in seen}:
                        follower.show(mine)
                await asyncio.sleep(SIGNS_EVERY)

    def _tell_no_more(self) -> None:
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None

    def _done(self, task: asyncio.Task[None]) -> None:
        """The server stops, or the events cannot be read: all streams end, and browsers connect again."""
        if not task.cancelled() and (error := task.exception()) is not None and not isinstance(error, Refusal):
            _log.error("event_streams_ended", exc_info=error)
        if task is self._task:
            self._task = None
            self._tell_no_more()
            for follower in [*self._followers]:
                follower.end()
