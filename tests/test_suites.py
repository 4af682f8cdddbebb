"""What may be a test of `make test`, on planted tests that cost too much, and which stories PostgreSQL is told."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

from tests import suites

ROOT = Path(__file__).parents[1]
TIGHT = """
import os
import re
from tests import suites
suites.CPU, suites.WAITING, suites.TWINS = 0.05, 0.2, int(os.environ.get("TWINS", "1"))
suites.SHARED = {"dear": suites.Most(cpu=20)}
suites.STORIES = {"test_planted.py::test_a_story_that_is_listed": suites.Most(cpu=20)}
"""
PLANTED = """
import select, subprocess, sys, time
import pytest

BURN = "import time; end = time.process_time() + 0.2\\nwhile time.process_time() < end: pass"

@pytest.fixture(scope="module")
def dear(): exec(BURN)

@pytest.fixture(scope="module")
def too_dear(): exec(BURN)

def test_that_is_cheap(): pass
def test_that_computes(): exec(BURN)
def test_whose_process_computes(): subprocess.run([sys.executable, "-c", BURN], check=True)
def test_that_waits(): select.select([], [], [], 0.9)
@pytest.mark.deep
def test_that_is_marked(): exec(BURN)
def test_a_story_that_is_listed(): exec(BURN)
def test_that_shares(dear): pass
def test_that_shares_too_much(too_dear): pass
def test_that_is_cheap_when_it_is_tried_again(request):
    if getattr(request.node, "execution_count", 1) == 1: exec(BURN)

ON = ["sqlite", pytest.param("postgresql", marks=pytest.mark.twin)]
@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("number", [1, 2])
def test_on_each(on, number): pass
@pytest.mark.both
@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("number", [1, 2])
def test_on_both(on, number): pass
@pytest.mark.first(2)
@pytest.mark.parametrize("on_value", [1, 2, 3])
def test_on_values(on_value): pass
"""
PYTEST = [sys.executable, "-m", "pytest", "-p", "pytest_rerunfailures"]
MARKS = "[pytest]\nmarkers =\n    deep\n    both\n    twin\n    first\n"


def planted(directory: Path, *words: str, twins: int = 1) -> dict[str, str]:
    """How each planted test ended, in a run of its own: `PASSED`, `FAILED` or `ERROR`, by its name."""
    (directory / "conftest.py").write_text(TIGHT)
    (directory / "test_planted.py").write_text(PLANTED)
    (directory / "pytest.ini").write_text(MARKS)
    done = subprocess.run(
        [*PYTEST, "-p", "tests.suites", "-p", "no:cacheprovider", "-rA", "--tb=line", *words],
        cwd=directory,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        | {"TWINS": str(twins)},
        capture_output=True,
        text=True,
        check=False,
    )
    ended = [line.split(maxsplit=1) for line in done.stdout.splitlines() if "test_planted.py::" in line]
    return {rest.partition("::")[2].partition(" - ")[0]: how for how, rest in ended if how.isupper()}


def test_a_test_that_costs_too_much_fails_unless_it_is_deep_or_listed(tmp_path: Path) -> None:
    found = planted(tmp_path, "-k", "not on_ and not again")
    assert found == {
        "test_that_is_cheap": "PASSED",
        "test_that_computes": "ERROR",
        "test_whose_process_computes": "ERROR",
        "test_that_waits": "ERROR",
        "test_that_is_marked": "PASSED",
        "test_a_story_that_is_listed": "PASSED",
        "test_that_shares": "PASSED",
        "test_that_shares_too_much": "ERROR",
    }


def test_a_second_try_is_judged_by_what_it_costs_itself(tmp_path: Path) -> None:
    name = "test_that_is_cheap_when_it_is_tried_again"
    assert planted(tmp_path, "-k", name) == {name: "ERROR"}
    assert planted(tmp_path, "-k", name, "--reruns", "1") == {name: "PASSED"}


def test_postgresql_is_told_a_story_once_in_the_deep_suite_and_what_differs_in_both(tmp_path: Path) -> None:
    assert {*planted(tmp_path, "-k", "on_each or on_both", "-m", "not deep")} == {
        "test_on_each[1-sqlite]",
        "test_on_each[2-sqlite]",
        *(f"test_on_both[{number}-{on}]" for number in (1, 2) for on in ("sqlite", "postgresql")),
    }
    assert {*planted(tmp_path, "-k", "on_each or on_both", "-m", "deep")} == {"test_on_each[1-postgresql]"}
    assert planted(tmp_path, "-k", "on_each or on_both", "-m", "deep", twins=10**9) == {}, "a share of such stories"


def test_what_is_told_for_many_values_is_fast_for_the_first_and_deep_for_the_others(tmp_path: Path) -> None:
    assert {*planted(tmp_path, "-k", "on_values", "-m", "not deep")} == {"test_on_values[1]", "test_on_values[2]"}
    assert {*planted(tmp_path, "-k", "on_values", "-m", "deep")} == {"test_on_values[3]"}


def test_what_is_listed_as_dear_is_there() -> None:
    """A story that was renamed would keep its ceiling for nothing."""
    for story in suites.STORIES:
        file, _, name = story.partition("::")
        assert f"def {name.partition('[')[0]}(" in (ROOT / file).read_text(encoding="utf-8"), story
    written = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    assert [name for name in suites.SHARED if f"def {name}(" not in written] == []


def test_of_whole_processes_browsers_and_agents_programs_only_the_listed_stories_are_fast() -> None:
    listed = {story.partition("[")[0] for story in suites.STORIES}
    fast = [
        f"{path.relative_to(ROOT)}::{each.name}"
        for folder in suites.DEAR
        for path in sorted((ROOT / folder).glob("test_*.py"))
        if not _deep((tree := ast.parse(path.read_text(encoding="utf-8"))).body)
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef) and each.name.startswith("test_")
    ]
    assert sorted(fast) == sorted(story for story in listed if story.startswith(suites.DEAR))


def _deep(module: list[ast.stmt]) -> bool:
    """All tests of the module."""
    marks = [ast.unparse(each.value) for each in module if isinstance(each, ast.Assign) and _name(each) == "pytestmark"]
    return any("pytest.mark.deep" in each for each in marks)


def _name(assigned: ast.Assign) -> str:
    return ast.unparse(assigned.targets[0])


def test_no_story_may_cost_more_than_a_deep_test_is_worth() -> None:
    assert [story for story, most in suites.STORIES.items() if most.cpu > 12] == []


def test_the_python_of_a_checkout_is_named_in_quotes_wherever_a_shell_reads_it() -> None:
    """The path of a checkout may have a space."""
    bare = re.compile(r"""f(["']).*[^'"]\{sys\.executable\}""")
    found = [
        f"{path.name}:{number}"
        for path in (ROOT / "tests").rglob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if bare.search(line) and path.name != "test_suites.py" and "#!" not in line
    ]
    assert found == []
