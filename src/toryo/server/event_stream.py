"""The events as server-sent events: `read_events` again and again, so that a page knows what happens without asking.

Each message's id is its sequence number: a browser that was away goes on after the last one it has seen
(`Last-Event-ID`), and misses nothing. `after=now` begins with what comes next.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import orjson

from toryo.domain.errors import Code, Refusal
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.grants import Door
from toryo.server import errors
from toryo.server.bodies import Leaving, Receive, Send
from toryo.server.waiting import Waiting

AT_ONCE = 500
BACKWARDS = frozenset({"newest", "before"})
"""Parameters of `read_events` that no stream has."""
MEDIA_TYPE = b"text/event-stream"
BREATH = 15
"""Seconds without news after which a line says that somebody is still here: proxies close what is silent."""

_HEADERS = [
    (b"content-type", MEDIA_TYPE + b"; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


async def stream(
    waiting: Waiting,
    arguments: dict[str, Any],
    headers: Mapping[bytes, bytes],
    credentials: Credentials,
    receive: Receive,
    send: Send,
) -> None:
    """Until the client leaves or the server stops. Raises Refusal before anything was sent."""
    _refuse_backwards(arguments)
    arguments = {**arguments, "limit": AT_ONCE, "wait_seconds": 0}
    arguments["after"] = await _begin(waiting, arguments.get("after"), headers, credentials)
    first = await _look(waiting, arguments, credentials)
    async with Leaving(receive):
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        await _tell(send, first)
        arguments.update(after=first["last"], wait_seconds=BREATH)
        with contextlib.suppress(Refusal):  # signed out meanwhile, for example: who asks again is told
            while not waiting.stopping:
                found = await _look(waiting, arguments, credentials)
                await _tell(send, found)
                arguments["after"] = found["last"]
        await send({"type": "http.response.body", "body": b""})


def _refuse_backwards(arguments: Mapping[str, Any]) -> None:
    backwards = sorted(BACKWARDS & arguments.keys())
    if backwards:
        raise Refusal(
            Code.VALIDATION_ERROR,
            f"A stream goes forwards only: {' and '.join(backwards)} mean nothing here.",
            "Leave them out and name after; or read page by page: GET /api/v1/events with Accept: application/json.",
        )


async def _begin(waiting: Waiting, asked: Any, headers: Mapping[bytes, bytes], credentials: Credentials) -> Any:
    """After which event: the browser's own word counts before the address it was given at first."""
    seen = headers.get(b"last-event-id", b"").decode("latin-1")
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
    status, document = errors.problem(result)
    code = next((each for each in Code if each.value == document.get("code")), Code.VALIDATION_ERROR)
    del status
    return Refusal(code, document["detail"], document["instruction"])


async def _tell(send: Send, found: dict[str, Any]) -> None:
    pieces = [b"id: %d\ndata: %s\n\n" % (each["sequence"], orjson.dumps(each)) for each in found["events"]]
    body = b"".join(pieces) or b": still here\n\n"
    await send({"type": "http.response.body", "body": body, "more_body": True})
