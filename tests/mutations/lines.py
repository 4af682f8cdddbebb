"""Which test runs which line: in a copy of src/toryo, every statement of a function leaves a mark when it runs.

A fault is then looked for only by tests that run its line. The marks lie in a file that all processes share: what other
threads run, and the processes that a test starts, is noted as well, also of a process that is killed.
"""

from __future__ import annotations

import ast
import mmap
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.process_costs import spent


class Noted(NamedTuple):
    """Of one test."""

    lines: Mapping[str, int]
    """By file within src/toryo: bit 7 is set if it runs line 7."""
    cpu: float
    """Seconds of all processes of the test."""


Lines = dict[str, Noted]
"""By test."""

_MODULE = """
import mmap
from pathlib import Path

try:
    with Path(__file__).with_suffix(".bin").open("r+b") as file:
        marks = mmap.mmap(file.fileno(), 0)
except OSError:  # a sandbox shows files, and lets nobody change them
    marks = bytearray({size})
"""

IMPORT = """\
try:
    from toryo._marks import marks as _marks_
except ModuleNotFoundError:  # a file that is run by itself, without the package
    _marks_ = {}"""


def bits(first: int, last: int) -> int:
    """These lines, the last one included."""
    return (1 << (last + 1)) - (1 << first)


class Marks:
    """Those of a copy, whose files all leave some from now on."""

    def __init__(self, package: Path) -> None:
        self._of: list[tuple[str, int]] = []
        """By number: a file, and the lines that have run."""
        for path in sorted(package.rglob("*.py")):
            text, lines = marked(path.read_text(encoding="utf-8"), len(self._of))
            path.write_text(text, encoding="utf-8")
            self._of += [(path.relative_to(package).as_posix(), each) for each in lines]
        size = max(1, len(self._of))
        (package / "_marks.py").write_text(_MODULE.format(size=size), encoding="utf-8")
        shared = package / "_marks.bin"
        shared.write_bytes(bytes(size))
        with shared.open("r+b") as file:
            self._marks = mmap.mmap(file.fileno(), 0)

    def clear(self) -> None:
        self._marks[:] = bytes(len(self._marks))

    def lines(self) -> dict[str, int]:
        """What has run since, by file."""
        found: defaultdict[str, int] = defaultdict(int)
        for file, lines in compress(self._of, self._marks[:]):
            found[file] |= lines
        return dict(found)


def marked(source: str, first: int) -> tuple[str, list[int]]:
    """The source, whose statements leave marks from this number on, and the lines of each mark."""
    marking = _Marking(source, first)
    return "\n".join(marking.written), marking.lines


class _Marking:
    def __init__(self, source: str, first: int) -> None:
        self._first = first
        self.written = source.split("\n")
        self.lines: list[int] = []
        self._before: dict[int, str] = {}
        body = ast.parse(source).body
        self._suite(body, within=False)
        if self.lines:
            top = next(_begins(each) for each in body if not _comes_first(each))
            self._before[top] = IMPORT
        for line in sorted(self._before, reverse=True):
            self.written.insert(line - 1, self._before[line])

    def _suite(self, suite: Sequence[ast.stmt], *, within: bool) -> None:
        for node in suite:
            self._inside(node, self._mark(node) if within else None, within=within)

    def _inside(self, node: ast.stmt, mark: int | None, *, within: bool) -> None:
        within = within or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for suite in _suites(node):
            other = suite[0]
            if isinstance(node, ast.If) and isinstance(other, ast.If) and self._text(other).startswith("elif"):
                if mark is not None:  # the condition of an `elif` has the mark of its `if`
                    self.lines[mark] |= _header(other)
                self._inside(other, mark, within=within)
            else:
                self._suite(suite, within=within)

    def _text(self, node: ast.stmt) -> str:
        return self.written[node.lineno - 1][node.col_offset :]

    def _mark(self, node: ast.stmt) -> int | None:
        """Its number within the file; None for a docstring, and where another statement stands before it."""
        line = _begins(node)
        indent = self.written[line - 1][: node.col_offset]
        if _is_text(node) or indent.strip():
            return None
        self._before[line] = f"{indent}_marks_[{self._first + len(self.lines)}] = 1"
        self.lines.append(_header(node))
        return len(self.lines) - 1


def _suites(node: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    for each in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        for name in ("body", "orelse", "finalbody"):
            if suite := getattr(each, name, None):
                yield suite


def _begins(node: ast.stmt) -> int:
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    return min([node.lineno, *(each.lineno for each in decorators)])


def _header(node: ast.stmt) -> int:
    """Its lines without those of the statements within it."""
    inner = next(_suites(node), None)
    last = (node.end_lineno or node.lineno) if inner is None else _begins(inner[0]) - 1
    return bits(_begins(node), max(node.lineno, last))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _comes_first(node: ast.stmt) -> bool:
    return _is_text(node) or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


class Noting:
    """A pytest plugin. `lines` is complete after the last test; `failing` are the tests that did not pass."""

    def __init__(self, marks: Marks) -> None:
        self.lines: Lines = {}
        self.failing: set[str] = set()
        self._marks = marks

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._marks.clear()
        began = spent()
        try:
            return (yield)
        finally:
            self.lines[item.nodeid] = Noted(self._marks.lines(), round(spent().since(began).cpu, 2))

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails without a fault finds none."""
        if not report.passed:
            self.failing.add(report.nodeid)
