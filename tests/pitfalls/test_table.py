"""The table of pitfalls: whole, and true to the files it names."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.pitfalls.table import NUMBERS, TABLE, Row

ROOT = Path(__file__).parents[2]
OWN = Path(__file__).parent

rows = pytest.mark.parametrize("row", TABLE, ids=lambda row: f"F{row.number}")


@cache
def names_in(file: str) -> frozenset[str]:
    """The names of the tests that pytest collects from a file."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    found = [each.name for each in tree.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    return frozenset(each for each in found if each.startswith("test_"))


def test_every_pitfall_has_one_row_in_order() -> None:
    assert tuple(row.number for row in TABLE) == NUMBERS


@rows
def test_every_row_names_tests_that_exist_or_says_why_there_are_none(row: Row) -> None:
    assert row.lesson
    assert row.tests or row.why_not
    assert max(Counter(row.tests).values(), default=1) == 1
    missing = [each for each in row.tests if each.partition("::")[2] not in names_in(each.partition("::")[0])]
    assert missing == []


@pytest.mark.parametrize("file", sorted(OWN.glob("test_*.py")), ids=lambda each: each.name)
def test_every_test_that_bears_a_number_stands_in_that_row(file: Path) -> None:
    proven = {row.number: row.tests for row in TABLE}
    for name in names_in(str(file.relative_to(ROOT))):
        for number in re.findall(r"(?<=_f)\d+(?=_)", re.match(r"test(_f\d+)*_", name)[0]):  # type: ignore[index]
            assert f"{file.relative_to(ROOT)}::{name}" in proven[int(number)]
