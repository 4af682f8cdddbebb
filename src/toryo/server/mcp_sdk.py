"""The official MCP SDK, fed from the catalogue: handshakes, lists, and every request that is not plain.

Importing this module costs a third of a second, so `mcp.py` does it after the server is ready. Arguments are not
validated by the SDK's low-level server: the operations do that, and refuse in words a model can act on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol
from urllib.parse import parse_qs

import mcp_types as types
import orjson
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

import toryo
from toryo.domain.errors import Code, Refusal
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import Operation
from toryo.operations.calls.dispatch import Outcome
from toryo.operations.calls.grants import Door
from toryo.server import mcp_results
from toryo.server.mcp_prompts import Prompts
from toryo.server.mcp_request import Context, credentials_of, scope_of
from toryo.server.mcp_resources import Resources
from toryo.server.mcp_streams import Streams
from toryo.server.request_bodies import Receive, Scope, Send

INSTRUCTIONS = (
    "Call authenticate first (with a launch credential as bearer token it needs no arguments) and pass the "
    "session_token it returns to every other tool. Then call get_next_action, do what it says, and call it again "
    "after each step until it says exit."
)


class Handlers(Protocol):
    """What the SDK asks for; `mcp.py` has it."""

    streams: Streams
    stopping: asyncio.Event

    async def answer(self, name: str, arguments: dict[str, Any], credentials: Credentials, door: Door) -> Outcome: ...

    async def may_listen(self, credentials: Credentials) -> bool: ...

    async def list_tools(self, credentials: Credentials, toolset: str | None) -> list[Operation]: ...

    def accepted(self, meta: dict[str, Any]) -> None: ...


class Sdk:
    """Both eras of the protocol on one endpoint, stateless, with JSON answers."""

    def __init__(self, handlers: Handlers, max_body: int) -> None:
        self._handlers = handlers
        server: Server[Any] = Server(
            "toryo",
            version=toryo.__version__,
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            # No parameter of ours travels in a header; saying so spares a tools/list for every call of the new era.
            get_tool_input_schema=lambda _name: None,
        )
        Resources(handlers, server)
        Prompts(handlers, server)
        server.middleware.clear()  # spans are made by the operations, for both paths alike
        self.about_server = orjson.dumps({types.SERVER_INFO_META_KEY: server.server_info_stamp})
        self._manager = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=max_body
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._manager.run():
            yield

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)

    async def _list_tools(self, context: Context, _page: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        query = scope_of(context).get("query_string", b"").decode("latin-1")
        toolset = parse_qs(query).get("toolset", [None])[-1]
        listed = await self._handlers.list_tools(credentials_of(context), toolset)
        return types.ListToolsResult(tools=[tool(operation) for operation in listed])

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        meta = (context.params or {}).get("_meta")
        if context.protocol_version == mcp_results.PROTOCOL and isinstance(meta, dict):
            self._handlers.accepted(meta)
        arguments = params.arguments or {}
        outcome = _unspeakable(arguments)
        if outcome is None:
            outcome = await self._handlers.answer(params.name, arguments, credentials_of(context), Door.MCP)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=mcp_results.text(outcome).decode())],
            structured_content=outcome.result,
            is_error=outcome.refused,
        )


def tool(operation: Operation) -> types.Tool:
    """What an agent is told about an operation: as few words as it needs.

    No schema of its answers: full ones would cost every agent more tokens than the tools themselves, an empty one says
    nothing, and a client that validates would refuse refusals. The OpenAPI document has them.
    """
    return types.Tool(
        name=operation.name,
        description=operation.summary,
        input_schema=operation.listed_schema,
        annotations=types.ToolAnnotations(read_only_hint=True) if operation.reads else None,
    )


def _unspeakable(arguments: dict[str, Any]) -> Outcome | None:
    """Refuses what JSON can spell and nobody can store: half a surrogate pair, NaN, numbers beyond 64 bits."""
    try:
        orjson.dumps(arguments)
    except (TypeError, ValueError) as error:
        refusal = Refusal(
            Code.VALIDATION_ERROR,
            f"The arguments cannot be stored: {error}.",
            "Send plain Unicode text, and numbers of at most 64 bits.",
        )
        return Outcome(refusal.answer(), refused=True, later=None, operation=None)
    return None
