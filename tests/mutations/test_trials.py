"""What counts as a catch: a test that fails with the fault and passes without it."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.mutations import planting, records, swapping
from tests.mutations.__main__ import _tell
from tests.mutations.mutator import Fault, faults
from tests.mutations.trials import NOT_PLANTED, TOO_LONG, Trials

DOORS = "def opens(tries):\n    return tries < 3\n"
TESTS = """
import doors

LEFT_BEHIND = []

def test_that_never_passes():
    assert False

def test_that_leaves_something_behind():
    LEFT_BEHIND.append(1)

def test_that_fails_after_the_one_before_it():
    assert not LEFT_BEHIND

def test_of_two_tries():
    assert doors.opens(2)

def test_of_three_tries():
    assert not doors.opens(3)
"""


class House:
    """A checkout of one module and one file of tests, in which faults are planted for real."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        sources, build = path / "src", path / "build"
        for name, place in (("ROOT", path), ("SOURCES", sources), ("BUILD", build)):
            monkeypatch.setattr(planting, name, place)
            place.mkdir(exist_ok=True)
        (path / "conftest.py").write_text('pytest_plugins = ["tests.suites"]\n', encoding="utf-8")
        (sources / "doors.py").write_text(DOORS, encoding="utf-8")
        (path / "test_doors.py").write_text(TESTS, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("doors", sources / "doors.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "doors", module)
        spec.loader.exec_module(module)
        self._capfd = capfd
        self.said: list[str] = []
        self.trials = Trials(planting.Tree(), swapping.functions(sources), 60, self.said.append)

    def caught_by(self, new: str, *tests: str) -> str:
        """What catches the fault after which the line says so, of these tests."""
        [fault] = [each for each in faults("doors.py", DOORS) if each.new == new]
        with self._capfd.disabled():  # the tests of the house write into a log of their own
            by = self.trials.caught_by(fault, [f"test_doors.py::test_{each}" for each in tests])
        return by.removeprefix("test_doors.py::test_")


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> House:
    return House(tmp_path, monkeypatch, capfd)


MORE, LESS = "((tries) <= (3))", "((tries) >= (3))"


@pytest.mark.deep
def test_the_first_test_that_fails_with_the_fault_alone_catches_it(house: House) -> None:
    assert house.caught_by(MORE, "of_two_tries", "of_three_tries") == "of_three_tries"
    assert house.caught_by(LESS, "of_two_tries", "of_three_tries") == "of_two_tries"
    assert house.caught_by(MORE, "of_two_tries") == ""
    assert house.said == []


@pytest.mark.deep
def test_a_test_that_fails_without_a_fault_catches_none_and_hides_none(house: House) -> None:
    assert house.caught_by(MORE, "that_never_passes") == ""
    assert house.said == ["  test_doors.py::test_that_never_passes fails without a fault: it is left out"]
    assert house.caught_by(MORE, "that_never_passes", "of_three_tries") == "of_three_tries"
    assert len(house.said) == 1, "it is not tried again"


@pytest.mark.deep
def test_a_test_that_fails_only_after_another_one_catches_nothing(house: House) -> None:
    after = ("that_leaves_something_behind", "that_fails_after_the_one_before_it")
    assert house.caught_by(MORE, *after) == ""
    assert house.caught_by(MORE, *after, "of_three_tries") == "of_three_tries"


def test_what_a_test_leaves_behind_in_a_process_group_of_its_own_ends_with_it(tmp_path: Path) -> None:
    def leaves() -> None:
        process = subprocess.Popen(["sleep", "600"], start_new_session=True)
        (tmp_path / "left").write_text(str(process.pid))

    def run() -> None:
        planting.in_a_process(None, leaves, tmp_path / "log", 60)

    planting.side_by_side([run])
    assert not Path("/proc", (tmp_path / "left").read_text()).exists()


@pytest.mark.deep
def test_a_fault_signals_no_process_that_was_there_before_it(house: House, tmp_path: Path) -> None:
    here = os.getpid()
    code = (
        "import os, signal, subprocess, sys\n"
        "for pid in (int(sys.argv[1]), -1, subprocess.Popen(['sleep', '600']).pid):\n"
        "    try:\n        os.kill(pid, signal.SIGCONT)\n    except PermissionError:\n        print('kept')\n"
    )

    def signals() -> None:
        subprocess.run([sys.executable, "-c", code, str(here)], check=True)
        with pytest.raises(PermissionError):
            os.kill(here, signal.SIGCONT)

    assert planting.in_a_process(planting.Tree(), signals, tmp_path / "log", 60) == 0
    assert (tmp_path / "log").read_text().split() == ["kept", "kept"], "what the tests start gets it"


PLANTED = Fault("doors.py", "opens", "comparison", "tries < 3", MORE, 2, 0, within=True)


def outcomes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, with_it: int | None, without: int | None) -> Trials:
    """Every run of tests ends so, and says nothing about a test."""

    def run(_tree: object, _imported: object, fault: Fault | None, *_: object) -> int | None:
        return with_it if fault is not None else without

    monkeypatch.setattr(planting, "run", run)
    monkeypatch.setattr(planting, "BUILD", tmp_path)
    trials = Trials(planting.Tree.__new__(planting.Tree), None, 60, lambda _text: None)
    trials._log.write_text("", encoding="utf-8")
    return trials


@pytest.mark.parametrize(
    ("with_it", "without", "by"),
    [
        (None, 0, TOO_LONG),
        (None, None, ""),
        (2, 0, "exit 2"),
        (2, 2, ""),
        (-9, None, ""),
        (0, 0, ""),
        (5, 5, ""),
        (planting.NOT_IN, 0, NOT_PLANTED),
    ],
)
def test_tests_that_hang_or_cannot_be_run_catch_a_fault_only_if_they_can_be_run_without_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, with_it: int | None, without: int | None, by: str
) -> None:
    trials = outcomes(monkeypatch, tmp_path, with_it, without)
    assert trials.caught_by(PLANTED, ["test_doors.py::test_one"]) == by
    if by != NOT_PLANTED:
        assert trials.caught_by_files(PLANTED, ["test_doors.py"]) == by


def test_deep_tests_are_looked_at_file_by_file_and_without_the_fault_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runs: list[tuple[str, bool]] = []
    trials = outcomes(monkeypatch, tmp_path, 0, 0)

    def run(_tree: object, _imported: object, fault: Fault | None, arguments: Sequence[str], *_: object) -> int:
        runs.append((arguments[-1], fault is not None))
        failing = {"red.py"} if fault is None else {"red.py", "finds_it.py", "never_reached.py"}
        trials._log.write_text(f"FAILED {arguments[-1]}::test_one - assert 1 == 2\n", encoding="utf-8")
        return int(arguments[-1] in failing)

    monkeypatch.setattr(planting, "run", run)
    found = trials.caught_by_files(PLANTED, ["green.py", "red.py", "finds_it.py", "never_reached.py"])
    assert found == "finds_it.py::test_one"
    assert runs == [("green.py", True), *[(name, planted) for name in ("red.py", "finds_it.py") for planted in (1, 0)]]


# What is kept of it


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(records, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(records, "SUMMARY", tmp_path / "reliability" / "mutations.json")


def end(end: str) -> None:
    records.note("domain", PLANTED, end=end, because="", seconds=1)


@pytest.mark.usefixtures("kept")
def test_what_became_of_a_fault_is_told_with_the_deep_tests_that_find_survivors() -> None:
    end(records.SURVIVED)
    records.note("domain", PLANTED, deep="tests/server/test_doors.py::test_one")
    counts = records.counts(records.ended("domain").values())
    assert counts == {"planted": 1, "caught": 0, "equivalent": 0, "survived": 1, "by_deep_tests": 1}
    end(records.CAUGHT)
    counts = records.counts(records.ended("domain").values())
    assert counts == {"planted": 1, "caught": 1, "equivalent": 0, "survived": 0, "by_deep_tests": 0}


def test_the_share_that_was_caught_is_of_those_that_change_something() -> None:
    assert records.share({"planted": 12, "caught": 9, "equivalent": 2, "survived": 1}) == 0.9
    assert records.share({"planted": 0, "caught": 0, "equivalent": 0, "survived": 0}) == 0


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("caught", "judge", "code"), [(93, True, 0), (92, True, 1), (92, False, 0)], ids=["enough", "too few", "some"]
)
def test_a_package_below_its_threshold_fails_the_run_unless_its_faults_were_picked(
    caught: int, judge: bool, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = [records.CAUGHT] * caught + [records.SURVIVED] * (100 - caught)
    records.write("domain", {f"fault {at}": {"end": each, "line": at} for at, each in enumerate(ends)})
    assert _tell("domain", judge=judge) == code
    told = capsys.readouterr().out
    assert f"domain: 100 planted, 0 equivalent; {caught}.0% of the others caught" in told
    assert ("domain is below its threshold" in told) == bool(code)


@pytest.mark.usefixtures("kept")
def test_the_summary_has_the_counts_of_each_package_and_the_run_they_are_of() -> None:
    end(records.CAUGHT)
    records.summarize("domain", {"command": "one", "date": "2030-01-01", "seed": 3})
    records.summarize("workflow", {"command": "two", "date": "2030-01-02", "seed": 4})
    summary = records._kept_in(records.SUMMARY)
    assert (summary["command"], summary["date"]) == ("two", "2030-01-02")
    assert {name: (each["seed"], each["planted"]) for name, each in summary["packages"].items()} == {
        "domain": (3, 1),
        "workflow": (4, 0),
    }
