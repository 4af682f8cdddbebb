"""The quota windows of accounts on the usage page: what is used and kept, and setting limits and the reserve there."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import browsers
from tests.browser.browsers import PATIENT
from tests.scenarios.sites import Site
from toryo.client import Client

pytestmark = [pytest.mark.deep, PATIENT]
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def mill(site: Site) -> Site:
    """A scribe on the account `second`, which has used 1,900 tokens."""
    site.project("mill")
    site.hire("scribe", "mill", provider="claude", provider_options={"account": "second"})
    site.file("mill", "Write", assignee_id="scribe", status="in_progress")
    coordinator = Client(site.url, site.token("coordinator"), patience_seconds=20)
    asked = {"coordinator_id": "desk", "free_slots": 1, "running": []}
    [launch] = coordinator.call("claim_starts", **asked)["start"]
    spent = {"input_tokens": 1_500, "output_tokens": 400}
    coordinator.call("append_log", launch_id=launch["launch_id"], offset=0, text="", usage=spent)
    return site


def test_limits_and_the_reserve_are_set_where_the_windows_are_shown(mill: Site, chrome: Browser) -> None:
    with browsers.window(chrome, mill) as window:
        page = window.page("/p/mill/usage")
        panel = page.locator("section").filter(has=page.get_by_role("heading", name="Quota of accounts"))
        expect(panel.get_by_text("1,900")).to_have_count(3)
        panel.get_by_role("button", name="Edit the quota of second (claude)").click()
        form = page.get_by_role("dialog")
        form.get_by_label("Limit, 5 hours (tokens)").fill("2000")
        form.get_by_label("Reserve (%)").fill("20")
        form.get_by_label("Tasks of low priority start").select_option("Only with quota to spare")
        mill.people.rest("PATCH", "/quotas/second", {"limit_week": 90_000})  # by somebody else, meanwhile
        form.get_by_role("button", name="Save").click()
        expect(panel.get_by_role("meter", name="second (claude), 5 hours")).to_have_attribute("aria-valuenow", "95")
        expect(panel.get_by_text("Reserve: only tasks of high and critical priority start")).to_be_visible()
    quota = mill.people.rest("GET", "/quotas/second")["quota"]
    assert (quota["limit_5h"], quota["limit_day"], quota["limit_week"]) == (2_000, None, 90_000)
    assert (quota["reserve"], quota["low_priority"]) == (20, "spare")


@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("ja", "dark")])
def test_on_a_phone_nothing_is_cut_off(mill: Site, chrome: Browser, language: str, theme: str, tmp_path: Path) -> None:
    with browsers.window(chrome, mill, size=PHONE, touch=True, language=language, theme=theme) as window:
        page = window.page("/p/mill/usage")
        expect(page.get_by_text("second", exact=True)).to_be_visible()
        browsers.settled(page)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
        browsers.screenshot(page, tmp_path / f"quotas-{language}.png")
        page.get_by_role("button", name="second").click()
        expect(page.get_by_role("dialog").get_by_role("combobox")).to_be_visible()
        browsers.screenshot(page, tmp_path / f"quota-edit-{language}.png")


def test_a_viewer_reads_them_and_cannot_edit(mill: Site, chrome: Browser) -> None:
    with browsers.window(chrome, mill, login="viewer") as window:
        page = window.page("/p/mill/usage")
        expect(page.get_by_text("second", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Edit the quota of second")).to_have_count(0)


@pytest.fixture
def waiting(mill: Site) -> Site:
    """A task of low priority that the reserve of the account holds."""
    mill.people.rest("PATCH", "/quotas/second", {"limit_5h": 2_000, "reserve": 20})
    if not any(each["agent_id"] == "smith" for each in mill.people.rest("GET", "/agents")["agents"]):
        mill.hire("smith", "mill", provider="claude", provider_options={"account": "second"})
        mill.file("mill", "Forge", assignee_id="smith", status="in_progress", priority="low")
    return mill


def test_overview_says_which_quota_tasks_wait_for_and_leads_to_where_it_is_edited(
    waiting: Site, chrome: Browser
) -> None:
    with browsers.window(chrome, waiting) as window:
        page = window.page("/p/mill")
        line = page.get_by_role("listitem").filter(has_text="What is left of the quota of the account second")
        expect(line).to_contain_text("1 task waits.")
        expect(page.get_by_text("1 task waits for a quota, a budget or a cooldown")).to_be_visible()
        expect(page.get_by_text("All open work continues by itself")).to_have_count(0)
        line.get_by_role("button", name="Edit quota").click()
        form = page.get_by_role("dialog", name="Edit the quota of second")
        expect(form.get_by_label("Reserve (%)")).to_have_value("20")
        page.keyboard.press("Escape")
        expect(form).to_have_count(0)
        line.get_by_role("button", name="Edit quota").click()
        expect(form).to_be_visible()


@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("ja", "dark")])
def test_the_line_about_a_quota_fits_a_phone(
    waiting: Site, chrome: Browser, language: str, theme: str, tmp_path: Path
) -> None:
    with browsers.window(chrome, waiting, size=PHONE, touch=True, language=language, theme=theme) as window:
        page = window.page("/p/mill")
        expect(page.get_by_role("listitem").filter(has_text="second").first).to_be_visible()
        browsers.settled(page)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
        browsers.screenshot(page, tmp_path / f"quota-kept-{language}.png")
