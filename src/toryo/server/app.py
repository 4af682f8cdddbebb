"""The composition root: the one place that builds database, bus, dispatcher and edge, and runs them from start to end.

`run` is what `toryo server` does; `run_in_thread` gives a server beside other work in the same process.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

import structlog

import toryo
from toryo.bus.bus import Bus
from toryo.bus.in_process import InProcessBus
from toryo.deeds import Blank, deed, terminal
from toryo.domain import log_redaction
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.network_addresses import is_loopback
from toryo.housekeeping.notice_sending import Sending
from toryo.housekeeping.runner import Housekeeping
from toryo.operations.calls import catalogue
from toryo.operations.calls.dispatch import Dispatcher
from toryo.operations.people import accounts
from toryo.operations.people.credential_revocation import bootstrap
from toryo.server import clock, listeners, memory_release, server_log
from toryo.server.allowed_hosts import Hosts
from toryo.server.connection_limits import Bounds, Connections
from toryo.server.data_directory_setup import COORDINATOR_TOKEN, OWNER_TOKEN, DataDirectory
from toryo.server.edge import Edge
from toryo.server.forecasts import Forecasts
from toryo.server.http_errors import ConfigurationError
from toryo.server.keyless_requests import KeylessRequests
from toryo.server.listeners import Listener
from toryo.server.trusted_proxies import Proxies
from toryo.server.waiting_places import Places
from toryo.settings import Settings
from toryo.storage.engine.database import Database
from toryo.storage.errors import DatabaseUnavailable
from toryo.storage.open_database import open_database, upgrade_with_backup
from toryo.storage.shared_state import InDatabase, Shared
from toryo.storage.transaction import Transaction

if TYPE_CHECKING:
    from toryo.server.metrics import Metrics
    from toryo.server.oidc import OidcEndpoint
    from toryo.server.telemetry import Telemetry

STARTS_WITHIN = 30.0
STOPS_WITHIN = 60.0
"""Seconds that `run_in_thread` waits for its thread."""

_log = structlog.get_logger("toryo.server")


@dataclass
class App:
    """Everything that makes up one server; `close()` gives it all back, the database last but for the directory."""

    settings: Settings
    directory: DataDirectory
    sockets: list[socket.socket]
    database: Database
    bus: Bus
    dispatcher: Dispatcher
    housekeeping: Housekeeping
    sending: Sending
    edge: Edge
    held: contextlib.ExitStack
    """What `close()` gives back, in reverse order."""

    @property
    def url(self) -> str:
        return listeners.url(self.sockets[0], self.settings.host)

    def announce(self) -> None:
        """Tells clients on this machine where the server is."""
        path = self.settings.socket
        self.directory.announce(
            {
                "url": self.url,
                "socket": str(path.absolute()) if path else None,
                "pid": os.getpid(),
                "version": toryo.__version__,
                "data_dir": str(self.directory.path.absolute()),
            }
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Bus, edge and chores at work; they stop in the order in which they need one another."""
        await self.bus.start()
        try:
            await asyncio.to_thread(self.housekeeping.begin)
            await self.edge.start()
            self.housekeeping.start()
            self.sending.start()
            yield
        finally:
            await asyncio.to_thread(self.housekeeping.close)
            await asyncio.to_thread(self.sending.close)
            await self.edge.close()
            await self.bus.close()

    def close(self) -> None:
        self.held.close()


def build(settings: Settings) -> App:
    """A server that is bound to its addresses and has its database open, but does not answer yet.

    Raises ConfigurationError (what is wrong, what to do) and then leaves nothing behind.
    """
    with contextlib.ExitStack() as held:
        app = _build(settings, held)
        app.held = held.pop_all()
        return app


def _build(settings: Settings, held: contextlib.ExitStack) -> App:
    _refuse_open_registration(settings)
    directory = DataDirectory.hold(settings.directory())
    held.callback(directory.release)
    held.callback(server_log.configure(directory.path / "logs", settings.log_level).close)
    sockets = _bind(settings, held)
    database = _open(settings, held)
    bus = _bus(settings, database)
    shared = _shared(settings, held)
    metrics = _metrics(settings)
    observers = [each for each in (metrics, _telemetry(settings, held)) if each is not None]
    forecasts = Forecasts(directory.path, clock.now)
    held.callback(forecasts.close)
    dispatcher = Dispatcher(
        database,
        settings,
        clock.now,
        clock.entropy,
        bus.publish,
        shared=shared,
        observers=observers,
        tokens=directory,
        forecasts=forecasts,
    )
    bootstrap(dispatcher, directory.token(COORDINATOR_TOKEN), directory.token(OWNER_TOKEN))
    _refuse_without_way_in(settings, dispatcher)
    hosts = Hosts(settings.host, settings.allowed_hosts)
    proxies, provider = Proxies(settings.trusted_proxies), _provider(settings)
    edge = Edge(
        dispatcher,
        bus,
        catalogue.catalogue(),
        hosts,
        settings.max_body_bytes,
        metrics=metrics,
        proxies=proxies,
        provider=provider,
        places=Places(_bounds(settings).connections),
        keyless=KeylessRequests() if settings.auth.mode == "open" else None,
    )
    return App(
        settings,
        directory,
        sockets,
        database,
        bus,
        dispatcher,
        Housekeeping(dispatcher),
        Sending(dispatcher),
        edge,
        contextlib.ExitStack(),
    )


def _refuse_open_registration(settings: Settings) -> None:
    """Where agents register themselves without a key, nobody but this machine may reach the server."""
    if settings.auth.mode != "keys" and (settings.trusted_proxies or not is_loopback(settings.host)):
        raise ConfigurationError(
            f"With TORYO_AUTH__MODE={settings.auth.mode} every caller can register as an agent, but this server can be "
            "reached from other machines.",
            "Keep the server on 127.0.0.1 without a proxy; or remove TORYO_AUTH__MODE and make API keys: "
            f"{deed('make_api_key', agent_id=Blank('ID'), project_id=Blank('PRJ'))}",
        )


def _refuse_without_way_in(settings: Settings, dispatcher: Dispatcher) -> None:
    """A server that others reach does not open before somebody can sign in who is not on this machine."""
    if is_loopback(settings.host) or settings.auth.people == "tokens":
        return
    if not dispatcher.housekeep(accounts.somebody_can_sign_in):
        raise ConfigurationError(
            f"This server can be reached from other machines (at {settings.host or 'every address'}), but no one "
            "could sign in: no person has a password, and no identity provider is set up.",
            f"Do one of these. Set a password: start the server for this machine only ({terminal('server')}), run "
            f"{terminal('person password owner')}, then start it again as now. Set up an identity provider "
            "(TORYO_AUTH__OIDC_ISSUER). Keep the server on 127.0.0.1 behind a proxy. Or allow only tokens and "
            "sign-in links: TORYO_AUTH__PEOPLE=tokens.",
        )


def _provider(settings: Settings) -> OidcEndpoint | None:
    if not settings.auth.oidc_issuer:
        return None
    from toryo.server.oidc import OidcEndpoint

    return OidcEndpoint(settings.auth)


def _bind(settings: Settings, held: contextlib.ExitStack) -> list[socket.socket]:
    sockets = [listeners.tcp(settings.host, settings.port)]
    held.callback(sockets[0].close)
    if settings.socket is not None:
        path = settings.socket.absolute()
        sockets.append(listeners.unix(path))
        held.callback(path.unlink, missing_ok=True)
        held.callback(sockets[1].close)
    return sockets


def _open(settings: Settings, held: contextlib.ExitStack) -> Database:
    try:
        database = open_database(settings.database_url())
        held.callback(database.close)
        upgrade_with_backup(database, settings.directory(), _tell_upgrade)
    except DatabaseUnavailable as error:
        raise ConfigurationError(error.message, error.instruction) from None
    return database


def _tell_upgrade(line: str) -> None:
    _log.info("database_upgrade", told=line)
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - it cannot be undone


def _metrics(settings: Settings) -> Metrics | None:
    """Imported only where it is wanted: starting without costs nothing."""
    if not settings.metrics:
        return None
    from toryo.server.metrics import Metrics

    return Metrics()


def _telemetry(settings: Settings, held: contextlib.ExitStack) -> Telemetry | None:
    if not settings.telemetry:
        return None
    from toryo.server import telemetry

    found = telemetry.configure()
    held.callback(found.close)
    return found


def _shared(settings: Settings, held: contextlib.ExitStack) -> Callable[[Transaction], Shared]:
    """Where shared values are: in Redis if there is one, else in the database."""
    if settings.redis is None:
        return InDatabase
    from toryo.storage.shared_state_redis import RedisState

    try:
        state = RedisState(settings.redis)
    except ValueError:
        raise ConfigurationError(
            f"{log_redaction.address(settings.redis)} is not a Redis URL.",
            "Write it like redis://:PASSWORD@127.0.0.1:6379/0, with / ? # @ % in the password written as %2F %3F %23 "
            "%40 %25 (TORYO_REDIS_URL, --redis).",
        ) from None
    held.callback(state.close)
    return state


def _bus(settings: Settings, database: Database) -> Bus:
    if settings.redis is not None:
        from toryo.bus.redis import RedisBus

        return RedisBus(settings.redis)
    if database.dialect == "sqlite":
        return InProcessBus()
    from toryo.bus.postgres import PostgresBus

    return PostgresBus(settings.database_url())


_OPEN = (
    "warning: TORYO_AUTH__MODE=open: every program of your user on this machine can create, take and finish tasks of "
    "queues without a key."
)


def run(settings: Settings, opened: Callable[[], None] = lambda: None) -> None:
    """Serves until SIGTERM or SIGINT; prints `ready http://…` on stderr once it accepts requests.

    `opened` is called just before that. Raises ConfigurationError if it cannot start, KeyboardInterrupt after a
    graceful shutdown by SIGINT.
    """
    memory_release.give_large_back()
    app = build(settings)
    if settings.auth.mode == "open":
        print(_OPEN, file=sys.stderr, flush=True)  # noqa: T201 - beside what `opened` says
        _log.warning("open_without_keys", url=app.url)
    opened()

    def ready() -> None:
        print(f"ready {app.url}", file=sys.stderr, flush=True)  # noqa: T201 - the contract of `toryo server`

    try:
        listener = _listener(app, ready)
        _serve(app, listener)
    finally:
        app.close()
    if listener.signal == signal.SIGINT:
        raise KeyboardInterrupt


@dataclass
class Running:
    """A server in a thread of this process."""

    url: str
    app: App
    _listener: Listener
    _thread: threading.Thread

    def close(self) -> None:
        """Stops it; returns when everything it held is given back. Repeatable."""
        self._listener.stop()
        self._thread.join(STOPS_WITHIN)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def run_in_thread(settings: Settings) -> Running:
    """Returns when the server answers. Raises ConfigurationError if it cannot start."""
    app = build(settings)
    answers = threading.Event()
    listener = _listener(app, answers.set)

    def serve() -> None:
        try:
            _serve(app, listener)
        finally:
            app.close()

    thread = threading.Thread(target=serve, name="toryo server", daemon=True)
    thread.start()
    running = Running(app.url, app, listener, thread)
    if not answers.wait(STARTS_WITHIN):
        running.close()
        raise ConfigurationError("The server did not start in time.", f"See {app.directory.path}/logs/server.log.")
    return running


GARBAGE_AFTER = 20_000, 20, 20
"""When the collector looks for cycles (`gc.set_threshold`). A batch of calls makes some ten thousand objects that are
gone with it, and at the default of 700 the collector looks at them again and again: a tenth of a queue cycle's CPU."""


def _listener(app: App, ready: Callable[[], None]) -> Listener:
    def answering() -> None:
        # What exists now lives as long as the server: the collector need never look at it again.
        gc.collect()
        gc.freeze()
        gc.set_threshold(*GARBAGE_AFTER)
        gc.enable()
        app.announce()
        ready()
        _log.info("server_started", url=app.url, version=toryo.__version__)

    return Listener(app.edge, answering, app.edge.stop_waiting, _connections(app.settings))


def _connections(settings: Settings) -> Connections:
    """As many as `_bounds` says; those of proxies are those of many."""
    return Connections(_bounds(settings), Proxies(settings.trusted_proxies).has)


def _bounds(settings: Settings) -> Bounds:
    """As many as the settings want and the system has files for."""
    most = max(listeners.raise_file_limit() - listeners.FILES_KEPT, 10)
    return Bounds(min(settings.max_connections, most), min(settings.max_connections_per_address, most))


def _serve(app: App, listener: Listener) -> None:
    async def serve() -> None:
        async with app.running():
            settling = asyncio.create_task(_settle(app))
            await listener.serve(app.sockets)
            settling.cancel()
        _log.info("server_stopped")

    with asyncio.Runner(loop_factory=listener.config.get_loop_factory()) as runner:
        runner.run(serve())


async def _settle(app: App) -> None:
    """Once the server answers: loads what can wait until now. The collector then spares that, too."""
    await asyncio.to_thread(catalogue.complete)
    await app.edge.complete()
    gc.collect()
    gc.freeze()
