"""A Redis of a test's own, which it may stop and start again. What was written before is there afterwards, unless other
settings are given.

`redis-server` is looked for on the PATH; without it the test is skipped and says why, or fails where everything is
required (`tests/databases.py`).
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.databases import missing
from tests.scenarios.programs import Program
from tests.scenarios.sites import free_port

KEPT = ("--save", "", "--appendonly", "yes", "--appendfsync", "always")


class RedisServer:
    """Listens on a free port of this machine while it runs."""

    def __init__(self, program: str, directory: Path, settings: Sequence[str]) -> None:
        self.port = free_port()
        words = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(directory), *settings]
        self._program = Program("redis", words, os.environ, directory, command=[program])
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Returns when it answers."""
        self._program.start().says("Ready to accept connections")

    def stop(self) -> None:
        """SIGKILL: whoever was connected is cut off."""
        self._program.kill()

    def freeze(self) -> None:
        """It stands still; the kernel still takes connections for it."""
        os.kill(self._program.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self._program.pid, signal.SIGCONT)


@contextmanager
def redis_server(directory: Path, settings: Sequence[str] = KEPT) -> Iterator[RedisServer]:
    """One that runs; it ends with the test. Without settings it is as it comes."""
    program = shutil.which("redis-server")
    if program is None:
        missing("redis-server is not on the PATH (Debian: apt-get install redis-server)")
        raise AssertionError("missing() does not return")
    server = RedisServer(program, directory, settings)
    server.start()
    try:
        yield server
    finally:
        server.stop()
