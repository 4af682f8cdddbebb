"""A template is chosen in the dialog for new tasks, its parameters are filled in, and all of its tasks are created."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import browsers
from tests.browser.browsers import PATIENT
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, PATIENT]
PHONE = {"width": 390, "height": 844}
RELEASE = {
    "description": "Publish a version",
    "parameters": {"version": {"description": "Such as 1.4.0"}, "branch": {"default": "main"}},
    "tasks": [
        {"title": "Release {{version}}"},
        {"title": "Build {{version}} of {{branch}}", "parent": "Release {{version}}"},
    ],
}


@pytest.fixture(scope="module")
def mill(site: Site) -> Site:
    site.project("mill")
    site.people.rest("PUT", "/projects/mill/templates/release", {"definition": RELEASE})
    return site


def test_its_tasks_are_shown_before_and_created_together(mill: Site, chrome: Browser) -> None:
    with browsers.window(chrome, mill) as window:
        page = window.page("/p/mill/board")
        browsers.settled(page)
        page.keyboard.press("n")
        form = page.get_by_role("dialog")
        form.get_by_label("Template").select_option("release")
        expect(form.get_by_label("branch")).to_have_value("main")
        create = form.get_by_role("button", name="Create 2 tasks")
        create.click()
        expect(form).to_be_visible()  # a value is required
        form.get_by_label("version").fill("1.4.0")
        expect(form.get_by_role("listitem").nth(1)).to_have_text("Build 1.4.0 of main")
        create.click()
        expect(form).to_have_count(0)
        expect(page.get_by_text("Release 1.4.0")).to_be_visible()
    tasks = mill.people.rest("GET", "/projects/mill/tasks")["tasks"]
    assert {each["title"] for each in tasks} == {"Release 1.4.0", "Build 1.4.0 of main"}


@pytest.mark.parametrize("language", ["en", "ja"])
def test_it_fits_on_a_phone(mill: Site, chrome: Browser, language: str) -> None:
    with browsers.window(chrome, mill, size=PHONE, touch=True, language=language) as window:
        page = window.page("/p/mill/board")
        browsers.settled(page)
        page.keyboard.press("n")
        page.get_by_role("dialog").get_by_label("テンプレート" if language == "ja" else "Template").select_option(
            "release"
        )
        expect(page.get_by_role("dialog").get_by_label("version")).to_be_visible()
        assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]


def test_without_templates_nothing_is_asked(site: Site, chrome: Browser) -> None:
    site.project("shop")
    with browsers.window(chrome, site) as window:
        page = window.page("/p/shop/board")
        browsers.settled(page)
        page.keyboard.press("n")
        expect(page.get_by_role("dialog").get_by_label("Description")).to_be_visible()
        expect(page.get_by_role("dialog").get_by_label("Template")).to_have_count(0)
