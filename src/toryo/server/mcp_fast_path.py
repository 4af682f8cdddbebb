"""Recognising the requests that need no SDK: a `tools/call` (or `ping`) that is beyond doubt well-formed.

Everything here errs towards None: what is not recognised is judged by the official SDK, which costs ten times as
much but knows every rule. So only the plain case must be equal on both paths, and the tests hold it to that.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeGuard

import orjson

from toryo import exact_json
from toryo.server.mcp_results import PROTOCOL, Call

_HANDSHAKE: Final = frozenset({b"2024-11-05", b"2025-03-26", b"2025-06-18", b"2025-11-25"})
_MODERN: Final = PROTOCOL.encode()
_VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
_CLIENT_KEYS: Final = ("io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities")
_RESERVED: Final = "io.modelcontextprotocol/"
_LONGEST_ACCEPT: Final = 1000
_NO_ARGUMENTS: Final[dict[str, Any]] = {}


class Ping(NamedTuple):
    """A `ping` of the handshake era; `id` is the request's id as JSON."""

    id: bytes


class Envelopes:
    """Which clients of the modern era the SDK has already accepted.

    Each of their requests describes the client again; the SDK checks it once, then its bytes are recognised.
    """

    _KEPT: Final = 1000
    _LONGEST: Final = 4096

    def __init__(self) -> None:
        self._accepted: set[bytes] = set()

    def accept(self, meta: Mapping[str, Any]) -> None:
        """Remembers an envelope that the SDK let through to a handler."""
        key = _client(meta)
        if len(key) <= self._LONGEST:
            if len(self._accepted) >= self._KEPT:
                self._accepted.clear()
            self._accepted.add(key)

    def knows(self, meta: Mapping[str, Any]) -> bool:
        return _client(meta) in self._accepted


def recognise(headers: Mapping[bytes, bytes], body: bytes, envelopes: Envelopes) -> Call | Ping | None:
    """The call that these headers (each given once) and bytes are beyond doubt; None if the SDK must look."""
    if not _is_json_exchange(headers):
        return None
    version = headers.get(b"mcp-protocol-version")
    modern = version == _MODERN
    if not modern and version is not None and version not in _HANDSHAKE:
        return None
    message = _message(body)
    if message is None:
        return None
    method = message["method"]
    if method == "tools/call":
        call = _call(message, headers, envelopes) if modern else _handshake_call(message)
        token = _progress(message, headers) if call is not None else None
        return call if call is None or token is None else call._replace(progress=token)
    if method == "ping" and not modern and message.get("params", _NO_ARGUMENTS) == {}:
        return Ping(orjson.dumps(message["id"]))
    return None


def _is_json_exchange(headers: Mapping[bytes, bytes]) -> bool:
    media_type = headers.get(b"content-type", b"")
    if media_type != b"application/json" and not media_type.startswith(b"application/json;"):
        return False
    if len(headers.get(b"accept", b"")) > _LONGEST_ACCEPT:  # whatever is read here is remembered
        return False
    return accepts_json(headers.get(b"accept", b""))


@lru_cache(256)
def accepts_json(accept: bytes) -> bool:
    types = {part.split(b";")[0].strip().lower() for part in accept.split(b",")}
    return not types.isdisjoint((b"application/json", b"application/*", b"*/*"))


def _message(body: bytes) -> dict[str, Any] | None:
    """A JSON-RPC request object with nothing unusual about it."""
    try:
        message = exact_json.loads(body)
    except orjson.JSONDecodeError:
        return None
    if type(message) is not dict or len(message) != 3 + ("params" in message):
        return None
    if message.get("jsonrpc") != "2.0" or type(message.get("id")) not in (int, str) or "method" not in message:
        return None
    return message


def has_strange_id(body: bytes) -> bool:
    """Whether it is a request whose id is neither a text nor a whole number: the SDK takes it for a notification and
    answers nothing that its sender could wait for."""
    try:
        message = exact_json.loads(body)
    except orjson.JSONDecodeError:
        return False
    if type(message) is not dict or "method" not in message or "id" not in message:
        return False
    return type(message["id"]) not in (int, str)


def method_of(body: bytes) -> str | None:
    """The method of a request or notification; None for all else."""
    try:
        message = exact_json.loads(body)
    except orjson.JSONDecodeError:
        return None
    method = message.get("method") if type(message) is dict else None
    return method if type(method) is str else None


def _handshake_call(message: dict[str, Any]) -> Call | None:
    params = message.get("params")
    if not _has_plain_params(params):
        return None
    meta = params.get("_meta")
    if meta is not None and (type(meta) is not dict or not _has_plain_token(meta)):
        return None
    return Call(orjson.dumps(message["id"]), params["name"], params.get("arguments") or {}, modern=False)


def _call(message: dict[str, Any], headers: Mapping[bytes, bytes], envelopes: Envelopes) -> Call | None:
    params = message.get("params")
    if not _has_plain_params(params) or headers.get(b"mcp-method") != b"tools/call":
        return None
    name, meta = params["name"], params.get("_meta")
    if not name.isascii() or headers.get(b"mcp-name") != name.encode() or name.startswith("=?"):
        return None
    if type(meta) is not dict or meta.get(_VERSION_KEY) != PROTOCOL or not _has_plain_token(meta):
        return None
    if any(key.startswith(_RESERVED) and key not in _CLIENT_KEYS and key != _VERSION_KEY for key in meta):
        return None
    if not envelopes.knows(meta):
        return None
    return Call(orjson.dumps(message["id"]), name, params.get("arguments") or {}, modern=True)


def _has_plain_params(params: Any) -> TypeGuard[dict[str, Any]]:
    """A name, arguments that are an object or left out, perhaps `_meta`, and nothing else."""
    if type(params) is not dict or type(params.get("name")) is not str:
        return False
    arguments = params.get("arguments")
    if arguments is not None and type(arguments) is not dict:
        return False
    return len(params) == 1 + ("arguments" in params) + ("_meta" in params)


def _has_plain_token(meta: Mapping[str, Any]) -> bool:
    return type(meta.get("progressToken", "")) in (int, str)


def _progress(message: dict[str, Any], headers: Mapping[bytes, bytes]) -> bytes | None:
    meta = message["params"].get("_meta")
    if meta is None or "progressToken" not in meta or not accepts_events(headers.get(b"accept", b"")):
        return None
    return orjson.dumps(meta["progressToken"])


def progress_wanted(headers: Mapping[bytes, bytes], body: bytes) -> bytes | None:
    """The progress token (as JSON) of a `tools/call` that is left to the SDK, if its client takes an event stream."""
    if b'"progressToken"' not in body or not accepts_events(headers.get(b"accept", b"")):
        return None
    try:
        message = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    if type(message) is not dict or message.get("method") != "tools/call" or "id" not in message:
        return None
    params = message.get("params")
    meta = params.get("_meta") if type(params) is dict else None
    token = meta.get("progressToken") if type(meta) is dict else None
    return orjson.dumps(token) if type(token) in (int, str) else None


@lru_cache(256)
def accepts_events(accept: bytes) -> bool:
    return b"text/event-stream" in accept.lower()


def _client(meta: Mapping[str, Any]) -> bytes:
    return orjson.dumps([meta.get(key) for key in _CLIENT_KEYS])
