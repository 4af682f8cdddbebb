"""Pauses between tries: each twice as long as the one before, up to a longest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

Number = TypeVar("Number", int, float)


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
