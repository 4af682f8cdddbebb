"""The official MCP SDK, fed from the catalogue: handshakes, lists, and every request that is not plain.

Importing this module costs a third of a second, so `mcp.py` does it after the server is ready.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

import mcp_types as types
import orjson
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

import toryo
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import Operation
from toryo.operations.calls.dispatch import Outcome
from toryo.operations.calls.grants import Door
from toryo.server.mcp_prompts import Prompts
from toryo.server.mcp_resources import Resources
from toryo.server.mcp_streams import Streams
from toryo.server.mcp_tools import Tools
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


def declare(handlers: Handlers, server: Server[Any]) -> None:
    """Everything that the server offers; tests/conformance has another one, with what its suite asks for."""
    Tools(handlers, server)
    Resources(handlers, server)
    Prompts(handlers, server)


class Sdk:
    """Both eras of the protocol on one endpoint, stateless, with JSON answers."""

    def __init__(self, handlers: Handlers, max_body: int) -> None:
        server = _Server(
            "toryo",
            version=toryo.__version__,
            instructions=INSTRUCTIONS,
            # No parameter of ours travels in a header; saying so spares a tools/list for every call of the new era.
            get_tool_input_schema=lambda _name: None,
        )
        declare(handlers, server)
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


class _Server(Server[Any]):
    """Announces what is kept: changes of resources are reported, changes of lists are not. The SDK takes a server with
    subscriptions to report both.
    """

    def get_capabilities(self, *args: Any, **more: Any) -> types.ServerCapabilities:
        found = super().get_capabilities(*args, **more)
        for each in (found.tools, found.resources, found.prompts):
            if each is not None:
                each.list_changed = False
        return found
