"""Ends the connections on which PostgreSQL has owed an answer for longer than it allows itself.

libpq waits for an answer without a limit. The kernel ends a connection to a dead host, but not one to a server that
stands still, or to a proxy in front of a server that is gone. PostgreSQL ends each statement after `statement_timeout`,
so that silence beyond that means that nobody will ever answer: also behind a connection pooler.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from typing import Any

import psycopg

_log = logging.getLogger(__name__)
_LOOK_EVERY_SECONDS = 2.0
STATEMENT_SECONDS = 25.0
"""`statement_timeout`. Upgrades of the tables have none."""
GRACE_SECONDS = 5.0
"""How much later the answer may arrive: the server may be busy, and the way long."""


class Line:
    """One thread's connection."""

    __slots__ = ("_driver", "_lock", "_socket", "due")

    def __init__(self) -> None:
        self.due = 0.0
        """When PostgreSQL must have answered (monotonic seconds), 0 if nothing was asked."""
        self._lock = threading.Lock()
        self._driver: psycopg.Connection[Any] | None = None
        self._socket: object = None

    def leads(self, driver: psycopg.Connection[Any] | None) -> None:
        """Called when a connection was made, and with None before it is closed."""
        with self._lock:
            self._driver = driver
            if driver is not None:
                with _same_socket(driver) as same:
                    self._socket = _identity(same)

    def end(self) -> bool:
        """Whether it was open. Its thread finds it closed by the other side. libpq may be closing it at this moment,
        and its descriptor be somebody else's the next: so it is compared.
        """
        with self._lock:
            if self._driver is None or self._driver.closed:
                return False
            try:
                with _same_socket(self._driver) as same:
                    if _identity(same) != self._socket:
                        return False
                    same.shutdown(socket.SHUT_RDWR)
            except (OSError, psycopg.Error):
                return False
            return True


class Watch:
    """A thread that looks at all lines of a database until `close`."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._lines: list[Line] = []
        self._closing = threading.Event()
        threading.Thread(target=self._look_again, name="toryo-postgresql-watch", daemon=True).start()

    def line(self) -> Line:
        self._lines.append(line := Line())
        return line

    def close(self) -> None:
        self._closing.set()

    def _look_again(self) -> None:
        while not self._closing.wait(_LOOK_EVERY_SECONDS):
            self._look()

    def _look(self) -> None:
        """The idle connections are ended with a silent one: the next work on each would wait as long."""
        now = time.monotonic()
        due = [(line, line.due) for line in self._lines]
        if any(0 < by < now for _, by in due):
            ended = sum(line.end() for line, by in due if by < now)
            _log.warning("PostgreSQL at %s does not answer any longer: %d connections are ended", self._place, ended)


def _same_socket(driver: psycopg.Connection[Any]) -> socket.socket:
    """The connection's own under a second descriptor, whatever its family is."""
    return socket.fromfd(driver.pgconn.socket, socket.AF_INET, socket.SOCK_STREAM)


def _identity(wire: socket.socket) -> object:
    """No other open socket has the same."""
    about = os.fstat(wire.fileno())
    return about.st_dev, about.st_ino, wire.getsockname()
