"""Model prices, for programs that report tokens but no cost: `prices` of a provider in the Coordinator's file."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from toryo.nearest import nearest

log = logging.getLogger("toryo.coordinator")


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


def cost(
    provider: str, prices: Mapping[str, Prices], model: str | None, read: int, written: int, cached: int
) -> float | None:
    """US dollars by the prices of a model (or of `*`, any other one); None if there are none."""
    found = prices.get(model or "") or prices.get("*")
    if found is None:
        if prices and model:
            _tell_unpriced(provider, model, tuple(prices))
        return None
    return round(found.of(read, written, cached), 6)


@cache
def _tell_unpriced(provider: str, model: str, priced: tuple[str, ...]) -> None:
    """Once: what this model uses counts in no budget, though the file names prices."""
    near = nearest(model, priced)
    meant = f" Did you write {near} and mean {model}?" if near is not None else ""
    names = ", ".join(priced)
    log.warning("no price for the model %s: ai_providers.%s.prices has %s.%s", model, provider, names, meant)
