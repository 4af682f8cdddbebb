"""What a Coordinator reports of a launch: what is read of it, what is nonsense, and on which day it counts."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from toryo.domain import usages
from toryo.domain.times import DAY
from toryo.domain.usages import Usage


@pytest.mark.parametrize("name", ["input_tokens", "cached_tokens", "output_tokens", "turns", "tool_calls"])
def test_each_count_is_read_and_alone_makes_a_usage(name: str) -> None:
    told: dict[str, Any] = {name: 1}
    assert usages.read(told) == Usage(**told)


@pytest.mark.parametrize("told", [10**12 + 1, -1, True, 1.0, "1", None])
def test_an_impossible_count_is_none(told: Any) -> None:
    assert usages.read({"turns": told}) is None
    assert usages.read({"turns": 10**12}) == Usage(turns=10**12)


@pytest.mark.parametrize("told", [10**6 + 0.01, -0.01, True, float("nan"), "1", None])
def test_an_impossible_amount_is_no_cost(told: Any) -> None:
    assert usages.read({"cost_usd": told}) is None
    assert usages.read({"cost_usd": 10**6}) == Usage(cost_usd=10.0**6)


def test_what_costs_nothing_is_a_usage_and_no_report_at_all_is_none() -> None:
    assert usages.read({"cost_usd": 0}) == Usage(cost_usd=0.0)
    assert usages.read({"model": "large", "lower_bound": True, "turns": 0}) is None


@pytest.mark.parametrize(
    ("told", "model"), [("large", "large"), ("m" * 201, "m" * 200), ("", None), ("a\nb", None), (7, None)]
)
def test_a_model_is_a_printable_name_of_at_most_200_characters(told: Any, model: str | None) -> None:
    assert usages.read({"turns": 1, "model": told}) == Usage(turns=1, model=model)


@pytest.mark.parametrize(("told", "bound"), [(True, True), (False, False), (1, False), ("yes", False)])
def test_only_true_says_that_more_was_used(told: Any, bound: bool) -> None:
    assert usages.read({"turns": 1, "lower_bound": told}) == Usage(turns=1, lower_bound=bound)


def test_a_later_report_takes_nothing_back_and_says_itself_whether_it_is_final() -> None:
    first = Usage(10, 5, 3, 0.5, 2, 1, "large", lower_bound=True)
    assert first.and_then(Usage(4, 6, 3, None, 1, 2)) == Usage(10, 6, 3, 0.5, 2, 2, "large")
    assert first.and_then(Usage(11, cost_usd=0.7, model="small", lower_bound=True)) == Usage(
        11, 5, 3, 0.7, 2, 1, "small", lower_bound=True
    )
    assert Usage(1).and_then(Usage(2)).cost_usd is None


def test_a_day_ends_where_the_next_one_begins() -> None:
    assert [usages.day_of(at) for at in (0, DAY - 1, DAY)] == [0, 0, 1]
    assert [usages.end_of_day(at) for at in (0, DAY - 1, DAY)] == [DAY, DAY, 2 * DAY]


def test_days_are_counted_from_the_first_of_january_1970() -> None:
    assert [usages.number_of(day) for day in (date(1970, 1, 1), date(1970, 2, 1))] == [0, 31]
    assert usages.date_of(usages.number_of(date(2026, 3, 1))) == date(2026, 3, 1)
