"""The timeline: the filter of the board, bars that say which task, and the zoom by the wheel."""

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
    """One task is done, one fails, one is at work until a person ends its program."""
    site.project(PROJECT, commands_from="managers")
    for name in ("ada", "bob", "cy"):
        site.hire(name, PROJECT)
    gate = site.gate("yard")
    site.coordinator()
    at = {"status": "in_progress"}
    done = site.file(PROJECT, "Saw planks", assignee_id="ada", context={"command": "echo sawn"}, **at)
    bad = site.file(PROJECT, "Dig a well", assignee_id="bob", context={"command": "echo rock; exit 3"}, **at)
    held = site.file(PROJECT, "Guard the gate", assignee_id="cy", context={"command": f"echo here; {gate}"}, **at)
    site.until_status(done, "completed")
    site.until_status(bad, "failed", "blocked")
    launch = site.until_printed(held, "here")
    session = next(each for each in site.sessions() if each["launch_id"] == launch)
    site.people.rest("DELETE", f"/sessions/{session['session_id']}", {"reason": "rain"})
    site.until("it is over", lambda: next(x for x in site.launches() if x["launch_id"] == launch)["ended_at"])
    return site


@pytest.fixture
def page(chrome: Browser, yard: Site) -> Iterator[Page]:
    with browsers.window(chrome, yard) as window:
        page = window.page(f"/p/{PROJECT}/timeline")
        expect(page.get_by_role("list", name="Agents")).to_be_visible()
        yield page


def bars(page: Page, title: str, result: str) -> None:
    found = page.locator(f'[data-result="{result}"]').and_(page.get_by_role("button", name=title))
    expect(found.first).to_be_visible()


def test_a_bar_says_which_task_and_what_became_of_it(page: Page) -> None:
    bars(page, "Saw planks", "completed")
    bars(page, "Guard the gate", "stopped")
    expect(page.locator('[data-result="failed"], [data-result="blocked"]').first).to_be_visible()
    page.locator('[data-result="completed"]').first.hover()
    card = page.locator("[data-radix-popper-content-wrapper]")
    expect(card).to_contain_text("Saw planks")
    expect(card).to_contain_text("Task completed")


def test_the_filter_of_the_board_narrows_the_timeline_and_stands_in_its_address(page: Page) -> None:
    page.get_by_role("searchbox", name="Filter by text").fill("planks")
    page.wait_for_url("**/timeline?q=planks")
    expect(page.get_by_role("status").filter(has_text="1 of 3 tasks")).to_be_visible()
    expect(page.get_by_role("list", name="Agents").get_by_role("listitem")).to_have_count(1)
    page.get_by_role("button", name="Clear filter").click()
    expect(page.get_by_role("list", name="Agents").get_by_role("listitem")).not_to_have_count(1)
    page.keyboard.press("f")
    expect(page.get_by_role("menuitem").first).to_be_focused()  # as in test_board.py
    page.get_by_role("menuitem", name="Assignee").hover()
    page.get_by_role("menuitem", name="bob").click()
    page.wait_for_url("**assignee*bob*")
    expect(page.get_by_role("list", name="Agents").get_by_role("listitem")).to_have_count(1)


def test_the_wheel_zooms_around_the_pointer_and_fills_no_history(page: Page) -> None:
    expect(page.get_by_role("button", name="Fit", pressed=True)).to_be_visible()
    before = page.evaluate("history.length")
    chart = page.get_by_role("region", name="Launches and tasks over time")
    box = chart.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 100)
    page.keyboard.down("Control")
    for _ in range(3):
        page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    page.wait_for_url("**by=*s")
    assert chart.evaluate("(each) => each.scrollWidth > each.clientWidth")
    assert page.evaluate("history.length") == before
    page.get_by_role("button", name="Fit", exact=True).click()
    expect(page.get_by_role("button", name="Fit", pressed=True)).to_be_visible()
    assert page.evaluate("history.length") == before
