"""What a browser loads before the first view is drawn, counted in what the build wrote.

tests/browser/test_first_view.py compares it with what a browser asks for.
"""

from __future__ import annotations

import pytest

from tests.browser import browsers
from tests.browser.first_files import first_files
from tests.budgets.ceilings import hold

PAGE = 1
ROWS = {
    view: [f"bytes of the scripts and styles of the first view: {view}", f"files of the first view: {view}"]
    for view in ("board", "home", "list")
}


@pytest.mark.parametrize("name", ROWS)
def test_a_first_view_loads_no_more_bytes_and_files_than_it_may(name: str) -> None:
    browsers.built()
    found = [first_files(name, language) for language in ("en", "ja")]
    hold(ROWS[name], max(sum(each.values()) for each in found), PAGE + max(map(len, found)))
