"""What a proxy in front says of a request: by https or not, and whose it is. Believed only of proxies that are named.

Anybody can send these headers; so without `TORYO_TRUSTED_PROXIES` they mean nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from toryo.server.request_bodies import Scope

_UNIX = "unix"
_Address = IPv4Address | IPv6Address


class Proxies:
    def __init__(self, trusted: Iterable[str] = ()) -> None:
        named = tuple(trusted)
        self._unix = _UNIX in named
        self._networks: list[IPv4Network | IPv6Network] = [ip_network(each) for each in named if each != _UNIX]

    def seen(self, scope: Scope) -> Scope:
        """The request as the outermost proxy that is trusted has seen it."""
        if not (self._unix or self._networks) or not self._trusts(_peer(scope)):
            return scope
        headers = dict(scope["headers"])
        told = headers.get(b"x-forwarded-proto", b"").split(b",")[-1].strip().lower()
        scheme = told.decode("latin-1") if told in (b"http", b"https") else scope.get("scheme", "http")
        # The nearest address that is none of our proxies: what stands before it was said by strangers.
        forwarded = headers.get(b"x-forwarded-for", b"").decode("latin-1")
        client = None
        for part in reversed(forwarded.split(",")):
            address = _parsed(part.strip())
            if address is None:
                break
            client = str(address)
            if not self._trusts(address):
                break
        return {**scope, "scheme": scheme, "client": (client, 0) if client else scope.get("client")}

    def has(self, address: str) -> bool:
        """Whether this address is a trusted proxy."""
        peer = _parsed(address)
        return peer is not None and self._trusts(peer)

    def _trusts(self, peer: _Address | None) -> bool:
        if peer is None:
            return self._unix
        return any(peer in network for network in self._networks if network.version == peer.version)


def _peer(scope: Scope) -> _Address | None:
    """None for somebody on the Unix socket."""
    client: Any = scope.get("client")
    return _parsed(str(client[0])) if client else None


def _parsed(text: str) -> _Address | None:
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found
