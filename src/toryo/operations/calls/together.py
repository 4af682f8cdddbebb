"""Calls that arrive at the same time, gathered: a batch takes all that wait, in one work.

Calls gather while the batch before them is committed, without a timer, so a lone caller waits for nobody, and its call
is carried out as every other (`dispatch.py`). What a batch does is in `batches.py`. It answers what it can; each other
call is carried out by itself, and so is every call of a batch that failed: the database has kept nothing of it. A batch
may also answer calls that wait for a hint (`Held`): a poll gets its task in the commit that files it.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from pydantic import BaseModel

from toryo.domain.errors import Refusal
from toryo.domain.times import Millis
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Caller, Credentials
from toryo.operations.calls.catalogue import Later, Operation
from toryo.storage.engine.database import Connection, Database
from toryo.storage.errors import OutcomeUnknown
from toryo.storage.transaction import Transaction

MOST = 256
"""How many calls one batch takes."""
_log = logging.getLogger(__name__)


class Answer(Protocol):
    """What a call is answered (`dispatch.Answered`)."""

    hints: frozenset[str]

    @property
    def later(self) -> Later | None: ...


class Request(Protocol):
    """A call (`dispatch.Request`)."""

    @property
    def operation(self) -> Operation: ...
    @property
    def arguments(self) -> dict[str, Any]: ...
    @property
    def parameters(self) -> BaseModel | Refusal: ...
    @property
    def credentials(self) -> Credentials: ...
    @property
    def now(self) -> Millis: ...
    @property
    def once(self) -> str: ...
    @property
    def again(self) -> bool: ...

    def at(self, now: Millis) -> Request:
        """The same, made at this time."""

    def call_of(self, tx: Transaction, caller: Caller) -> Call: ...

    def answered(self, answer: Mapping[str, Any] | Later, call: Call) -> Answer:
        """By a batch."""

    def work(self, connection: Connection) -> Answer: ...


class Batch:
    """The calls that one work carries out. `adopted`: calls that waited for what the batch does."""

    def __init__(self, asked: Sequence[Request], adopt: Callable[[str, int], Sequence[Held]] | None = None) -> None:
        self.asked = asked
        self.counted: set[str] = set()
        """The calls that rate limits have counted: a work may run more than once."""
        self._adopt = adopt
        self._adopted: dict[str, Sequence[Held]] = {}

    def adopt(self, topic: str, most: int) -> list[Request]:
        """Up to `most` calls that wait for this topic, those that wait longest first."""
        if self._adopt is None:
            return []
        if topic not in self._adopted:
            self._adopted[topic] = self._adopt(topic, most)
        return [held.asked for held in self._adopted[topic] if held.asked is not None]

    @property
    def adopted(self) -> list[Held]:
        return [held for each in self._adopted.values() for held in each]


CarryOut = Callable[[Connection, Batch], tuple[list[Answer | None], list[Answer | None]]]
"""An answer for each call of the batch, and for each that it adopted; None: nothing was done for this one."""


class Held:
    """A call that waits for a hint, between two of its looks. Belongs to its event loop.

    `wake` ends its wait, once a batch has answered it.
    """

    def __init__(self) -> None:
        self.wake: Callable[[], None] = lambda: None
        self.asked: Request | None = None
        self.topics: frozenset[str] = frozenset()
        self.taken = False
        """Whether a batch that is under way carries it out."""
        self._answer: Answer | None = None
        self._settled: asyncio.Future[None] | None = None
        self._at: Together | None = None

    def wait_at(self, together: Together, asked: Request, topics: frozenset[str]) -> None:
        """From now on a batch may answer it."""
        self._at, self.asked, self.topics = together, asked, topics
        together.hold(self)

    async def answered(self) -> Answer | None:
        """What a batch has answered it since its last look; from now on none does."""
        if self._at is not None and not self._at.release(self):
            self._settled = asyncio.get_running_loop().create_future()
            try:
                await self._settled
            finally:
                self._settled = None
        answer, self._answer, self._at = self._answer, None, None
        return answer

    def close(self) -> None:
        """Nobody waits any longer."""
        if self._at is not None:
            self._at.release(self)
            self._at = None

    def settle(self, answer: Answer | None) -> None:
        """The batch that had taken it is over."""
        self.taken = False
        if answer is not None and answer.later is None:
            self._answer = answer
        if self._settled is not None:
            if not self._settled.done():
                self._settled.set_result(None)
        elif self._answer is not None:
            self.wake()
        elif self._at is not None:
            self._at.hold(self)


class Together:
    """The calls on one event loop: those that wait to be carried out, and those that wait for a hint."""

    def __init__(self, database: Database, work: CarryOut, publish: Callable[[frozenset[str]], None]) -> None:
        self._database = database
        self._carried_out = work
        self._publish = publish
        self._waiting: list[tuple[Request, asyncio.Future[tuple[Answer | None, bool]]]] = []
        self._work: asyncio.Task[None] | None = None
        self._lock = threading.Lock()
        self._held: dict[str, dict[int, Held]] = {}
        """By topic, in the order in which they began to wait."""

    async def carried_out(self, asked: Request) -> tuple[Answer | None, bool]:
        """The answer, None if it must be carried out by itself; and whether rate limits have counted the call."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[tuple[Answer | None, bool]] = loop.create_future()
        self._waiting.append((asked, done))
        if self._work is None:
            self._work = loop.create_task(self._carry_out_all())
        return await done

    async def _carry_out_all(self) -> None:
        taken: list[tuple[Request, asyncio.Future[tuple[Answer | None, bool]]]] = []
        try:
            while self._waiting:
                taken = [each for each in self._waiting[:MOST] if not each[1].done()]
                del self._waiting[:MOST]
                if len(taken) == 1 and not self._held:
                    await self._carry_out_one(*taken[0])
                elif taken:
                    await self._carry_out(taken)
        finally:
            self._work = None
            for _, done in (*taken, *self._waiting):  # the loop is ending
                done.cancel()
            self._waiting.clear()

    async def _carry_out_one(self, asked: Request, done: asyncio.Future[tuple[Answer | None, bool]]) -> None:
        try:
            answer = await self._database.write_async(asked.work)
        except Exception as error:  # noqa: BLE001 - who asked is told
            if not done.done():
                done.set_exception(error)
        else:
            if not done.done():
                done.set_result((answer, False))

    async def _carry_out(self, taken: Sequence[tuple[Request, asyncio.Future[tuple[Answer | None, bool]]]]) -> None:
        batch = Batch([asked for asked, _ in taken], self._adopt)
        answers: Sequence[Answer | None] = [None] * len(taken)
        adopted: Sequence[Answer | None] = []
        unknown: OutcomeUnknown | None = None
        try:
            answers, adopted = await self._database.write_async(lambda connection: self._carried_out(connection, batch))
        except OutcomeUnknown as error:
            unknown = error
        except Exception as error:  # noqa: BLE001 - each call is carried out by itself and gets its own answer
            _log.warning("a batch of calls failed and is carried out one by one: %r", error)
        self._publish_all([each for each in (*answers, *adopted) if each is not None])
        for (asked, done), answer in zip(taken, answers, strict=True):
            if done.done():
                continue
            if unknown is not None:
                done.set_exception(unknown.again())
            else:
                done.set_result((answer, asked.once in batch.counted))
        held = batch.adopted
        for each, answer in zip(held, adopted or [None] * len(held), strict=True):
            each.settle(answer)

    def _publish_all(self, answers: Sequence[Answer]) -> None:
        hints: frozenset[str] = frozenset().union(*(each.hints for each in answers))
        for each in answers:
            each.hints = frozenset()
        if hints:
            self._publish(hints)

    # calls that wait for a hint

    def hold(self, held: Held) -> None:
        with self._lock:
            for topic in held.topics:
                self._held.setdefault(topic, {})[id(held)] = held

    def release(self, held: Held) -> bool:
        """No batch takes it from now on; False if one has taken it and is under way."""
        with self._lock:
            self._drop(held)
            return not held.taken

    def _adopt(self, topic: str, most: int) -> list[Held]:
        with self._lock:
            found = list(self._held.get(topic, {}).values())[:most]
            for each in found:
                self._drop(each)
                each.taken = True
        return found

    def _drop(self, held: Held) -> None:
        for topic in held.topics:
            waiting = self._held.get(topic, {})
            waiting.pop(id(held), None)
            if not waiting:
                self._held.pop(topic, None)


class Gatherings:
    """The calls of one dispatcher, by event loop."""

    def __init__(self, database: Database, work: CarryOut, publish: Callable[[frozenset[str]], None]) -> None:
        self._make = partial(Together, database, work, publish)
        self._by_loop: dict[int, tuple[asyncio.AbstractEventLoop, Together]] = {}

    def here(self) -> Together:
        """Those on the event loop that runs."""
        loop = asyncio.get_running_loop()
        known = self._by_loop.get(id(loop))
        if known is None or known[0] is not loop:
            known = (loop, self._make())
            self._by_loop = {key: each for key, each in self._by_loop.items() if not each[0].is_closed()}
            self._by_loop[id(loop)] = known
        return known[1]
