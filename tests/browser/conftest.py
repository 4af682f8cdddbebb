"""One browser and one server per file; every test opens windows of its own.

Not one per worker: while Playwright runs, a worker can run no event loop of its own. Tests with the mark `firefox` run
a second time in Firefox, with a server of their own, after those in Chromium; that is always a deep test.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser import browsers
from tests.scenarios.sites import Site


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The browsers of a test. What runs in Chromium has its plain name, as if there were no other browser."""
    if "browser_name" not in metafunc.fixturenames:
        return
    marked = metafunc.definition.get_closest_marker("firefox") is not None
    usual = [browsers.CHROMIUM, browsers.FIREFOX] if marked else [browsers.CHROMIUM]
    asked = os.environ.get(browsers.ONLY)
    names = usual if asked is None else asked.split(",")
    values = [
        pytest.param(name, id=pytest.HIDDEN_PARAM)
        if name == browsers.CHROMIUM
        else pytest.param(name, id=name, marks=pytest.mark.deep)
        for name in names
    ]
    metafunc.parametrize("browser_name", values, indirect=True, scope="module")


@pytest.fixture(scope="module")
def browser_name(request: pytest.FixtureRequest) -> str:
    """The browser of this test. What a fixture shares is made for each browser if it asks for this name."""
    return str(request.param)


@pytest.fixture(scope="module")
def chrome(browser_name: str) -> Iterator[Browser]:
    """The browser, called by the name of the one that runs every test."""
    with browsers.browser(browser_name) as found:
        yield found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, browser_name: str) -> Iterator[Site]:
    """A server with nothing in it yet, and no Coordinator."""
    with Site(tmp_path_factory.mktemp(f"site-{browser_name}")) as found:
        yield found


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Site]:
    """A server of the test's own."""
    with Site(tmp_path) as found:
        yield found
