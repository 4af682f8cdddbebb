"""Rate limits: a token bucket per caller. Time is an argument.

They protect sign-in (by address, because verifying passwords is expensive on purpose) and calls with API keys. In
memory and per server. `sign_in_lockout.py` counts wrong passwords.
"""

from __future__ import annotations

from collections import OrderedDict

from toryo.domain.network_addresses import household

BURST, EVERY_SECONDS = 30, 2.0
"""How many at once, and the seconds until one more is allowed."""
REMEMBERED = 10_000
"""Maximum number of addresses or keys; the least recently used one is dropped first."""


class Pace:
    def __init__(self, burst: int = BURST, every_seconds: float = EVERY_SECONDS, remembered: int = REMEMBERED) -> None:
        self._burst, self._every, self._remembered = burst, every_seconds, remembered
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Left in it, when looked at last."""

    def wait_seconds_at(self, address: str, now: float) -> float:
        """As `wait_seconds`, of anyone who calls from this address."""
        return self.wait_seconds(household(address), now)

    def wait_seconds(self, who: str, now: float) -> float:
        """0 if this knock may pass (and is counted), else after how many seconds the next one may."""
        left, since = self._buckets.pop(who, (float(self._burst), now))
        left = min(float(self._burst), left + (now - since) / self._every)
        passes = left >= 1
        self._buckets[who] = (left - 1 if passes else left, now)
        if len(self._buckets) > self._remembered:
            self._buckets.popitem(last=False)
        return 0.0 if passes else (1 - left) * self._every

    def give_back_at(self, address: str) -> None:
        """What was counted was none of those that must be slowed down."""
        who = household(address)
        if who in self._buckets:
            left, since = self._buckets[who]
            self._buckets[who] = (min(float(self._burst), left + 1), since)

    def __len__(self) -> int:
        return len(self._buckets)
