"""The edge: the ASGI application. It checks the requested host, handles MCP directly for speed, and routes everything
else with Starlette.

It uses a dispatcher, a bus and the catalogue, and builds none of them (`app.py` does).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route

import toryo
from toryo.bus.bus import Bus
from toryo.domain.times import Millis
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import Operation
from toryo.operations.calls.grants import Door
from toryo.operations.overview import health
from toryo.server import clock, request_bodies, rest_answers
from toryo.server.allowed_hosts import Hosts
from toryo.server.dashboard_files import Pages
from toryo.server.hooks import Hooks
from toryo.server.keyless_requests import KEYLESS, KeylessRequests
from toryo.server.long_polling import Performing, Waiting
from toryo.server.mcp import Listing, McpEndpoint
from toryo.server.request_bodies import Receive, Scope, Send
from toryo.server.rest import Rest
from toryo.server.sign_in_pace import SignInPace
from toryo.server.trusted_proxies import Proxies
from toryo.server.waiting_places import Places

if TYPE_CHECKING:
    from toryo.server.metrics import Metrics
    from toryo.server.oidc import OidcEndpoint

_MCP = frozenset({"/mcp", "/mcp/"})
_ONCE = frozenset(
    {
        b"host",
        b"origin",
        b"authorization",
        b"content-type",
        b"idempotency-key",
        b"if-match",
        b"last-event-id",
        b"x-github-delivery",
        b"x-github-event",
        b"x-hub-signature-256",
        b"x-toryo",
    }
)


class Serving(Performing, Listing, Protocol):
    """What the edge needs of a `Dispatcher`."""


class Edge:
    """The whole server as an ASGI application; serve it between `start()` and `close()`, on one event loop."""

    def __init__(
        self,
        dispatcher: Serving,
        bus: Bus,
        operations: Mapping[str, Operation],
        hosts: Hosts,
        max_body: int,
        now: Callable[[], Millis] = clock.now,
        metrics: Metrics | None = None,
        proxies: Proxies | None = None,
        provider: OidcEndpoint | None = None,
        places: Places | None = None,
        keyless: KeylessRequests | None = None,
    ) -> None:
        self._keyless = keyless
        self._proxies = proxies or Proxies()
        self._metrics = metrics
        self._hosts = hosts
        self._waiting = Waiting(dispatcher, bus, operations, now, places)
        self._mcp = McpEndpoint(self._waiting, dispatcher, max_body)
        self._pages = Pages()
        api = Rest(self._waiting, operations, max_body, SignInPace(now))
        hooks = Hooks(self._waiting, max_body, now)
        self._site = Starlette(
            routes=self._routes(api, hooks, provider, SignInPace(now)), exception_handlers=rest_answers.HANDLERS
        )
        self._site.router.redirect_slashes = False
        self._site.router.default = self._elsewhere

    async def start(self) -> None:
        await self._mcp.start()

    async def complete(self) -> None:
        """Loads what only some callers need, once the others are answered."""
        await self._mcp.complete()

    def stop_waiting(self) -> None:
        """Answers all waiting calls now and ends streams, so that connections can be closed."""
        self._mcp.stop()
        self._waiting.stop()

    async def close(self) -> None:
        self.stop_waiting()
        await self._mcp.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        foreign = self._hosts.refusal(scope["headers"])
        scope = self._proxies.seen(scope)
        if foreign is not None:
            await request_bodies.send_text(send, *foreign)
        elif (twice := _given_twice(scope)) is not None:
            await request_bodies.send_text(send, 400, f"The header {twice} was sent twice. Send it once.\n")
        elif scope["path"] in _MCP:
            if self._keyless is not None:
                scope = {**scope, KEYLESS: self._keyless.admits(scope)}
            await self._mcp(scope, receive, send)
        else:
            # The path before decoding, so that an encoded slash stays inside its parameter.
            raw = scope.get("raw_path")
            path = raw.decode("latin-1") if raw else str(scope["path"])
            await self._site({**scope, "path": path}, receive, request_bodies.guarded(send))

    def _routes(self, api: Rest, hooks: Hooks, provider: OidcEndpoint | None, pace: SignInPace) -> list[BaseRoute]:
        return [
            Mount(rest_answers.API, app=api.app()),
            Route("/health", self._health),
            hooks.route(),
            Route("/metrics", self._measured),
            *(provider.routes(self._waiting, pace) if provider is not None else ()),
        ]

    async def _elsewhere(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = self._page(Request(scope, receive))
        await response(scope, receive, send)

    def _page(self, request: Request) -> Response:
        front = request.scope["path"] == "/"
        if request.method not in ("GET", "HEAD"):
            raise HTTPException(405 if front else 404, headers={"Allow": "GET, HEAD"})
        if self._pages.wanted(request):
            return self._pages.answer(request)
        if front:
            return rest_answers.json(request, _ABOUT)
        raise HTTPException(404)

    async def _health(self, request: Request) -> Response:
        outcome = await self._waiting.answer("health_check", {}, Credentials(), Door.OWN)
        result = outcome.result or {}
        return rest_answers.problem(request, result) if outcome.refused else rest_answers.json(request, result)

    async def _measured(self, _request: Request) -> Response:
        """Metrics for Prometheus, if configured."""
        if self._metrics is None:
            raise HTTPException(404)
        text = self._metrics.text(await self._waiting.as_server(health.measures, reads=True))
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _given_twice(scope: Scope) -> str | None:
    """Whether a header that must be unique is given twice: its consumers might pick different values."""
    if len(dict(scope["headers"])) == len(scope["headers"]):
        return None  # as in almost every request
    names = [name for name, _ in scope["headers"] if name in _ONCE]
    return next((name.decode() for name in names if names.count(name) > 1), None)


_ABOUT = {
    "name": "toryo",
    "version": toryo.__version__,
    "mcp": "/mcp",
    "rest": rest_answers.API,
    "openapi": f"{rest_answers.API}/openapi.json",
    "health": "/health",
}
