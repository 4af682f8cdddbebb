"""The frame around the views: the menu of a phone, focus and history after a sheet, what is printed, the first page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import browsers
from tests.browser.pages import card
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, browsers.PATIENT]

MANY = 60
HASTE = """() => {
    const layers = () => document.querySelectorAll("[role=dialog], [role=menu]").length;
    const before = layers();
    window.hasty = new Promise((pressed) => {
        new MutationObserver((_, watch) => {
            if (layers() <= before) return;
            watch.disconnect();
            const key = new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true });
            pressed(document.activeElement.dispatchEvent(key));
        }).observe(document, { childList: true, subtree: true });
    });
}"""
"""Presses Escape in the moment in which something more lies over the page, sooner than anybody could."""


@pytest.fixture(scope="module")
def shop(site: Site) -> Site:
    site.project("shop")
    for number in range(MANY):
        site.file("shop", f"Task {number:02}")
    return site


@pytest.fixture
def window(chrome: Browser, shop: Site) -> Iterator[browsers.Window]:
    with browsers.window(chrome, shop) as found:
        yield found


@browsers.BOTH
def test_a_tap_beside_the_menu_of_a_phone_closes_it_and_does_nothing_else(chrome: Browser, shop: Site) -> None:
    with browsers.window(chrome, shop, size=browsers.PHONE, touch=True) as window:
        page = window.page("/p/shop/list")
        browsers.settled(page)
        for closing in ("tap", "escape"):
            page.get_by_role("button", name="Menu").click()
            menu = page.get_by_role("dialog", name="Menu")
            expect(menu.get_by_role("link", name="Board", exact=True)).to_be_visible()
            if closing == "tap":
                browsers.tap(page, 360, 300)
            else:
                page.keyboard.press("Escape")
            expect(menu).to_have_count(0)
            expect(page.get_by_role("dialog")).to_have_count(0)
            assert page.url.endswith("/p/shop/list")


def test_a_sheet_that_is_closed_gives_back_the_focus_and_back_does_not_open_it_again(window: browsers.Window) -> None:
    page = window.page("/p/shop/team")
    page.get_by_role("link", name="Board", exact=True).click()
    card(page, "Task 00").click()
    expect(page.get_by_role("dialog", name="Task", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(card(page, "Task 00")).to_be_focused()
    page.go_back()
    expect(card(page, "Task 00")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def in_haste(page: Page, opens: Callable[[], None]) -> None:
    """Opens something and presses Escape as soon as it is drawn."""
    page.evaluate(HASTE)
    opens()
    page.evaluate("() => window.hasty")


@browsers.BOTH
def test_escape_closes_what_has_just_appeared_and_nothing_else(chrome: Browser, shop: Site) -> None:
    for size in (browsers.WIDE, browsers.PHONE):
        with browsers.window(chrome, shop, size=size) as window:
            page = window.page("/p/shop/board")
            sheet = page.get_by_role("dialog", name="Task", exact=True)
            layers = page.locator("[role=dialog], [role=menu]")
            for _ in ("first", "again"):  # what draws it is loaded for the first one
                in_haste(page, card(page, "Task 00").click)
                expect(sheet).to_have_count(0)
            card(page, "Task 00").click()
            expect(sheet.get_by_role("heading", name="Task 00")).to_be_visible()
            for keys in ("p", "ControlOrMeta+k"):
                for _ in ("first", "again"):
                    in_haste(page, partial(page.keyboard.press, keys))
                    expect(layers).to_have_count(1)
                    expect(sheet).to_have_count(1)


def test_zooming_the_timeline_does_not_fill_the_history(window: browsers.Window) -> None:
    page = window.page("/p/shop/timeline")
    browsers.settled(page)
    before = page.evaluate("history.length")
    for name in ("Day", "Hour"):
        page.get_by_role("group", name="Time range").get_by_role("button", name=name).click()
        expect(page.get_by_role("button", name=name, pressed=True)).to_be_visible()
    assert page.evaluate("history.length") == before


@pytest.mark.parametrize("view", ["list", "board"])
def test_the_whole_view_is_printed(window: browsers.Window, view: str) -> None:
    page = window.page(f"/p/shop/{view}")
    browsers.settled(page)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for number in range(MANY):
        expect(page.get_by_text(f"Task {number:02}").first).to_be_attached()
    height, bottom = page.evaluate(
        "[document.documentElement.scrollHeight, Math.max(...[...document.querySelectorAll('main *')]"
        ".map((each) => each.getBoundingClientRect().bottom))]"
    )
    assert height > 2 * browsers.WIDE["height"]
    assert bottom <= height + 1
    expect(page.get_by_role("banner")).to_have_count(0)


def test_an_owner_of_an_empty_server_makes_a_project_from_the_first_page(place: Site, chrome: Browser) -> None:
    with browsers.window(chrome, place) as window:
        page = window.page("/")
        expect(page.get_by_text("toryo up")).to_have_count(0)
        page.get_by_role("main").get_by_role("link", name="New project").click()
        expect(page.get_by_role("dialog", name="New project").get_by_label("Name")).to_be_visible()
