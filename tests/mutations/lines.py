"""A pytest plugin that notes which test runs which line of src/toryo, in build/mutations/lines.json.

A fault is then looked for only by tests that run its line. A function that one test calls a hundred times is no longer
watched in that test, which makes noting cost a few times the run instead of hundreds.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

ENOUGH = 100
"""Calls of a function in one test."""
Lines = dict[str, dict[str, list[int]]]
"""Of each test (or `FILE::import` for what collecting a file runs), by file within src/toryo."""


class Noting:
    """Of the tests of one run. `lines` is complete after the last test; `failing` are those that did not pass."""

    def __init__(self, package: Path) -> None:
        self.lines: Lines = {}
        self.failing: set[str] = set()
        self._prefix = f"{package}{os.sep}"
        self._files: dict[CodeType, str | None] = {}
        self._calls: Counter[CodeType] = Counter()
        self._seen: set[tuple[CodeType, int]] = set()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._calls, self._seen = Counter(), set()
        threading.settrace(self._trace)
        sys.settrace(self._trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            self.lines[item.nodeid] = self._by_file()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails without a fault finds none."""
        if not report.passed:
            self.failing.add(report.nodeid)

    def _by_file(self) -> dict[str, list[int]]:
        found: defaultdict[str, set[int]] = defaultdict(set)
        for code, line in list(self._seen):
            found[self._files[code] or ""].add(line)
        return {file: sorted(lines) for file, lines in found.items()}

    def _trace(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        if code not in self._files:
            name = code.co_filename
            inside = name.startswith(self._prefix)
            self._files[code] = name.removeprefix(self._prefix).replace(os.sep, "/") if inside else None
        if self._files[code] is None or self._calls[code] >= ENOUGH:
            return None
        self._calls[code] += 1
        seen = self._seen

        def line(inner: FrameType, _event: str, _argument: Any) -> Any:
            seen.add((code, inner.f_lineno))
            return line

        return line
