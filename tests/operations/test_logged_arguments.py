"""What the log shows of the arguments of a call, to the last character (test_costs.py: that no secret is in it)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.operations.samples import all_operations, properties
from toryo.domain import log_redaction
from toryo.operations.calls import argument_redaction
from toryo.operations.calls.argument_redaction import LONGEST_TEXT
from toryo.operations.calls.catalogue import Operation, catalogue

SECRET = "blue-horse-7"
"""It looks like no token: only the name of its field tells."""


def shown(operation: Operation, arguments: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(argument_redaction.logged_text(operation.parameters, arguments))
    return found


def test_a_parameter_that_is_named_as_a_secret_is_masked_whatever_it_holds() -> None:
    masked = set()
    for operation in all_operations():
        for name in properties(operation):
            for value in (SECRET, [SECRET], {"value": SECRET}, 4711):
                if log_redaction.is_named(name):
                    assert shown(operation, {name: value}) == {name: log_redaction.MASK}, operation.name
                    masked.add(name)
    assert masked >= {"passkey", "password"}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("tsk_1", "tsk_1"),
        (f"x tqk_{'a' * 32}", "x ***"),
        ("a" * LONGEST_TEXT, "a" * LONGEST_TEXT),
        ("a" * (LONGEST_TEXT + 1), f"(text of {LONGEST_TEXT + 1} characters)"),
        (None, None),
        (True, True),
        (5, 5),
        (2**53 - 1, 2**53 - 1),
        (2**53, "(number)"),
        (["a", 5], ["a", 5]),
        (["a"] * 20, ["a"] * 20),
        (["a"] * 21, "(list of 21)"),
        ([{"a": 1}], "(list of 1)"),
        ({"a": 1}, "(object of 1)"),
        ("x\ud800", "x?"),
    ],
)
def test_what_a_plain_parameter_holds_is_shown_and_what_is_long_is_measured(value: Any, told: Any) -> None:
    assert shown(catalogue()["show_task"], {"task_id": value}) == {"task_id": told}


def test_the_first_twenty_parameters_are_named_and_the_others_counted() -> None:
    told = shown(catalogue()["show_task"], {f"x{number}": "y" for number in range(23)})
    assert [*told] == [*(f"x{number}" for number in range(20)), "…"]
    assert told["…"] == "(3 more)"
    assert "…" not in shown(catalogue()["show_task"], {f"x{number}": "y" for number in range(20)})


def test_a_name_that_is_a_secret_itself_is_masked_and_a_long_one_is_cut() -> None:
    token = f"tqk_{'a' * 32}"
    told = shown(catalogue()["show_task"], {token: 1, "n" * 200: 1})
    assert [*told] == [log_redaction.MASK, "n" * 100]


@pytest.mark.parametrize("schema", [{"enum": ["a", "b"], "type": "string"}, {"const": "a", "type": "string"}])
def test_one_of_a_few_words_is_shown(schema: dict[str, Any]) -> None:
    assert argument_redaction._is_plain(schema, {})
    assert not argument_redaction._is_plain({"type": "string"}, {})
