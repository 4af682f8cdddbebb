"""How a server is reached: directly, by TLS, through the proxy of the environment; and what is said when it is not.

Both clients use it. It opens no connection. Proxies are `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, or the
system's; servers on this machine are reached without.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from toryo.client import http1
from toryo.client.server_address import Address

if TYPE_CHECKING:
    import ssl

CONNECT_WITHIN = 10.0
KEPT = 32
"""Idle connections that are kept open."""
SILENT_FOR = 30
"""Seconds after which the kernel ends a connection on which the other machine acknowledges nothing: it has died, or the
network between loses all packets. More than the interruptions that a network survives. A machine that acknowledges and
never answers is noticed by the time of the call alone.
"""
_PROBES = 3
LOST = (OSError, http1.Garbled)
"""What makes a server unreachable; TimeoutError and the errors of TLS are an OSError."""
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")


class Route:
    """To one server. Raises OSError for a proxy that cannot be used."""

    def __init__(self, where: Address) -> None:
        proxy = _proxy(where)
        self.socket = where.socket
        self.host, self.port = (where.host, where.port) if proxy is None else (proxy.host, proxy.port)
        self.secure_name = where.host if where.scheme == "https" else None
        """The name that the server's certificate must have; None: no TLS."""
        self.tunnel: bytes | None = None
        """What is sent to a proxy first, so that it connects to the server."""
        self._prefix, self._headers = where.prefix, {"Host": where.host_header}
        if proxy is not None and self.secure_name is not None:
            there = where.host_header
            self.tunnel = http1.request("CONNECT", there, {"Host": there, **proxy.headers}, None)
        elif proxy is not None:
            self._prefix, self._headers = where.root, {**self._headers, **proxy.headers}
        self._tls: ssl.SSLContext | None = None

    def request(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
        return http1.request(method, self._prefix + path, {**self._headers, **headers}, body)

    def tls(self) -> ssl.SSLContext:
        """With the machine's certificates, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`: read once."""
        if self._tls is None:
            import ssl  # 10 ms of import that only TLS needs

            self._tls = ssl.create_default_context()
        return self._tls


def notice_silence(connection: socket.socket) -> None:
    """Lets the kernel end a TCP connection after `SILENT_FOR`, while it waits too; as far as the system can."""
    idle, every = SILENT_FOR // 2, SILENT_FOR // 2 // _PROBES
    chosen = {
        "TCP_KEEPIDLE": idle,
        "TCP_KEEPALIVE": idle,  # its name on macOS
        "TCP_KEEPINTVL": every,
        "TCP_KEEPCNT": _PROBES,
        "TCP_USER_TIMEOUT": SILENT_FOR * 1000,
    }
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in chosen.items():
        if (option := getattr(socket, name, None)) is not None:
            with contextlib.suppress(OSError):
                connection.setsockopt(socket.IPPROTO_TCP, option, value)


def let_through(answer: http1.Answer) -> None:
    """Whether a proxy opened the tunnel. Raises OSError."""
    if not 200 <= answer.status < 300:
        raise OSError(f"the proxy refused the connection: it answered {answer.status}")


def words(problem: BaseException) -> str:
    """Why a server cannot be reached, for people."""
    if isinstance(problem, TimeoutError):
        return "no answer in time"
    if getattr(problem, "reason", None) in _NO_TLS:
        return "the server does not speak HTTPS: use http://"
    if isinstance(problem, ConnectionError) and problem.errno:
        return os.strerror(problem.errno)
    return getattr(problem, "strerror", None) or str(problem) or type(problem).__name__


class _Proxy(NamedTuple):
    host: str
    port: int
    headers: dict[str, str]
    """What signs in at it."""


def _proxy(where: Address) -> _Proxy | None:
    if where.local:
        return None
    from urllib.request import getproxies, proxy_bypass  # 30 ms of import that local servers do not need

    known = getproxies()
    named = known.get(where.scheme) or known.get("all")
    if not named or proxy_bypass(where.host):
        return None
    parts = urlsplit(named if "//" in named else f"http://{named}")
    if parts.scheme != "http" or not parts.hostname:
        raise OSError(f"the proxy in the environment must be http://HOST:PORT, but it is {parts.scheme}://…")
    headers = {}
    if parts.username is not None:
        import base64

        signs_in = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        headers["Proxy-Authorization"] = f"Basic {base64.b64encode(signs_in).decode()}"
    return _Proxy(parts.hostname, parts.port or 80, headers)
