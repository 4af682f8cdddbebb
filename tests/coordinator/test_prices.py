"""Prices of the Coordinator's file: what tokens cost where the program does not say, while it runs and at its end."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from toryo.coordinator.config import Config, Price, ProviderConfig
from toryo.coordinator.orders import Launch
from toryo.coordinator.prices import cost as cost_of
from toryo.coordinator.process_start import Starter
from toryo.coordinator.program_output import Reading, Used
from toryo.coordinator.providers import configured
from toryo.coordinator.workspaces import Workspaces

PRICES = {"big": Price(input=3, output=15, cached=0.3), "*": Price(input=1, output=2)}


def parse(document: dict[str, Any]) -> Iterable[Used]:
    yield Used(**document)


def reading(prices: dict[str, Price] | None = None) -> Reading:
    section = ProviderConfig(prices=PRICES if prices is None else prices)
    return Reading(parse, price=partial(cost_of, "codex", configured({"codex": section})["codex"].prices))


def cost(one: Reading, **used: Any) -> Any:
    one.line(json.dumps(used))
    assert one.usage is not None
    return one.usage["cost_usd"]


def test_tokens_cost_what_the_file_says_for_their_model() -> None:
    million = 1_000_000
    assert cost(reading(), model="big", input_tokens=2 * million, cached_tokens=million, output_tokens=million) == 18.3


def test_a_model_that_is_not_named_costs_what_is_said_for_all_others() -> None:
    assert cost(reading(), model="small", input_tokens=500_000, cached_tokens=500_000, output_tokens=1) == 0.500002
    assert cost(reading(), input_tokens=10**6) == 1.0


def test_without_a_price_the_cost_is_unknown_and_not_nought() -> None:
    assert cost(reading({}), model="big", input_tokens=5) is None
    assert cost(reading({"other": PRICES["big"]}), model="big", input_tokens=5) is None


def test_a_model_without_a_price_beside_others_is_told_once_with_the_name_that_may_have_been_meant(
    caplog: pytest.LogCaptureFixture,
) -> None:
    one = reading({"gtp-5-mini": PRICES["big"]})
    assert cost(one, model="gpt-5-mini", input_tokens=5) is None
    assert cost(one, model="gpt-5-mini", input_tokens=9) is None
    (told,) = caplog.messages
    assert told.startswith("no price for the model gpt-5-mini: ai_providers.codex.prices has gtp-5-mini.")
    assert "Did you write gtp-5-mini and mean gpt-5-mini?" in told


def test_what_the_program_says_itself_goes_before_the_file() -> None:
    assert cost(reading(), model="big", input_tokens=10**6, cost_usd=0.25) == 0.25
    assert cost(reading(), model="big", input_tokens=10**6, cost_usd=0.0) == 0.0


def test_a_run_is_priced_while_it_goes_on_so_that_budgets_see_it() -> None:
    one = reading()
    assert cost(one, model="big", input_tokens=10**6, provisional=True) == 3.0
    assert cost(one, model="big", output_tokens=10**6, provisional=True) == 18.0


def test_who_has_used_nothing_costs_nothing_to_tell() -> None:
    one = reading()
    one.line(json.dumps({"input_tokens": 0}))
    assert one.usage is None


def test_a_starter_reads_with_the_prices_of_its_provider(tmp_path: Path) -> None:
    providers = configured({"codex": ProviderConfig(prices=PRICES)})
    starter = Starter(
        Config(),
        providers,
        "http://x",
        "mark",
        tmp_path,
        workspaces=Workspaces(tmp_path),
        worktrees=tmp_path,
        inherited={},
    )
    read = starter.reading(Launch("lau_1", "agt_1", "prj_1", credential="c", ai_type="codex"))
    assert read is not None
    assert read.price is not None
    assert read.price("big", 0, 1_000_000, 0) == 15


@pytest.mark.parametrize("count", [10**30, -(10**30), 1e9, "7", None])
def test_what_is_no_possible_count_is_shown_as_it_is_and_not_sent(count: Any) -> None:
    """A number beyond 64 bits could not be sent, and the process would never be reported as ended."""
    one = reading()
    line = json.dumps({"input_tokens": count})
    assert one.line(line) == line + "\n"
    assert one.usage is None
