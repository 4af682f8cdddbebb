"""The wire as values: what a call looks like as bytes, and what the bytes that come back mean. No I/O.

MCP is spoken statelessly: each `tools/call` is one POST that carries its credential, and the answer is JSON or, from
servers that prefer it, one event stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from toryo import backoff
from toryo.client.errors import ProtocolError, RefusalError, Unreachable
from toryo.long_waits import LONGEST_WAIT_SECONDS

if TYPE_CHECKING:
    from toryo.client.http1 import Answer

PROTOCOL_VERSION = "2025-11-25"
MARGIN = 30.0
"""Seconds that a client waits longer than a waiting call may take by itself."""

_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def encoded(value: Any) -> bytes:
    """A document as JSON.

    By the standard library, because agents start often and importing orjson costs each of them 10 ms; what that cannot
    write (times, numbers that are none) orjson writes or refuses.
    """
    try:
        return _JSON.encode(value).encode()
    except (TypeError, ValueError, RecursionError):
        import orjson

        return orjson.dumps(value)


def _decoded(data: bytes | bytearray | str) -> Any:
    """None for what is no JSON."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def headers(token: str | None, *, mcp: bool) -> dict[str, str]:
    """Of every request; `mcp` adds what the protocol asks for."""
    found = {"Content-Type": "application/json", "Accept": "application/json"}
    if mcp:
        found["Accept"] = "application/json, text/event-stream"
        found["MCP-Protocol-Version"] = PROTOCOL_VERSION
    if token:
        found["Authorization"] = f"Bearer {token}"
    return found


def tool_request(number: int, tool: str, arguments: Mapping[str, Any]) -> bytes:
    params = {"name": tool, "arguments": arguments}
    return encoded({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


def rest_path(path: str) -> str:
    """`/projects` -> `/api/v1/projects`; `/health` and full paths stay."""
    if path == "/health" or path.startswith("/api/"):
        return path
    return f"/api/v1{path}"


def time_out(arguments: Mapping[str, Any] | None, default: float) -> float:
    """Seconds to wait for an answer: longer than what the call itself asks the server to wait."""
    asked = [(arguments or {}).get(name) for name in ("timeout_seconds", "wait_seconds")]
    waits = [min(float(each), LONGEST_WAIT_SECONDS) for each in asked if isinstance(each, int | float)]
    return max(default, max(waits) + MARGIN) if waits else default


def pauses() -> Iterator[float]:
    """Seconds between tries to reach a server that is away: 0.1, 0.2, 0.4 … 5, without end."""
    return backoff.pauses(*backoff.CLIENT)


def heard(answer: Answer) -> Answer:
    """The same; raises Unreachable where a gateway before the server says that it does not reach it."""
    if answer.status >= 500 and not isinstance(_decoded(answer.body), dict):
        raise Unreachable(f"the server answered {answer.status}, but not like a Toryo server", sent=True)
    return answer


def tool_answer(number: int, status: int, content_type: str, body: bytes | bytearray) -> dict[str, Any]:
    """The result of the call `number`; raises RefusalError or ProtocolError."""
    streamed = content_type.startswith("text/event-stream")
    message = _from_events(number, body) if streamed else _json_object(status, body)
    if status >= 400 and "jsonrpc" not in message:
        raise _refusal(message, status)
    if "error" in message:
        error = message["error"]
        raise ProtocolError(str(error.get("message", error)), error.get("code"))
    result = message.get("result")
    if not isinstance(result, dict):
        raise ProtocolError("the answer has no result")
    document = result.get("structuredContent")
    if not isinstance(document, dict):
        # The same JSON as text, for results without structured content; any other text is a message.
        texts = [each.get("text", "") for each in result.get("content") or () if each.get("type") == "text"]
        document = _decoded(texts[0] if texts else "")
        document = document if isinstance(document, dict) else {"message": "\n".join(texts)}
    if result.get("isError") or document.get("success") is False:
        raise _refusal(document, 200)
    return document


def rest_answer(status: int, body: bytes | bytearray) -> dict[str, Any]:
    """The JSON document of a REST answer; raises as `tool_answer`."""
    if not body and status < 400:
        return {}
    document = _json_object(status, body)
    if status >= 400 or document.get("success") is False:
        raise _refusal(document, status)
    return document


def _refusal(document: Mapping[str, Any], status: int) -> RefusalError:
    """Reads tool refusals (`error`, `message`), sign-in refusals (`error` a sentence, `code`) and problem documents."""
    code = document.get("code") or document.get("error") or f"http{status}"
    message = document.get("message") or document.get("detail") or document.get("error") or document.get("title")
    return RefusalError(str(code), str(message or ""), str(document.get("instruction") or ""), dict(document))


def _json_object(status: int, body: bytes | bytearray) -> dict[str, Any]:
    document = _decoded(body)
    if isinstance(document, dict):
        return document
    raise ProtocolError(f"this is not a Toryo server (it answered {status} without a JSON object)")


def _from_events(number: int, body: bytes | bytearray) -> dict[str, Any]:
    """The message that answers `number` in an event stream; notifications on the way are passed over."""
    for data in _events(body):
        message = _decoded(data)
        if isinstance(message, dict) and message.get("id") == number and ("result" in message or "error" in message):
            return message
    raise Unreachable("the event stream ended before the answer", sent=True)


def _events(body: bytes | bytearray) -> Iterator[str]:
    lines: list[str] = []
    for line in [*body.decode("utf-8", "replace").splitlines(), ""]:
        if line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        elif not line and lines:
            yield "\n".join(lines)
            lines = []
