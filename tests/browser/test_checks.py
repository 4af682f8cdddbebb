"""Acceptance checks in the dashboard: a project's are set in Settings, and a task shows how each ended, and why."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import browsers
from tests.browser.browsers import PATIENT, Window
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, PATIENT]


def settings_of(window: Window, project: str) -> Page:
    """The page with the form of a project, opened."""
    page = window.page("/settings?tab=projects")
    page.get_by_role("main").get_by_role("button").filter(has_text=project).click()
    return page


def test_what_is_required_in_settings_is_shown_with_each_task_and_what_it_found(chrome: Browser, site: Site) -> None:
    site.project("mill", commands_from="managers")
    site.hire("miller", "mill", name="Mia")
    site.coordinator()
    with browsers.window(chrome, site) as window:
        page = settings_of(window, "mill")
        again = '{"command": "test -e again || { touch again; exit 1; }", "retries": 1}'
        page.get_by_label("Required checks").fill('{"comand": "make test"}')
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Check 1 has an unknown key 'comand'.")).to_be_visible()
        page.get_by_label("Required checks").fill(f'echo 12 passed\n{{"file": "flour"}}\n{again}')
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Check 1 has an unknown key 'comand'.")).to_have_count(0)
        site.until(
            "they are set",
            lambda: site.people.rest("GET", "/projects/mill")["project"]["settings"]["required_checks"] or None,
        )

        work = {"assignee_id": "miller", "status": "in_progress", "context": {"command": "true"}}
        task = site.file("mill", "Grind", **work)
        site.until_status(task, "failed")
        page.goto(f"{window.url}/t/{task}")
        checks = page.locator("section").filter(has=page.get_by_role("heading", name="Acceptance checks"))
        expect(checks.get_by_text("Failed in")).to_be_visible()
        expect(checks.get_by_text("flour is missing in")).to_be_visible()
        output = checks.get_by_text("12 passed", exact=True)
        expect(output).to_be_hidden()
        checks.get_by_text("Output", exact=True).first.click()
        expect(output).to_be_visible()


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # a PNG


def test_the_files_that_a_check_left_are_shown_as_pictures_and_downloads(chrome: Browser, site: Site) -> None:
    site.project("studio", commands_from="managers")
    make = f"echo {PIXEL} | base64 -d > shot.png; echo '<script>document.title = 1</script>' > report.html"
    required = [{"command": make, "artifacts": ["*.png", "*.html", "*.gif"]}]
    site.people.rest("PATCH", "/projects/studio", {"settings": {"required_checks": required}})
    site.hire("painter", "studio", name="Pia")
    site.coordinator("studio")
    with browsers.window(chrome, site) as window:
        work = {"assignee_id": "painter", "status": "in_progress", "context": {"command": "true"}}
        task = site.file("studio", "Paint", **work)
        site.until_status(task, "completed")
        page = window.page(f"/t/{task}")
        checks = page.locator("section").filter(has=page.get_by_role("heading", name="Acceptance checks"))
        picture = checks.get_by_role("link", name="shot.png")
        expect(picture).to_be_visible()
        shown = picture.locator("img")
        shown.scroll_into_view_if_needed()
        page.wait_for_function("picture => picture.complete && picture.naturalWidth === 1", arg=shown.element_handle())
        with page.expect_download() as download:
            checks.get_by_role("link", name="report.html").click()
        assert download.value.suggested_filename == "report.html"
        assert download.value.path().read_text().startswith("<script>")
        checks.get_by_text("About its files", exact=True).click()
        expect(checks.get_by_text("No file matches *.gif.")).to_be_visible()
        with window.context.expect_page() as opened:
            picture.click()
        opened.value.wait_for_function("document.images.length === 1 && document.images[0].naturalWidth === 1")
