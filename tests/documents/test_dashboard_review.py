"""What the page about the review of the dashboard says: no finding is missing, and every test that it names exists."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests.browser.flows import FLOWS
from tests.documents import pages

PAGE = (pages.ROOT / "docs" / "contributing" / "dashboard-review.md").read_text(encoding="utf-8")
DEFECTS = [f"D{number}" for number in range(1, 26)]
NONE = "no test yet"


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head."""
    section = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


FINDINGS = [*rows("Defects"), *rows("What the specification asks for and was missing")]


def named(tests: str) -> list[str]:
    return re.findall(r"`([^`]+)`", tests)


@cache
def names_in(file: str) -> set[str]:
    """The names of the tests of a file."""
    path = pages.ROOT / file
    if not path.is_file():
        return set()
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}
    return set(re.findall(r'\b(?:it|test)(?:\.each\(.*?\))?\(\s*"([^"]+)"', text))


def exists(test: str) -> bool:
    """`tests/…py::name` of Python, `web/…test.tsx: its words` of the dashboard."""
    file, name = test.split("::") if "::" in test else test.split(": ", 1)
    return name in names_in(file)


def test_every_defect_has_a_row_with_what_was_wrong_what_is_so_and_its_test() -> None:
    assert [row[0] for row in rows("Defects")] == DEFECTS
    assert [row for row in FINDINGS if len(row) != 4 or not all(row)] == []
    assert [row[0] for row in FINDINGS if not named(row[3]) and row[3] != NONE] == []


@pytest.mark.parametrize("row", FINDINGS, ids=[row[0] for row in FINDINGS])
def test_every_test_that_a_finding_names_exists(row: list[str]) -> None:
    assert [test for test in named(row[3]) if not exists(test)] == []


def test_a_test_that_does_not_exist_would_be_noticed() -> None:
    assert not exists("tests/browser/test_tabs.py::test_nothing")
    assert not exists("tests/browser/test_nothing.py::test_nothing")
    assert not exists("web/src/app/palette.test.tsx: does nothing")
    assert exists("web/src/app/palette.test.tsx: has every act that can be done with a task")


def test_the_clicks_are_those_that_the_browser_tests_count() -> None:
    shown = {flow: (int(before), int(now)) for flow, before, now in rows("Clicks")}
    assert shown == FLOWS
