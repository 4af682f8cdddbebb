"""`--fast`: the tests of some folders alone, those that take moments and need nothing but Python and SQLite.

A test belongs to them by standing in one of these folders, unless a mark says what else it needs. A test of these
folders that starts a process without the mark `process` fails, in every run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent
FOLDERS = ("domain", "housekeeping", "operations", "storage", "workflow")
OTHER_NEEDS = ("postgresql", "process", "redis", "slow")
"""Marks of tests that are left out."""
SERVERS = {"postgres_server", "redis_url"}
"""Fixtures of tests that are left out, too."""
_STARTS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn")

_forbidden = False


def pytest_addoption(parser: pytest.Parser) -> None:
    folders = ", ".join(FOLDERS)
    parser.addoption("--fast", action="store_true", help=f"only tests of {folders} that need nothing but Python")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Other folders, and files that stand in none, are not even read."""
    if not config.getoption("fast") or not collection_path.is_relative_to(TESTS) or collection_path == TESTS:
        return None
    return True if collection_path.relative_to(TESTS).parts[0] not in FOLDERS else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("fast"):
        config.hook.pytest_deselected(items=[item for item in items if needs_more(item)])
        items[:] = [item for item in items if not needs_more(item)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    global _forbidden  # noqa: PLW0603 - Python's audit hooks know nothing of tests
    _forbidden = in_a_fast_folder(item.path) and not any(map(item.get_closest_marker, ("process", "slow")))
    try:
        return (yield)
    finally:
        _forbidden = False


def needs_more(item: pytest.Item) -> bool:
    fixtures: list[str] = getattr(item, "fixturenames", [])
    return any(map(item.get_closest_marker, OTHER_NEEDS)) or not SERVERS.isdisjoint(fixtures)


def in_a_fast_folder(path: Path) -> bool:
    return path.is_relative_to(TESTS) and path.relative_to(TESTS).parts[0] in FOLDERS


def _refuse_processes(event: str, _arguments: tuple[Any, ...]) -> None:
    if _forbidden and event in _STARTS:
        raise AssertionError("this test starts a process: it is one of those of `make test-fast` unless marked process")


sys.addaudithook(_refuse_processes)
