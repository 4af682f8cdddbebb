"""`/api/v1`: operations with a route, for people. Paths, parameters and answers follow from the catalogue.

Here are only the rules of HTTP: how path, query and body become one set of arguments, and the form of an answer.
Operations check permissions; only the rule that agents' credentials are not accepted in REST is here.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import cache, partial
from typing import Any
from urllib.parse import parse_qsl, unquote

import orjson
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from toryo import exact_json
from toryo.deeds import terminal
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.wording import say
from toryo.operations.calls import listed_parameters
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import Operation
from toryo.operations.calls.grants import Door, Grant
from toryo.secret_patterns import COORDINATOR, LAUNCH, PERSON, QUEUE, SESSION
from toryo.server import (
    content_encoding,
    event_stream,
    file_answers,
    openapi,
    request_credentials,
    rest_answers,
)
from toryo.server.event_stream import EventStreams
from toryo.server.long_polling import Waiting
from toryo.server.request_bodies import Bodies, Leaving, Receive, Scope, Send
from toryo.server.rest_answers import API
from toryo.server.rest_paths import Paths
from toryo.server.sign_in_pace import SignInPace

STREAM = "/events/stream"
"""The events as they happen (server-sent events): `read_events` without end. Also where the events are read, for who
asks for `text/event-stream` there."""
"""The document for people to read."""
LONGEST_KEY = 200
_READING = frozenset({"GET"})
_OF_PROGRAMS = (COORDINATOR, LAUNCH, QUEUE, SESSION)
_IF_MATCH = re.compile(r'(?:W/)?"?(\d{1,18})"?')


class _Endpoint:
    """What a path answers, as an ASGI application."""

    def __init__(self, methods: frozenset[str], answer: Callable[[Request], Awaitable[Response]]) -> None:
        self._methods = methods | {"HEAD"} if "GET" in methods else methods
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in self._methods:
            raise HTTPException(405, headers={"Allow": ", ".join(self._methods)})
        response = await self._answer(Request(scope, receive, send))
        await response(scope, receive, send)


class Rest:
    """The endpoints behind `/api/v1`; `pace` slows down who tries to sign in."""

    def __init__(self, waiting: Waiting, operations: Mapping[str, Operation], max_body: int, pace: SignInPace) -> None:
        self._waiting = waiting
        self._operations = operations
        self._bodies = Bodies(max_body)
        self._pace = pace
        self._streams = EventStreams(waiting)
        self._openapi: asyncio.Task[bytes] | None = None

    def app(self) -> ASGIApp:
        """The endpoints as an application, below `API`."""
        paths = Paths[_Endpoint]()
        methods: dict[str, dict[str, Operation]] = {}
        for operation in self._operations.values():
            if operation.route is not None:
                methods.setdefault(operation.route.path, {})[operation.route.method] = operation
        for path, operations in methods.items():
            paths.add(path, _Endpoint(frozenset(operations), partial(self._answer, operations)))
        paths.add("/openapi.json", _Endpoint(_READING, self._describe))
        paths.add(STREAM, _Endpoint(_READING, self._follow))

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            found = paths.find(scope["path"].removeprefix(API))
            if found is None:
                raise HTTPException(404)
            endpoint, scope["path_params"] = found
            await endpoint(scope, receive, send)

        return app

    async def _describe(self, request: Request) -> Response:
        response = Response(await self._described(), media_type="application/json")
        await content_encoding.compress(response, request.headers.get("accept-encoding", ""))
        return response

    async def _follow(self, request: Request) -> Response:
        if request.method == "HEAD":
            raise HTTPException(405, headers={"Allow": "GET"})
        operation = self._operations["read_events"]
        credentials, arguments = await self._asked(operation, request)
        return await self._streams.open(request, arguments, credentials)

    async def _answer(self, methods: Mapping[str, Operation], request: Request) -> Response:
        operation = methods["GET" if request.method == "HEAD" else request.method]
        if operation.name == "read_events" and _wants_stream(request):
            return await self._follow(request)
        credentials, arguments = await self._asked(operation, request)
        tries = operation.name == "sign_in" and "code" not in arguments
        if tries:
            self._pace.count(request)
        client = Leaving(request.receive)  # watched only if the call comes to wait
        outcome = await self._waiting.answer(operation.name, arguments, credentials, Door.REST, while_waiting=client)
        if client.left:
            return await rest_answers.left(request, Exception())
        if outcome.refused:
            return rest_answers.problem(request, outcome.result or {})
        if tries:
            self._pace.succeeded(request)
        if operation.route is not None and operation.route.file:
            return file_answers.file(outcome.result or {})
        response = _answered(request, operation, outcome.result or {})
        if request.method == "GET":
            await content_encoding.compress(response, request.headers.get("accept-encoding", ""))
        return response

    async def _asked(self, operation: Operation, request: Request) -> tuple[Credentials, dict[str, Any]]:
        """The credentials and arguments of a request. Raises Refusal (not allowed, not understood)."""
        credentials = _credentials(operation, request)
        admit(operation, credentials)
        if operation.name == "sign_in":
            request_credentials.refuse_others(request)
        body = await self._bodies.read(request.receive, dict(request.scope["headers"]))
        return replace(credentials, idempotency_key=_idempotency_key(request)), gather(operation, request, body)

    async def _described(self) -> bytes:
        """The document. Made once, in a thread: it takes more than a second, and others are served."""
        if self._openapi is None:
            self._openapi = asyncio.create_task(asyncio.to_thread(self._describe_all))
        return await asyncio.shield(self._openapi)

    def _describe_all(self) -> bytes:
        return orjson.dumps(openapi.document(self._operations.values(), API, STREAM))


def _credentials(operation: Operation, request: Request) -> Credentials:
    """The bearer token, else what a browser is signed in by; that proves nothing where it signs in."""
    found = request_credentials.credentials(dict(request.scope["headers"]), request.scope)
    if found.bearer is not None:
        return found
    token = request_credentials.browser_token(request)
    found = replace(found, page=request_credentials.page_secret(request))
    return replace(found, signed_in_before=token) if operation.grant is Grant.OPEN else replace(found, cookie=token)


def _answered(request: Request, operation: Operation, result: dict[str, Any]) -> Response:
    """Moves the token that signs a browser in or out from the body, which scripts can read, to a cookie. The secret of
    the page stays: it is for scripts."""
    status = operation.route.status if operation.route is not None else 200
    if operation.name not in ("sign_in", "sign_out"):
        return rest_answers.json(request, result, status)
    token = result.pop("browser_token", None)
    response = rest_answers.json(request, result, status)
    request_credentials.keep_signed_in(response, request, token)
    response.headers["cache-control"] = "no-store"
    return response


def gather(operation: Operation, request: Request, body: bytes) -> dict[str, Any]:
    """One set of arguments from path, query, body and `If-Match`. Raises Refusal where two of them disagree."""
    arguments: dict[str, Any] = {name: unquote(value) for name, value in request.path_params.items()}
    for source in (
        _query(operation, request.scope.get("query_string", b"")),
        _object(request, body),
        _version(operation, request),
    ):
        for name, value in source.items():
            if name in arguments and arguments[name] != value:
                raise _invalid(
                    say("{name} was sent twice, with different values.", name=name), say("Send {name} once.", name=name)
                )
            arguments[name] = value
    if "session_token" in arguments:
        raise _invalid("session_token is not a parameter of REST.", "Use a person's token in the Authorization header.")
    return arguments


def _query(operation: Operation, query: bytes) -> dict[str, Any]:
    """The query's values as text (the model converts them); a repeated name gives a list."""
    values: dict[str, list[str]] = {}
    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        values.setdefault(name, []).append(value)
    lists = _list_parameters(operation.parameters)
    return {name: given if name in lists or len(given) > 1 else given[0] for name, given in values.items()}


@cache
def _list_parameters(parameters: type[BaseModel]) -> set[str]:
    def is_list(schema: dict[str, Any]) -> bool:
        return schema.get("type") == "array" or any(is_list(each) for each in schema.get("anyOf", ()))

    properties = listed_parameters.whole(parameters).get("properties", {})
    return {name for name, schema in properties.items() if is_list(schema)}


def _object(request: Request, body: bytes) -> dict[str, Any]:
    if not body:
        return {}
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise _invalid("The body is not declared as JSON.", "Send it with the header Content-Type: application/json.")
    try:
        value = exact_json.loads(body)
    except orjson.JSONDecodeError as error:
        raise _invalid(
            say("The body is not JSON: {error}.", error=str(error)), "Send one JSON object in UTF-8."
        ) from None
    if not isinstance(value, dict):
        raise _invalid("The body is JSON but not an object.", "Send one JSON object with the parameters as its keys.")
    return value


def _version(operation: Operation, request: Request) -> dict[str, int]:
    """`If-Match` fills `version` where the operation has it; `*` means any."""
    given = request.headers.get("if-match", "*").strip()
    if given == "*" or "version" not in operation.parameters.model_fields:
        return {}
    matched = _IF_MATCH.fullmatch(given)
    if matched is None:
        raise _invalid(
            say("If-Match is not a version: {given}", given=given[:40]),
            'Send the version you have read: If-Match: "3".',
        )
    return {"version": int(matched[1])}


def _idempotency_key(request: Request) -> str | None:
    given = request.headers.get("idempotency-key")
    if given is None:
        return None
    key = given.strip().strip('"')
    if not key or len(key) > LONGEST_KEY or not (key.isascii() and key.isprintable()):
        raise _invalid(
            "The Idempotency-Key is invalid.",
            say("Send 1 to {longest} printable characters, for example a UUID, or no key.", longest=LONGEST_KEY),
        )
    return key


def admit(operation: Operation, shown: Credentials) -> None:
    """Raises Refusal for credentials other than people's tokens and browsers, whatever the operation allows
    elsewhere.
    """
    if shown.bearer is None and (shown.cookie is not None or operation.grant is Grant.OPEN):
        return
    if shown.bearer is None or not shown.bearer.startswith(PERSON):
        raise _not_a_persons(shown.bearer)


def _not_a_persons(bearer: str | None) -> Refusal:
    """A refusal for agents, without the ways in which people sign in."""
    if bearer is not None and bearer.startswith(_OF_PROGRAMS):
        return Refusal(
            Code.AUTHENTICATION_REQUIRED,
            "REST is only for people, with a person's token.",
            "Agents and Coordinators use MCP at /mcp. If only people can do something, ask a person.",
        )
    return Refusal(
        Code.AUTHENTICATION_REQUIRED,
        "This token is unknown." if bearer is not None else "This request requires a person's token.",
        say(
            "{open:In a browser, sign in: … prints a link. Programs send Authorization: Bearer with a person's token; "
            "an owner of this server can make one.|Sign in.}",
            open=terminal("open"),
        ),
    )


def _wants_stream(request: Request) -> bool:
    """Whether it asks for server-sent events by name, as a browser's EventSource does."""
    asked = ",".join(request.headers.getlist("accept"))
    return any(part.partition(";")[0].strip().lower() == event_stream.MEDIA_TYPE for part in asked.split(","))


def _invalid(message: str, instruction: str) -> Refusal:
    return Refusal(Code.VALIDATION_ERROR, message, instruction)
