"""Speaking HTTP in tests: one request to an ASGI application in memory, or a server in a thread to reach over TCP."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from tests.server.fakes import FakeDispatcher
from toryo.bus.in_process import InProcessBus
from toryo.server import listeners
from toryo.server.allowed_hosts import Hosts
from toryo.server.connection_limits import Connections
from toryo.server.edge import Edge
from toryo.server.listeners import Listener

Headers = Sequence[tuple[str, str]]
MAX_BODY = 2_000_000
LIMIT = 100.0
"""Seconds after which a test that waits for a signal gives up."""

PLAIN: Headers = (
    ("host", "127.0.0.1:8765"),
    ("content-type", "application/json"),
    ("accept", "application/json, text/event-stream"),
)
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass(frozen=True)
class Response:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def tool_result(self) -> dict[str, Any]:
        result: dict[str, Any] = self.json()["result"]
        return result


def modern(tool: str, method: str = "tools/call") -> Headers:
    """The headers of the protocol without handshake."""
    return (*PLAIN, ("mcp-protocol-version", "2026-07-28"), ("mcp-method", method), ("mcp-name", tool))


def request(method: str, params: Any = None, request_id: Any = 1) -> bytes:
    message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return orjson.dumps(message if params is None else {**message, "params": params})


def call(tool: str, arguments: Any = None, request_id: Any = 1, **further: Any) -> bytes:
    """The body of a `tools/call`."""
    params = {"name": tool, **({} if arguments is None else {"arguments": arguments}), **further}
    return request("tools/call", params, request_id)


class Exchange:
    """One request to an ASGI application; `leave()` is the client closing its connection."""

    def __init__(
        self, app: Any, body: bytes = b"", method: str = "POST", target: str = "/mcp", headers: Headers = PLAIN
    ) -> None:
        path, _, query = target.partition("?")
        self._app = app
        self._scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
            "client": ("192.0.2.7", 4711),
            "server": ("127.0.0.1", 8765),
            "scheme": "http",
            "http_version": "1.1",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
        }
        self._incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._incoming.put_nowait({"type": "http.request", "body": body, "more_body": False})
        self.sent: list[dict[str, Any]] = []

    def leave(self) -> None:
        self._incoming.put_nowait({"type": "http.disconnect"})

    async def run(self) -> Response:
        await asyncio.wait_for(self._app(self._scope, self._incoming.get, self._send), LIMIT)
        return self.response()

    async def run_until_gone(self) -> None:
        """As `run`, for a client that leaves before it is answered."""
        await self._app(self._scope, self._incoming.get, self._send)

    def response(self) -> Response:
        assert self.sent, "nothing was answered"
        headers = {name.decode(): value.decode("latin-1") for name, value in self.sent[0]["headers"]}
        body = b"".join(message.get("body", b"") for message in self.sent[1:])
        return Response(int(self.sent[0]["status"]), headers, body)

    async def _send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)


async def exchange(app: Any, body: bytes = b"", **how: Any) -> Response:
    return await Exchange(app, body, **how).run()


@contextlib.asynccontextmanager
async def edge(dispatcher: FakeDispatcher | None = None, bus: Any = None, **how: Any) -> AsyncIterator[Edge]:
    """A started edge over a fake dispatcher."""
    dispatcher = dispatcher or FakeDispatcher()
    built = Edge(
        dispatcher,
        bus or InProcessBus(),
        dispatcher.operations,
        how.get("hosts", Hosts("127.0.0.1")),
        how.get("max_body", MAX_BODY),
        places=how.get("places"),
    )
    await built.start()
    try:
        yield built
    finally:
        await built.close()


@dataclass
class Served:
    """An edge over a fake dispatcher that answers on TCP, in a thread of its own."""

    url: str
    port: int
    dispatcher: FakeDispatcher
    listener: Listener


@contextlib.contextmanager
def served(
    socket_path: Path | None = None,
    connections: Connections | None = None,
    make_dispatcher: Callable[[], FakeDispatcher] = FakeDispatcher,
    around: Callable[[Any], Any] = lambda app: app,
    **how: Any,
) -> Iterator[Served]:
    """`around` gives what is served for the edge."""
    started: list[Served] = []
    ready = threading.Event()

    async def serve() -> None:
        dispatcher = make_dispatcher()
        sockets = [listeners.tcp("127.0.0.1", 0)]
        if socket_path is not None:
            sockets.append(listeners.unix(socket_path))
        async with edge(dispatcher, **how) as app:
            listener = Listener(around(app), ready.set, app.stop_waiting, connections)
            port = sockets[0].getsockname()[1]
            started.append(Served(f"http://127.0.0.1:{port}", port, dispatcher, listener))
            await listener.serve(sockets)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(LIMIT), "the server did not start"
    try:
        yield started[0]
    finally:
        started[0].listener.stop()
        thread.join(LIMIT)
        assert not thread.is_alive(), "the server did not stop"


def references(node: Any) -> list[str]:
    """Every `$ref` in a JSON document."""
    if isinstance(node, dict):
        own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        return own + [reference for value in node.values() for reference in references(value)]
    return [reference for value in node for reference in references(value)] if isinstance(node, list) else []
