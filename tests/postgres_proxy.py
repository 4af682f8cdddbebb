"""A network between Toryo and PostgreSQL that a test can break: a forwarding port with a switch."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from psycopg.conninfo import conninfo_to_dict

from tests.databases import postgres_url


class Proxy:
    """Forwards a port of its own to PostgreSQL. `cut` ends all connections and refuses new ones until `mend`."""

    def __init__(self, url: str) -> None:
        parts = conninfo_to_dict(url)
        self._target = (str(parts.get("host", "127.0.0.1")), int(parts.get("port") or 5432))
        self._sockets: list[socket.socket] = []
        self._listening: socket.socket | None = None
        self._port = 0
        self._cut_after: bytes | None = None
        self.was_cut = Event()
        self.mend()
        self.url = postgres_url(url, host="127.0.0.1", port=str(self._port))

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

    def mend(self) -> None:
        self.was_cut.clear()
        self._listening = socket.create_server(("127.0.0.1", self._port))
        self._port = self._listening.getsockname()[1]
        Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def _accept(self, listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                server = self._connected()
                self._sockets += [client, server]
                muted = Event()
                Thread(target=self._ask, args=(client, server, muted), daemon=True).start()
                Thread(target=self._answer, args=(server, client, muted), daemon=True).start()

    def _connected(self) -> socket.socket:
        host, port = self._target
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{host}/.s.PGSQL.{port}")
        return server

    def _ask(self, client: socket.socket, server: socket.socket, muted: Event) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                if self._cut_after and self._cut_after in data:
                    self._cut_after = None
                    muted.set()
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)

    def _answer(self, server: socket.socket, client: socket.socket, muted: Event) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if not muted.is_set():
                    client.sendall(data)
                elif data[-6:-1] == b"Z\0\0\0\5":  # ready for the next statement: this one is done
                    self.cut()
            client.shutdown(socket.SHUT_WR)


@contextmanager
def proxy(url: str) -> Iterator[Proxy]:
    forwarding = Proxy(url)
    try:
        yield forwarding
    finally:
        forwarding.cut()
