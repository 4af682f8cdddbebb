"""How a tool's answer looks in MCP: structured content and the same JSON as text, written once for both paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

if TYPE_CHECKING:
    from toryo.operations.calls.dispatch import Outcome

PROTOCOL = "2026-07-28"
"""The protocol version without a handshake; each request carries what the handshake told before."""


class Call(NamedTuple):
    """A `tools/call` in plain form: `id` is the request's id as JSON, `modern` the era of its protocol version.

    `progress` is the token (as JSON) of a client that wants to hear of progress and takes an event stream.
    """

    id: bytes
    name: str
    arguments: dict[str, Any]
    modern: bool
    progress: bytes | None = None


def text(outcome: Outcome) -> bytes:
    """The text content: the result as JSON, or only the part of it that a tool's text is by its protocol."""
    bare = outcome.operation.bare if outcome.operation is not None and not outcome.refused else None
    return orjson.dumps(outcome.result if bare is None or outcome.result is None else outcome.result[bare])


def response(call: Call, outcome: Outcome, server: bytes) -> bytes:
    """The JSON-RPC response; `server` is the JSON of what the modern era says about the server in every result."""
    structured = orjson.dumps(outcome.result)
    told = structured if outcome.operation is None or outcome.operation.bare is None else text(outcome)
    refused = b"true" if outcome.refused else b"false"
    parts = [
        b'{"jsonrpc":"2.0","id":', call.id,
        b',"result":{"content":[{"type":"text","text":', orjson.dumps(told.decode()),
        b'}],"structuredContent":', structured, b',"isError":', refused,
    ]  # fmt: skip
    if call.modern:
        parts += [b',"resultType":"complete","_meta":', server]
    parts.append(b"}}")
    return b"".join(parts)


def pong(request_id: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":' + request_id + b',"result":{}}'
