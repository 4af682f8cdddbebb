"""`/mcp`: streamable HTTP for agents. Plain tool calls are answered here, everything else by the official SDK.

Both eras of the protocol (with and without handshake) share this one endpoint, and no call depends on an earlier one:
who calls is proven by the request itself. Only streams know sessions (`mcp_streams.py`). What a tool does is not here.
"""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from toryo.domain.errors import Code, Refusal
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import Operation
from toryo.operations.calls.dispatch import Outcome
from toryo.operations.calls.grants import Door
from toryo.server import (
    mcp_elicitation,
    mcp_fast_path,
    mcp_progress,
    mcp_results,
    mcp_streams,
    request_bodies,
    request_credentials,
)
from toryo.server.long_polling import Waiting
from toryo.server.mcp_elicitation import Elicitation
from toryo.server.mcp_streams import Streams
from toryo.server.request_bodies import Leaving, Receive, Scope, Send
from toryo.server.waiting_places import too_many

if TYPE_CHECKING:
    from toryo.server.mcp_sdk import Sdk

_INVALID_REQUEST = -32600
_UNKNOWN = frozenset({Code.INVALID_CREDENTIALS, Code.SESSION_TOKEN_INVALID})
_MEDIA_TYPE = b"content-type"
_ONLY_POST = ((b"allow", b"POST"),)
_UNKNOWN_TOKEN = ((b"www-authenticate", b'Bearer realm="toryo", error="invalid_token"'),)
_ANSWERED_ANYWAY = frozenset({"tools/call", "ping", None})
"""With an unknown token, too: a tool's refusal is for a model to read, and the others tell nothing."""


class Listing(Protocol):
    """The part of a `Dispatcher` that is needed here."""

    async def list_tools_async(self, credentials: Credentials, toolset: str | None = None) -> list[Operation]: ...

    async def why_unknown_async(self, credentials: Credentials) -> Refusal | None: ...


class McpEndpoint:
    """The ASGI application behind `/mcp`; between `start()` and `close()` it holds the SDK."""

    def __init__(self, waiting: Waiting, dispatcher: Listing, max_body: int) -> None:
        self._waiting = waiting
        self._dispatcher = dispatcher
        self._max_body = max_body
        self._bodies = request_bodies.Bodies(max_body)
        self._envelopes = mcp_fast_path.Envelopes()
        self._about_server = b"{}"
        self._sdk: asyncio.Future[Sdk] | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self.stopping = asyncio.Event()
        self.streams = Streams(self.stopping)
        self._elicitation = Elicitation(waiting, self.streams)

    async def start(self) -> None:
        self._sdk = asyncio.get_running_loop().create_future()
        self._watcher = asyncio.create_task(self._watch_rights())

    async def complete(self) -> None:
        """Loads the SDK, which takes longer than the rest of a start; callers that need it wait for that anyway."""
        await self._loaded()

    def stop(self) -> None:
        """Streams end, so that connections can be closed."""
        self.stopping.set()
        self.streams.look_again()

    async def close(self) -> None:
        self.stop()
        self._closing.set()
        if self._watcher is not None:
            self._watcher.cancel()
        if self._keeper is not None:
            await self._keeper

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _with_lower_media_type(scope)
        if scope["method"] != "POST":
            await self._stream(scope, headers, receive, request_bodies.guarded(send))
            return
        if self.streams.has_ended(headers):
            await mcp_streams.refuse(send)
            return
        try:
            body = await self._bodies.read(receive, headers)
        except request_bodies.Gone:
            return
        except Refusal as refusal:
            await _refuse_body(send, refusal)
            return
        unique = len(headers) == len(scope["headers"])
        request = mcp_fast_path.recognise(headers, body, self._envelopes) if unique else None
        credentials = request_credentials.credentials(headers, scope)
        if isinstance(request, mcp_results.Call):
            await self._asked(request, headers, credentials, receive, send)
        elif await self._refused(headers, credentials, body, send):
            return
        elif request is None and (began := mcp_streams.initialize(body)) is not None:
            elicits = mcp_elicitation.can_ask(began)
            await self._let_sdk(scope, body, receive, self.streams.beginning(credentials, send, elicits=elicits))
        elif request is None and unique and self.streams.heard(headers, credentials, body):
            await request_bodies.send_json(send, 202, b"")
        elif request is None:
            await self._let_sdk(scope, body, receive, send)
        else:
            await request_bodies.send_json(send, 200, mcp_results.pong(request.id))

    async def _asked(
        self,
        request: mcp_results.Call,
        headers: dict[bytes, bytes],
        credentials: Credentials,
        receive: Receive,
        send: Send,
    ) -> None:
        """Answers a plain call; if it is a question to the person who uses the client, the client asks it."""
        session = self._elicitation.asking(request, headers, credentials)
        if session is None:
            await self._call(request, credentials, receive, send)
            return
        async with Leaving(receive):
            guarded = request_bodies.guarded(send)
            await self._elicitation.answer(request, session, headers, credentials, guarded)

    async def _refused(self, headers: dict[bytes, bytes], credentials: Credentials, body: bytes, send: Send) -> bool:
        """Refuses a request whose session or token is unknown; False if it must be answered."""
        method = mcp_fast_path.method_of(body)
        lost = mcp_streams.SESSION in headers and self.streams.session(headers, credentials) is None
        if lost and method in mcp_streams.ABOUT_A_SESSION:
            await mcp_streams.refuse(send)
            return True
        return method not in _ANSWERED_ANYWAY and await self._refused_token(credentials, send)

    async def _refused_token(self, credentials: Credentials, send: Send) -> bool:
        """Answers 401 if the token proves nobody: such a caller would otherwise pass for one without a token."""
        refusal = await self._dispatcher.why_unknown_async(credentials)
        if refusal is None:
            return False
        answer = refusal.answer()
        await _send_error(send, 401, f"{answer['message']} {answer['instruction']}", answer, _UNKNOWN_TOKEN)
        return True

    async def _stream(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send) -> None:
        """GET and DELETE are about a session's stream; without a session there is none, nor without a credential."""
        credentials = request_credentials.credentials(headers, scope)
        if await self._refused_token(credentials, send):
            return
        if mcp_streams.SESSION in headers and scope["method"] == "DELETE":
            await self.streams.end(headers, credentials, send)
        elif mcp_streams.SESSION in headers and scope["method"] == "GET" and await self.may_listen(credentials):
            with self._waiting.places.taken(credentials) as place:
                if place:
                    await self.streams.open(headers, credentials, receive, send, lambda: self.may_listen(credentials))
                else:
                    await request_bodies.send_text(send, 429, f"{too_many().message}\n")
        else:
            # Without a session there is no stream to open and none to end: every answer comes with its request.
            error = {"code": _INVALID_REQUEST, "message": "Method Not Allowed: send JSON-RPC requests with POST"}
            body = orjson.dumps({"jsonrpc": "2.0", "id": None, "error": error})
            await request_bodies.send_json(send, 405, body, extra=_ONLY_POST)

    async def answer(self, name: str, arguments: dict[str, Any], credentials: Credentials, door: Door) -> Outcome:
        return await self._waiting.answer(name, arguments, credentials, door)

    async def may_listen(self, credentials: Credentials) -> bool:
        """Whether there could ever be anything to tell: strangers would hold connections for nothing."""
        if credentials.bearer is None:
            return False
        outcome = await self._waiting.answer("list_readable", {}, credentials, Door.CONTEXT)
        return (outcome.result or {}).get("error") not in _UNKNOWN

    async def list_tools(self, credentials: Credentials, toolset: str | None) -> list[Operation]:
        return await self._dispatcher.list_tools_async(credentials, toolset)

    def accepted(self, meta: dict[str, Any]) -> None:
        self._envelopes.accept(meta)

    async def _call(self, call: mcp_results.Call, credentials: Credentials, receive: Receive, send: Send) -> None:
        if call.progress is not None and self._waiting.may_take_long(call.name):
            async with Leaving(receive):
                answer = self._respond(call, credentials)
                await mcp_progress.answer(answer, call.progress, request_bodies.guarded(send))
            return
        client = Leaving(receive)  # watched only if the call comes to wait: most calls that may wait do not
        outcome = await self._waiting.answer(call.name, call.arguments, credentials, Door.MCP, while_waiting=client)
        if not client.left:
            await request_bodies.send_json(send, 200, mcp_results.response(call, outcome, self._about_server))

    async def _respond(self, call: mcp_results.Call, credentials: Credentials) -> bytes:
        outcome = await self._waiting.answer(call.name, call.arguments, credentials, Door.MCP)
        return mcp_results.response(call, outcome, self._about_server)

    async def _let_sdk(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        if mcp_fast_path.has_strange_id(body):
            await _send_error(send, 400, "The id of a request must be a text or a whole number.")
            return
        sdk = await self._loaded()
        progress = mcp_fast_path.progress_wanted(dict(scope["headers"]), body)

        async def handle(send: Send) -> None:
            await sdk.handle(scope, request_bodies.replay(body), send)

        async with Leaving(receive):
            if progress is None:
                await handle(request_bodies.guarded(send))
            else:
                await mcp_progress.relay(handle, progress, request_bodies.guarded(send))

    async def _watch_rights(self) -> None:
        """A right that was taken away ends the streams it opened at once, also those that nothing is told on."""
        async with self._waiting.rights() as hints:
            while True:
                await hints.wait(mcp_streams.PING)
                self.streams.look_again()

    async def _loaded(self) -> Sdk:
        if self._sdk is None:
            raise RuntimeError("the endpoint has not been started")
        if self._keeper is None:
            self._keeper = asyncio.create_task(self._keep_sdk(self._sdk))
        return await asyncio.shield(self._sdk)

    async def _keep_sdk(self, loaded: asyncio.Future[Sdk]) -> None:
        """Holds the SDK from its import to the end: its task group must be left by the task that entered it."""
        try:
            module = await asyncio.to_thread(importlib.import_module, "toryo.server.mcp_sdk")
            sdk: Sdk = module.Sdk(self, self._max_body)
        except Exception as error:  # noqa: BLE001 - the callers that wait for the SDK must get the error
            loaded.set_exception(error)
            return
        self._about_server = sdk.about_server
        async with sdk.running():
            loaded.set_result(sdk)
            await self._closing.wait()


def _with_lower_media_type(scope: Scope) -> dict[bytes, bytes]:
    """The headers, of which the media type means the same in capitals; the SDK compares it as it is written."""
    headers: dict[bytes, bytes] = dict(scope["headers"])
    given = headers.get(_MEDIA_TYPE, b"")
    media_type, separator, rest = given.partition(b";")
    if media_type != (lower := media_type.lower()):
        headers[_MEDIA_TYPE] = lower + separator + rest
        scope["headers"] = [
            (name, headers[_MEDIA_TYPE] if (name, value) == (_MEDIA_TYPE, given) else value)
            for name, value in scope["headers"]
        ]
    return headers


async def _refuse_body(send: Send, refusal: Refusal) -> None:
    answer = refusal.answer()
    await _send_error(send, 413 if refusal.code is Code.TOO_LARGE else 415, answer["message"], answer)


async def _send_error(
    send: Send,
    status: int,
    message: str,
    data: dict[str, Any] | None = None,
    headers: tuple[tuple[bytes, bytes], ...] = (),
) -> None:
    error = {"code": _INVALID_REQUEST, "message": message, **({} if data is None else {"data": data})}
    body = orjson.dumps({"jsonrpc": "2.0", "id": None, "error": error})
    await request_bodies.send_json(send, status, body, extra=headers)
