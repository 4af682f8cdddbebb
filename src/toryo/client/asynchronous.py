"""The async client, for programs that wait for many things at once. The blocking one is `blocking.Client`.

Connections are kept, and each waiting call holds one (`async_connections.py`).
"""

from __future__ import annotations

import asyncio
import itertools
import time
from typing import Any, Self
from urllib.parse import urlencode

from toryo.client import server_address, wire
from toryo.client.async_connections import Connections
from toryo.client.errors import Unreachable
from toryo.client.http1 import Answer
from toryo.long_waits import LONGEST_WAIT_SECONDS


class AsyncClient:
    """As `Client`, with the same arguments. One per event loop."""

    def __init__(
        self,
        url: str | None,
        token: str | None = None,
        *,
        socket: str | None = None,
        timeout: float = LONGEST_WAIT_SECONDS + wire.MARGIN,
        patience_seconds: float = 0.0,
        repeat_lost: bool = False,
    ) -> None:
        self.address = server_address.parse(url, socket)
        self.token = token
        self._timeout = timeout
        self.patience_seconds = patience_seconds
        self._repeat_lost = repeat_lost
        self._numbers = itertools.count(1)
        self._connections = Connections(self.address)

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The result of an MCP tool. Raises RefusalError, Unreachable or ProtocolError."""
        number = next(self._numbers)
        body = wire.tool_request(number, tool, arguments)
        patience = wire.time_out(arguments, self._timeout)
        answer = await self._patiently("POST", "/mcp", body, mcp=True, timeout=patience)
        return wire.tool_answer(number, answer.status, answer.headers.get("content-type", ""), answer.body)

    async def rest(
        self, method: str, path: str, json: Any = None, params: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """The document at a REST route (`/projects` is below `/api/v1`). Raises as `call`."""
        wanted = {name: value for name, value in (params or {}).items() if value is not None}
        target = wire.rest_path(path) + ("?" + urlencode(wanted, doseq=True) if wanted else "")
        body = None if json is None else wire.encoded(json)
        patience = wire.time_out(wanted, self._timeout)
        answer = await self._patiently(method, target, body, mcp=False, timeout=patience)
        return wire.rest_answer(answer.status, answer.body)

    async def close(self) -> None:
        await self._connections.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _patiently(self, method: str, path: str, body: bytes | None, *, mcp: bool, timeout: float) -> Answer:
        give_up: float | None = None
        for pause in wire.pauses():
            headers = wire.headers(self.token, mcp=mcp)
            try:
                return wire.heard(await self._connections.exchange(method, path, headers, body, timeout))
            except Unreachable as away:
                again = not away.sent or self._repeat_lost or method == "GET"
                give_up = give_up or time.monotonic() + self.patience_seconds
                if not again or time.monotonic() + pause > give_up:
                    raise
            await asyncio.sleep(pause)
        raise AssertionError("pauses never end")
