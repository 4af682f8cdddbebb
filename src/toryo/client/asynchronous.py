"""The async client, for programs that wait for many things at once. The blocking one is `blocking.Client`.

Uses httpx, imported only when a client is created; connections are pooled, and each waiting call holds one.
"""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode

from toryo.client import http_transport, server_address, wire
from toryo.client.errors import Unreachable

if TYPE_CHECKING:
    import httpx


class AsyncClient:
    """As `Client`, with the same arguments. One per event loop."""

    def __init__(
        self,
        url: str | None,
        token: str | None = None,
        *,
        socket: str | None = None,
        timeout: float = wire.SERVER_WAITS_AT_MOST + wire.MARGIN,
        patience_seconds: float = 0.0,
        repeat_lost: bool = False,
    ) -> None:
        self.address = server_address.parse(url, socket)
        self.token = token
        self._timeout = timeout
        self.patience_seconds = patience_seconds
        self._repeat_lost = repeat_lost
        self._numbers = itertools.count(1)
        self._http = http_transport.http_client(self.address)

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The result of an MCP tool. Raises RefusalError, Unreachable or ProtocolError."""
        number = next(self._numbers)
        body = wire.tool_request(number, tool, arguments)
        patience = wire.time_out(arguments, self._timeout)
        response = await self._patiently("POST", "/mcp", body, mcp=True, timeout=patience)
        return wire.tool_answer(
            number, response.status_code, response.headers.get("content-type", ""), response.content
        )

    async def rest(
        self, method: str, path: str, json: Any = None, params: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """The document at a REST route (`/projects` is below `/api/v1`). Raises as `call`."""
        wanted = {name: value for name, value in (params or {}).items() if value is not None}
        target = wire.rest_path(path) + ("?" + urlencode(wanted, doseq=True) if wanted else "")
        body = None if json is None else wire.encoded(json)
        patience = wire.time_out(wanted, self._timeout)
        response = await self._patiently(method, target, body, mcp=False, timeout=patience)
        return wire.rest_answer(response.status_code, response.content)

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _patiently(
        self, method: str, path: str, body: bytes | None, *, mcp: bool, timeout: float
    ) -> httpx.Response:
        import asyncio  # 30 ms of import that only a program with a loop should pay

        give_up = time.monotonic() + self.patience_seconds
        for pause in wire.pauses():
            try:
                return await self._exchange(method, path, body, mcp=mcp, timeout=timeout)
            except Unreachable as away:
                again = not away.sent or self._repeat_lost or method == "GET"
                if not again or time.monotonic() + pause > give_up:
                    raise
            await asyncio.sleep(pause)
        raise AssertionError("pauses never end")

    async def _exchange(
        self, method: str, path: str, body: bytes | None, *, mcp: bool, timeout: float
    ) -> httpx.Response:
        import httpx

        headers = {**wire.headers(self.token, mcp=mcp), "Host": self.address.host_header}
        limits = httpx.Timeout(timeout, connect=http_transport.CONNECT_WITHIN, pool=None)
        try:
            return await self._http.request(
                method, self.address.root + path, content=body, headers=headers, timeout=limits
            )
        except httpx.HTTPError as problem:
            words, sent = http_transport.lost(self.address, problem)
            raise Unreachable(words, sent=sent) from problem
