"""Network addresses as callers have them: which are of this machine, and which belong together."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network


def is_loopback(name: str) -> bool:
    """Whether only this machine is reached by it, or calls from it."""
    found = _parsed(name)
    return name.lower() == "localhost" or (found is not None and found.is_loopback)


def household(address: str) -> str:
    """Who is counted together: an IPv6 subscriber has a whole /64 of addresses."""
    found = _parsed(address)
    if found is None:
        return address
    return str(ip_network((found, 64), strict=False)) if isinstance(found, IPv6Address) else str(found)


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    """An IPv4 address in the clothes of IPv6 is the IPv4 address."""
    try:
        found = ip_address(address)
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found
