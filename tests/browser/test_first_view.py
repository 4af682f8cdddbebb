"""The first view: the frame is there before any script, what it loads is small, and what comes later loses no key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser import browsers, pages
from tests.browser.pages import card, column, drawn
from tests.budgets.ceilings import CEILINGS
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, browsers.PATIENT]

LATE = 11_000
"""What long lists need: asked for just when the view is drawn, and sometimes counted to it."""
VIEWS = {"board": "/p/shop/board", "home": "/p/shop", "list": "/p/shop/list"}
"""By the name of their folder."""


@pytest.fixture(scope="module")
def shop(site: Site) -> Site:
    site.project("shop")
    site.file("shop", "Paint the sign", status="todo")
    return site


@pytest.fixture
def window(chrome: Browser, shop: Site) -> Iterator[browsers.Window]:
    with browsers.window(chrome, shop) as found:
        yield found


@contextmanager
def held(window: browsers.Window, pattern: str) -> Iterator[None]:
    """The requests for some files wait until the block is over."""
    waiting: list[Route] = []
    over = False
    window.context.route(pattern, lambda route: route.continue_() if over else waiting.append(route))
    yield
    over = True
    for each in waiting:
        each.continue_()


# --- size ------------------------------------------------------------------------------------------------------------


# In the page, before its own scripts: when the frame and the view in it are drawn (its name is in the bar).
SHOWN = """() => {
    window.shown = new Promise((told) => new MutationObserver((_, watch) => {
        if (document.querySelector("header h1") === null) return;
        watch.disconnect();
        told(performance.now());
    }).observe(document, { childList: true, subtree: true, characterData: true }));
}"""
# What was asked for before that; what comes later is asked for once the view is drawn.
FILES = """async () => {
    const shown = await window.shown;
    const all = performance.getEntriesByType("resource").filter((each) => each.startTime < shown);
    return all.filter((each) => /\\.(js|css)$/.test(each.name)).map((each) => [each.name, each.encodedBodySize]);
}"""


@pytest.mark.parametrize("view", VIEWS)
def test_a_browser_asks_for_few_scripts_and_styles_until_the_view_is_drawn(window: browsers.Window, view: str) -> None:
    page = window.context.new_page()
    page.add_init_script(f"({SHOWN})()")
    page.goto(window.url + VIEWS[view])
    found: list[tuple[str, int]] = page.evaluate(FILES)
    assert found
    assert all(size > 0 for _, size in found)
    most = CEILINGS[f"bytes of the scripts and styles of the first view: {view}"].most
    assert sum(size for _, size in found) <= most + LATE, found


# --- the frame -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "chosen", "ground"),
    [("dark", None, "rgb(20, 19, 17)"), ("light", None, "rgb(251, 250, 248)"), ("light", "dark", "rgb(20, 19, 17)")],
)
def test_the_frame_has_the_theme_of_the_system_or_the_one_that_was_chosen(
    chrome: Browser, shop: Site, system: str, chosen: str | None, ground: str
) -> None:
    with browsers.window(chrome, shop, theme=system) as window:
        if chosen is not None:
            kept = f"localStorage.setItem('toryo.theme', '{chosen}')"
            window.context.add_init_script(f"if (location.protocol === 'http:') {kept}")
        page = window.context.new_page()
        with held(window, "**/assets/*"):
            page.goto(f"{window.url}/p/shop/board", wait_until="commit")
            expect(page.locator("#frame")).to_be_visible()
            expect(page.locator("body")).to_have_css("background-color", ground)
        expect(card(page, "Paint the sign")).to_be_visible()
        expect(page.locator("body")).to_have_css("background-color", ground)


# --- what comes later ------------------------------------------------------------------------------------------------


def board(window: browsers.Window) -> Page:
    page = window.page("/p/shop/board")
    expect(card(page, "Paint the sign")).to_be_visible()
    browsers.settled(page)
    return page


def test_what_is_typed_before_the_palette_is_loaded_is_found_in_it(window: browsers.Window) -> None:
    page = board(window)
    with held(window, "**/assets/palette*"):
        page.keyboard.press("ControlOrMeta+k")
        page.keyboard.type("paintx")
        page.keyboard.press("Backspace")
        expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("combobox")).to_have_value("paint")
    assert page.url.endswith("/p/shop/board")  # no letter meant the board behind it


def test_a_card_is_carried_by_keys_that_were_pressed_before_that_was_loaded(shop: Site, chrome: Browser) -> None:
    with browsers.window(chrome, shop) as window:
        task = shop.file("shop", "Oil the hinge", status="todo")
        page = board(window)
        with held(window, "**/assets/carry*"):
            card(page, "Oil the hinge").focus()
            for key in ("Space", "ArrowLeft", "Space"):
                page.keyboard.press(key)
        expect(card(page, "Oil the hinge", "Backlog")).to_be_visible()
        shop.until("it is moved", lambda: shop.status(task) == "backlog")


def test_a_card_is_carried_by_the_mouse_that_was_pressed_before_that_was_loaded(shop: Site, chrome: Browser) -> None:
    with browsers.window(chrome, shop) as window:
        shop.file("shop", "Sand the door", status="todo")
        page = board(window)
        here, there = card(page, "Sand the door").bounding_box(), column(page, "Backlog").bounding_box()
        assert here is not None
        assert there is not None
        with held(window, "**/assets/carry*"):
            page.mouse.move(here["x"] + 20, here["y"] + 10)
            page.mouse.down()
            page.mouse.move(there["x"] + 30, there["y"] + 60, steps=4)
        expect(pages.carried_over(page, "Sand the door", "Backlog")).to_be_attached()
        page.mouse.up()
        expect(card(page, "Sand the door", "Backlog")).to_be_visible()


def test_a_click_on_a_card_opens_it_though_the_rest_of_the_board_is_loaded_between_press_and_release(
    window: browsers.Window,
) -> None:
    with (
        window.context.expect_event("requestfinished", lambda each: "/assets/seen-cards" in each.url),
        held(window, "**/assets/seen-cards*"),
    ):
        page = window.page("/p/shop/board")
        expect(page.get_by_role("region", name="What keeps this project from continuing")).to_contain_text("No agent")
        here = card(page, "Paint the sign").bounding_box()
        assert here is not None
        page.mouse.move(here["x"] + 20, here["y"] + 10)
        page.mouse.down()
    page.evaluate("new Promise((idle) => requestIdleCallback(idle))")
    page.mouse.up()
    expect(page.get_by_role("dialog", name="Task", exact=True)).to_be_visible()
    drawn(page, "Paint the sign", "To do")


@pytest.mark.parametrize("by", ["click", "key"])
def test_a_menu_that_is_opened_before_it_is_loaded_opens_and_takes_the_keys_that_follow(
    window: browsers.Window, by: str
) -> None:
    page = board(window)
    filters = page.get_by_role("button", name="Filter", exact=True)
    expect(filters).to_have_attribute("aria-haspopup", "menu")
    with held(window, "**/assets/menus*"):
        if by == "click":
            filters.click()
        else:
            filters.focus()
            page.keyboard.press("Enter")
        page.keyboard.press("ArrowDown")
    first = page.get_by_role("menuitem", name="Status") if by == "click" else page.get_by_role("menuitem").nth(1)
    expect(first).to_be_focused()
    page.keyboard.press("Escape")
    expect(filters).to_be_focused()


def test_a_part_that_cannot_be_loaded_is_told_and_the_keyboard_goes_on(window: browsers.Window) -> None:
    window.context.route("**/assets/palette*", lambda route: route.abort())  # also where it is loaded beforehand
    page = board(window)
    page.keyboard.press("ControlOrMeta+k")
    expect(pages.toast(page, "could not be loaded")).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("[data-card]:focus")).to_be_visible()


def test_a_view_whose_script_is_gone_is_there_after_the_page_was_loaded_again(window: browsers.Window) -> None:
    page = board(window)
    window.context.route("**/assets/list*", lambda route: route.abort(), times=1)  # as after an upgrade of the server
    born = page.evaluate("performance.timeOrigin")
    page.get_by_role("link", name="List", exact=True).click()
    expect(page.get_by_role("heading", name="List")).to_be_visible()
    assert page.url.endswith("/p/shop/list")
    assert page.evaluate("performance.timeOrigin") != born
