"""What the dashboard's own lists repeat of the server is the same there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from toryo.domain.moves import MOVES
from toryo.domain.tasks import CLOSED, Priority, Status

MODEL = (Path(__file__).parents[2] / "web/src/api/model.ts").read_text(encoding="utf-8")
FILTER = (Path(__file__).parents[2] / "web/src/api/filter.ts").read_text(encoding="utf-8")
FINAL = [status for status in Status if not MOVES[status]]


def listed(name: str) -> list[str]:
    found = re.search(rf"export const {name}: readonly TaskStatus\[\] = \[(.*?)\];", MODEL, re.DOTALL)
    assert found is not None
    return re.findall(r'"(\w+)"', found[1])


@pytest.mark.parametrize(
    ("name", "expected"),
    [("STATUSES", list(Status)), ("CLOSED", [each for each in Status if each in CLOSED]), ("FINAL", FINAL)],
)
def test_lists_of_statuses_are_those_of_the_server(name: str, expected: list[Status]) -> None:
    assert listed(name) == [status.value for status in expected]


def test_priorities_are_those_of_the_server() -> None:
    found = re.search(r"export const PRIORITIES: readonly Priority\[\] = \[(.*?)\];", FILTER)
    assert found is not None
    assert set(re.findall(r'"(\w+)"', found[1])) == {priority.value for priority in Priority}
