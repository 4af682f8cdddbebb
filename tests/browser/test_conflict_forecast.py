"""A person says what a task touches, and sees on its page with which task it may conflict."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import browsers
from tests.scenarios.sites import Site
from tests.scenarios.test_worktrees import SiteRepository

pytestmark = [pytest.mark.deep, browsers.PATIENT]


def test_a_person_says_what_a_task_touches_and_sees_what_it_waits_for(site: Site, chrome: Browser) -> None:
    repository = SiteRepository(site, "yard", conflict_policy="hold")
    gate = site.gate()
    site.hire("ann", "yard")
    site.coordinator()
    first = repository.order("ann", "Models", f"echo begun; {gate}", touches=["app/"])
    site.until_printed(first, "begun")
    second = site.file("yard", "Views")
    with browsers.window(chrome, site) as window:
        page = window.page(f"/t/{second}")
        page.get_by_role("button", name="Edit the files it touches").click()
        page.get_by_role("textbox", name="Files it touches").fill("app/models.py, docs/*.md")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("app/models.py, docs/*.md")).to_be_visible()
        expect(page.get_by_text("Waits, because it would conflict in app/models.py with")).to_be_visible()
        page.get_by_role("button", name="Models").click()
        expect(page.get_by_role("heading", name="Models")).to_be_visible()
    gate.open()
    site.until_idle()
