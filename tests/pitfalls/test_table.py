"""Every pitfall is guarded: the marks on the tests and the list of pitfalls agree.

The marks are read from the files, not from a run of pytest: whichever tests are chosen, all of them count.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.pitfalls.lessons import NO_PART, PARTLY, PITFALLS

TESTS = Path(__file__).parents[1]
MARK = "pytest.mark.pitfall"

Function = ast.FunctionDef | ast.AsyncFunctionDef


def collected(tree: ast.Module) -> Iterator[Function]:
    """The tests that pytest finds in a file: functions of the module, and methods of its test classes."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name.startswith("Test")]
    for body in (tree.body, *(cls.body for cls in classes)):
        for node in body:
            if isinstance(node, Function) and node.name.startswith("test"):
                yield node


def marks_of(function: Function) -> list[ast.Call]:
    return [node for node in function.decorator_list if isinstance(node, ast.Call) and ast.unparse(node.func) == MARK]


def ids_of(function: Function) -> list[str]:
    """What its marks name; anything but words in quotes as it is written."""
    return [
        str(arg.value) if isinstance(arg, ast.Constant) else ast.unparse(arg)
        for mark in marks_of(function)
        for arg in mark.args
    ]


def guards_in(path: Path, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Each pitfall that is named on a test, with the name of the test."""
    for function in collected(tree) if path.name.startswith("test_") else ():
        for each in ids_of(function):
            yield each, f"{path.relative_to(TESTS.parent)}::{function.name}"


def stray_marks(path: Path, tree: ast.Module) -> list[str]:
    """Marks that guard nothing: on what is no test, or on none at all."""
    found = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Attribute) and ast.unparse(node) == MARK]
    tests = collected(tree) if path.name.startswith("test_") else ()
    known = [mark.func.lineno for function in tests for mark in marks_of(function)]
    return [f"{path.name}:{line}" for line in sorted((Counter(found) - Counter(known)).elements())]


@cache
def trees() -> dict[Path, ast.Module]:
    """Every file below tests/ that names the mark."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("*.py"))}
    return {path: ast.parse(text) for path, text in texts.items() if "pitfall" in text}


@cache
def guards() -> tuple[tuple[str, str], ...]:
    return tuple(guard for path, tree in trees().items() for guard in guards_in(path, tree))


def test_pitfalls_are_numbered_without_a_gap() -> None:
    assert list(PITFALLS) == [f"F{number}" for number in range(1, len(PITFALLS) + 1)]
    assert all(PITFALLS.values())


@pytest.mark.parametrize("pitfall", PITFALLS)
def test_every_pitfall_is_guarded_by_a_test_or_is_no_part_of_toryo(pitfall: str) -> None:
    assert (pitfall in {each for each, _ in guards()}) == (pitfall not in NO_PART)


def test_every_mark_names_pitfalls_that_exist_and_each_once() -> None:
    assert [(each, test) for each, test in guards() if each not in PITFALLS] == []
    assert [pair for pair, times in Counter(guards()).items() if times > 1] == []
    assert {*NO_PART, *PARTLY} <= set(PITFALLS)


def test_every_mark_stands_on_a_test() -> None:
    assert [stray_mark for path, tree in trees().items() for stray_mark in stray_marks(path, tree)] == []


def test_every_test_that_bears_a_number_has_its_mark() -> None:
    named = 0
    for path, tree in trees().items():
        for function in collected(tree):
            numbers = re.match(r"test((?:_f\d+)*)_", function.name)
            for number in re.findall(r"\d+", numbers[1] if numbers else ""):
                assert f"F{number}" in ids_of(function), f"{path.name}: {function.name}"
                named += 1
    assert named > 100


WRONG = """
import pytest
@pytest.mark.pitfall("F1", "F1")
def test_twice(): ...
@pytest.mark.pitfall("F9999")
async def test_unknown(): ...
class TestMore:
    @pytest.mark.pitfall("F2")
    def test_within(self): ...
@pytest.mark.pitfall("F3")
def helper(): ...
class Helper:
    @pytest.mark.pitfall("F4")
    def test_of_nobody(self): ...
pytestmark = pytest.mark.pitfall("F5")
@pytest.mark.pitfall
def test_without_a_number(): ...
"""


def test_marks_that_are_wrong_are_found() -> None:
    tree = ast.parse(WRONG)
    file = TESTS / "test_wrong.py"
    assert list(guards_in(file, tree)) == [
        ("F1", "tests/test_wrong.py::test_twice"),
        ("F1", "tests/test_wrong.py::test_twice"),
        ("F9999", "tests/test_wrong.py::test_unknown"),
        ("F2", "tests/test_wrong.py::test_within"),
    ]
    assert stray_marks(file, tree) == ["test_wrong.py:10", "test_wrong.py:13", "test_wrong.py:15", "test_wrong.py:16"]
    helper = TESTS / "kit.py"
    assert list(guards_in(helper, tree)) == []
    assert len(stray_marks(helper, tree)) == 7
