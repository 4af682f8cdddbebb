"""The ways to a server, each as the same thing: something that sends JSON-RPC messages and hears what comes back.

Over TCP and over a Unix socket a message is a POST; over stdio it is a line to `toryo mcp`, a process of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import httpx
import orjson

from tests.environments import clean_environment

LIMIT = 100.0
"""Seconds after which a test that waits for a signal gives up."""
ENDS_WITHIN = 60.0
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


class Wire(Protocol):
    async def send(self, body: bytes) -> Any:
        """The message that answers these bytes, whatever they are."""

    async def ask(self, method: str, params: Any = None) -> Any:
        """The response to a request: a JSON-RPC message with `result` or `error`."""


async def call(wire: Wire, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """The result of a tool as MCP shows it."""
    response = await wire.ask("tools/call", {"name": tool, "arguments": arguments})
    assert "result" in response, response
    result: dict[str, Any] = response["result"]
    return result


async def content(wire: Wire, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """The structured content of a tool that must not refuse."""
    result = await call(wire, tool, **arguments)
    assert not result["isError"], result
    found: dict[str, Any] = result["structuredContent"]
    return found


def request(request_id: Any, method: str, params: Any = None) -> bytes:
    message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return orjson.dumps(message if params is None else {**message, "params": params})


# --- HTTP ------------------------------------------------------------------------------------------------------------


class Posting:
    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self._numbers = itertools.count(1)

    async def send(self, body: bytes) -> Any:
        response = await self._http.post("/mcp", content=body, headers=HEADERS)
        return response.json()

    async def ask(self, method: str, params: Any = None) -> Any:
        number = next(self._numbers)
        answer = await self.send(request(number, method, params))
        assert answer["id"] == number
        return answer


@contextlib.asynccontextmanager
async def posting(url: str, token: str | None, socket: Path | None = None) -> AsyncIterator[Posting]:
    transport = httpx.AsyncHTTPTransport(uds=str(socket) if socket else None, limits=httpx.Limits(max_connections=None))
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(transport=transport, base_url=url, headers=headers, timeout=LIMIT) as http:
        yield Posting(http)


# --- stdio -----------------------------------------------------------------------------------------------------------


class Bridged:
    """A client of `toryo mcp`, the process. What it hears without having asked is in `heard`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.heard: asyncio.Queue[Any] = asyncio.Queue()
        self._waiting: dict[Any, asyncio.Future[Any]] = {}
        self._numbers = itertools.count(1)
        self._listening = asyncio.create_task(self._listen())

    def tell(self, body: bytes) -> None:
        """Writes a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(body + b"\n")

    async def send(self, body: bytes) -> Any:
        self.tell(body)
        return await asyncio.wait_for(self.heard.get(), LIMIT)

    async def ask(self, method: str, params: Any = None) -> Any:
        number = next(self._numbers)
        answered = self._waiting[number] = asyncio.get_running_loop().create_future()
        self.tell(request(number, method, params))
        return await asyncio.wait_for(answered, LIMIT)

    def tell_of(self, method: str, params: Any = None) -> None:
        """Sends a notification."""
        message = {"jsonrpc": "2.0", "method": method}
        self.tell(orjson.dumps(message if params is None else {**message, "params": params}))

    async def shake_hands(self) -> Any:
        answer = await self.ask("initialize", CLIENT)
        self.tell_of("notifications/initialized")
        return answer

    async def end(self) -> int:
        """Closes its stdin; how it ends, and that it does."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = await asyncio.wait_for(self.process.wait(), ENDS_WITHIN)
        await self._listening
        return code

    async def _listen(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            message = orjson.loads(line)
            waiting = self._waiting.pop(message.get("id"), None) if "method" not in message else None
            if waiting is not None and not waiting.done():
                waiting.set_result(message)
            else:
                self.heard.put_nowait(message)


@contextlib.asynccontextmanager
async def bridged(environment: Mapping[str, str], *words: str) -> AsyncIterator[Bridged]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "toryo", "mcp", *words),
        env={**clean_environment(), **environment},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 30,
    )
    try:
        yield Bridged(process)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
