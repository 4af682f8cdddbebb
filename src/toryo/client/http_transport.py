"""httpx transports for an address: TCP, TLS or a Unix socket. httpx is imported only when a client is created."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

    from toryo.client.server_address import Address

CONNECT_WITHIN = 10.0
KEPT = 32
"""Idle connections that are kept open."""


def http_client(where: Address) -> httpx.AsyncClient:
    """Proxies and certificates of the environment are only for servers elsewhere."""
    import httpx

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=KEPT)
    if where.local:
        verify = False if where.scheme == "http" else _certificates()
        transport = httpx.AsyncHTTPTransport(verify=verify, trust_env=False, limits=limits, uds=where.socket)
        return httpx.AsyncClient(transport=transport, trust_env=False)
    return httpx.AsyncClient(verify=_certificates(), limits=limits)


def lost(where: Address, problem: httpx.HTTPError) -> tuple[str, bool]:
    """What went wrong in words, and whether the server may have read the request."""
    import httpx

    sent = not isinstance(problem, httpx.ConnectError | httpx.ConnectTimeout)
    words = "no answer in time" if isinstance(problem, httpx.TimeoutException) else str(problem)
    return f"{where}: {words or type(problem).__name__}", sent


def _certificates() -> Any:
    """The machine's own, as the blocking client uses them."""
    import ssl

    return ssl.create_default_context()
