"""The blocking client: pooled connections over TCP, TLS or a Unix socket. Safe to share between threads.

Agents start often, so it imports little: `http1.py` reads and writes HTTP, and TLS is loaded for servers that need it.
"""

from __future__ import annotations

import contextlib
import itertools
import select
import socket
import time
from typing import Any, Self
from urllib.parse import urlencode

from toryo.client import http1, routes, server_address, wire
from toryo.client.errors import Unreachable
from toryo.client.routes import Route
from toryo.long_waits import LONGEST_WAIT_SECONDS

PIECE = 64 * 1024
"""Bytes that are read at once."""
Connection = socket.socket


class Client:
    """Calls tools (`call`) and REST routes (`rest`) with one credential.

    `timeout` is the least number of seconds to wait for an answer; calls that wait by themselves get more.
    `patience_seconds`: how long to go on trying, from the first failure, when nobody listens (nothing was sent, so that
    is always safe).
    `repeat_lost`: whether a call whose answer was lost may be sent again; only where every call may be made twice.
    """

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
        self._route: Route | None = None
        self._idle: list[Connection] = []

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The result of an MCP tool. Raises RefusalError, Unreachable or ProtocolError."""
        number = next(self._numbers)
        body = wire.tool_request(number, tool, arguments)
        patience = wire.time_out(arguments, self._timeout)
        answer = self._patiently("POST", "/mcp", body, mcp=True, timeout=patience)
        return wire.tool_answer(number, answer.status, answer.headers.get("content-type", ""), answer.body)

    def rest(self, method: str, path: str, json: Any = None, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The document at a REST route (`/projects` is below `/api/v1`). Raises as `call`."""
        wanted = {name: value for name, value in (params or {}).items() if value is not None}
        target = wire.rest_path(path) + ("?" + urlencode(wanted, doseq=True) if wanted else "")
        body = None if json is None else wire.encoded(json)
        patience = wire.time_out(wanted, self._timeout)
        answer = self._patiently(method, target, body, mcp=False, timeout=patience)
        return wire.rest_answer(answer.status, answer.body)

    def file(self, path: str) -> bytes:
        """The bytes at a REST route that answers with a file. Raises as `call`."""
        answer = self._patiently("GET", wire.rest_path(path), None, mcp=False, timeout=self._timeout)
        if answer.status >= 400:
            wire.rest_answer(answer.status, answer.body)
        return bytes(answer.body)

    def has(self, path: str) -> bool:
        """Whether the server has a file at this path, such as a page of the dashboard."""
        return self._patiently("GET", path, None, mcp=False, timeout=self._timeout).status == 200

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _patiently(self, method: str, path: str, body: bytes | None, *, mcp: bool, timeout: float) -> http1.Answer:
        give_up: float | None = None
        for pause in wire.pauses():
            try:
                return wire.heard(self._exchange(method, path, body, mcp=mcp, timeout=timeout))
            except Unreachable as away:
                again = not away.sent or self._repeat_lost or method == "GET"
                give_up = give_up or time.monotonic() + self.patience_seconds
                if not again or time.monotonic() + pause > give_up:
                    raise
            time.sleep(pause)
        raise AssertionError("pauses never end")

    def _exchange(self, method: str, path: str, body: bytes | None, *, mcp: bool, timeout: float) -> http1.Answer:
        route, connection = self._connected()
        try:
            sent = route.request(method, path, wire.headers(self.token, mcp=mcp), body)
            answer = _exchanged(connection, sent, timeout)
        except BaseException as problem:
            connection.close()
            if isinstance(problem, routes.LOST):
                raise Unreachable(f"{self.address}: {routes.words(problem)}", sent=True) from problem
            raise
        if answer.keeps and len(self._idle) < routes.KEPT:
            self._idle.append(connection)
        else:
            connection.close()
        return answer

    def _connected(self) -> tuple[Route, Connection]:
        """A kept connection that the server has not closed meanwhile, or a new one."""
        try:
            if self._route is None:
                self._route = Route(self.address)
            with contextlib.suppress(IndexError):
                while True:
                    kept = self._idle.pop()
                    if not readable(kept):
                        return self._route, kept
                    kept.close()
            return self._route, _connected(self._route)
        except routes.LOST as problem:
            raise Unreachable(f"{self.address}: {routes.words(problem)}") from problem


def _connected(route: Route) -> Connection:
    if route.socket is not None:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    else:
        connection = socket.create_connection((route.host, route.port), routes.CONNECT_WITHIN)
    try:
        connection.settimeout(routes.CONNECT_WITHIN)
        if route.socket is not None:
            connection.connect(route.socket)
        else:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            routes.notice_silence(connection)
        if route.tunnel is not None:
            routes.let_through(_exchanged(connection, route.tunnel, routes.CONNECT_WITHIN, of_tunnel=True))
        if route.secure_name is not None:
            connection = route.tls().wrap_socket(connection, server_hostname=route.secure_name)
    except BaseException:
        connection.close()
        raise
    return connection


def _exchanged(connection: Connection, sent: bytes, timeout: float, *, of_tunnel: bool = False) -> http1.Answer:
    connection.settimeout(timeout)
    connection.sendall(sent)
    answer = http1.Answer(of_tunnel=of_tunnel)
    while not answer.complete:
        piece = connection.recv(PIECE)
        answer.take(piece) if piece else answer.end()
    return answer


def readable(sock: Connection) -> bool:
    """An idle connection with something to read was closed by the other side."""
    waiting = select.poll()
    waiting.register(sock, select.POLLIN)
    return bool(waiting.poll(0))
