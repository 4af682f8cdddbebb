"""Caller addresses: which are of this machine, and which are counted together."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network


def is_loopback(name: str) -> bool:
    """Whether this name or address reaches only this machine."""
    found = _parsed(name)
    return name.lower() == "localhost" or (found is not None and found.is_loopback)


def household(address: str) -> str:
    """The group in which an address is counted: an IPv6 subscriber has a whole /64."""
    found = _parsed(address)
    if found is None:
        return address
    return str(ip_network((found, 64), strict=False)) if isinstance(found, IPv6Address) else str(found)


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    """The parsed address; an IPv4-mapped IPv6 address becomes its IPv4 address."""
    try:
        found = ip_address(address)
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found
