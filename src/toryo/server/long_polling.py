"""The only place where calls wait for events, for all transports and all tools that wait.

A handler returns `Later` with its topics. Then the call subscribes, runs the handler again, and waits for a hint (also
that a right was lost: the caller that lost it is then refused), for the instant that `Later` names, or for its timeout.
Hints may be lost, so waiting calls also look again every 15 seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import structlog

from toryo.domain.errors import Refusal
from toryo.domain.times import Millis
from toryo.long_waits import LONGEST_WAIT_SECONDS
from toryo.operations.calls.call import RIGHTS, Call
from toryo.operations.calls.callers import NOTHING_SHOWN, Credentials
from toryo.operations.calls.catalogue import Operation
from toryo.operations.calls.dispatch import Outcome, step_name
from toryo.operations.calls.grants import Door
from toryo.operations.calls.together import Held
from toryo.server import http_errors
from toryo.server.waiting_places import Places

if TYPE_CHECKING:
    from toryo.bus.bus import Bus, Subscription

LOOK_AGAIN = 15.0
"""Seconds after which a waiter looks without having been hinted."""
SHORTEST = 0.05
"""Seconds between two looks without a hint, at least: a `Later.at` that has passed must not spin."""

_SECONDS = ("timeout_seconds", "wait_seconds")
_log = structlog.get_logger("toryo.server")
T = TypeVar("T")


class Performing(Protocol):
    """The part of a `Dispatcher` that is needed here."""

    async def perform_async(
        self,
        name: str,
        arguments: dict[str, Any],
        credentials: Credentials,
        *,
        door: Door,
        may_wait: bool = False,
        again: bool = False,
        held: Held | None = None,
    ) -> Outcome: ...

    async def as_server(self, step: Callable[[Call], T], shown: Credentials, *, reads: bool = False) -> T: ...


class Waiting:
    """Carries out calls, waiting where the operation may; `stop()` makes everyone who waits answer at once."""

    def __init__(
        self,
        dispatcher: Performing,
        bus: Bus,
        operations: Mapping[str, Operation],
        clock: Callable[[], Millis],
        places: Places | None = None,
    ) -> None:
        self.places = places if places is not None else Places()
        self._dispatcher = dispatcher
        self._bus = bus
        self._operations = operations
        self._clock = clock
        self._stopped = False
        self._stop_topic = f"server:{id(self)}:stopping"

    def may_take_long(self, name: str) -> bool:
        """Whether a call of this operation may wait, so that the caller's leaving matters."""
        operation = self._operations.get(name)
        return operation is not None and operation.waits

    async def answer(
        self,
        name: str,
        arguments: dict[str, Any],
        credentials: Credentials,
        door: Door,
        *,
        while_waiting: AbstractAsyncContextManager[object] | None = None,
        has_place: bool = False,
    ) -> Outcome:
        """What the operation answers, at the latest when the caller's patience ends. Never raises.

        `door`: by which way the call came in; there is no default, so that no way in can leave it out.
        `while_waiting` is entered once there is nothing to answer yet. If it ends the wait by itself (its client has
        left), what is answered still says `later`. `has_place`: it is part of a stream that has one already; who finds
        none (`waiting_places.py`) is answered at once.
        """
        operation = self._operations.get(name)
        seconds = patience(operation, arguments) if operation is not None and operation.waits else 0.0
        try:
            if seconds <= 0 or self._stopped:
                return await self._dispatcher.perform_async(name, arguments, credentials, door=door)
            pausing = while_waiting or contextlib.nullcontext()
            place = contextlib.nullcontext(True) if has_place else self.places.taken(credentials, arguments)
            with place as is_there:
                if not is_there:
                    return await self._dispatcher.perform_async(name, arguments, credentials, door=door)
                return await self._wait(name, arguments, credentials, door, seconds, pausing)
        except Exception as error:  # noqa: BLE001 - a fault in one call is that call's refusal, and is logged
            _log.error("call_failed", operation=name, exc_info=error)
            return Outcome(http_errors.crash_answer(name).answer(), refused=True, later=None, operation=operation)

    async def as_server(
        self, step: Callable[[Call], T], shown: Credentials = NOTHING_SHOWN, *, reads: bool = False
    ) -> T:
        """A step of the server's own (`Dispatcher.as_server`). Raises Refusal, also where the server itself fails."""
        try:
            return await self._dispatcher.as_server(step, shown, reads=reads)
        except Refusal:
            raise
        except Exception as error:  # noqa: BLE001 - as in `answer`
            name = step_name(step)
            _log.error("call_failed", operation=name, exc_info=error)
            raise http_errors.crash_answer(name) from None

    @property
    def stopping(self) -> bool:
        return self._stopped

    def stop(self) -> None:
        """From now on nobody waits: who does is asked a last time and answers."""
        self._stopped = True
        self._bus.publish((self._stop_topic,))

    def listen(self, topics: AbstractSet[str]) -> Subscription:
        """Hints about these topics, and whenever a right was taken away or the server stops."""
        return self._bus.subscribe({*topics, self._stop_topic, RIGHTS})

    def rights(self) -> Subscription:
        """Hints whenever a right was taken away, here or at another server."""
        return self._bus.subscribe({RIGHTS})

    async def _wait(
        self,
        name: str,
        arguments: dict[str, Any],
        credentials: Credentials,
        door: Door,
        seconds: float,
        while_waiting: AbstractAsyncContextManager[object],
    ) -> Outcome:
        until = asyncio.get_running_loop().time() + seconds
        held = Held()

        async def look(*, again: bool = True) -> Outcome:
            may_wait = not self._over(until)
            outcome = await self._dispatcher.perform_async(
                name, arguments, credentials, door=door, may_wait=may_wait, again=again, held=held
            )
            if outcome.later is not None and not may_wait:
                raise RuntimeError(f"{name} must answer when it may not wait")
            return outcome

        outcome = await look(again=False)
        if outcome.later is None:
            return outcome
        try:
            async with while_waiting:
                while outcome.later is not None:
                    topics = outcome.later.topics
                    async with self.listen(topics) as hints:
                        held.wake = hints.rouse
                        outcome = await self._listen(look, topics, hints, until)
        finally:
            held.close()
        return outcome

    async def _listen(
        self, look: Callable[[], Awaitable[Outcome]], topics: frozenset[str], hints: Subscription, until: float
    ) -> Outcome:
        """Looks at once (what happened before the subscription left no hint here), then after each hint.

        Returns the answer, or a `Later` that concerns other topics.
        """
        while True:
            outcome = await look()
            if outcome.later is None or outcome.later.topics != topics:
                return outcome
            # Seconds until the next look without a hint. A stop between the look and here has left its hint.
            left = until - asyncio.get_running_loop().time()
            if outcome.later.at is not None:
                left = min(left, max((outcome.later.at - self._clock()) / 1000, SHORTEST))
            await hints.wait(max(min(left, LOOK_AGAIN), 0.0))

    def _over(self, until: float) -> bool:
        return self._stopped or asyncio.get_running_loop().time() >= until


def patience(operation: Operation, arguments: Mapping[str, Any]) -> float:
    """Seconds this caller waits: its argument, else the parameter's default, at most the longest wait; 0 for what is no
    number.

    An operation that waits without such a parameter has the longest wait.
    """
    for name in _SECONDS:
        field = operation.parameters.model_fields.get(name)
        if field is not None:
            given = arguments.get(name)
            return _seconds(field.default if given is None else given)
    return LONGEST_WAIT_SECONDS


def _seconds(value: object) -> float:
    try:
        seconds = float(value) if isinstance(value, (int, float, str)) else 0.0
    except ValueError:
        return 0.0  # the operation's own validation refuses it
    return 0.0 if math.isnan(seconds) else min(max(seconds, 0.0), LONGEST_WAIT_SECONDS)
