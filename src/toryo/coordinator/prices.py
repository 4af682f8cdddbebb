"""Prices of models, for programs that tell tokens and no money: `prices` of a provider in the Coordinator's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens."""

    input: float
    output: float
    cached: float | None = None
    """None: as `input`."""

    def of(self, input_tokens: int, output_tokens: int, cached_tokens: int) -> float:
        cached = self.input if self.cached is None else self.cached
        fresh = max(0, input_tokens - cached_tokens)
        return (fresh * self.input + cached_tokens * cached + output_tokens * self.output) / 1_000_000


def cost(prices: Mapping[str, Prices], model: str | None, read: int, written: int, cached: int) -> float | None:
    """US dollars by the prices of a model (or of `*`, any other one); None where there are none for it."""
    found = prices.get(model or "") or prices.get("*")
    return None if found is None else round(found.of(read, written, cached), 6)
