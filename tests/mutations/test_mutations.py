"""Planted faults: each changes one piece and leaves Python, and none is planted where it would mean nothing."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from tests.mutations import by_hand, planting, swapping
from tests.mutations.__main__ import sample
from tests.mutations.equivalent import EQUIVALENT
from tests.mutations.lines import IMPORT, Lines, Marks, Noted, bits, marked
from tests.mutations.mutator import Fault, compiles, faults, function_at

GUARDED = '''"""Looks like a row: ("a", "b")."""
ROWS = (("eins", 1), ("zwei", 2))


class Door:
    def opens(self, key: str | None, tries: int) -> bool:
        """Whether it does."""
        if key is None:
            raise ValueError(f"日本 {tries + 1}")
        with self.lock:
            self.count()
        return key in self.keys and tries < 3
'''


def planted(source: str, kind: str) -> list[str]:
    """What the line of the fault says, of all of this kind."""
    return [
        fault.planted(source).splitlines()[fault.line - 1].strip()
        for fault in faults("doors.py", source)
        if fault.kind == kind
    ]


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        ("guard removed", ["if (key is None, False)[1]:"]),
        ("always", ["if (key is None, True)[1]:"]),
        ("raise dropped", ["pass"]),
        ("with dropped", ['with __import__("contextlib").nullcontext():']),
        ("statement dropped", ["pass"]),
        ("answer", ["return False", "return True"]),
        ("and/or", ["return ((key in self.keys) or (tries < 3))"]),
        ("operand removed", ["return ((key in self.keys))", "return ((tries < 3))"]),
        (
            "comparison",
            [
                "if ((key) is not (None)):",
                "return ((key) not in (self.keys)) and tries < 3",
                "return key in self.keys and ((tries) <= (3))",
                "return key in self.keys and ((tries) >= (3))",
            ],
        ),
        (
            "row removed",
            ['ROWS = (*(), ("zwei", 2))', 'ROWS = (("eins", 1), *())', *['ROWS = (("eins", *()), ("zwei", 2))']],
        ),
    ],
)
def test_each_kind_of_fault_changes_its_piece_alone(kind: str, lines: list[str]) -> None:
    assert set(lines) <= set(planted(GUARDED, kind))


def test_what_is_for_readers_and_type_checkers_stays_as_it_is() -> None:
    source = 'def hours(of: "int | None" = None) -> int:\n    """3."""\n    assert of, 4\n    return 5\n'
    assert [(fault.old, fault.new) for fault in faults("times.py", source)] == [("5", "(4)"), ("5", "(6)")]


def test_what_a_type_checker_wants_of_a_key_stays_and_whether_lists_are_as_long_as_they_must_be() -> None:
    source = (
        'def of(name, one):\n    return [one.get(name or ""), one[name or ""], zip(name or "", one, strict=True)]\n'
    )
    assert planted(source, "constant") == []
    kept = [line.count('((""))') for line in planted(source, "operand removed")]
    assert (kept, len(planted(source, "and/or"))) == ([1, 1, 1, 0], 3)


def test_equal_faults_of_a_function_have_names_of_their_own() -> None:
    found = faults(
        "doors.py", "def both(a, b):\n    if a is None:\n        return a\n    if a is None:\n        return b\n"
    )
    assert len({fault.name for fault in found}) == len(found)


def test_a_text_before_it_may_have_characters_of_several_bytes() -> None:
    [fault] = [each for each in faults("texts.py", 'NAME = "日本語"; MOST = 5\n') if each.new == "(6)"]
    assert fault.planted('NAME = "日本語"; MOST = 5\n') == 'NAME = "日本語"; MOST = (6)\n'


def test_what_runs_at_the_import_is_told_from_what_runs_with_a_function() -> None:
    source = "class House:\n    rooms = 3\n\n    def full(self, most=4):\n        return 5\n"
    found = {fault.old: fault.within for fault in faults("house.py", source)}
    assert found == {"3": False, "4": False, "5": True}


def test_the_function_of_a_line_is_named_with_its_class() -> None:
    assert [function_at(GUARDED, line) for line in (2, 8)] == ["", "Door.opens"]


def test_a_sample_is_the_same_for_the_same_seed_and_spread_over_the_files() -> None:
    chosen = sample("workflow", 30, "1")
    assert chosen == sample("workflow", 30, "1")
    assert chosen != sample("workflow", 30, "2")
    assert len({fault.file for fault in chosen}) > 6


def test_the_faults_by_hand_fit_what_is_written_and_leave_python() -> None:
    for fault in by_hand.faults(planting.SOURCES):
        source = (planting.SOURCES / fault.file).read_text(encoding="utf-8")
        assert compiles(fault.planted(source)), fault.name
        assert fault.planted(source) != source


def test_whoever_is_said_to_be_equivalent_can_still_be_planted() -> None:
    known = by_hand.faults(planting.SOURCES)
    for file in {each.file for each in EQUIVALENT}:
        known += faults(file, (planting.SOURCES / file).read_text(encoding="utf-8"))
    assert [each for each in EQUIVALENT if not any(each.covers(fault) for fault in known)] == []


OF_OPERATIONS = "tests/operations/test_guards.py"
NOTED = {
    "tests/domain/test_doors.py::test_one": Noted({"domain/doors.py": bits(8, 9)}, 0.1),
    "tests/domain/test_doors.py::test_two": Noted({"domain/doors.py": bits(8, 8)}, 0.1),
    "tests/domain/test_keys.py::test_three": Noted({"domain/doors.py": bits(8, 9) | bits(12, 12)}, 0.1),
    "tests/domain/test_walls.py::test_four": Noted({"domain/walls.py": bits(1, 1)}, 0.1),
}


@pytest.mark.parametrize(
    ("function", "line", "numbers"),
    [("Door.opens", 9, ["one", "three", "two"]), ("Door.opens", 12, ["three"]), ("", 2, ["one", "two", "three"])],
)
def test_the_files_whose_tests_run_the_line_are_run_the_one_of_its_name_first(
    function: str, line: int, numbers: list[str]
) -> None:
    fault = Fault("domain/doors.py", function, "always", "key is None", "True", line, 0, within=bool(function))
    assert [test.rpartition("_")[2] for test in planting.tests_for(fault, NOTED, 60)] == numbers


def test_a_fault_at_the_top_of_a_file_is_looked_for_by_tests_that_only_name_it() -> None:
    runs, names = "tests/operations/test_webhooks.py::test_it", "tests/domain/test_limits.py::test_it"
    noted: Lines = {runs: Noted({"domain/webhooks.py": bits(9, 9)}, 0.1), names: Noted({}, 0.1)}
    for within, tests in ((False, {runs, names}), (True, {runs})):
        fault = Fault("domain/webhooks.py", "", "constant", "100", "101", 9, 0, within=within)
        assert set(planting.tests_for(fault, noted, 60)) == tests


@pytest.mark.parametrize(("cpu", "numbers"), [(0.25, ["one", "three"]), (0.05, [])])
def test_the_tests_of_a_fault_are_the_nearest_that_take_no_longer_than_they_may(cpu: float, numbers: list[str]) -> None:
    fault = Fault("domain/doors.py", "Door.opens", "always", "key is None", "True", 9, 0, within=True)
    assert [test.rpartition("_")[2] for test in planting.tests_for(fault, NOTED, cpu)] == numbers


def test_what_was_noted_of_a_file_of_tests_rests_on_the_fixtures_and_helpers_beside_it() -> None:
    """Else a test that fails since one of them changed would seem to find every fault."""
    shared = {path.relative_to(planting.ROOT / "tests").as_posix() for path in planting._shared_with(OF_OPERATIONS)}
    assert shared >= {"conftest.py", "stories.py", "operations/conftest.py", "operations/project_locks.py"}
    assert not [each for each in shared if "test_" in each]


def test_a_file_with_a_test_that_fails_without_a_fault_is_noted_again_and_that_test_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = ("tests/domain/test_moves.py", "tests/domain/test_ids.py")
    broken = f"{files[0]}::test_broken"
    noted: list[list[str]] = []
    said: list[str] = []

    def note(stale: Sequence[str], _jobs: int) -> tuple[dict[str, Lines], list[str]]:
        noted.append([*stale])
        return {file: {f"{file}::test_fit": Noted({"domain/moves.py": 2}, 0.1)} for file in stale}, [broken]

    monkeypatch.setattr(planting, "BUILD", tmp_path)
    monkeypatch.setattr(planting, "test_files", lambda _folders: [*files])
    monkeypatch.setattr(planting, "_noted", note)
    for _ in range(2):
        found = planting.lines(["domain"], 2, said.append)
        assert [*found] == [f"{file}::test_fit" for file in files]
    assert noted == [[*files], [files[0]]]
    assert said[1] == f"  {broken} fails without a fault: it is left out"


HALL = '''"""A hall."""
from __future__ import annotations

LAMPS = 2

def light(lamps):
    """How light it is."""
    for each in (lamps,
                 LAMPS):
        if each > 3: return "bright"
        elif each > 2:
            @str
            def word():
                return "dim"
        else:
            word = "dark"
    return word
'''


def test_each_statement_of_a_function_leaves_a_mark_that_has_its_lines() -> None:
    text, lines = marked(HALL, 7)
    assert lines == [bits(8, 9), bits(10, 11), bits(12, 13), bits(14, 14), bits(16, 16), bits(17, 17)]
    without_import = text.replace(f"{IMPORT}\n", "", 1)
    assert len(without_import) < len(text)
    assert [line for line in without_import.splitlines() if "_marks_[" not in line] == HALL.splitlines()
    assert marked("LAMPS = 2\n", 0) == ("LAMPS = 2\n", [])


def test_what_has_run_is_read_from_the_marks_also_of_other_processes(tmp_path: Path) -> None:
    package = tmp_path / "toryo"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "hall.py").write_text(HALL, encoding="utf-8")
    marks = Marks(package)
    command = [sys.executable, "-c", "from toryo.hall import light; assert light(1) == 'dark'; import os; os.abort()"]
    subprocess.run(command, cwd=tmp_path, check=False, capture_output=True)
    assert marks.lines() == {"hall.py": bits(8, 11) | bits(16, 17)}
    marks.clear()
    assert marks.lines() == {}


def test_a_file_with_marks_runs_by_itself_too(tmp_path: Path) -> None:
    package = tmp_path / "toryo"
    package.mkdir()
    (package / "hall.py").write_text(f"{HALL}\nprint(light(1))\n", encoding="utf-8")
    Marks(package)
    command = [sys.executable, "-I", "-S", str(package / "hall.py")]
    assert subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout == "dark\n"


def test_a_few_tests_of_each_file_come_before_the_many_of_one() -> None:
    noted = {
        f"tests/domain/test_{name}.py::test_{number}": Noted({"domain/doors.py": bits(8, 8)}, 0.1)
        for name, many in (("doors", 20), ("walls", 2))
        for number in range(many)
    }
    found = planting.tests_for(Fault("domain/doors.py", "f", "always", "a", "b", 8, 0, within=True), noted, 60)
    assert [test.rpartition("/")[2] for test in found[:7]] == [
        *(f"test_doors.py::test_{number}" for number in (0, 4, 8, 12, 16)),
        *(f"test_walls.py::test_{number}" for number in (0, 1)),
    ]
    assert sorted(found) == sorted(noted)


def test_a_fault_is_planted_in_the_copy_alone_and_taken_out_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planting, "SOURCES", tmp_path / "toryo")
    monkeypatch.setattr(planting, "BUILD", tmp_path)
    (tmp_path / "toryo").mkdir()
    original = tmp_path / "toryo" / "doors.py"
    original.write_text("OPEN = True\n")
    tree = planting.Tree()
    [fault] = faults("doors.py", "OPEN = True\n")
    with tree.planted(fault):
        assert (tree.package / "doors.py").read_text() == "OPEN = False\n"
        assert original.read_text() == "OPEN = True\n"
    assert (tree.package / "doors.py").read_text() == "OPEN = True\n"
    tree.close()
    assert not tree.path.exists()


def imported(path: Path, source: str) -> ModuleType:
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HOUSE = """
import functools

def twice(call):
    @functools.wraps(call)
    def again(number):
        return call(call(number))
    return again

@twice
def more(number):
    return number + 1

class House:
    def full(self, rooms):
        return all(any(each) for each in rooms)

def below(limit):
    def is_below(number):
        return number <= limit
    return is_below

LOW = below(3)
LIMIT = 3
"""


def test_a_function_that_was_imported_and_decorated_gets_the_changed_code(tmp_path: Path) -> None:
    house = imported(tmp_path / "house.py", HOUSE)
    [sign] = [each for each in faults("house.py", HOUSE) if each.kind == "sign"]
    assert house.more(5) == 7
    assert swapping.planted(sign, tmp_path / "house.py", swapping.functions(tmp_path))
    assert house.more(5) == 3


def test_a_fault_within_a_part_of_a_function_is_planted_with_the_function(tmp_path: Path) -> None:
    house = imported(tmp_path / "house.py", HOUSE)
    [inner] = [each for each in faults("house.py", HOUSE) if each.kind == "swapped" and each.old == "any"]
    assert house.House().full([[1, 0]])
    assert swapping.planted(inner, tmp_path / "house.py", swapping.functions(tmp_path))
    assert not house.House().full([[1, 0]])


def test_a_fault_is_planted_in_what_a_function_has_made_at_the_import_too(tmp_path: Path) -> None:
    house = imported(tmp_path / "house.py", HOUSE)
    inner = next(each for each in faults("house.py", HOUSE) if each.old == "number <= limit" and "<" not in each.new)
    assert house.LOW(3)
    assert swapping.planted(inner, tmp_path / "house.py", swapping.functions(tmp_path))
    assert not house.LOW(3)
    assert not house.below(3)(3)


def test_a_fault_at_the_top_cannot_be_planted_after_the_import(tmp_path: Path) -> None:
    house = imported(tmp_path / "house.py", HOUSE)
    fault = next(each for each in faults("house.py", HOUSE) if each.old == "3")
    assert not swapping.planted(fault, tmp_path / "house.py", swapping.functions(tmp_path))
    assert house.LIMIT == 3
