"""Real receivers of notices on this machine: a web server, and a mail server that speaks just enough SMTP."""

from __future__ import annotations

import base64
import contextlib
import socketserver
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any

import orjson


@dataclass(frozen=True)
class Posted:
    """One request, as it came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def said(self) -> dict[str, Any]:
        said: dict[str, Any] = orjson.loads(self.body)
        return said


@dataclass
class Web:
    """`answers` are the next status codes (then 204); `meanwhile` is called while a sender waits for its answer."""

    url: str = ""
    posted: list[Posted] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    meanwhile: Callable[[], object] = lambda: None
    arrived: Queue[Posted] = field(default_factory=Queue)

    @property
    def told(self) -> list[tuple[str, str]]:
        return [(each.said["person_id"], each.said["kind"]) for each in self.posted]


class _Web(BaseHTTPRequestHandler):
    web: Web

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        got = Posted(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        self.web.posted.append(got)
        self.web.arrived.put(got)
        self.web.meanwhile()
        status = self.web.answers.pop(0) if self.web.answers else 204
        self.send_response(status)
        if status // 100 == 3:
            self.send_header("location", "/elsewhere")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the standard library
        """Quiet."""


@contextlib.contextmanager
def web() -> Iterator[Web]:
    served = Web()
    with _served(ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Web,), {"web": served}))) as port:
        served.url = f"http://127.0.0.1:{port}/hook?key=hush-hush"
        yield served


@dataclass
class Mails:
    """`refuses` are recipients that are answered 550; `logins` what was signed in with."""

    port: int = 0
    got: list[tuple[str, list[str], EmailMessage]] = field(default_factory=list)
    refuses: set[str] = field(default_factory=set)
    logins: list[tuple[str, str]] = field(default_factory=list)


class _Smtp(socketserver.StreamRequestHandler):
    mails: Mails

    def handle(self) -> None:
        self._say("220 here")
        self._from, self._to = "", list[str]()
        while line := self.rfile.readline().decode().strip():
            word = line.split(" ", 1)[0].upper()
            if word == "DATA":
                self._data()
            else:
                self._say(self._answer(word, line))

    def _answer(self, word: str, line: str) -> str:
        if word == "EHLO":
            return "250-here\r\n250 AUTH PLAIN"
        if word == "AUTH":
            _, user, password = base64.b64decode(line.split(" ")[2]).decode().split("\0")
            self.mails.logins.append((user, password))
            return "235 come in"
        if word == "MAIL":
            self._from, self._to = line, []
        if word == "RCPT":
            address = line.partition("<")[2].partition(">")[0]
            if address in self.mails.refuses:
                return "550 nobody here"
            self._to.append(address)
        return "250 ok"

    def _data(self) -> None:
        self._say("354 go on")
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line.removeprefix(b"."))
        message = message_from_bytes(b"".join(lines), policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.mails.got.append((self._from, self._to, message))
        self._say("250 taken")

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


@contextlib.contextmanager
def mails() -> Iterator[Mails]:
    taken = Mails()
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), type("Handler", (_Smtp,), {"mails": taken}))
    server.daemon_threads = True
    with _served(server) as port:
        taken.port = port
        yield taken


@contextlib.contextmanager
def _served(server: socketserver.TCPServer) -> Iterator[int]:
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=100)


def closed_port() -> int:
    """A port at which nobody listens."""
    with socketserver.TCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler) as server:
        return int(server.server_address[1])
