"""Notices that PostgreSQL has become silent, and ends the connections on which nobody will ever answer.

libpq waits for an answer without a limit. The kernel ends a connection to a dead host, but not one to a server that
stands still, or to a proxy in front of a server that is gone. Neither a long statement nor a busy server is a fault: so
a connection is ended only if one has waited for long, and

- its server was asked several times and did not answer, or another one did (or the same one, started again), and
  nothing was heard from it on any other connection meanwhile; or
- its server says that it does not work for this connection: the question or the answer was lost on the way.

Behind a connection pooler none of this can be known (who answers depends on the pooler, and an answer may have to wait
for a place in its pool), so nothing is ended there.
"""

from __future__ import annotations

import logging
import os
import select
import socket
import threading
import time
from collections.abc import Collection
from contextlib import closing
from typing import Any, NamedTuple

import psycopg
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult

_log = logging.getLogger(__name__)
_LOOK_EVERY_SECONDS = 2.0
_LONG_SECONDS = 10.0
_ANSWERS_WITHIN_SECONDS = 5.0
_MISSES = 3
"""In a row. A server that is too busy to answer once may answer the next time, or somebody else meanwhile."""
WHO = b"SELECT pg_postmaster_start_time(), pg_backend_pid()"
"""Identifies a server in one of its lives, and its process that works for the connection."""
_AT_WORK = b"""
SELECT pg_postmaster_start_time(), array_to_string(ARRAY(SELECT pid FROM pg_stat_activity WHERE
(state LIKE 'idle%%' AND state_change < clock_timestamp() - interval '%d milliseconds') IS NOT TRUE), ' ')
"""
"""The same server, and which of its processes have not been waiting for their client that long."""


class Answering(NamedTuple):
    """Who answers a new connection."""

    server: bytes = b""
    """As `WHO` says; empty: nobody."""
    at_work: frozenset[bytes] = frozenset()


class Line:
    """One thread's connection."""

    __slots__ = ("_driver", "_lock", "_made", "_process", "_socket", "_waited", "heard", "pooled", "server", "since")

    def __init__(self) -> None:
        self.since = 0.0
        """When the thread began what it is at (monotonic seconds), 0 if nothing."""
        self.heard = 0.0
        """When PostgreSQL last answered."""
        self.server: bytes | None = None
        """None: not known yet."""
        self.pooled = False
        """Whether a connection pooler is between."""
        self._lock = threading.Lock()
        self._driver: psycopg.Connection[Any] | None = None
        self._socket: object = None
        self._process: bytes | None = None
        self._made = 0.0
        self._waited = (0.0, 0.0)
        """`since` and `heard`, if it was waiting for an answer at the last look."""

    def leads(self, driver: psycopg.Connection[Any] | None) -> None:
        """Called when a connection was made, and with None before it is closed."""
        with self._lock:
            self._driver, self.server, self._process = driver, None, None
            if driver is not None:
                self._made = self.heard = time.monotonic()
                with _same_socket(driver) as same:
                    self._socket = _identity(same)

    def leads_to(self, who: PGresult) -> None:
        """Called with the answer to `WHO`. A pooler tells its clients numbers of its own for PostgreSQL's processes."""
        with self._lock:
            self.server, self._process = who.get_value(0, 0), who.get_value(0, 1)
            if self._driver is not None and self._process is not None:
                self.pooled = self._driver.pgconn.backend_pid != int(self._process)

    def waits(self, long_ago: float) -> bool:
        """Whether it has heard nothing for that long, though its thread is at something."""
        return 0 < self.since < long_ago and self.heard < long_ago

    def forsaken(self, answering: Answering, long_ago: float) -> bool:
        """Whether nobody will answer: its server works on nothing that this connection has waited for since then.

        It must have waited at the last look too: what was sent just now has perhaps not arrived yet.
        """
        with self._lock:
            if self._driver is None or self._driver.closed:
                return False
            active = self._driver.pgconn.transaction_status == TransactionStatus.ACTIVE
            before, self._waited = self._waited, (self.since, self.heard) if active else (0.0, 0.0)
            waited_long = active and before == self._waited and self.waits(long_ago)
            return waited_long and self.server == answering.server and self._process not in answering.at_work

    def end_if_of(self, gone: Collection[bytes | None], long_ago: float) -> bool:
        """Whether it was ended: it leads to one of these servers. One that is just being made may lead elsewhere."""
        with self._lock:
            if self.server not in gone or (self.server is None and self._made >= long_ago):
                return False
            return self._ended()

    def end_if_idle(self) -> bool:
        with self._lock:
            return self.since == 0 and self._ended()

    def end(self) -> bool:
        with self._lock:
            return self._ended()

    def _ended(self) -> bool:
        """Its thread finds it closed by the other side. libpq may be closing it at this moment, and its descriptor be
        somebody else's the next: so it is compared.
        """
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

    def __init__(self, conninfo: str, place: str) -> None:
        self._conninfo, self._place = conninfo, place
        self._lines: list[Line] = []
        self._missed: dict[bytes | None, tuple[int, float]] = {}
        """How often in a row each server did not answer, and since when; None: those not known yet."""
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
        if any(line.pooled for line in self._lines):
            _log.info("a connection pooler answers at %s: connections that fall silent are left to it", self._place)
            self.close()
            return
        began = time.monotonic()
        long_ago = began - _LONG_SECONDS
        answering = self._who_answers() if any(line.waits(long_ago) for line in self._lines) else None
        if answering is None:
            self._missed.clear()
            return
        forsaken = [line for line in self._lines if line.forsaken(answering, long_ago)]
        gone = self._gone(answering.server, began)
        ended = sum(line.end() for line in forsaken)
        ended += sum(line.end_if_of(gone, long_ago) for line in self._lines)
        if forsaken:
            ended += sum(line.end_if_idle() for line in self._lines if line.server == answering.server)
        if ended:
            _log.warning("PostgreSQL at %s does not answer any longer: %d connections are ended", self._place, ended)

    def _gone(self, answering: bytes, began: float) -> set[bytes | None]:
        """The servers that were not there several times in a row, and not heard on any line in all that time."""
        gone: set[bytes | None] = set()
        for server in {line.server for line in self._lines} - {answering}:
            times, since = self._missed.get(server, (0, began))
            if any(line.heard > since for line in self._lines if line.server == server):
                times, since = 0, began
            self._missed[server] = times + 1, since
            if times + 1 >= _MISSES:
                gone.add(server)
        self._missed.pop(answering, None)
        return gone

    def _who_answers(self) -> Answering | None:
        """None if it answers with a refusal, as a server does that is starting or has too many connections."""
        try:
            with closing(psycopg.connect(self._conninfo, autocommit=True)) as driver:
                return _asked(driver.pgconn)
        except psycopg.errors.ConnectionTimeout:
            return Answering()
        except (psycopg.Error, OSError):
            return None


def _asked(pgconn: PGconn) -> Answering | None:
    """Nobody if it falls silent before it answers."""
    limit = time.monotonic() + _ANSWERS_WITHIN_SECONDS
    pgconn.send_query(_AT_WORK % round(_LONG_SECONDS * 1000))
    pgconn.flush()
    waiting = select.poll()
    waiting.register(pgconn.socket, select.POLLIN)
    while pgconn.is_busy():
        if not waiting.poll(max(0.0, limit - time.monotonic()) * 1000):
            return Answering()
        pgconn.consume_input()
    result = pgconn.get_result()
    if result is None or result.status != ExecStatus.TUPLES_OK:
        return None
    return Answering(result.get_value(0, 0) or b"", frozenset((result.get_value(0, 1) or b"").split()))


def _same_socket(driver: psycopg.Connection[Any]) -> socket.socket:
    """The connection's own under a second descriptor, whatever its family is."""
    return socket.fromfd(driver.pgconn.socket, socket.AF_INET, socket.SOCK_STREAM)


def _identity(wire: socket.socket) -> object:
    """No other open socket has the same."""
    about = os.fstat(wire.fileno())
    return about.st_dev, about.st_ino, wire.getsockname()
