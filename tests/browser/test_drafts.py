"""What one types is not lost: by Escape, a click beside, a reload, or a sign-out elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import browsers
from tests.browser.pages import card
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, browsers.PATIENT]


@pytest.fixture(scope="module")
def shop(site: Site) -> Site:
    site.project("shop")
    site.file("shop", "Paint the door")
    return site


@pytest.fixture
def window(chrome: Browser, shop: Site) -> Iterator[browsers.Window]:
    with browsers.window(chrome, shop) as found:
        yield found


def new_task(page: Page) -> None:
    expect(card(page, "Paint the door")).to_be_visible()
    page.keyboard.press("n")
    expect(page.get_by_role("dialog", name="New task")).to_be_visible()


@browsers.BOTH
@pytest.mark.parametrize("closing", ["escape", "beside", "reload"])
def test_a_half_written_task_is_there_when_one_comes_back(window: browsers.Window, closing: str) -> None:
    page = window.page("/p/shop/board")
    new_task(page)
    page.get_by_label("Title").fill("Half written")
    page.get_by_label("Description").fill("And why")
    if closing == "escape":
        page.keyboard.press("Escape")
        expect(page.get_by_text("Draft kept")).to_be_visible()
    elif closing == "beside":
        page.mouse.click(5, 450)
        expect(page.get_by_text("Draft kept")).to_be_visible()
    else:
        page.reload()
    expect(page.get_by_role("dialog")).to_have_count(0)
    new_task(page)
    expect(page.get_by_label("Title")).to_have_value("Half written")
    expect(page.get_by_label("Description")).to_have_value("And why")
    page.get_by_role("button", name="Discard draft").click()
    expect(page.get_by_label("Title")).to_have_value("")


@browsers.BOTH
def test_a_description_that_is_edited_outlives_its_sheet_and_a_sign_out_elsewhere(
    window: browsers.Window, shop: Site
) -> None:
    page = window.page("/p/shop/board")
    card(page, "Paint the door").click()
    page.get_by_role("button", name="Edit description").click()
    page.get_by_role("textbox", name="Description").fill("Two coats, green")
    other = window.page("/p/shop/team")
    other.get_by_role("banner").get_by_role("button").last.click()
    other.get_by_role("menuitem", name="Sign out").click()

    expect(page.get_by_text("You were signed out")).to_be_visible()
    expect(other.get_by_role("heading").first).to_be_visible()
    expect(other.get_by_text("You were signed out")).to_have_count(0)
    link = browsers.sign_in_link(shop)
    page.goto(link)
    page.get_by_role("dialog").get_by_role("button", name="Continue").click()
    expect(page.get_by_role("textbox", name="Description")).to_have_value("Two coats, green")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("textbox", name="Description")).to_have_count(0)
    expect(page.get_by_role("dialog").get_by_text("Two coats, green")).to_be_visible()
    page.reload()
    expect(page.get_by_role("dialog").get_by_text("Two coats, green")).to_be_visible()
    expect(page.get_by_text("unsaved draft")).to_have_count(0)
