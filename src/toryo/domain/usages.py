"""What the program of one launch has used, as the program reported it: tokens and money."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.times import DAY, Millis


@dataclass(frozen=True, slots=True)
class Usage:
    """`input_tokens` counts all input; `cached_tokens` is the part of it that came from a cache."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    """None: the program reports no cost, and its Coordinator knows no prices."""
    turns: int = 0
    tool_calls: int = 0
    model: str | None = None
    lower_bound: bool = False
    """The program ended before its final report: the real usage is at least this."""

    def and_then(self, told: Usage) -> Usage:
        """The usage after a further report of the same launch. Values never decrease: a Coordinator that adopts a
        program reads its output from the start.
        """
        most = {name: max(getattr(self, name), getattr(told, name)) for name in _COUNTS}
        costs = [each for each in (self.cost_usd, told.cost_usd) if each is not None]
        return Usage(
            **most,
            cost_usd=max(costs, default=None),
            model=told.model or self.model,
            lower_bound=told.lower_bound,
        )


@dataclass(frozen=True, slots=True)
class Spent:
    """What the launches of a project's day have used: all input (cached, too) and output, and what has a price."""

    tokens: int = 0
    usd: float = 0.0


def read(told: Mapping[str, Any]) -> Usage | None:
    """From a Coordinator's report; None if it has no known field. Impossible values are ignored."""
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
    """When the UTC day of an instant ends and budgets are reset."""
    return (day_of(at) + 1) * DAY


def number_of(day: date) -> int:
    """A date, counted as in `day_of`."""
    return (day - _FIRST).days


def date_of(number: int) -> date:
    return _FIRST + timedelta(days=number)


_FIRST = datetime(1970, 1, 1, tzinfo=UTC).date()
_COUNTS = ("input_tokens", "cached_tokens", "output_tokens", "turns", "tool_calls")
_MOST = 10**12
_MOST_USD = 10**6
"""A launch that costs more is a reporting mistake, which would use up budgets and spoil sums."""


def _count(value: Any) -> int:
    possible = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST
    return value if possible else 0


def _money(value: Any) -> float | None:
    """None for an impossible amount, including not-a-number."""
    possible = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MOST_USD
    return float(value) if possible else None
