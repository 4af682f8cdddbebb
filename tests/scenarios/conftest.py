"""A site for each test, and everything that is known about it when the test fails.

Sites have SQLite; with `TORYO_TEST_SCENARIOS_ON=postgresql` each has a PostgreSQL database of its own. A scenario that
takes `site_on_each` is told on both.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.databases import KINDS, postgres_database
from tests.scenarios import programs
from tests.scenarios.sites import Site

ON_POSTGRESQL = os.environ.get("TORYO_TEST_SCENARIOS_ON") == "postgresql"

_FAILED = pytest.StashKey[bool]()

Build = Callable[..., Site]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[_FAILED] = True
    return report


@pytest.fixture
def build(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Build]:
    """Builds sites: `build(TORYO_…="…")`. They are taken down in order, and told of if the test has failed."""
    sites: list[Site] = []
    with ExitStack() as standing:

        def made(*, database: str | None = None, **settings: Any) -> Site:
            if database is None and ON_POSTGRESQL:
                database = standing.enter_context(postgres_database())
            name = "" if not sites else f"-{len(sites) + 1}"
            sites.append(standing.enter_context(Site(tmp_path, database=database, name=name, **settings)))
            return sites[-1]

        yield made
        if request.node.stash.get(_FAILED, False):
            print("\n\n".join(each.tell() for each in sites))  # noqa: T201 - shown beside the failure
            return
        for each in sites:
            _take_down_in_order(each)


def _take_down_in_order(site: Site) -> None:
    """A Coordinator that leaves takes its agents along: whatever runs afterwards was forgotten by the product."""
    for coordinator in site.coordinators:
        if coordinator.alive:
            assert coordinator.leave() == 0
    assert programs.everything_of(site.ways) == []
    if site.server.alive:
        assert site.server.leave() == 0


@pytest.fixture
def site(build: Build) -> Site:
    """A site whose guards are quick."""
    return build()


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """The URL of a database that outlives the sites of the test; None where each has its own SQLite file."""
    if request.param == "sqlite":
        yield None
        return
    with postgres_database() as url:
        yield url


@pytest.fixture
def site_on_each(database: str | None, build: Build) -> Site:
    """A site whose guards are quick, once with SQLite and once with PostgreSQL."""
    return build(database=database)
