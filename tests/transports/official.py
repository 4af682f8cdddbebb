"""The official SDK's client over each way that programs use: streamable HTTP on TCP, and the bridge as its command."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from typing import Any

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ResourceUpdatedNotification

from tests.transports.conftest import LiveServer
from tests.transports.wires import LIMIT

ERAS = ("legacy", "auto", "2026-07-28")
WAYS = ("tcp", "unix", "stdio")


class Heard:
    """What the server said without having been asked (in the era with a handshake)."""

    def __init__(self) -> None:
        self.updates: asyncio.Queue[str] = asyncio.Queue()

    async def take(self, message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            self.updates.put_nowait(message.params.uri)

    async def update(self) -> str:
        return await asyncio.wait_for(self.updates.get(), LIMIT)


@contextlib.asynccontextmanager
async def client(
    site: LiveServer, way: str, mode: str, token: str | None = None, heard: Heard | None = None
) -> AsyncIterator[Client]:
    listener = (heard or Heard()).take
    if way == "stdio":
        named = {"TORYO_TOKEN": token} if token else {}
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "toryo", "mcp"], env={"TORYO_SERVER_URL": site.url, **named}
        )
        async with Client(stdio_client(command), mode=mode, message_handler=listener) as connected:
            yield connected
        return
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    transport = httpx2.AsyncHTTPTransport(uds=str(site.socket) if way == "unix" else None)
    url = f"{site.url}/mcp" if way == "tcp" else "http://localhost:80/mcp"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=LIMIT, transport=transport) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, message_handler=listener) as connected,
    ):
        yield connected
