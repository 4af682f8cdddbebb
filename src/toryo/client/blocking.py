"""The blocking client: pooled connections over TCP, TLS or a Unix socket. Safe to share between threads.

Uses the standard library's `http.client` instead of httpx: agents start often, and importing httpx costs each of them
some 80 ms of CPU, four times the rest of this client.
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import select
import socket
import ssl
import time
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

from toryo.client import server_address, wire
from toryo.client.errors import Unreachable

CONNECT_WITHIN = 10.0


class Client:
    """Calls tools (`call`) and REST routes (`rest`) with one credential.

    `timeout` is the least number of seconds to wait for an answer; calls that wait by themselves get more.
    `patience_seconds`: how long to go on trying when nobody listens (nothing was sent, so that is always safe).
    `repeat_lost`: whether a call whose answer was lost may be sent again; only where every call may be made twice.
    """

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
        self._idle: list[http.client.HTTPConnection] = []

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The result of an MCP tool. Raises RefusalError, Unreachable or ProtocolError."""
        number = next(self._numbers)
        body = wire.tool_request(number, tool, arguments)
        patience = wire.time_out(arguments, self._timeout)
        status, kind, answer = self._patiently("POST", "/mcp", body, mcp=True, timeout=patience)
        return wire.tool_answer(number, status, kind, answer)

    def rest(self, method: str, path: str, json: Any = None, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The document at a REST route (`/projects` is below `/api/v1`). Raises as `call`."""
        wanted = {name: value for name, value in (params or {}).items() if value is not None}
        target = wire.rest_path(path) + ("?" + urlencode(wanted, doseq=True) if wanted else "")
        body = None if json is None else wire.encoded(json)
        patience = wire.time_out(wanted, self._timeout)
        status, _, answer = self._patiently(method, target, body, mcp=False, timeout=patience)
        return wire.rest_answer(status, answer)

    def has(self, path: str) -> bool:
        """Whether the server has a file at this path, such as a page of the dashboard."""
        return self._patiently("GET", path, None, mcp=False, timeout=self._timeout)[0] == 200

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _patiently(
        self, method: str, path: str, body: bytes | None, *, mcp: bool, timeout: float
    ) -> tuple[int, str, bytes]:
        give_up = time.monotonic() + self.patience_seconds
        for pause in wire.pauses():
            try:
                return self._exchange(method, path, body, mcp=mcp, timeout=timeout)
            except Unreachable as away:
                again = not away.sent or self._repeat_lost or method == "GET"
                if not again or time.monotonic() + pause > give_up:
                    raise
            time.sleep(pause)
        raise AssertionError("pauses never end")

    def _exchange(
        self, method: str, path: str, body: bytes | None, *, mcp: bool, timeout: float
    ) -> tuple[int, str, bytes]:
        connection = self._connection()
        headers = wire.headers(self.token, mcp=mcp)
        try:
            if connection.sock is not None:
                connection.sock.settimeout(timeout)
            connection.request(method, self.address.prefix + path, body, {**headers, "Host": self.address.host_header})
            response = connection.getresponse()
            answer = response.read()
        except BaseException as problem:
            connection.close()
            if isinstance(problem, OSError | http.client.HTTPException):
                raise Unreachable(f"{self.address}: {_words(problem)}", sent=True) from problem
            raise
        if response.will_close:
            connection.close()
        else:
            self._idle.append(connection)
        return response.status, response.getheader("Content-Type", ""), answer

    def _connection(self) -> http.client.HTTPConnection:
        """A kept connection that the server has not closed meanwhile, or a new one."""
        with contextlib.suppress(IndexError):
            while True:
                kept = self._idle.pop()
                if kept.sock is not None and not _readable(kept.sock):
                    return kept
                kept.close()
        connection = _new(self.address)
        try:
            connection.connect()
        except (OSError, http.client.HTTPException) as problem:
            connection.close()
            raise Unreachable(f"{self.address}: {_words(problem)}") from problem
        return connection


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=CONNECT_WITHIN)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(CONNECT_WITHIN)
        self.sock.connect(self._path)


def _new(where: server_address.Address) -> http.client.HTTPConnection:
    if where.socket is not None:
        return _UnixConnection(where.socket)
    if where.scheme == "http":
        return http.client.HTTPConnection(where.host, where.port, timeout=CONNECT_WITHIN)
    return _secure(where)


def _secure(where: server_address.Address) -> http.client.HTTPSConnection:
    """TLS, through the proxy of the environment where there is one."""
    from urllib.request import getproxies, proxy_bypass

    proxy = None if where.local or proxy_bypass(where.host) else getproxies().get("https")
    if not proxy:
        return http.client.HTTPSConnection(where.host, where.port, timeout=CONNECT_WITHIN)
    through = urlsplit(proxy if "//" in proxy else f"http://{proxy}")
    connection = http.client.HTTPSConnection(through.hostname or "", through.port or 80, timeout=CONNECT_WITHIN)
    connection.set_tunnel(where.host, where.port)
    return connection


def _readable(sock: socket.socket) -> bool:
    """An idle connection with something to read was closed by the other side."""
    waiting = select.poll()
    waiting.register(sock, select.POLLIN)
    return bool(waiting.poll(0))


def _words(problem: BaseException) -> str:
    if isinstance(problem, TimeoutError):
        return "no answer in time"
    if isinstance(problem, ssl.SSLError) and problem.reason in _NO_TLS:
        return "the server does not speak HTTPS: use http://"
    return getattr(problem, "strerror", None) or str(problem) or type(problem).__name__


_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")
