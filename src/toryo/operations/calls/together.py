"""Calls that are carried out together: a line takes all calls of its operations that wait, in one work.

A module declares a line (`declare`). Calls gather while the batch before them is committed, without a timer, so a lone
caller waits for nobody. A line answers what it can; each other call is carried out by itself (`dispatch.py`), and so is
every call of a batch that failed: the database has kept nothing of it. A line may also answer calls that wait for a
hint (`Held`): a poll gets its task in the commit that files it.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from toryo.operations.calls.catalogue import Handler, catalogue
from toryo.operations.calls.context import Context
from toryo.storage.engine.database import Connection, Database
from toryo.storage.errors import OutcomeUnknown

MOST = 256
"""How many calls one batch takes."""
_log = logging.getLogger(__name__)


Asked = Any
"""A call: a `dispatch.Request`, which is not named here because `dispatch.py` imports this module."""
Answer = Any
"""What a call is answered: a `dispatch.Answered`."""


class Batch:
    """The calls that one work carries out. `adopted`: calls that waited for what the batch does."""

    def __init__(self, asked: Sequence[Asked], adopt: Callable[[str, int], Sequence[Held]] | None = None) -> None:
        self.asked = asked
        self.counted: set[str] = set()
        """The calls that rate limits have counted: a work may run more than once."""
        self._adopt = adopt
        self._adopted: dict[str, Sequence[Held]] = {}

    def adopt(self, topic: str, most: int) -> list[Asked]:
        """Up to `most` calls that wait for this topic, those that wait longest first."""
        if self._adopt is None:
            return []
        if topic not in self._adopted:
            self._adopted[topic] = self._adopt(topic, most)
        return [held.asked for held in self._adopted[topic]]

    @property
    def adopted(self) -> list[Held]:
        return [held for each in self._adopted.values() for held in each]


class Line(Protocol):
    """What some operations have in common that lets their calls be carried out together."""

    def takes(self, asked: Asked) -> bool:
        """Whether it may answer this call, as far as the call itself tells."""

    def carry_out(self, connection: Connection, batch: Batch) -> tuple[list[Answer | None], list[Answer | None]]:
        """An answer for each call of the batch, and for each that it adopted; None: it has done nothing for this one.

        Raises if nothing of the batch may be kept.
        """


_DECLARED: dict[Handler, Callable[[Context], Line]] = {}


def declare(make: Callable[[Context], Line], handlers: Iterable[Handler]) -> None:
    """Calls of the operations that have these handlers go into one line, which each dispatcher makes for itself."""
    _DECLARED.update(dict.fromkeys(handlers, make))


class Held:
    """A call that waits for a hint, between two of its looks. Belongs to its event loop.

    `wake` ends its wait, once a batch has answered it.
    """

    def __init__(self) -> None:
        self.wake: Callable[[], None] = lambda: None
        self.asked: Asked = None
        self.topics: frozenset[str] = frozenset()
        self.taken = False
        """Whether a batch that is under way carries it out."""
        self._answer: Answer | None = None
        self._settled: asyncio.Future[None] | None = None
        self._at: Together | None = None

    def wait_at(self, together: Together, asked: Asked, topics: frozenset[str]) -> None:
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
    """The calls of one line on one event loop: those that wait to be carried out, and those that wait for a hint."""

    def __init__(self, database: Database, line: Line, publish: Callable[[frozenset[str]], None]) -> None:
        self._database = database
        self._line = line
        self._publish = publish
        self._waiting: list[tuple[Asked, asyncio.Future[tuple[Answer | None, bool]]]] = []
        self._work: asyncio.Task[None] | None = None
        self._lock = threading.Lock()
        self._held: dict[str, dict[int, Held]] = {}
        """By topic, in the order in which they began to wait."""

    async def carried_out(self, asked: Asked) -> tuple[Answer | None, bool]:
        """The answer, None if it must be carried out by itself; and whether rate limits have counted the call."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[tuple[Answer | None, bool]] = loop.create_future()
        self._waiting.append((asked, done))
        if self._work is None:
            self._work = loop.create_task(self._carry_out_all())
        return await done

    async def _carry_out_all(self) -> None:
        taken: list[tuple[Asked, asyncio.Future[tuple[Answer | None, bool]]]] = []
        try:
            while self._waiting:
                taken = [each for each in self._waiting[:MOST] if not each[1].done()]
                del self._waiting[:MOST]
                if taken:
                    await self._carry_out(taken)
        finally:
            self._work = None
            for _, done in (*taken, *self._waiting):  # the loop is ending
                done.cancel()
            self._waiting.clear()

    async def _carry_out(self, taken: Sequence[tuple[Asked, asyncio.Future[tuple[Answer | None, bool]]]]) -> None:
        batch = Batch([asked for asked, _ in taken], self._adopt)
        answers: Sequence[Answer | None] = [None] * len(taken)
        adopted: Sequence[Answer | None] = []
        unknown: OutcomeUnknown | None = None
        try:
            answers, adopted = await self._database.write_async(
                lambda connection: self._line.carry_out(connection, batch)
            )
        except OutcomeUnknown as error:
            unknown = error
        except Exception as error:  # noqa: BLE001 - each call is carried out by itself and gets its own answer
            failed(error)
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


def failed(error: Exception) -> None:
    """A batch was undone; its calls are carried out one by one."""
    _log.warning("a batch of calls failed and is carried out one by one: %r", error)


class Lines:
    """The lines of one dispatcher."""

    def __init__(self, database: Database, context: Context, publish: Callable[[frozenset[str]], None]) -> None:
        self._database = database
        self._context = context
        self._publish = publish
        self._made: dict[Callable[[Context], Line], Line] = {}
        self._together: dict[tuple[Line, int], tuple[asyncio.AbstractEventLoop, Together]] = {}

    def of(self, asked: Asked) -> Line | None:
        """The line that takes this call."""
        catalogue()  # loads what declares lines
        make = _DECLARED.get(asked.operation.handler)
        if make is None:
            return None
        line = self._made.get(make)
        if line is None:
            line = self._made.setdefault(make, make(self._context))
        return line if line.takes(asked) else None

    def together(self, line: Line) -> Together:
        """The calls of the line on this event loop."""
        loop = asyncio.get_running_loop()
        known = self._together.get((line, id(loop)))
        if known is None or known[0] is not loop:
            known = (loop, Together(self._database, line, self._publish))
            self._together = {key: each for key, each in self._together.items() if not each[0].is_closed()}
            self._together[line, id(loop)] = known
        return known[1]

    def alone(self, line: Line, asked: Asked) -> tuple[Answer | None, bool]:
        """As `Together.carried_out`, for a caller without an event loop: a batch of one."""
        batch = Batch([asked])
        try:
            (answer,), _ = self._database.write(lambda connection: line.carry_out(connection, batch))
        except OutcomeUnknown:
            raise
        except Exception as error:  # noqa: BLE001 - as in `Together`
            failed(error)
            return None, asked.once in batch.counted
        return answer, asked.once in batch.counted
