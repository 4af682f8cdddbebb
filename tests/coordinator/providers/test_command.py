"""What a command tells while it runs (`told_lines.py`): its log is a conversation, and what it used counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toryo import told_lines
from toryo.coordinator.program_output import Reading
from toryo.coordinator.providers import BUILT_IN

COMMAND = BUILT_IN["command"]


def said(kind: str, **more: Any) -> str:
    return json.dumps({"toryo": kind, **more}, ensure_ascii=False)


def read(*lines: str) -> tuple[Reading, str]:
    reading = Reading(COMMAND.parse)
    return reading, "".join(map(reading.line, lines))


def test_words_calls_and_results_are_shown_as_those_of_a_model() -> None:
    reading, text = read(
        "$ sh work.sh",
        said("said", text="I read the orders."),
        said("called", tool="Read", arguments={"file_path": "orders.csv"}, id="1"),
        said("returned", text="120 lines", id="1"),
        said("called", tool="Bash", arguments="make test"),
        said("returned", text="exit code 2", failed=True),
        "done",
    )
    assert text.splitlines() == [
        "$ sh work.sh",
        "I read the orders.",
        '→ Read {"file_path": "orders.csv"}',
        "← 120 lines",
        "→ Bash make test",
        "✗ exit code 2",
        "done",
    ]
    assert (reading.turns, reading.tool_calls) == (1, 2)


def test_its_newest_call_is_what_it_does_now() -> None:
    reading, _ = read(said("called", tool="Read", arguments={"file_path": "orders.csv"}))
    assert reading.doing is not None
    assert (reading.doing.kind, reading.doing.tool, reading.doing.text) == ("called", "Read", "orders.csv")


def test_what_it_used_is_added_up() -> None:
    reading, text = read(
        said("used", model="oak-2", input_tokens=1000, output_tokens=20, cost_usd=0.02),
        said("used", model="oak-2", input_tokens=500, cached_tokens=400, output_tokens=10, cost_usd=0.01),
    )
    assert reading.usage is not None
    assert (reading.usage["input_tokens"], reading.usage["output_tokens"]) == (1500, 30)
    assert reading.usage["cost_usd"] == pytest.approx(0.03)
    assert reading.model == "oak-2"
    assert "Σ 500 in · 10 out · 400 cached · $0.0100" in text


@pytest.mark.parametrize(
    "line",
    [
        '{"level": "info", "text": "started"}',
        '{"toryo": "promoted", "text": "x"}',
        '{"toryo": "said"}',
        '{"toryo": "said", "text": 7}',
        '{"toryo": "called", "tool": null}',
        '{"toryo": "used", "input_tokens": "many"}',
        '{"toryo": "used", "cost_usd": 1e99}',
        '{"toryo": "said", "text": "cut',
        '["toryo"]',
    ],
)
def test_everything_else_is_shown_as_it_is_and_counts_nothing(line: str) -> None:
    reading, text = read(line)
    assert text == f"{line}\n"
    assert (reading.usage, reading.turns, reading.tool_calls) == (None, 0, 0)
    assert reading.doing is not None
    assert reading.doing.kind == "printed"


def test_it_is_no_program_of_a_model_and_so_needs_no_account() -> None:
    assert not COMMAND.model_cli


def test_the_summary_has_what_was_said_and_none_of_the_json() -> None:
    output = "\n".join(
        ["building", said("said", text="It works."), said("used", input_tokens=1), '{"level": "info"}', "done"]
    )
    assert told_lines.for_people(output) == 'building\nIt works.\n{"level": "info"}\ndone'
