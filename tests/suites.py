"""The two suites, `make test` and `make test-deep`, and what a test of the first may cost.

A test is one of `make test` unless the mark `deep` stands at it, at its class, its file or its parameter. What costs
more than `CPU` or `WAITING` belongs to `make test-deep`: without the mark it fails, in every run. The few stories that
are worth more are in `STORIES`, with what each may cost. What tests share (a fixture of a file or of the whole run) is
counted for itself, in `SHARED`.

A story that is told on both databases (tests/databases.py) is told on PostgreSQL in `make test` only if it has the mark
`both`: locks, batches, pages, whatever a database does in its own way. Elsewhere that is a deep test.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple

import pytest

from tests.process_costs import Spent, spent

CPU, WAITING = 2.0, 2.0
"""Seconds. CPU is that of all processes of the test; waiting is what is left of the clock (tests/process_costs.py)."""


class Most(NamedTuple):
    """What one story may cost, in seconds."""

    cpu: float
    waiting: float = WAITING


STORIES: dict[str, Most] = {}
"""Tests of whole processes and of a browser that `make test` runs all the same."""

SHARED: dict[str, Most] = {}
"""Fixtures that a file or a run makes once, by name."""

_NOT_SHARED = "function"
_limited = True
_shared: list[Spent] = []
"""What was spent for shared fixtures during this test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--unlimited", action="store_true", help="let a test of `make test` cost more than it may")


def pytest_configure(config: pytest.Config) -> None:
    global _limited  # noqa: PLW0603 - one run in a process
    _limited = not config.getoption("unlimited")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("twin") and not item.get_closest_marker("both"):
            item.add_marker(pytest.mark.deep)


# --- what a test costs -----------------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    item.stash[_BEGAN] = spent()
    _shared.clear()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
    if fixturedef.scope == _NOT_SHARED or not _limited:
        return (yield)
    before, others = spent(), len(_shared)
    result = yield
    cost = spent().since(before)
    for each in _shared[others:]:  # asked for by this one, and counted already
        cost = cost.since(each)
    _shared.append(cost)
    _judge(f"The fixture {fixturedef.argname}", cost, SHARED.get(fixturedef.argname))
    return result


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "teardown" and report.passed and _limited and item.get_closest_marker("deep") is None:
        cost = spent().since(item.stash[_BEGAN])
        for each in _shared:
            cost = cost.since(each)
        try:
            _judge("This test", cost, STORIES.get(item.nodeid))
        except AssertionError as too_much:
            report.outcome = "failed"
            report.longrepr = str(too_much)
    return report


_BEGAN = pytest.StashKey[Spent]()


def _judge(what: str, cost: Spent, most: Most | None) -> None:
    limit = most or Most(CPU)
    if cost.cpu > limit.cpu or cost.waited > limit.waiting:
        raise AssertionError(
            f"{what} took {cost.cpu:.1f} s of CPU and waited for {cost.waited:.1f} s; in `make test` it may take"
            f" {limit.cpu:g} s and wait for {limit.waiting:g} s. Make it cheaper, or mark it `deep` (tests/suites.py)."
        )
