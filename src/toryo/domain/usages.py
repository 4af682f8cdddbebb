"""What the program of one launch has used: tokens and money, as it said itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from toryo.domain.times import DAY, Millis


@dataclass(frozen=True, slots=True)
class Usage:
    """`input_tokens` counts everything that was read; `cached_tokens` is the part of it that came from a cache."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    """None: the program tells no money, and its Coordinator knows no prices."""
    turns: int = 0
    tool_calls: int = 0
    model: str | None = None
    lower_bound: bool = False
    """It ended before it said how much: at least so much."""

    def and_then(self, told: Usage) -> Usage:
        """Told once more, of the same launch. Nothing is taken back: who adopts a program reads it from its start."""
        most = {name: max(getattr(self, name), getattr(told, name)) for name in _COUNTS}
        costs = [each for each in (self.cost_usd, told.cost_usd) if each is not None]
        return Usage(
            **most,
            cost_usd=max(costs, default=None),
            model=told.model or self.model,
            lower_bound=told.lower_bound,
        )


def read(told: Mapping[str, Any]) -> Usage | None:
    """From what a Coordinator reports; None where nothing of it is known here. What is impossible counts as nothing."""
    counts = {name: _count(told.get(name)) for name in _COUNTS}
    cost = _money(told.get("cost_usd"))
    model = told.get("model")
    if not any(counts.values()) and cost is None:
        return None
    return Usage(
        **counts,
        cost_usd=cost,
        model=model[:200] if isinstance(model, str) and model and model.isprintable() else None,
        lower_bound=told.get("lower_bound") is True,
    )


def day_of(at: Millis) -> int:
    """The UTC day of an instant, counted from 1970-01-01."""
    return at // DAY


def end_of_day(at: Millis) -> Millis:
    """When the UTC day of an instant is over, and budgets begin anew."""
    return (day_of(at) + 1) * DAY


def number_of(day: date) -> int:
    """A date as `day_of` counts days."""
    return (day - _FIRST).days


def date_of(number: int) -> date:
    return _FIRST + timedelta(days=number)


_FIRST = datetime(1970, 1, 1, tzinfo=UTC).date()
_COUNTS = ("input_tokens", "cached_tokens", "output_tokens", "turns", "tool_calls")
_MOST = 10**12
_MOST_USD = 10**6
"""More than that of one launch is a mistake, and would use up budgets and spoil sums."""


def _count(value: Any) -> int:
    possible = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST
    return value if possible else 0


def _money(value: Any) -> float | None:
    """None for what is no possible sum; not-a-number is none, as it compares with nothing."""
    possible = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MOST_USD
    return float(value) if possible else None
