"""`/api/v1`: the operations that have a route, for people. Paths, parameters and answers follow from the catalogue.

Here stand only the rules of HTTP: which route, how path, query and body become one set of arguments, and how a
refusal becomes problem details. Who may do what is decided by the operations; only that no credential of an agent
opens any door here is decided at this one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote

import orjson

from toryo.domain.errors import Code, Refusal
from toryo.operations.catalogue import Operation
from toryo.operations.permissions import Grant
from toryo.server import bodies, errors, identity, openapi
from toryo.server.bodies import Leaving, Receive, Scope, Send
from toryo.server.waiting import Waiting

PREFIX = "/api/v1"
_PERSON = "tpt_"
_ASK = ((b"www-authenticate", b'Bearer realm="toryo"'),)
_IF_MATCH = re.compile(r'(?:W/)?"?(\d{1,18})"?')


@dataclass(frozen=True, slots=True)
class Found:
    """The operation behind a path, and what the path says."""

    operation: Operation
    status: int
    arguments: dict[str, str]


class Routes:
    """Finds operations by method and path; a path of plain words wins over one with a parameter."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._paths: dict[str, dict[str, Operation]] = {}
        for each in operations:
            if each.route is not None:
                self._paths.setdefault(each.route.path, {})[each.route.method] = each
        ordered = sorted(self._paths, key=lambda path: (path.count("{"), path))
        self._patterns = [(_pattern(path), path) for path in ordered]

    def find(self, method: str, raw_path: str) -> Found | tuple[str, ...]:
        """The operation, or the methods that this path has (none: no such path)."""
        methods: tuple[str, ...] = ()
        for pattern, path in self._patterns:
            matched = pattern.fullmatch(raw_path)
            if matched is None:
                continue
            operation = self._paths[path].get(method)
            if operation is not None and operation.route is not None:
                given = {name: unquote(value) for name, value in matched.groupdict().items()}
                return Found(operation, operation.route.status, given)
            methods += tuple(self._paths[path])
        return methods


class RestEndpoint:
    """The ASGI application behind `/api/v1`."""

    def __init__(self, waiting: Waiting, operations: Mapping[str, Operation], max_body: int) -> None:
        self._waiting = waiting
        self._routes = Routes(operations.values())
        self._operations = operations
        self._max_body = max_body
        self._openapi: bytes | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = _raw_path(scope)[len(PREFIX) :]
        if path == "/openapi.json" and scope["method"] == "GET":
            await bodies.send_json(send, 200, self._document())
            return
        found = self._routes.find(scope["method"], path)
        if isinstance(found, tuple):
            await _lost(send, scope, found)
            return
        try:
            await self._carry_out(found, scope, receive, send)
        except bodies.Gone:
            return
        except bodies.TooLarge:
            await refuse(send, errors.too_large(self._max_body).answer())
        except Refusal as refusal:
            await refuse(send, refusal.answer())

    async def _carry_out(self, found: Found, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        credentials = identity.credentials(headers, scope)
        _admit(found.operation, credentials.bearer)
        body = await bodies.read(receive, headers, self._max_body)
        arguments = gather(found, scope.get("query_string", b""), headers, body)
        async with Leaving(receive):
            outcome = await self._waiting.answer(found.operation.name, arguments, credentials)
            if outcome.refused:
                await refuse(send, outcome.result or {})
            else:
                await bodies.send_json(send, found.status, orjson.dumps(outcome.result))

    def _document(self) -> bytes:
        if self._openapi is None:
            self._openapi = orjson.dumps(openapi.document(self._operations.values(), PREFIX))
        return self._openapi


async def refuse(send: Send, result: dict[str, Any]) -> None:
    """Answers with the problem details of a refusal's result."""
    status, document = errors.problem(result)
    await bodies.send_problem(send, status, document, _ASK if status == 401 else ())


def gather(found: Found, query: bytes, headers: Mapping[bytes, bytes], body: bytes) -> dict[str, Any]:
    """One set of arguments from path, query, body and `If-Match`. Raises Refusal where two of them disagree."""
    arguments: dict[str, Any] = dict(found.arguments)
    for source in (_query(found.operation, query), _object(headers, body), _version(found.operation, headers)):
        for name, value in source.items():
            if name in arguments and arguments[name] != value:
                raise _invalid(f"{name} is given twice, with different values.", f"Give {name} once.")
            arguments[name] = value
    if "session_token" in arguments:
        raise _invalid("session_token is not a parameter of REST.", "Use a person's token in the Authorization header.")
    return arguments


def _query(operation: Operation, query: bytes) -> dict[str, Any]:
    """The query's values as text (the model coerces them); lists by repeating a name."""
    values: dict[str, list[str]] = {}
    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        values.setdefault(name, []).append(value)
    lists = _list_parameters(operation)
    return {name: given if name in lists or len(given) > 1 else given[0] for name, given in values.items()}


def _list_parameters(operation: Operation) -> set[str]:
    def is_list(schema: dict[str, Any]) -> bool:
        return schema.get("type") == "array" or any(is_list(each) for each in schema.get("anyOf", ()))

    return {name for name, schema in operation.input_schema.get("properties", {}).items() if is_list(schema)}


def _object(headers: Mapping[bytes, bytes], body: bytes) -> dict[str, Any]:
    if not body:
        return {}
    media_type = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
    if media_type != bodies.JSON:
        raise _invalid("The body is not declared as JSON.", "Send it with the header Content-Type: application/json.")
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _invalid(f"The body is not JSON: {error}.", "Send one JSON object in UTF-8.") from None
    if not isinstance(value, dict):
        raise _invalid("The body is JSON but not an object.", "Send one JSON object with the parameters as its keys.")
    return value


def _version(operation: Operation, headers: Mapping[bytes, bytes]) -> dict[str, int]:
    """`If-Match` fills `version` where the operation has it; `*` means any."""
    given = headers.get(b"if-match", b"*").decode("latin-1").strip()
    if given == "*" or "version" not in operation.parameters.model_fields:
        return {}
    matched = _IF_MATCH.fullmatch(given)
    if matched is None:
        raise _invalid(f"If-Match is not a version: {given[:40]}", 'Send the version you have read: If-Match: "3".')
    return {"version": int(matched[1])}


def _admit(operation: Operation, bearer: str | None) -> None:
    """Only people's tokens open REST, whatever the operation would allow the bearer elsewhere."""
    if bearer is None and operation.grant is Grant.OPEN:
        return
    if bearer is None or not bearer.startswith(_PERSON):
        raise Refusal(
            Code.AUTHENTICATION_REQUIRED,
            "REST is for people, with a person's token." if bearer else "This needs a person's token.",
            "Send Authorization: Bearer with the token from owner.token in the server's data directory; "
            "agents use MCP at /mcp.",
        )


async def _lost(send: Send, scope: Scope, methods: tuple[str, ...]) -> None:
    """404 for a path that does not exist, 405 for a method that the path does not have."""
    path = scope["path"][:200]
    if not methods:
        await send_lost(send, 404, f"There is nothing at {path}.", f"GET {PREFIX}/openapi.json lists every path.")
        return
    allowed = ", ".join(sorted(set(methods)))
    text = f"{path} cannot be used with {scope['method']}."
    await send_lost(send, 405, text, f"Use {allowed}.", ((b"allow", allowed.encode()),))


async def send_lost(
    send: Send, status: int, text: str, instruction: str, extra: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    code = "notFound" if status == 404 else "methodNotAllowed"
    result = {"error": code, "message": text, "instruction": instruction}
    await bodies.send_problem(send, *errors.problem(result, status), extra)


def _pattern(path: str) -> re.Pattern[str]:
    pieces = re.split(r"\{(\w+)\}", path)
    return re.compile(
        "".join(f"(?P<{each}>[^/]+)" if index % 2 else re.escape(each) for index, each in enumerate(pieces))
    )


def _raw_path(scope: Scope) -> str:
    """The path before decoding, so that an encoded slash stays inside its parameter."""
    raw = scope.get("raw_path")
    return raw.decode("latin-1") if raw else str(scope["path"])


def _invalid(message: str, instruction: str) -> Refusal:
    return Refusal(Code.VALIDATION_ERROR, message, instruction)
