"""Server-sent events: `read_events` without end, so that a page is notified without polling.

Streams of everything that a reader sees share one reading (`event_fan_out.py`); a stream of some events reads for
itself.

Each message's id is its sequence number: a browser that reconnects continues after the last one (`Last-Event-ID`) and
misses nothing that is still kept. `after=now` begins with the next event.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Any

from starlette.requests import Request
from starlette.responses import StreamingResponse

from toryo.domain.errors import Code, Refusal
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.grants import Door
from toryo.operations.overview import event_feed
from toryo.server import http_errors
from toryo.server.event_fan_out import FanOut
from toryo.server.long_polling import Waiting
from toryo.server.waiting_places import too_many

BACKWARDS = frozenset({"newest", "before"})
"""Parameters of `read_events` that do not apply to a stream."""
MEDIA_TYPE = "text/event-stream"
BREATH = 15
"""Seconds without an event after which a comment is sent, because proxies close silent connections."""

_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}
_OF_EVERYTHING = frozenset({"after", "limit", "wait_seconds"})
"""Parameters that leave no event out."""
_STILL_HERE = b": still here\n\n"


class EventStreams:
    """The event streams of a server."""

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting
        self._fan_out = FanOut(waiting)

    async def open(self, request: Request, arguments: dict[str, Any], credentials: Credentials) -> StreamingResponse:
        """Streams until the client leaves or the server stops. Raises Refusal before anything is sent."""
        backwards = sorted(BACKWARDS & arguments.keys())
        if backwards:
            raise Refusal(
                Code.VALIDATION_ERROR,
                f"An event stream only goes forward, so {' and '.join(backwards)} cannot be used.",
                "Use after instead, or read page by page: GET /api/v1/events with Accept: application/json.",
            )
        told = self._told if arguments.keys() <= _OF_EVERYTHING else self._told_some
        arguments = {**arguments, "limit": event_feed.AT_ONCE, "wait_seconds": 0}
        seen = request.headers.get("last-event-id", "")
        arguments["after"] = await self._begin(arguments.get("after"), seen, credentials)
        first = await self._look(arguments, credentials)
        content = self._in_its_place(told(arguments, credentials, first), credentials)
        if not await anext(content):
            await content.aclose()
            raise too_many()
        return StreamingResponse(content, media_type=MEDIA_TYPE, headers=_HEADERS)

    async def _in_its_place(self, told: AsyncGenerator[bytes], credentials: Credentials) -> AsyncGenerator[bytes]:
        """First whether there is a place, then the stream, at whose end the place is free again."""
        with self._waiting.places.taken(credentials) as place:
            yield b"1" if place else b""
            async with contextlib.aclosing(told):
                async for piece in told:
                    yield piece

    async def _told(
        self, arguments: dict[str, Any], credentials: Credentials, first: dict[str, Any]
    ) -> AsyncGenerator[bytes]:
        """Everything that the reader sees: what was before is read for this stream, what happens then for all."""
        yield _beginning(first)
        now = asyncio.get_running_loop().time
        after, sent = first["last"], now()
        follower = self._fan_out.join(credentials, after)
        try:
            while not follower.ended:
                if after < follower.since:
                    found = await self._look({**arguments, "after": after}, credentials)
                    after, text = found["last"], _lines(found)
                else:
                    after, text = await follower.next(after, max(sent + BREATH - now(), 0.0))
                if text or now() - sent >= BREATH:
                    yield text or _STILL_HERE
                    sent = now()
        except Refusal:
            pass  # Signed out in the meantime, for example: the browser is told when it reconnects.
        finally:
            self._fan_out.leave(follower)

    async def _told_some(
        self, arguments: dict[str, Any], credentials: Credentials, first: dict[str, Any]
    ) -> AsyncGenerator[bytes]:
        """What the reader asked for, read for this stream alone."""
        yield _beginning(first)
        arguments.update(after=first["last"], wait_seconds=BREATH)
        with contextlib.suppress(Refusal):  # as above
            while not self._waiting.stopping:
                found = await self._look(arguments, credentials)
                yield _lines(found) or _STILL_HERE
                arguments["after"] = found["last"]

    async def _begin(self, asked: Any, seen: str, credentials: Credentials) -> Any:
        """The event to continue after: `Last-Event-ID` takes precedence over the address."""
        if seen.isdigit():
            return seen
        if asked != "now":
            return asked if asked is not None else 0
        outcome = await self._waiting.answer("server_status", {}, credentials, Door.REST)
        if outcome.refused:
            raise _refusal(outcome.result or {})
        return (outcome.result or {})["last_event"]

    async def _look(self, arguments: dict[str, Any], credentials: Credentials) -> dict[str, Any]:
        outcome = await self._waiting.answer("read_events", arguments, credentials, Door.REST, has_place=True)
        if outcome.refused:
            raise _refusal(outcome.result or {})
        return outcome.result or {}


def _refusal(result: dict[str, Any]) -> Refusal:
    _, document = http_errors.problem(result)
    code = next((each for each in Code if each.value == document.get("code")), Code.VALIDATION_ERROR)
    return Refusal(code, document["detail"], document["instruction"])


def _beginning(first: dict[str, Any]) -> bytes:
    """The first lines; before them the word that some events after the place of the reader are no longer kept. It is
    a message of its own type, so who only reads events is not disturbed."""
    pruned = first.get("pruned_to")
    told = b"" if pruned is None else b'event: pruned\ndata: {"pruned_to":%d}\n\n' % pruned
    return told + _lines(first) or _STILL_HERE


def _lines(found: dict[str, Any]) -> bytes:
    return b"".join([event_feed.message(event) for event in found["events"]])
