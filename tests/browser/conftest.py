"""One Chromium and one server per file; every test opens windows of its own.

Not one per worker: while Playwright runs, a worker can run no event loop of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser import browsers
from tests.scenarios.sites import Site


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browsers.browser() as found:
        yield found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server with nothing in it yet, and no Coordinator."""
    with Site(tmp_path_factory.mktemp("site")) as found:
        yield found


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Site]:
    """A server of the test's own."""
    with Site(tmp_path) as found:
        yield found
