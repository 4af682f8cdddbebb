"""Server-sent events: repeats `read_events`, so that a page is notified without polling.

Each message's id is its sequence number: a browser that reconnects continues after the last one (`Last-Event-ID`) and
misses nothing. `after=now` begins with the next event.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import StreamingResponse

from toryo.domain.errors import Code, Refusal
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.grants import Door
from toryo.server import http_errors
from toryo.server.long_polling import Waiting

AT_ONCE = 500
BACKWARDS = frozenset({"newest", "before"})
"""Parameters of `read_events` that do not apply to a stream."""
MEDIA_TYPE = "text/event-stream"
BREATH = 15
"""Seconds without an event after which a comment is sent, because proxies close silent connections."""

_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


async def stream(
    waiting: Waiting, request: Request, arguments: dict[str, Any], credentials: Credentials
) -> StreamingResponse:
    """Streams until the client leaves or the server stops. Raises Refusal before anything is sent."""
    backwards = sorted(BACKWARDS & arguments.keys())
    if backwards:
        raise Refusal(
            Code.VALIDATION_ERROR,
            f"An event stream only goes forward, so {' and '.join(backwards)} cannot be used.",
            "Use after instead, or read page by page: GET /api/v1/events with Accept: application/json.",
        )
    arguments = {**arguments, "limit": AT_ONCE, "wait_seconds": 0}
    seen = request.headers.get("last-event-id", "")
    arguments["after"] = await _begin(waiting, arguments.get("after"), seen, credentials)
    first = await _look(waiting, arguments, credentials)
    told = _told(waiting, arguments, credentials, first)
    return StreamingResponse(told, media_type=MEDIA_TYPE, headers=_HEADERS)


async def _told(
    waiting: Waiting, arguments: dict[str, Any], credentials: Credentials, first: dict[str, Any]
) -> AsyncIterator[bytes]:
    yield _lines(first)
    arguments.update(after=first["last"], wait_seconds=BREATH)
    # Signed out in the meantime, for example: the browser is told when it reconnects.
    with contextlib.suppress(Refusal):
        while not waiting.stopping:
            found = await _look(waiting, arguments, credentials)
            yield _lines(found)
            arguments["after"] = found["last"]


async def _begin(waiting: Waiting, asked: Any, seen: str, credentials: Credentials) -> Any:
    """The event to continue after: `Last-Event-ID` takes precedence over the address."""
    if seen.isdigit():
        return seen
    if asked != "now":
        return asked if asked is not None else 0
    outcome = await waiting.answer("server_status", {}, credentials, Door.REST)
    if outcome.refused:
        raise _refusal(outcome.result or {})
    return (outcome.result or {})["last_event"]


async def _look(waiting: Waiting, arguments: dict[str, Any], credentials: Credentials) -> dict[str, Any]:
    outcome = await waiting.answer("read_events", arguments, credentials, Door.REST)
    if outcome.refused:
        raise _refusal(outcome.result or {})
    return outcome.result or {}


def _refusal(result: dict[str, Any]) -> Refusal:
    status, document = http_errors.problem(result)
    code = next((each for each in Code if each.value == document.get("code")), Code.VALIDATION_ERROR)
    del status
    return Refusal(code, document["detail"], document["instruction"])


def _lines(found: dict[str, Any]) -> bytes:
    pieces = [b"id: %d\ndata: %s\n\n" % (event["sequence"], orjson.dumps(event)) for event in found["events"]]
    return b"".join(pieces) or b": still here\n\n"
