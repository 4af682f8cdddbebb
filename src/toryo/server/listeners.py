"""The TCP port and the Unix socket, and what uvicorn does not do by itself.

uvicorn raises the stopping signal a second time, which would end the process before the database is closed; and it does
not answer held calls first. What is served is defined elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import os
import resource
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn

from toryo import data_directories, process_locks
from toryo.deeds import terminal
from toryo.server.connection_limits import BoundedProtocol, Connections
from toryo.server.http_errors import ConfigurationError

BACKLOG = 4096
FILES_KEPT = 200
"""Open files that are not connections: the database's, the log, what is read on the way."""
FILES_WANTED = 1 << 20
KEEP_ALIVE = 75
"""Seconds an idle connection is kept: longer than a long poll and its client's thinking."""
GRACE = 2
"""Seconds that connections get to finish when the server stops."""
_WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - recognised, not bound


class Listener(uvicorn.Server):
    """A uvicorn server that says when it is ready, lets held calls go before it stops, and returns after a signal."""

    def __init__(
        self,
        app: Any,
        on_ready: Callable[[], None],
        on_stopping: Callable[[], None],
        connections: Connections | None = None,
    ) -> None:
        self.crowd = connections if connections is not None else Connections()
        super().__init__(_config(app, self.crowd))
        self.signal: int | None = None
        """The signal that ended it, if one did."""
        self._on_ready = on_ready
        self._on_stopping = on_stopping
        self._stop: Callable[[], object] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        await self.on_tick(0)  # sets the Date header, which the first answers would lack
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stopping()
        await super().shutdown(sockets)

    async def main_loop(self) -> None:
        """Ticks once a second, for the Date header; a stop is heard at once."""
        loop, stopping = asyncio.get_running_loop(), asyncio.Event()
        self._stop = functools.partial(loop.call_soon_threadsafe, stopping.set)
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), 1)

    def stop(self) -> None:
        """Callable from any thread, and from a handler of signals."""
        self.should_exit = True
        if self._stop is not None:
            with contextlib.suppress(RuntimeError):  # its loop is over
                self._stop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.signal = sig
        super().handle_exit(sig, frame)
        self.stop()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        heeded = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # a closed terminal ends it in order, too (nohup: not)
            heeded.append(signal.SIGHUP)
        before = {each: signal.signal(each, self.handle_exit) for each in heeded}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def _config(app: Any, crowd: Connections) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        loop="auto",
        http=functools.partial(BoundedProtocol, crowd),  # type: ignore[arg-type]
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
    )


def tcp(host: str, port: int) -> socket.socket:
    """A bound TCP socket (port 0: a free one). Raises ConfigurationError."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _cannot_listen(host, port, error) from None
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise _cannot_listen(host, port, error) from None
    return bound


def unix(path: Path) -> socket.socket:
    """A bound Unix socket that only this user may open; a stale one is removed. Raises ConfigurationError."""
    _clear(path)
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Binds so that the socket is never there with a wider mode; the mask is the whole process's for this instant.
        before = os.umask(0o177)
        try:
            bound.bind(str(path))
        finally:
            os.umask(before)
    except OSError as error:
        bound.close()
        raise ConfigurationError(
            f"Cannot listen on the Unix socket {path}: {error.strerror or error}.",
            "Choose a short path (at most about 100 characters) in a directory that this user can write to, with "
            "--socket.",
        ) from None
    return bound


def url(bound: socket.socket, host: str) -> str:
    """The address by which clients on this machine reach a bound TCP socket."""
    name = _WILDCARDS.get(host, host)
    return f"http://[{name}]:{bound.getsockname()[1]}" if ":" in name else f"http://{name}:{bound.getsockname()[1]}"


def raise_file_limit() -> int:
    """As many open files as the system allows: every agent that waits holds a connection. Answers how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_WANTED if hard == resource.RLIM_INFINITY else min(hard, FILES_WANTED)
    if soft == resource.RLIM_INFINITY:
        return FILES_WANTED
    if soft < wanted:
        with contextlib.suppress(ValueError, OSError):  # some systems promise more than they give
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            return wanted
    return soft


def _clear(path: Path) -> None:
    """Removes a socket that no process listens on; refuses one that is alive, or a file that is not a socket."""
    if not path.exists() and not path.is_symlink():
        return
    if not path.is_socket():
        raise ConfigurationError(f"{path} exists and is not a socket.", "Choose another path with --socket.")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return
        except OSError:
            pass  # busy, or not ours to open: somebody has it
    raise ConfigurationError(
        f"Another server is listening on the Unix socket {path}.", "Stop it, or choose another path with --socket."
    )


def _cannot_listen(host: str, port: int, error: OSError) -> ConfigurationError:
    if error.errno == errno.EADDRINUSE:
        places = [*data_directories.every(), *(each.lock.parent for each in data_directories.left_open())]
        if (ours := process_locks.server_at(port, places)) is not None:
            place, pid = ours
            return ConfigurationError(
                f"Port {port} on {host} is in use by the Toryo server of the data directory {place} (pid {pid}).",
                f"Stop it ({terminal('down', data_dir=str(place))}), or choose another port with "
                "--port (0: any free one).",
            )
        return ConfigurationError(
            f"Port {port} on {host} is already in use by another program.",
            "Choose another port with --port (0: any free one), or stop that program.",
        )
    if error.errno == errno.EACCES:
        return ConfigurationError(
            f"Port {port} requires administrator privileges.", "Choose a port above 1023 with --port."
        )
    return ConfigurationError(
        f"Cannot listen on {host}:{port}: {error.strerror or error}.",
        "Choose an address of this machine with --host (127.0.0.1: this machine only).",
    )
