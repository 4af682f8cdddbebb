"""Notices that PostgreSQL has become silent, and ends the connections on which nobody will ever answer.

libpq waits for an answer without a limit. The kernel ends a connection to a dead host, but not one to a server that
stands still, or to a proxy in front of a server that is gone. A long statement is no fault: so a connection that has
been busy for long is ended only if PostgreSQL does not answer a new connection either, or if who answers there is
another server (or the same one, started again).
"""

from __future__ import annotations

import logging
import os
import select
import socket
import threading
import time
from contextlib import closing, suppress
from typing import Any

import psycopg

_log = logging.getLogger(__name__)
_LOOK_EVERY_SECONDS = 2.0
_LONG_SECONDS = 10.0
_ANSWERS_WITHIN_SECONDS = 5.0
WHO = b"SELECT pg_postmaster_start_time()"
"""Identifies a server in one of its lives."""
_NOBODY = b""


class Line:
    """One thread's connection. `since`: when the thread began what it is at (monotonic seconds), 0 if nothing."""

    __slots__ = ("_driver", "_lock", "_server", "since")

    def __init__(self) -> None:
        self.since = 0.0
        self._lock = threading.Lock()
        self._driver: psycopg.Connection[Any] | None = None
        self._server: bytes | None = None

    def leads(self, driver: psycopg.Connection[Any] | None, server: bytes | None = None) -> None:
        """Called before a connection is closed, with None, and when one was made: later with the answer to `WHO`."""
        with self._lock:
            self._driver, self._server = driver, server

    def end_unless(self, server: bytes) -> bool:
        """Whether it was ended: it does not lead to that server. Its thread finds it closed by the other side."""
        with self._lock:
            if self._driver is None or self._driver.closed or self._server == server:
                return False
            with socket.socket(fileno=os.dup(self._driver.pgconn.socket)) as wire, suppress(OSError):
                wire.shutdown(socket.SHUT_RDWR)
            return True


class Watch:
    """A thread that looks at all lines of a database until `close`."""

    def __init__(self, conninfo: str, place: str) -> None:
        self._conninfo, self._place = conninfo, place
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
            try:
                self._look()
            except Exception:  # noqa: BLE001 - this thread must go on: without it silence would not be noticed
                _log.exception("cannot find out whether PostgreSQL is silent")

    def _look(self) -> None:
        """The idle connections are ended too: the next work on each would wait as long."""
        long_ago = time.monotonic() - _LONG_SECONDS
        if not any(0 < line.since < long_ago for line in self._lines):
            return
        server = self._who_answers()
        if server is not None and (ended := sum(line.end_unless(server) for line in self._lines)):
            _log.warning("PostgreSQL at %s does not answer any longer: %d connections are ended", self._place, ended)

    def _who_answers(self) -> bytes | None:
        """None if it answers with a refusal, as a server does that is starting or has too many connections."""
        try:
            driver = psycopg.connect(self._conninfo, autocommit=True)
        except psycopg.errors.ConnectionTimeout:
            return _NOBODY
        except (psycopg.Error, OSError):
            return None
        with closing(driver):
            return _asked(driver)


def _asked(driver: psycopg.Connection[Any]) -> bytes:
    """`_NOBODY` if it falls silent before it answers."""
    pgconn, limit = driver.pgconn, time.monotonic() + _ANSWERS_WITHIN_SECONDS
    pgconn.send_query(WHO)
    pgconn.flush()
    while pgconn.is_busy():
        ready, _, _ = select.select([pgconn.socket], [], [], max(0.0, limit - time.monotonic()))
        if not ready:
            return _NOBODY
        pgconn.consume_input()
    result = pgconn.get_result()
    return (result.get_value(0, 0) or _NOBODY) if result is not None and result.ntuples else _NOBODY
