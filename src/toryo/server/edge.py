"""The edge: one ASGI application that lets in who addresses this server, and hands each path to its endpoint.

It knows an office that performs, a bus that hints and the catalogue, and builds nothing below them (`app.py` does).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import orjson

import toryo
from toryo.bus.bus import Bus
from toryo.domain.errors import Code, Refusal
from toryo.domain.times import SECOND, Millis
from toryo.domain.wording import say
from toryo.operations.calls.callers import SERVER_ITSELF, Credentials
from toryo.operations.calls.catalogue import Operation
from toryo.operations.calls.grants import Door
from toryo.operations.calls.rate_limits import Pace
from toryo.server import bodies, clock, languages, oidc, rest
from toryo.server.bodies import Message, Receive, Scope, Send
from toryo.server.hosts import Hosts
from toryo.server.mcp import Listing, McpEndpoint
from toryo.server.oidc import OidcEndpoint
from toryo.server.pages import Pages
from toryo.server.proxies import Proxies
from toryo.server.rest import RestEndpoint
from toryo.server.waiting import Performing, Waiting

if TYPE_CHECKING:
    from toryo.server.metrics import Metrics

_MCP = frozenset({"/mcp", "/mcp/"})
_DOORS = frozenset({f"{rest.PREFIX}/sign-in", oidc.PATH, oidc.CALLBACK})
_GUARDS = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))
_DATA = frozenset({"/health", "/metrics"})


class Serving(Performing, Listing, Protocol):
    """What the edge needs of an `Office`."""


class Edge:
    """The whole server as an ASGI application; serve it between `start()` and `close()`, on one event loop."""

    def __init__(
        self,
        office: Serving,
        bus: Bus,
        operations: Mapping[str, Operation],
        hosts: Hosts,
        max_body: int,
        now: Callable[[], Millis] = clock.now,
        metrics: Metrics | None = None,
        proxies: Proxies | None = None,
        provider: OidcEndpoint | None = None,
    ) -> None:
        self._proxies = proxies or Proxies()
        self._pace = Pace()
        self._now = now
        self._metrics = metrics
        self._hosts = hosts
        self._waiting = Waiting(office, bus, operations, now)
        self._mcp = McpEndpoint(self._waiting, office, max_body)
        self._rest = RestEndpoint(self._waiting, operations, max_body)
        self._pages = Pages()
        self._provider = provider

    async def start(self) -> None:
        await self._mcp.start()

    async def complete(self) -> None:
        """Returns when everything that `start` began to load is there."""
        await self._mcp.complete()

    def stop_waiting(self) -> None:
        """Every call that waits answers now, and streams end, so that connections can be closed."""
        self._mcp.stop()
        self._waiting.stop()

    async def close(self) -> None:
        self.stop_waiting()
        await self._mcp.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        foreign = self._hosts.refusal(scope["headers"])
        path: str = scope["path"]
        scope = self._proxies.seen(scope)
        send = _guarded(send)
        if foreign is not None:
            await bodies.send_text(send, *foreign)
        elif path in _DOORS and (too_early := self._too_early(scope)):
            await rest.refuse(send, too_early.answer(), languages.wanted(dict(scope["headers"])))
        elif self._provider is not None and path.startswith(oidc.PATH):
            await self._provider(scope, self._waiting, send)
        elif path in _MCP:
            await self._mcp(scope, receive, send)
        elif path.startswith(rest.PREFIX + "/") or path == rest.DOCS:
            await self._rest(scope, receive, send)
        elif path not in _DATA and self._pages.wanted(scope):
            await self._pages(scope, send)
        else:
            await self._elsewhere(path, scope["method"], send)

    def _too_early(self, scope: Scope) -> Refusal | None:
        """Whoever knocks too often at a door where people sign in."""
        if scope["method"] == "GET" and not scope["path"].startswith(oidc.PATH):
            return None
        client = scope.get("client")
        seconds = self._pace.wait_seconds(client[0] if client else "unix", self._now() / SECOND)
        if not seconds:
            return None
        return Refusal(
            Code.RATE_LIMITED,
            "Too many tries to sign in from one address.",
            say("Wait {seconds} seconds, then try again.", seconds=math.ceil(seconds)),
            retry_after=math.ceil(seconds),
        )

    async def _elsewhere(self, path: str, method: str, send: Send) -> None:
        page = {"/health": self._health, "/": _front, "/metrics": self._measured}.get(path)
        if path == "/metrics" and self._metrics is None:
            page = None
        if page is None:
            await rest.send_lost(
                send,
                404,
                f"There is nothing at {path[:200]}.",
                "MCP is at /mcp, REST at /api/v1, /health says how it is.",
            )
        elif method not in ("GET", "HEAD"):
            await rest.send_lost(send, 405, f"{path} can only be read.", "Use GET.", ((b"allow", b"GET, HEAD"),))
        else:
            await page(send)

    async def _health(self, send: Send) -> None:
        outcome = await self._waiting.answer("health_check", {}, Credentials(), Door.OWN)
        if outcome.refused:
            await rest.refuse(send, outcome.result or {})
        else:
            await bodies.send_json(send, 200, orjson.dumps(outcome.result))

    async def _measured(self, send: Send) -> None:
        """For Prometheus, where the settings open it."""
        assert self._metrics is not None
        outcome = await self._waiting.answer("read_measures", {}, Credentials(proof=SERVER_ITSELF), Door.OWN)
        if outcome.refused:
            await rest.refuse(send, outcome.result or {})
            return
        text = self._metrics.text((outcome.result or {})["measures"])
        await bodies.send_json(send, 200, text, b"text/plain; version=0.0.4; charset=utf-8")


def _guarded(send: Send) -> Send:
    """Every answer says that it is what it says it is and is not to be kept, unless it says otherwise itself."""

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            said = {name for name, _ in message["headers"]}
            message = {**message, "headers": [*message["headers"], *(each for each in _GUARDS if each[0] not in said)]}
        await send(message)

    return guarded


async def _front(send: Send) -> None:
    about: dict[str, Any] = {
        "name": "toryo",
        "version": toryo.__version__,
        "mcp": "/mcp",
        "rest": rest.PREFIX,
        "openapi": f"{rest.PREFIX}/openapi.json",
        "health": "/health",
    }
    await bodies.send_json(send, 200, orjson.dumps(about))
