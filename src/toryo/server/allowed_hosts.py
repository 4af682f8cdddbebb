"""The host names of the server: protection against DNS rebinding.

A web page that points its own domain name to this machine can send requests here from a person's browser. It cannot
forge `Host` and `Origin`, so both must name this server. Callers are authenticated elsewhere.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from toryo.domain.network_addresses import is_loopback

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_REMEMBERED = 256

Headers = Sequence[tuple[bytes, bytes]]


class Hosts:
    """The names of this server: loopback names, the one it listens on, and the configured `further` ones.

    A server that listens on more than loopback also accepts any IP address (a rebound name is never one) and the
    machine's own name. `*` in `further` accepts any host name; `Origin` is still checked.
    """

    def __init__(self, listening_on: str, further: Iterable[str] = ()) -> None:
        given = {name.lower() for name in further}
        self._open = "*" in given
        self._public = not is_loopback(listening_on)
        self._names = _LOOPBACK | given | {listening_on.lower()}
        if self._public:
            self._names |= {socket.gethostname().lower()}
        self._good: set[bytes] = set()

    def refusal(self, headers: Headers) -> tuple[int, str] | None:
        """The status and message for a foreign `Host` (421) or `Origin` (403); None if the request may pass."""
        host = origin = None
        for name, value in headers:
            if name == b"host":
                host = value
            elif name == b"origin":
                origin = value
        if origin is None and (self._open or host in self._good):
            return None
        return self._judge(host or b"", origin)

    def _judge(self, host: bytes, origin: bytes | None) -> tuple[int, str] | None:
        if not self._open and not self._is_mine(_split(host.decode("latin-1"))):
            return 421, _words("Host", host)
        if origin is not None and not self._may_come_from(origin.decode("latin-1"), host.decode("latin-1")):
            return 403, _words("Origin", origin)
        if not self._open and len(self._good) < _REMEMBERED:
            self._good.add(host)
        return None

    def _is_mine(self, address: tuple[str, str]) -> bool:
        name, port = address
        if not name:
            return False
        return name in self._names or f"{name}:{port}" in self._names or (self._public and _is_ip(name))

    def _may_come_from(self, origin: str, host: str) -> bool:
        """Allows pages of this server, of loopback, and of configured names; `null` and extensions are foreign."""
        try:
            parts = urlsplit(origin)
            name = (parts.hostname or "").lower()
        except ValueError:
            return False
        if parts.scheme not in ("http", "https") or not name:
            return False
        return parts.netloc.lower() == host.lower() or name in self._names or parts.netloc.lower() in self._names


def _split(host: str) -> tuple[str, str]:
    """`[::1]:8765` -> (`::1`, `8765`); the port may be missing."""
    try:
        parts = urlsplit(f"//{host}")
        name = (parts.hostname or "").rstrip(".")
        return (name, str(parts.port or "")) if parts.netloc == host and "@" not in host else ("", "")
    except ValueError:
        return "", ""


def _is_ip(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _words(header: str, value: bytes) -> str:
    shown = value.decode("latin-1")[:200]
    return (
        f"This server does not accept requests with the {header} '{shown}', as a protection against malicious "
        "web pages. Use the address 127.0.0.1 or localhost, or add the host to TORYO_ALLOWED_HOSTS and restart "
        "the server.\n"
    )
