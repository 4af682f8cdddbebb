"""The server's clock and random numbers, passed to everything that needs them."""

from __future__ import annotations

import secrets
import time

from toryo.domain.times import Millis


def now() -> Millis:
    """The present instant, in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def entropy(bits: int) -> int:
    """A random number of at most `bits` bits, suitable for secrets."""
    return secrets.randbits(bits)
