"""How often one address may knock: a bucket for each, refilled as time passes. Time is an argument.

It guards the doors where people sign in: their passwords are expensive to verify on purpose. Wrong passwords are
counted elsewhere (`operations/entering.py`); this here forgets, and is each server's own.
"""

from __future__ import annotations

from collections import OrderedDict
from ipaddress import IPv6Address, ip_address, ip_network

BURST, EVERY_SECONDS = 30, 2.0
"""So many at once, and one more in so many seconds."""
REMEMBERED = 10_000
"""Addresses; whoever has not knocked for longest is forgotten first."""


class Pace:
    def __init__(self, burst: int = BURST, every_seconds: float = EVERY_SECONDS, remembered: int = REMEMBERED) -> None:
        self._burst, self._every, self._remembered = burst, every_seconds, remembered
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Left in it, when looked at last."""

    def wait_seconds(self, address: str, now: float) -> float:
        """0 if this knock may pass (and is counted), else after how many seconds the next one may."""
        name = _household(address)
        left, since = self._buckets.pop(name, (float(self._burst), now))
        left = min(float(self._burst), left + (now - since) / self._every)
        passes = left >= 1
        self._buckets[name] = (left - 1 if passes else left, now)
        if len(self._buckets) > self._remembered:
            self._buckets.popitem(last=False)
        return 0.0 if passes else (1 - left) * self._every

    def __len__(self) -> int:
        return len(self._buckets)


def _household(address: str) -> str:
    """An IPv6 subscriber has a whole /64 of addresses."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    return str(ip_network((found, 64), strict=False)) if isinstance(found, IPv6Address) else str(found)
