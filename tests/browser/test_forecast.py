"""The forecast on the usage page: it is computed when somebody asks, and read by everyone who sees the project."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import browsers
from tests.browser.browsers import PATIENT
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, PATIENT]
PHONE = {"width": 390, "height": 844}
COMPUTED_WITHIN_MS = 120_000


@pytest.fixture(scope="module")
def mill(site: Site) -> Site:
    """A project with an open task, and nothing recorded."""
    site.project("mill")
    site.hire("scribe", "mill", provider="claude")
    site.file("mill", "Write", assignee_id="scribe")
    return site


def begun(mill: Site) -> None:
    """A forecast, if there is none yet."""
    mill.people.rest("POST", "/projects/mill/forecast", {"max_concurrent": 2})


def panel(page: Page) -> Locator:
    return page.locator("section").filter(has=page.get_by_role("heading", name="Forecast"))


def test_a_forecast_is_computed_and_its_ranges_are_read(mill: Site, chrome: Browser) -> None:
    with browsers.window(chrome, mill) as window:
        page = window.page("/p/mill/usage")
        expect(panel(page).get_by_text("When the open tasks will be done")).to_be_visible()
        panel(page).get_by_label("Processes at a time").select_option("2")
        panel(page).get_by_role("button", name="Compute forecast").click()
        expect(panel(page).get_by_text("1 open task.")).to_be_visible(timeout=COMPUTED_WITHIN_MS)
        expect(panel(page).get_by_text("with 2 processes at a time")).to_be_visible()
        expect(panel(page).get_by_text("Not enough history: no tasks are recorded yet.")).to_be_visible()
        expect(panel(page).get_by_role("button", name="Compute again")).to_be_enabled()


@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("ja", "dark")])
def test_on_a_phone_nothing_is_cut_off(mill: Site, chrome: Browser, language: str, theme: str, tmp_path: Path) -> None:
    begun(mill)
    with browsers.window(chrome, mill, size=PHONE, touch=True, language=language, theme=theme) as window:
        page = window.page("/p/mill/usage")
        title, again = ("Forecast", "Compute again") if language == "en" else ("予測", "再計算")
        expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
        expect(page.get_by_role("button", name=again)).to_be_enabled(timeout=COMPUTED_WITHIN_MS)
        browsers.settled(page)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
        browsers.screenshot(page, tmp_path / f"forecast-{language}.png")


def test_a_viewer_reads_it_too(mill: Site, chrome: Browser) -> None:
    begun(mill)
    with browsers.window(chrome, mill, login="viewer") as window:
        page = window.page("/p/mill/usage")
        expect(panel(page).get_by_text("1 open task.")).to_be_visible(timeout=COMPUTED_WITHIN_MS)
