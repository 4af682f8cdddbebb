"""What somebody has narrowed is saved under a name: in the menu with its count, in ⌘K, for oneself or for everybody."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import browsers
from tests.browser.browsers import PATIENT
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, PATIENT]
PROJECT = "yard"


@pytest.fixture(scope="module")
def yard(site: Site) -> Site:
    site.project(PROJECT)
    site.hire("ada", PROJECT)
    for title in ("Oak door", "Pine door", "Fence"):
        site.file(PROJECT, title)
    site.file(PROJECT, "Paint", assignee_id="ada", status="in_progress")
    return site


@pytest.fixture
def page(chrome: Browser, yard: Site) -> Iterator[Page]:
    with browsers.window(chrome, yard) as window:
        yield window.page(f"/p/{PROJECT}/board")


def save(page: Page, name: str, *, everybody: bool = False) -> None:
    page.get_by_role("main").get_by_role("button", name="Save view").click()
    form = page.get_by_role("dialog", name="Save view")
    form.get_by_label("Name").fill(name)
    if everybody:
        form.get_by_label("Show it to everybody in this project").check()
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)


def entry(page: Page, name: str, count: int) -> None:
    link = page.get_by_role("navigation").get_by_role("link", name=name)
    expect(link).to_have_accessible_name(f"{name} {count} {'task' if count == 1 else 'tasks'}")


def test_a_filter_is_saved_its_count_is_live_and_it_is_found_renamed_and_deleted(yard: Site, page: Page) -> None:
    expect(page.get_by_role("button", name="Save view")).to_have_count(0)
    page.get_by_role("searchbox").fill("door")
    save(page, "Doors")
    entry(page, "Doors", 2)
    expect(page.get_by_role("button", name="Save view")).to_have_count(0)
    yard.file(PROJECT, "Back door")
    entry(page, "Doors", 3)

    page.get_by_role("link", name="Audit log").or_(page.get_by_role("link", name="Timeline")).first.click()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("Doors")
    page.keyboard.press("Enter")
    page.wait_for_url("**/board?q=door")

    page.get_by_role("button", name="Menu of the saved view Doors").click()
    page.get_by_role("menuitem", name="Rename…").click()
    form = page.get_by_role("dialog", name="Edit saved view")
    form.get_by_label("Name").fill("Gates")
    form.get_by_role("button", name="Save").click()
    entry(page, "Gates", 3)
    page.get_by_role("button", name="Menu of the saved view Gates").click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.get_by_role("navigation").get_by_role("link", name="Gates")).to_have_count(0)


def test_what_is_saved_for_everybody_appears_for_others_and_a_viewer_saves_only_for_themselves(
    yard: Site, page: Page, chrome: Browser
) -> None:
    with browsers.window(chrome, yard, login="viewer") as other:
        there = other.page(f"/p/{PROJECT}/list?q=fence")
        expect(there.get_by_role("button", name="Save view")).to_be_visible()
        page.goto(f"{other.url}/p/{PROJECT}/list?q=status:in_progress")
        save(page, "Under way", everybody=True)
        entry(there, "Under way For everybody", 1)
        expect(there.get_by_role("button", name="Menu of the saved view Under way")).to_have_count(0)
        there.get_by_role("button", name="Save view").click()
        expect(there.get_by_label("Show it to everybody in this project")).to_have_count(0)


def test_a_tree_of_the_graph_and_a_filter_of_the_audit_log_are_saved(page: Page) -> None:
    page.goto(page.url.replace("/board", "/graph?q=loose+list"))
    save(page, "All of it")
    page.get_by_role("navigation").get_by_role("link", name="Board", exact=True).click()
    page.get_by_role("navigation").get_by_role("link", name="All of it").click()
    expect(page.get_by_role("list", name="Chains").get_by_role("button", name="Fence")).to_be_visible()
    page.goto(page.url.split("/graph")[0] + "/audit?q=kind:task")
    save(page, "Task events")
    link = page.get_by_role("navigation").get_by_role("link", name="Task events")
    expect(link).to_have_accessible_name("Task events")
    expect(link).to_have_attribute("aria-current", "page")
