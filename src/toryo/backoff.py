"""Retry delays: each twice as long as the previous one, up to a maximum.

The delays of clients are here; those of the server's rules (a lost claim, a notice, a cooldown) and of the
Coordinator's reports are in their modules.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

Number = TypeVar("Number", int, float)

CLIENT = (0.1, 5.0)
"""Seconds, the first and the longest, between a client's tries to reach a server that is away."""
QUEUE_AGENT = (1.0, 16.0)
"""The same for a queue agent."""
QUEUE_AGENT_TRIES = 5
"""How often a queue agent retries while the server is unreachable; after that it fails."""


def pause(number: int, first: Number, longest: Number) -> Number:
    """The pause after the try `number` (from 1), in the unit of `first`: `first`, twice that, … at most `longest`."""
    doublings = min(max(number, 1) - 1, 60)
    wait: Number = first * 2**doublings
    return min(wait, longest)


def pauses(first: float, longest: float) -> Iterator[float]:
    """All of them in order, without end."""
    number = 0
    while True:
        number += 1
        yield pause(number, first, longest)
