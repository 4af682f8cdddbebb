"""A PostgreSQL of a test's own, which it may kill, freeze and start again, and a standby that takes over from it.

The programs are looked for on the PATH and where Debian keeps them; without them the test is skipped and says why, or
fails where everything is required (`tests/databases.py`). PostgreSQL refuses to run as root, so root starts it as the
user `postgres`. A killed process loses no page of the kernel's, so nothing here syncs.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from tests.databases import missing
from tests.scenarios.programs import Program, gone
from tests.scenarios.sites import free_port

USER = "tester"
READY = "database system is ready to accept"
_OWN = ("fsync=off", "max_connections=200", "listen_addresses=127.0.0.1", "unix_socket_directories=")


class PostgreSQLServer:
    """Listens on a free port of this machine while it runs; `url` is its database `postgres`. Each of the settings is
    `name=value`, and comes before its own.
    """

    def __init__(self, directory: Path, *settings: str) -> None:
        self.directory = directory
        self.port = free_port()
        self.url = f"postgresql://{USER}@127.0.0.1:{self.port}/postgres"
        said = [word for each in (*_OWN, *settings) for word in ("-c", each)]
        words = ["-D", str(directory), "-p", str(self.port), *said]
        self._program = Program(
            f"postgres-{self.port}", words, os.environ, directory.parent, command=[*_as_postgres(), _found("postgres")]
        )

    def start(self) -> None:
        """Returns when it answers; after a kill it has recovered by then."""
        self._program.start().says(READY)

    def kill(self) -> None:
        """SIGKILL to all of its processes; returns when they are gone."""
        them = self._processes()
        for pid in them:
            _to(pid, signal.SIGKILL)
        self._program.ended_with()
        assert all(gone(pid, 10) for pid in them)

    def freeze(self) -> None:
        """All of its processes stand still; the kernel still takes connections for them."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def promote(self) -> None:
        """A standby becomes the server that writes."""
        run("pg_ctl", "-D", str(self.directory), "-w", "promote")

    def end(self) -> None:
        if self._program.alive:
            self.kill()

    def _signal(self, number: signal.Signals) -> None:
        for pid in self._processes():
            _to(pid, number)

    def _processes(self) -> list[int]:
        """The one that was started, and its children: each of those is in a process group of its own."""
        first = self._program.pid
        return [first, *map(int, Path(f"/proc/{first}/task/{first}/children").read_text().split())]


def _to(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # it has ended meanwhile
        os.kill(pid, number)


@contextmanager
def postgres_server(*settings: str) -> Iterator[PostgreSQLServer]:
    """One that runs; it ends with the test."""
    with _room() as room:
        run("initdb", "-D", str(room / "data"), "-U", USER, "--auth=trust", "--no-sync", "--no-instructions")
        yield from _running(PostgreSQLServer(room / "data", *settings))


@contextmanager
def standby_of(primary: PostgreSQLServer) -> Iterator[PostgreSQLServer]:
    """One that has all data of the primary, and goes on having it: commits wait until it has them."""
    with _room() as room:
        run("pg_basebackup", "-D", str(room / "data"), "-d", primary.url, "-R", "-c", "fast", "--no-sync")
        for server in _running(PostgreSQLServer(room / "data")):
            _sql(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
            _sql(primary, "SELECT pg_reload_conf()")
            yield server


def run(program: str, *words: str) -> None:
    done = subprocess.run(
        [*_as_postgres(), _found(program), *words], cwd="/", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _running(server: PostgreSQLServer) -> Iterator[PostgreSQLServer]:
    server.start()
    try:
        yield server
    finally:
        server.end()


def _sql(server: PostgreSQLServer, words: str) -> None:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(words.encode())


@contextmanager
def _room() -> Iterator[Path]:
    """A directory into which the user of PostgreSQL may write: pytest's own is closed to others."""
    with tempfile.TemporaryDirectory(prefix="toryo_test_postgres_", ignore_cleanup_errors=True) as name:
        if os.getuid() == 0:
            them = pwd.getpwnam("postgres")
            os.chown(name, them.pw_uid, them.pw_gid)
        yield Path(name)


def _as_postgres() -> list[str]:
    if os.getuid() != 0:
        return []
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        missing("root cannot run PostgreSQL, and there is no user postgres")
    return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups", "--pdeathsig", "KILL"]


def _found(program: str) -> str:
    newest = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))
    found = shutil.which(program) or (str(newest[-1]) if newest else None)
    if found is None:
        missing(f"{program} of PostgreSQL is not on this machine (Debian: apt-get install postgresql)")
        raise AssertionError("missing() does not return")
    return found
