"""`/api/v1`: the operations that have a route, for people. Paths, parameters and answers follow from the catalogue.

Here stand only the rules of HTTP: which route, how path, query and body become one set of arguments, and how a
refusal becomes problem details. Who may do what is decided by the operations; only that no credential of an agent
opens any door here is decided at this one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, unquote

import orjson

from toryo.domain.errors import Code, Refusal
from toryo.domain.projects import Language
from toryo.domain.wording import say
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import Operation
from toryo.operations.calls.grants import Door, Grant
from toryo.server import bodies, errors, event_stream, identity, languages, openapi, readme
from toryo.server.bodies import Leaving, Receive, Scope, Send
from toryo.server.csrf import refuse_forged
from toryo.server.waiting import Waiting
from toryo.tokens import COORDINATOR, LAUNCH, PERSON, QUEUE, SESSION

PREFIX = "/api/v1"
STREAM = "/events/stream"
"""The events as they happen (server-sent events): `read_events` without end. Also where the events are read, for who
asks for `text/event-stream` there."""
DOCS = "/api/docs"
"""The document for people to read."""
LONGEST_KEY = 200
_OF_PROGRAMS = (COORDINATOR, LAUNCH, QUEUE, SESSION)
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
        self._bodies = bodies.Bodies(max_body)
        self._openapi: tuple[bytes, bytes] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = _raw_path(scope)
        if raw in (DOCS, f"{PREFIX}/openapi.json") and scope["method"] == "GET":
            await self._describe(send, readable=raw == DOCS)
            return
        path, language = raw.removeprefix(PREFIX), languages.wanted(dict(scope["headers"]))
        found = self._routes.find(scope["method"], path)
        if isinstance(found, tuple):
            if path != STREAM or scope["method"] != "GET":
                await _lost(send, scope, found)
                return
            found = Found(self._operations["read_events"], 200, {})
        stream = path == STREAM or (found.operation.name == "read_events" and _wants_stream(scope))
        try:
            await self._carry_out(found, scope, receive, send, stream=stream)
        except bodies.Gone:
            return
        except bodies.TooLarge as error:
            await refuse(send, error.refusal.answer(), language)
        except Refusal as refusal:
            await refuse(send, refusal.answer(), language)

    async def _carry_out(
        self, found: Found, scope: Scope, receive: Receive, send: Send, *, stream: bool = False
    ) -> None:
        headers = dict(scope["headers"])
        credentials = _credentials(found.operation, headers, scope)
        _admit(found.operation, credentials, scope["method"], headers)
        credentials = replace(credentials, idempotency_key=_idempotency_key(headers))
        body = await self._bodies.read(receive, headers)
        arguments = gather(found, scope.get("query_string", b""), headers, body)
        if stream:
            await event_stream.stream(self._waiting, arguments, headers, credentials, receive, send)
            return
        async with Leaving(receive):
            outcome = await self._waiting.answer(found.operation.name, arguments, credentials, Door.REST)
            if outcome.refused:
                await refuse(send, outcome.result or {}, languages.wanted(headers))
            else:
                await _answer(send, found, outcome.result or {}, headers, scope)

    async def _describe(self, send: Send, *, readable: bool) -> None:
        if self._openapi is None:
            document = openapi.document(self._operations.values(), PREFIX, STREAM)
            self._openapi = orjson.dumps(document), readme.page(document).encode()
        if readable:
            await bodies.send_json(send, 200, self._openapi[1], b"text/html; charset=utf-8", readme.HEADERS)
        else:
            await bodies.send_json(send, 200, self._openapi[0])


def _credentials(operation: Operation, headers: Mapping[bytes, bytes], scope: Scope) -> Credentials:
    """The bearer token, else what the browser's cookie says: an old one must not keep anybody from signing in."""
    found = identity.credentials(headers, scope)
    if found.bearer is not None:
        return found
    token = identity.browser_token(headers, scope)
    return replace(found, signed_in_before=token) if operation.grant is Grant.OPEN else replace(found, cookie=token)


async def _answer(
    send: Send, found: Found, result: dict[str, Any], headers: Mapping[bytes, bytes], scope: Scope
) -> None:
    """What signs a browser in or out goes into a cookie, and not into the body, where scripts could read it."""
    language = languages.wanted(headers)
    if found.operation.name not in ("sign_in", "sign_out"):
        body = languages.written(result, language)
        await bodies.send_json(send, found.status, body, extra=languages.HEADERS[language])
        return
    cookie = identity.signed_in(result.pop("browser_token", None), headers, scope)
    await bodies.send_json(
        send, found.status, languages.written(result, language), extra=(cookie, (b"cache-control", b"no-store"))
    )


async def refuse(send: Send, result: dict[str, Any], language: Language = Language.ENGLISH) -> None:
    """Answers with the problem details of a refusal's result."""
    status, document = errors.problem(result)
    later = ((b"retry-after", b"%d" % result["retry_after"]),) if status == 429 and "retry_after" in result else ()
    extra = (*(_ASK if status == 401 else later), *languages.HEADERS[language])
    await bodies.send_json(send, status, languages.written(document, language), bodies.PROBLEM, extra)


def gather(found: Found, query: bytes, headers: Mapping[bytes, bytes], body: bytes) -> dict[str, Any]:
    """One set of arguments from path, query, body and `If-Match`. Raises Refusal where two of them disagree."""
    arguments: dict[str, Any] = dict(found.arguments)
    for source in (_query(found.operation, query), _object(headers, body), _version(found.operation, headers)):
        for name, value in source.items():
            if name in arguments and arguments[name] != value:
                raise _invalid(
                    say("{name} is given twice, with different values.", name=name), say("Give {name} once.", name=name)
                )
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
        raise _invalid(
            say("The body is not JSON: {error}.", error=str(error)), "Send one JSON object in UTF-8."
        ) from None
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
        raise _invalid(
            say("If-Match is not a version: {given}", given=given[:40]),
            'Send the version you have read: If-Match: "3".',
        )
    return {"version": int(matched[1])}


def _idempotency_key(headers: Mapping[bytes, bytes]) -> str | None:
    given = headers.get(b"idempotency-key")
    if given is None:
        return None
    key = given.decode("latin-1").strip().strip('"')
    if not key or len(key) > LONGEST_KEY or not (key.isascii() and key.isprintable()):
        raise _invalid(
            "Idempotency-Key is not one.",
            say("Send 1 to {longest} plain characters, a UUID for example, or no key.", longest=LONGEST_KEY),
        )
    return key


def _admit(operation: Operation, shown: Credentials, method: str, headers: Mapping[bytes, bytes]) -> None:
    """Only people's tokens and browsers open REST, whatever the operation would allow the bearer elsewhere."""
    if shown.bearer is None and shown.cookie is not None:
        refuse_forged(method, headers)
    elif shown.bearer is None and operation.grant is Grant.OPEN:
        return
    elif shown.bearer is None or not shown.bearer.startswith(PERSON):
        raise _not_a_persons(shown.bearer)


def _not_a_persons(bearer: str | None) -> Refusal:
    """Agents are not told by what people come in."""
    if bearer is not None and bearer.startswith(_OF_PROGRAMS):
        return Refusal(
            Code.AUTHENTICATION_REQUIRED,
            "REST is for people, with a person's token.",
            "Agents and Coordinators use MCP at /mcp. What only people do, ask a person for.",
        )
    return Refusal(
        Code.AUTHENTICATION_REQUIRED,
        "This token is not known here." if bearer is not None else "This needs a person's token.",
        "In a browser, sign in: toryo open prints a link. Programs send Authorization: Bearer with a person's token, "
        "which an owner of this server makes.",
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


def _wants_stream(scope: Scope) -> bool:
    """Whether it asks for server-sent events by name, as a browser's EventSource does."""
    asked = b",".join(value for name, value in scope["headers"] if name == b"accept")
    return any(each.partition(b";")[0].strip().lower() == event_stream.MEDIA_TYPE for each in asked.split(b","))


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
