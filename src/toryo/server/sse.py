"""Event streams (SSE) as this server writes them, for answers that take long and for streams of sessions."""

from __future__ import annotations

from toryo.server.request_bodies import Send

PING = b": ping\n\n"
"""Ignored by clients; shows proxies that the connection is alive."""

_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


async def begin(send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})


async def write(send: Send, event: bytes) -> None:
    await send({"type": "http.response.body", "body": event, "more_body": True})


async def end(send: Send) -> None:
    await send({"type": "http.response.body", "body": b""})


def event(message: bytes) -> bytes:
    """A JSON-RPC message, which is one line."""
    return b"event: message\ndata: " + message + b"\n\n"
