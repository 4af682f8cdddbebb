"""The dependency graph of a project with five thousand open tasks: what hangs together is drawn where it is seen, the
rest is counted, and from far away all of it is there."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import browsers, linked_tasks
from tests.browser.browsers import PATIENT
from tests.browser.linked_tasks import ALL, LINKED
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, PATIENT]
PROJECT = "big"
MOST_ELEMENTS = 8_000
"""What a page may consist of, whatever there is to show: each task that is drawn takes about fifteen."""


@pytest.fixture(scope="module")
def big(site: Site) -> Site:
    linked_tasks.fill(site, PROJECT)
    return site


def elements(page: Page) -> int:
    found: int = page.evaluate("document.querySelectorAll('*').length")
    return found


def test_only_what_is_seen_is_drawn_and_from_far_away_all_of_it(big: Site, chrome: Browser) -> None:
    with browsers.window(chrome, big) as window:
        page = window.page(f"/p/{PROJECT}/graph")
        expect(page.locator(".react-flow__node").first).to_be_visible()
        expect(page.get_by_label(f"{ALL - LINKED:,} tasks without links")).not_to_be_checked()
        assert 0 < page.locator(".react-flow__node").count() < LINKED / 4
        assert elements(page) < MOST_ELEMENTS

        page.get_by_role("button", name="Fit to window").click()
        far = page.get_by_role("img", name=f"{LINKED:,} tasks from far away")
        expect(far).to_have_attribute("data-drawn", str(LINKED))
        expect(page.locator(".react-flow__node")).to_have_count(0)
        assert elements(page) < MOST_ELEMENTS

        page.get_by_label(f"{ALL - LINKED:,} tasks without links").check()
        page.get_by_role("button", name="Fit to window").click()
        everything = page.get_by_role("img", name=f"{ALL:,} tasks from far away")
        expect(everything).to_have_attribute("data-drawn", str(ALL))


def test_a_task_that_is_a_rectangle_is_chosen_and_leads_to_its_tree(big: Site, chrome: Browser) -> None:
    with browsers.window(chrome, big) as window:
        page = window.page(f"/p/{PROJECT}/graph")
        expect(page.get_by_label(f"{ALL - LINKED:,} tasks without links")).to_be_visible()
        page.get_by_role("button", name="Fit to window").click()
        far = page.get_by_role("img", name=f"{LINKED:,} tasks from far away")
        expect(far).to_have_attribute("data-drawn", str(LINKED))
        x, y = far.evaluate(MIDDLE_OF_A_RECTANGLE)
        page.mouse.click(x, y)
        page.get_by_role("button", name="Show only this tree").click()
        page.wait_for_url("**by=tsk_*")
        drawn = page.locator(".react-flow__node")
        expect(drawn.filter(has_text="Goal")).to_have_count(1)
        expect(drawn.filter(has_text="Goal")).to_be_visible()
        expect(drawn.filter(has_text="Step").first).to_be_visible()


MIDDLE_OF_A_RECTANGLE = """(canvas) => {
    const box = canvas.getBoundingClientRect();
    const scale = canvas.width / box.width;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const filled = (x, y) => data[(y * canvas.width + x) * 4 + 3] === 255;
    for (let y = Math.floor(canvas.height / 2); y < canvas.height - 2; y++)
        for (let x = Math.floor(canvas.width / 3); x < canvas.width - 2; x++)
            if (filled(x - 1, y - 1) && filled(x, y) && filled(x + 1, y + 1))
                return [box.left + x / scale, box.top + y / scale];
    throw new Error("nothing is drawn");
}"""


def test_on_a_phone_the_graph_is_a_list_of_chains(big: Site, chrome: Browser) -> None:
    with browsers.window(chrome, big, size=browsers.PHONE, touch=True) as window:
        page = window.page(f"/p/{PROJECT}/graph")
        chains = page.get_by_role("list", name="Chains")
        expect(chains.get_by_role("button", name="Goal 0.0").first).to_be_visible()
        expect(chains.get_by_role("button", name="Step 0.0.0", exact=False).first).to_be_visible()
        assert elements(page) < MOST_ELEMENTS
        chains.get_by_role("button", name="Goal 0.0").first.click()
        expect(chains.get_by_role("button", name="Step 0.0.0")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth") <= browsers.PHONE["width"]
        page.get_by_role("button", name="Graph", exact=True).click()
        expect(page.locator(".react-flow__node").first).to_be_visible()
