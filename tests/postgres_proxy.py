"""A network between Toryo and PostgreSQL, Redis or its own server that a test can break: a forwarding port.

It can be cut (connections end, new ones are refused), stand still (connections stay, nothing arrives), lead to another
server, and be told from PostgreSQL itself, as a connection pooler can.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from urllib.parse import urlsplit, urlunsplit

from psycopg.conninfo import conninfo_to_dict

from tests.databases import postgres_url

_KEY = re.compile(rb"(K\0\0\0\x0c)....", re.DOTALL)
"""Which of its processes PostgreSQL says works for the connection."""


class Proxy:
    """Forwards a port of its own to another. `cut` ends all connections and refuses new ones until `mend`."""

    def __init__(self, host: str, port: int, url_of: Callable[[int], str]) -> None:
        self._target = (host, port)
        self._sockets: list[socket.socket] = []
        self._listening: socket.socket | None = None
        self._port = 0
        self._cut_after: bytes | None = None
        self._flow = _flowing()
        self.pools = False
        """Whether clients are told numbers of its own for PostgreSQL's processes."""
        self.was_cut = Event()
        self.mend()
        self.url = url_of(self._port)

    def cut(self) -> None:
        listening, self._listening = self._listening, None
        for each in [*self._sockets, *([listening] if listening else [])]:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._sockets.clear()
        self.was_cut.set()

    def cut_after(self, words: bytes) -> None:
        """Cuts as soon as a client has sent these words; PostgreSQL gets them, its answer is lost."""
        self._cut_after = words

    def stand_still(self) -> None:
        """From now on nothing arrives on either side, and nobody is told: connections, also new ones, stay open."""
        self._flow.clear()

    def flow_again(self) -> None:
        """What was held back arrives after all."""
        self._flow.set()

    def flow_anew(self) -> None:
        """Only connections that are made from now on work: the others stay silent, as behind a dead host."""
        self._flow = _flowing()

    def lead_to(self, host: str, port: int) -> None:
        """Connections that are made from now on."""
        self._target = (host, port)

    def mend(self) -> None:
        self.was_cut.clear()
        self._listening = socket.create_server(("127.0.0.1", self._port))
        self._port = self._listening.getsockname()[1]
        Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def _accept(self, listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                try:
                    server = self._connected()
                except OSError:  # it is away
                    client.close()
                    continue
                self._sockets += [client, server]
                if self._listening is not listening:  # cut since it was accepted
                    client.close()
                    server.close()
                    return
                muted, flow = Event(), self._flow
                Thread(target=self._ask, args=(client, server, muted, flow), daemon=True).start()
                Thread(target=self._answer, args=(server, client, muted, flow), daemon=True).start()

    def _connected(self) -> socket.socket:
        host, port = self._target
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{host}/.s.PGSQL.{port}")
        return server

    def _ask(self, client: socket.socket, server: socket.socket, muted: Event, flow: Event) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                flow.wait()
                if self._cut_after and self._cut_after in data:
                    self._cut_after = None
                    muted.set()
                server.sendall(data)
        flow.wait()  # nor does the end of a connection arrive
        with suppress(OSError):
            server.shutdown(socket.SHUT_WR)

    def _answer(self, server: socket.socket, client: socket.socket, muted: Event, flow: Event) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                flow.wait()
                if not muted.is_set():
                    client.sendall(_KEY.sub(rb"\1\000\000\000\007", data) if self.pools else data)
                elif data[-6:-1] == b"Z\0\0\0\5":  # ready for the next statement: this one is done
                    self.cut()
        flow.wait()
        with suppress(OSError):
            client.shutdown(socket.SHUT_WR)


def _flowing() -> Event:
    event = Event()
    event.set()
    return event


@contextmanager
def proxy(url: str) -> Iterator[Proxy]:
    """To PostgreSQL."""
    parts = conninfo_to_dict(url)
    host, port = str(parts.get("host", "127.0.0.1")), int(parts.get("port") or 5432)
    with forwarding(Proxy(host, port, lambda own: postgres_url(url, host="127.0.0.1", port=str(own)))) as wire:
        yield wire


@contextmanager
def redis_proxy(url: str) -> Iterator[Proxy]:
    """To Redis."""
    parts = urlsplit(url)
    away = Proxy(
        parts.hostname or "127.0.0.1",
        parts.port or 6379,
        lambda own: urlunsplit(parts._replace(netloc=f"{parts.netloc.rpartition('@')[0]}@127.0.0.1:{own}".lstrip("@"))),
    )
    with forwarding(away) as wire:
        yield wire


@contextmanager
def server_proxy(url: str) -> Iterator[Proxy]:
    """To a server of Toryo's."""
    parts = urlsplit(url)
    away = Proxy(parts.hostname or "127.0.0.1", parts.port or 80, lambda own: f"http://127.0.0.1:{own}")
    with forwarding(away) as wire:
        yield wire


@contextmanager
def forwarding(wire: Proxy) -> Iterator[Proxy]:
    try:
        yield wire
    finally:
        wire.cut()
