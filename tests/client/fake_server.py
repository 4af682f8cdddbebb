"""A scripted server in a thread: speaks the wire of MCP `tools/call` and REST, and remembers what it was asked.

It knows nothing of tasks: each test says what each tool answers. `waiting_for` waits for a call with a bound, so that
no test sleeps.
"""

from __future__ import annotations

import json
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

BOUND = 100.0


class Refused(Exception):
    """What a tool raises to answer with a refusal."""

    def __init__(self, code: str, message: str = "no", instruction: str = "do something else", **more: Any) -> None:
        super().__init__(message)
        self.answer = {**more, "success": False, "error": code, "message": message, "instruction": instruction}


@dataclass
class Call:
    tool: str
    arguments: dict[str, Any]
    token: str | None
    headers: dict[str, str] = field(default_factory=dict)


Tool = Callable[[Call], dict[str, Any]]


class FakeServer:
    def __init__(self, unix: str | None = None) -> None:
        self.tools: dict[str, Tool] = {"health_check": lambda _: {"success": True, "status": "ok", "version": "0.1.0"}}
        self.routes: dict[tuple[str, str], tuple[int, Any]] = {}
        self.calls: list[Call] = []
        self.requests: list[tuple[str, str, Any]] = []
        self.connections = 0
        self.as_events = False
        self.as_text_only = False
        self.raw: tuple[int, str, bytes] | None = None
        """Answers everything with this, where a test wants something odd."""
        self.drop_next = 0
        """So many requests are read and then never answered: the connection is closed."""
        self._news = threading.Condition()
        self.hangs_up = False
        """Whether it closes each connection after its answer without saying so."""
        self.hung_up = threading.Semaphore(0)
        self.unix, self.port = unix, 0
        self._http: _TcpServer | _UnixServer
        if unix:
            self._http = _UnixServer(unix, _handler(self))
        else:
            self._http = _TcpServer(("127.0.0.1", 0), _handler(self))
            self.port = self._http.server_port
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"unix://{self.unix}" if self.unix else f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def on(self, tool: str, answer: Tool | dict[str, Any]) -> None:
        self.tools[tool] = answer if callable(answer) else lambda _: {"success": True, **answer}

    def seen(self, tool: str) -> list[Call]:
        with self._news:
            return [call for call in self.calls if call.tool == tool]

    def waiting_for(self, tool: str, count: int = 1, within: float = BOUND) -> list[Call]:
        """Waits until the tool was called so often; fails the test when it is not."""
        with self._news:
            found = lambda: [call for call in self.calls if call.tool == tool]  # noqa: E731
            assert self._news.wait_for(lambda: len(found()) >= count, within), f"{tool} called {len(found())} times"
            return found()

    def remember(self, call: Call) -> None:
        with self._news:
            self.calls.append(call)
            self._news.notify_all()

    def answer(self, message: dict[str, Any], headers: dict[str, str]) -> tuple[int, str, bytes]:
        name, arguments = message["params"]["name"], message["params"].get("arguments") or {}
        token = headers.get("Authorization", "").removeprefix("Bearer ") or None
        call = Call(name, arguments, token, headers)
        self.remember(call)
        if name not in self.tools:
            error = {"code": -32602, "message": f"Unknown tool: {name}"}
            return self._encode({"jsonrpc": "2.0", "id": message["id"], "error": error})
        refused = False
        try:
            result = self.tools[name](call)
        except Refused as no:
            result, refused = no.answer, True
        body: dict[str, Any] = {"content": [{"type": "text", "text": json.dumps(result)}], "isError": refused}
        if not self.as_text_only:
            body["structuredContent"] = result
        return self._encode({"jsonrpc": "2.0", "id": message["id"], "result": body})

    def _encode(self, message: dict[str, Any]) -> tuple[int, str, bytes]:
        if not self.as_events:
            return 200, "application/json", json.dumps(message).encode()
        progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}
        events = [": a comment", f"event: message\ndata: {json.dumps(progress)}", f"data: {json.dumps(message)}"]
        return 200, "text/event-stream", ("\n\n".join(events) + "\n\n").encode()


class _TcpServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


class _UnixServer(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


class _Handler(BaseHTTPRequestHandler):
    fake: FakeServer
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.fake.connections += 1
        if self.request.family != socket.AF_UNIX:
            self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def finish(self) -> None:
        super().finish()
        if self.fake.hangs_up:
            self.request.shutdown(socket.SHUT_RDWR)
            self.fake.hung_up.release()

    def log_message(self, *_: Any) -> None:
        return

    def address_string(self) -> str:
        return "client"

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        if self.fake.drop_next:
            self.fake.drop_next -= 1
            self.close_connection = True
            return
        status, kind, answer = self.fake.raw or self._answer(body)
        head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(answer)}\r\n\r\n"
        self.wfile.write(head.encode() + answer)
        self.close_connection = self.close_connection or self.fake.hangs_up

    def _answer(self, body: Any) -> tuple[int, str, bytes]:
        if self.path == "/mcp":
            return self.fake.answer(body, dict(self.headers))
        self.fake.requests.append((self.command, self.path, body))
        status, document = self.fake.routes.get(
            (self.command, self.path.partition("?")[0]), (404, {"code": "notFound"})
        )
        return status, "application/json", json.dumps(document).encode() if document is not None else b""

    do_GET = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815


def _handler(fake: FakeServer) -> type[_Handler]:
    return type("_Bound", (_Handler,), {"fake": fake})


@pytest.fixture
def server() -> Iterator[FakeServer]:
    fake = FakeServer()
    yield fake
    fake.close()
