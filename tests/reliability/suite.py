"""The part of the figures that a few minutes of tests give: each group is run once, and what it did is counted.

As a plugin of pytest (`-p tests.reliability.suite`) this module counts, for each group: tests by outcome, the calls
that operations performed in the test's own process, the requests that it sent over HTTP, and the engines it ran on.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
GROUPS: dict[str, tuple[str, ...]] = {
    "hostile": ("tests/operations/test_hostile.py",),
    "doors": ("tests/server/test_doors.py", "tests/server/test_strangers.py", "tests/operations/test_foreign_ids.py"),
    "upgrades": ("tests/storage/test_released_versions.py",),
    "conformance": ("tests/conformance",),
}
"""Files or folders, by the kind of what they prove."""
ENGINES = ("sqlite", "postgresql")
COMMAND = "python -m tests.reliability"
_TARGET = "TORYO_TEST_COUNTS"
"""Names the file into which the plugin writes."""


def run(target: Path) -> int:
    """Runs every group and writes what was counted; answers the exit code of pytest."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    files = [file for group in GROUPS.values() for file in group]
    words = [sys.executable, "-m", "pytest", "-q", "-p", "tests.reliability.suite", *files]
    return subprocess.run(words, cwd=ROOT, env={**os.environ, _TARGET: str(target.resolve())}, check=False).returncode


def group_of(test: str) -> str | None:
    """The kind of a test, by its id (`FILE::NAME[PARAMETERS]`)."""
    file = test.partition("::")[0]
    for group, places in GROUPS.items():
        if any(file == place or file.startswith(f"{place}/") for place in places):
            return group
    return None


class Counted:
    """What each group has done; tests run one after another, so what is called belongs to the test that runs."""

    def __init__(self) -> None:
        self.groups: dict[str, Counter[str]] = {name: Counter() for name in GROUPS}
        self.engines: dict[str, set[str]] = {name: set() for name in GROUPS}
        self.running: str | None = None

    def add(self, what: str) -> None:
        if self.running is not None:
            self.groups[self.running][what] += 1

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.running = group_of(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        group = group_of(report.nodeid)
        if group is None or (report.when != "call" and report.passed):
            return
        self.groups[group][report.outcome] += 1
        if report.passed:
            parameters = report.nodeid.partition("[")[2].replace("]", "").split("-")
            self.engines[group].update(engine for engine in ENGINES if engine in parameters)

    def told(self) -> dict[str, Any]:
        names = ("passed", "failed", "skipped", "calls", "requests")
        groups = {
            group: {**{name: counts[name] for name in names}, "engines": sorted(self.engines[group])}
            for group, counts in self.groups.items()
        }
        return {"command": COMMAND, "date": datetime.now(UTC).date().isoformat(), "groups": groups}

    def pytest_sessionfinish(self) -> None:
        Path(os.environ[_TARGET]).write_text(json.dumps(self.told(), indent=2) + "\n", encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Counts nothing where no file is named: pytest may also import this module as one of the tests'."""
    if _TARGET not in os.environ:
        return
    import httpx

    from toryo.operations.calls.dispatch import Dispatcher

    counted = Counted()
    _count(Dispatcher, "perform", functools.partial(counted.add, "calls"))
    _count(httpx.Client, "send", functools.partial(counted.add, "requests"))
    config.pluginmanager.register(counted, "reliability counts")


def _count(owner: Any, name: str, add: Callable[[], None]) -> None:
    original = getattr(owner, name)

    @functools.wraps(original)
    def counting(*given: Any, **named: Any) -> Any:
        add()
        return original(*given, **named)

    setattr(owner, name, counting)
