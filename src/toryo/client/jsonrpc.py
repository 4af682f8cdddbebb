"""JSON-RPC messages of the stdio bridge: parsing, HTTP headers for them, and answers.

Values only, no I/O. Messages are parsed only as far as transport needs; the server validates the content, and gets the
original bytes.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

Id = int | str

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INTERNAL_ERROR = -32603
AWAY = -32000
"""Of the range for implementations: the server cannot be reached, or its answer was lost."""

CANCELLED = "notifications/cancelled"
INITIALIZE = "initialize"
INITIALIZED = "notifications/initialized"
PING = "ping"
SUBSCRIBE, UNSUBSCRIBE, UPDATED = "resources/subscribe", "resources/unsubscribe", "notifications/resources/updated"

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_READING = re.compile(r"initialize|ping|server/discover|[a-z]+(/templates)?/list|resources/read|prompts/get")
_PLAIN_HEADER = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")
_QUOTED = 500
"""Characters of a foreign answer that an error message repeats."""


class Malformed(Exception):
    """A line that is not a message; `answer` is the error for its sender."""

    def __init__(self, code: int, what: str, request_id: Id | None = None) -> None:
        super().__init__(what)
        self.answer = error(request_id, code, what)


@dataclass(frozen=True, slots=True)
class Message:
    """`id` is None for a notification, `method` is None for the answer to a request of the server."""

    body: bytes
    method: str | None
    id: Id | None
    params: Mapping[str, Any]

    @property
    def version(self) -> str | None:
        """The protocol version that a message of the era without handshake names by itself."""
        meta = self.params.get("_meta")
        version = meta.get(_VERSION_KEY) if isinstance(meta, dict) else None
        return version if isinstance(version, str) else None

    @property
    def repeatable(self) -> bool:
        """Whether it only reads, so that it may be sent again when its answer was lost."""
        return self.method is not None and _READING.fullmatch(self.method) is not None

    @property
    def cancels(self) -> Id | None:
        """The request that a cancellation means."""
        meant = self.params.get("requestId")
        return meant if _is_id(meant) else None


def read(line: bytes) -> Message:
    """The message on a line. Raises Malformed."""
    body = line.strip()
    document = _document(body)
    if isinstance(document, list):
        raise Malformed(INVALID_REQUEST, "Invalid Request: send one message per line; MCP has no batches")
    if not isinstance(document, dict):
        raise Malformed(INVALID_REQUEST, "Invalid Request: a message must be a JSON object")
    request_id, method = document.get("id"), document.get("method")
    if "id" in document and not _is_id(request_id):
        raise Malformed(INVALID_REQUEST, "Invalid Request: the id must be a string or a whole number")
    if not isinstance(method, str) and not {"result", "error"} & set(document):
        raise Malformed(INVALID_REQUEST, "Invalid Request: the method is missing", request_id)
    params = document.get("params")
    named = method if isinstance(method, str) else None
    return Message(one_line(body), named, request_id, params if isinstance(params, dict) else {})


def headers(message: Message, token: str | None, negotiated: str | None, session: str | None) -> dict[str, str]:
    """Of the POST that carries it: the credential, the protocol version, and the routing of the newer era."""
    found = {"Content-Type": "application/json", **listening_headers(token, negotiated, session)}
    found["Accept"] = "application/json, text/event-stream"
    if message.version is None:
        return found
    found["MCP-Protocol-Version"] = _header(message.version)
    if message.method is not None:
        found["Mcp-Method"] = _header(message.method)
        name = message.params.get(_NAMED.get(message.method, ""))
        if isinstance(name, str):
            found["Mcp-Name"] = _header(name)
    return found


def listening_headers(token: str | None, negotiated: str | None, session: str | None) -> dict[str, str]:
    """Of the GET on which a server of the handshake's era says what happens by itself."""
    given = {
        "Accept": "text/event-stream",
        "Authorization": f"Bearer {token}" if token else None,
        "MCP-Protocol-Version": negotiated,
        "Mcp-Session-Id": session,
    }
    return {name: value for name, value in given.items() if value is not None}


def answer(message: Message, status: int, body: bytes) -> bytes:
    """The line that answers a request: what the server said, under the request's own id; an error if that was nothing.

    The id is put right because a server that could not read a request answers it with `null`.
    """
    document = _document_or_none(body)
    if isinstance(document, dict) and ("result" in document or "error" in document):
        return one_line(body) if document.get("id") == message.id else orjson.dumps({**document, "id": message.id})
    said = body.decode("utf-8", "replace")[:_QUOTED].strip() or "nothing"
    return error(message.id, AWAY, f"The server answered {status}, but not with a JSON-RPC message: {said}")


def error(request_id: Id | None, code: int, message: str) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}})


def updated(uri: str) -> bytes:
    """Tells the client that a resource it subscribed to may have changed."""
    return orjson.dumps({"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": uri}})


def answers(line: bytes, request_id: Id | None) -> bool:
    """Whether a message from the server is the answer to that request (and not a notification on the way)."""
    document = _document_or_none(line)
    return isinstance(document, dict) and "method" not in document and document.get("id") == request_id


def succeeded(line: bytes) -> Any:
    """The result of an answer, or None for an error."""
    document = _document_or_none(line)
    return document.get("result") if isinstance(document, dict) else None


def code(line: bytes) -> int | None:
    """The code of an answer that is an error, or None."""
    document = _document_or_none(line)
    problem = document.get("error") if isinstance(document, dict) else None
    return problem.get("code") if isinstance(problem, dict) else None


def _document(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        # More lenient: half a surrogate pair or a huge number is for the server to refuse, with the request's id.
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as wrong:
            raise Malformed(PARSE_ERROR, f"Parse error: this line is not JSON ({wrong})") from None


def _document_or_none(body: bytes) -> Any:
    try:
        return _document(body)
    except Malformed:
        return None


def one_line(body: bytes) -> bytes:
    """JSON has line breaks only between its tokens, so that they may go."""
    return body.replace(b"\r", b" ").replace(b"\n", b" ") if b"\n" in body or b"\r" in body else body


def _header(value: str) -> str:
    """As the protocol writes a value that no header can carry: `=?base64?…?=`."""
    if _PLAIN_HEADER.fullmatch(value) and not value.startswith("=?base64?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'replace')).decode()}?="


def _is_id(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))
