"""Getting about: the menu of a project, the board at its address, the palette, the task beside the board."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import browsers, pages
from tests.browser.pages import card
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, browsers.PATIENT]

VIEWS = {
    "": "Overview",
    "/board": "Board",
    "/list": "List",
    "/chat": "Chat",
    "/timeline": "Timeline",
    "/graph": "Graph",
    "/team": "Team",
    "/logs": "Logs",
    "/sessions": "Sessions",
    "/audit": "Audit log",
    "/usage": "Usage",
    "/state": "Shared state",
}


@pytest.fixture(scope="module")
def shop(site: Site) -> Site:
    """Two projects, one of them with tasks in lanes."""
    for name in ("shop", "mill"):
        site.project(name)
    site.hire("ada", "shop")
    site.hire("ren", "shop")
    parent = site.file("shop", "Whole release", assignee_id="ada")
    for number in range(4):
        who = ("ada", "ren")[number % 2]
        site.file("shop", f"Part {number}", assignee_id=who, parent_task_id=parent, status="backlog")
    site.file("shop", "Alone", status="backlog")
    return site


@pytest.fixture
def window(chrome: Browser, shop: Site) -> Iterator[browsers.Window]:
    with browsers.window(chrome, shop) as found:
        yield found


@pytest.mark.parametrize("by", ["agent", "parent"])
def test_a_board_with_lanes_has_its_cards_when_it_is_opened_reloaded_and_come_back_to(
    window: browsers.Window, by: str
) -> None:
    page = window.page(f"/p/shop/board?by={by}")
    for again in (lambda: None, page.reload, page.reload):
        again()
        for title in ("Whole release", "Part 3", "Alone"):
            expect(card(page, title)).to_be_visible()
    page.get_by_role("navigation").get_by_role("link", name="List", exact=True).click()
    expect(page.get_by_role("grid")).to_be_visible()
    page.go_back()
    for title in ("Whole release", "Part 3", "Alone"):
        expect(card(page, title)).to_be_visible()


def test_every_view_names_its_project_in_the_bar_and_in_the_title_of_the_tab(window: browsers.Window) -> None:
    page = window.page("/p/shop")
    for path, name in VIEWS.items():
        page.goto(f"{window.url}/p/shop{path}")
        bar = page.get_by_role("banner")
        expect(bar.get_by_role("heading", level=1)).to_have_text(name)
        expect(bar.get_by_role("link", name="shop")).to_be_visible()
        expect(page).to_have_title(re.compile(rf"^(\(\d+\) )?{name} · shop$"))
        if path != "/state":  # not in the menu
            link = page.get_by_role("navigation").get_by_role("link", name=re.compile(f"^{name}"))
            expect(link).to_have_attribute("aria-current", "page")


def test_another_project_is_chosen_in_the_menu_and_keys_lead_to_its_views(window: browsers.Window) -> None:
    page = window.page("/p/shop/timeline")
    page.get_by_role("button", name="Project: shop").click()
    page.get_by_role("menuitem", name="mill").click()
    page.wait_for_url("**/p/mill/timeline")
    expect(page).to_have_title("Timeline · mill")
    page.keyboard.press("g")
    page.keyboard.press("b")
    page.wait_for_url("**/p/mill/board")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog").get_by_text("g b", exact=True)).to_be_visible()


def widths(page: Page) -> list[int]:
    columns = "[...document.querySelectorAll('[data-column]')]"
    found: list[int] = page.evaluate(f"() => {columns}.map(each => each.clientWidth)")
    return found


def test_all_seven_columns_fit_on_a_common_screen_and_none_moves_when_one_becomes_empty(
    chrome: Browser, site: Site
) -> None:
    site.project("yard")
    tasks = {status: site.file("yard", f"Is {status}", status="backlog") for status in pages.COLUMNS}
    site.move(tasks["To do"], "todo")
    site.move(tasks["Cancelled"], "cancelled", "so")
    with browsers.window(chrome, site, size={"width": 1440, "height": 900}) as window:
        page = window.page("/p/yard/board")
        expect(card(page, "Is To do", "To do")).to_be_visible()
        for name in pages.COLUMNS:
            head = page.get_by_role("button", name=re.compile(f"column: {name}"))
            if head.get_attribute("aria-expanded") == "false":
                head.click()
            expect(head).to_have_attribute("aria-expanded", "true")
        frame = "() => { const f = document.querySelector('[data-column]').parentElement; return f.scrollWidth }"
        assert page.evaluate(frame) <= 1440 - 240
        browsers.settled(page)  # tracks of a grid take a frame
        before = widths(page)
        assert max(before) - min(before) <= 1
        site.move(tasks["To do"], "backlog")
        expect(card(page, "Is To do", "Backlog")).to_be_visible()
        browsers.settled(page)
        assert widths(page) == before


@browsers.BOTH
def test_a_task_opens_beside_the_board_and_the_next_card_takes_its_place(window: browsers.Window) -> None:
    page = window.page("/p/shop/board")
    card(page, "Part 0").click()
    panel = page.get_by_role("dialog", name="Task", exact=True)
    expect(panel.get_by_role("heading", name="Part 0")).to_be_visible()
    board, beside = page.get_by_role("main").bounding_box(), panel.bounding_box()
    assert board is not None
    assert beside is not None
    assert board["x"] + board["width"] <= beside["x"] + 1
    card(page, "Part 1").click()
    expect(panel.get_by_role("heading", name="Part 1")).to_be_visible()
    page.keyboard.press("j")
    expect(panel.get_by_role("heading", name="Part 2")).to_be_visible()
    page.keyboard.press("s")
    page.get_by_role("menuitem", name="Move to To do").click()
    expect(card(page, "Part 2", "To do")).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(card(page, "Part 2")).to_be_focused()


def test_a_task_lies_over_the_board_where_there_is_no_room_beside_it(chrome: Browser, shop: Site) -> None:
    with browsers.window(chrome, shop, size={"width": 900, "height": 700}) as window:
        page = window.page("/p/shop/board")
        card(page, "Part 0").click()
        panel = page.get_by_role("dialog", name="Task", exact=True)
        expect(panel.get_by_role("heading", name="Part 0")).to_be_visible()
        page.mouse.click(30, 400)
        expect(panel).to_have_count(0)


def test_the_palette_assigns_a_task_without_the_pointer(window: browsers.Window, shop: Site) -> None:
    page = window.page("/p/shop/list")
    expect(page.get_by_role("grid")).to_be_visible()
    page.keyboard.press("ControlOrMeta+k")
    for words in ("> assign", "Alone", "ren"):
        page.keyboard.type(words)
        expect(page.get_by_role("option")).to_have_count(1)
        page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Assigned to ren: Alone")).to_be_visible()
    assert shop.tasks("shop")["Alone"]["assignee_id"] == "ren"
