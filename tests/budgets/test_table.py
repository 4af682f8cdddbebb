"""The table is complete: every ceiling is measured, every measurement has a ceiling, and what is wrong is told."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.budgets.ceilings import CEILINGS, HERE, Ceiling, judged

FILES = sorted({path.stem for path in Path(__file__).parent.glob("test_*.py")} - {Path(__file__).stem})
MODULES = [importlib.import_module(f"tests.budgets.{name}") for name in FILES]


def run_for(module: ModuleType) -> Iterator[str]:
    """The value of `name` for which each of its tests is run."""
    for test in vars(module).values():
        for mark in getattr(test, "pytestmark", ()):
            names, values = mark.args[:2] if mark.name == "parametrize" else ("", ())
            if "name" in names:
                yield from (getattr(each, "values", (each,))[0] for each in values)


def test_every_ceiling_is_measured_once_and_every_measurement_has_one() -> None:
    """A test fills all rows of its name: `hold` takes as many values as rows."""
    filled = [row for module in MODULES for name in run_for(module) for row in module.ROWS[name]]
    assert Counter(filled) == Counter(dict.fromkeys(CEILINGS, 1))


@pytest.mark.parametrize("module", MODULES, ids=FILES)
def test_what_a_file_declares_is_what_its_tests_measure(module: ModuleType) -> None:
    assert sorted(run_for(module)) == sorted(module.ROWS)


EXACT, ABOUT = Ceiling(100, "every page load"), Ceiling(100, "every page load", 0.05)


@pytest.mark.parametrize(("ceiling", "measured"), [(EXACT, 100), (ABOUT, 100), (ABOUT, 95)])
def test_what_is_within_its_budget_is_not_told(ceiling: Ceiling, measured: int) -> None:
    assert judged("bytes of it", ceiling, measured) is None


@pytest.mark.parametrize(
    ("ceiling", "measured", "what"),
    [(EXACT, 101, "raise"), (ABOUT, 101, "raise"), (EXACT, 99, "lower"), (ABOUT, 94, "lower")],
)
def test_an_overdraft_and_a_ceiling_that_is_too_high_are_told_with_what_to_do(
    ceiling: Ceiling, measured: int, what: str
) -> None:
    told = judged("bytes of it", ceiling, measured) or ""
    for each in ("bytes of it", str(measured), "100", "every page load", what, HERE):
        assert each in told


def test_every_ceiling_says_who_pays_and_is_no_zero() -> None:
    assert all(each.paid and each.most > 0 for each in CEILINGS.values())
