"""The page about reliability: the generator tells what results say, and says so where there are none.

The page in docs/ is not compared with results, which are not in git; what it names must exist.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.documents import pages
from tests.reliability import counting, faults, page, suite
from tests.reliability.__main__ import PAGE, main
from tests.reliability.counting import injected

NOBODY = {"passed": 0, "failed": 0, "skipped": 0, "calls": 0, "requests": 0, "engines": []}
SAMPLES: dict[str, Any] = {
    "histories": {
        "command": "python -m tests.exploring small --record",
        "date": "2030-01-02",
        "histories": 1234,
        "states": 56789,
        "claims": 4321,
        "disturbances": 1300,
        "broken_invariants": 0,
    },
    "mutations": {
        "command": "python -m tests.exploring.mutants 30",
        "date": "2030-01-03",
        "packages": {
            "workflow": {"planted": 200, "caught": 190, "equivalent": 9, "survived": 1, "by_deep_tests": 0},
            "domain": {"planted": 1100, "caught": 1000, "equivalent": 0, "survived": 100, "by_deep_tests": 30},
        },
    },
    "soak": {
        "command": "python -m tests.exploring",
        "date": "2030-01-04",
        "minutes": 10.5,
        "tasks": 2000,
        "kills": 31,
        "outages": 4,
        "calls": 99999,
        "broken_invariants": 2,
        "memory_first": 100,
        "memory_last": 101,
        "accepted_first": 30,
        "accepted_last": 31,
        "database_first": 10,
        "database_last": 12,
        "other_first": 40,
        "other_last": 40,
    },
    "faults": {
        "command": "make test",
        "date": "2030-01-05",
        "kinds": {"the disk is full": 12, "the clock jumps": 1500},
        "broken_invariants": 0,
    },
    "suite": {
        "command": suite.COMMAND,
        "date": "2030-01-06",
        "groups": {
            "hostile": {**NOBODY, "passed": 16, "calls": 22000, "engines": ["postgresql", "sqlite"]},
            "doors": {**NOBODY, "passed": 300, "failed": 3, "requests": 4000},
            "upgrades": {**NOBODY, "passed": 60, "skipped": 30, "engines": ["sqlite"]},
            "conformance": {**NOBODY, "skipped": 3},
        },
    },
}


def rows(text: str) -> dict[str, list[str]]:
    """The cells of each row of the page by its first one."""
    found = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line[:1] == "|"]
    return {cells[0]: cells[1:] for cells in found}


def commands(text: str) -> list[str]:
    return re.findall(r"`((?:make|python -m) [^`]+)`", text)


@pytest.fixture
def told(tmp_path: Path) -> dict[str, list[str]]:
    for name, sample in SAMPLES.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(sample), encoding="utf-8")
    target = tmp_path / "page.md"
    assert main(["--last", "--results", str(tmp_path), "--page", str(target)]) == 0
    return rows(target.read_text(encoding="utf-8"))


def test_every_row_has_the_figures_the_date_and_the_command_of_its_run(told: dict[str, list[str]]) -> None:
    assert told["Crews of obedient agents that are disturbed at any step"] == [
        "1,234 histories, 56,789 states, 4,321 claims, 1,300 disturbances",
        "0",
        "2030-01-02",
        "`python -m tests.exploring small --record`",
    ]
    assert told["Faults planted in `workflow`"][:3] == [
        "200 planted, 190 caught, 9 equivalent, 1 survived",
        "",
        "2030-01-03",
    ]
    assert told["Faults planted in `domain`"][0] == (
        "1,100 planted, 1,000 caught, 0 equivalent, 100 survived (deep tests caught 30 of these)"
    )
    assert told[page.SOAKS["soak"]][:2] == [
        (
            "10.5 minutes, 2,000 tasks, 31 kills, 4 outages, 99,999 calls, "
            "in the second half memory from 100 to 101 KiB, "
            "accepted connections from 30 to 31, handles of the database from 10 to 12, other handles from 40 to 40"
        ),
        "2",
    ]
    assert told[page.SOAKS["soak-postgres"]][0] == page.NOT_RUN
    assert told["Faults of the world: the clock jumps"][:3] == ["1,500 injected", "0", "2030-01-05"]


def test_of_what_the_suite_did_tests_calls_engines_and_failures_are_told(told: dict[str, list[str]]) -> None:
    hostile, doors, upgrades, conformance = (told[page.SUITE[group]] for group in page.SUITE)
    assert hostile == [
        "16 tests, 22,000 calls, on postgresql and sqlite",
        "0",
        "2030-01-06",
        "`python -m tests.reliability`",
    ]
    assert doors[:2] == ["303 tests, 4,000 requests", "3"]
    assert upgrades[0] == "60 tests, 30 skipped, on sqlite"
    assert conformance[0] == page.NOT_RUN, "what was only skipped was not run"


def test_what_was_not_run_says_so_and_names_its_command_if_there_is_one() -> None:
    text = page.written({}, {})
    runs = [cells for what, cells in rows(text).items() if len(cells) == 4 and what != "What was tried"]
    assert len(runs) == len(page.SUITE) + len(page.LONG)
    assert {cells[0] for cells in runs} == {page.NOT_RUN}
    assert {cell for cells in runs for cell in cells[1:3]} == {""}
    assert not re.search(r"\d", "".join(cell for cells in runs for cell in cells[:3]))
    assert page.LONG["histories"] in commands(text)


def test_the_result_of_injected_faults_is_one_that_the_page_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def runs(_words: list[str], plugins: list[Any]) -> int:
        injected("disk full")
        injected("disk full")
        for outcome in ("passed", "failed"):
            report = pytest.TestReport("test_x", ("x", 1, "x"), {}, outcome, None, "call")
            plugins[0].pytest_runtest_logreport(report)
        return 1

    monkeypatch.setattr(faults, "RESULT", tmp_path / "faults.json")
    monkeypatch.setattr(pytest, "main", runs)
    monkeypatch.setenv(counting.FILE, "replaced")
    assert faults.main([]) == 1
    told = rows(page.written(page.read(tmp_path), {}))
    assert told["Faults of the world: disk full"][:2] == ["2 injected", "1"]


def test_a_long_run_tells_the_tests_to_take_their_time_and_is_named_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the environment says already stays, and afterwards it is as it was."""
    asked: list[list[str]] = []

    def runs(words: list[str], plugins: list[Any]) -> int:
        asked.append([each for each in words if each not in faults.TESTS])
        told = {name: os.environ[name] for name in faults.FOR_LONG}
        assert told == {**faults.FOR_LONG, "TORYO_TEST_OUTAGE_SECONDS": "25"}
        return 0

    for name in faults.FOR_LONG:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TORYO_TEST_OUTAGE_SECONDS", "25")
    monkeypatch.setattr(faults, "RESULT", tmp_path / "faults.json")
    monkeypatch.setattr(pytest, "main", runs)
    assert faults.main(["--long", "-x"]) == 0
    assert asked == [["-q", "-x"]]
    assert "TORYO_TEST_KILLS" not in os.environ
    assert page.read(tmp_path)["faults"]["command"] == "python -m tests.reliability.faults --long -x"


def test_every_test_that_injects_a_fault_is_run_by_who_counts_them() -> None:
    tests = Path(__file__).parents[1]
    found = {
        str(each.relative_to(tests.parent))
        for each in tests.rglob("test_*.py")
        if re.search(r"^from tests.reliability.counting import .*injected", each.read_text(), re.MULTILINE)
    }
    assert found - {"tests/documents/test_reliability.py"} == set(faults.TESTS)


def test_a_result_that_cannot_be_read_is_no_page(tmp_path: Path) -> None:
    (tmp_path / "soak.json").write_text("{", encoding="utf-8")
    with pytest.raises(json.JSONDecodeError):
        main(["--last", "--results", str(tmp_path), "--page", str(tmp_path / "page.md")])
    assert not (tmp_path / "page.md").exists()


def test_every_command_that_the_page_names_exists() -> None:
    named = commands(PAGE.read_text(encoding="utf-8"))
    assert "make setup" in named
    assert [command for command in named if not page.exists(command)] == []
    assert not page.exists("python -m tests.nothing") and not page.exists("make nothing")


def test_the_page_has_a_row_for_each_kind_of_run_and_what_the_suite_has() -> None:
    found = rows(PAGE.read_text(encoding="utf-8"))
    for what in (*page.SUITE.values(), *page.suite_itself()):
        assert what in found


def test_every_group_of_the_suite_is_made_of_tests_that_exist() -> None:
    assert set(suite.GROUPS) == set(page.SUITE)
    for places in suite.GROUPS.values():
        for place in places:
            assert (pages.ROOT / place).exists()
            assert suite.group_of(f"{place}::test_x[sqlite]" if place.endswith(".py") else f"{place}/test_x.py::test_x")
    assert suite.group_of("tests/server/test_rest.py::test_x") is None


def test_outcomes_calls_and_engines_are_counted_for_the_group_of_the_test() -> None:
    counted = suite.Counted()
    (file,) = suite.GROUPS["upgrades"]
    for outcome, when, parameters in (
        ("passed", "setup", "sqlite-3"),
        ("passed", "call", "sqlite-3"),
        ("failed", "call", "postgresql-3"),
        ("skipped", "setup", "x"),
    ):
        test = f"{file}::test_x[{parameters}]"
        counted.pytest_runtest_logstart(test)
        counted.add("calls")
        report = pytest.TestReport(test, (file, 1, "x"), {}, outcome, None, when)  # type: ignore[arg-type]
        counted.pytest_runtest_logreport(report)
    counted.pytest_runtest_logstart("tests/server/test_rest.py::test_x")
    counted.add("calls")
    groups = counted.told()["groups"]
    assert groups["upgrades"] == {
        "passed": 1, "failed": 1, "skipped": 1, "calls": 4, "requests": 0, "engines": ["sqlite"],
    }  # fmt: skip
    assert groups["hostile"] == NOBODY
