"""A person reviews several tasks at once: one diff, in which each hunk names its task, and one button that merges them
in the proposed order until one is refused."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import browsers, pages
from tests.scenarios.sites import Site
from tests.scenarios.test_worktrees import SiteRepository

pytestmark = [pytest.mark.deep, browsers.PATIENT]

ROOMS = "".join(f"line {number}\n" for number in range(1, 21))


@pytest.fixture(scope="module")
def house(site: Site) -> SiteRepository:
    repository = SiteRepository(site, "street")
    repository.commit(rooms=ROOMS)
    for name in ("ann", "ben", "cid"):
        site.hire(name, "street")
    site.coordinator()
    return repository


def drafted(house: SiteRepository, **commands: str) -> dict[str, str]:
    """Tasks by their titles, each of another agent; all of them have left."""
    people = ("ann", "ben", "cid")
    tasks = {title: house.order(people[place], title, run) for place, (title, run) in enumerate(commands.items())}
    for task in tasks.values():
        house.site.until_status(task, "completed")
    house.site.until_idle()
    return tasks


def set_line(number: int, to: str, file: str = "rooms") -> str:
    return f"sed -i '{number}s/.*/{to}/' {file}"


def titles(page: Page) -> list[str]:
    """In the proposed order."""
    return page.locator("ol").get_by_role("link").all_inner_texts()


def together(page: Page, *chosen: str) -> None:
    for title in chosen:
        page.get_by_role("checkbox", name=f"Select: {title}").check()
    page.get_by_role("toolbar").get_by_role("button", name="Combined diff").click()


def test_overlaps_come_first_and_merging_stops_at_the_first_refusal_with_its_reason(
    house: SiteRepository, chrome: Browser
) -> None:
    tasks = drafted(
        house,
        Red=set_line(2, "red"),
        Blue=f"{set_line(2, 'blue')}; {set_line(18, 'sky')}",
        Green="mkdir -p 'the garden'; echo grass > 'the garden/läwn \"1\".txt'",
    )
    with browsers.window(chrome, house.site) as window:
        page = window.page("/p/street/review")
        together(page, "Red", "Blue", "Green")
        expect(page).to_have_url(re.compile("/review/together"))
        files = page.locator("section[id^=file-]")
        expect(files).to_have_count(2)
        first = files.nth(0)
        expect(first).to_have_attribute("aria-label", "rooms")
        expect(first).to_contain_text("Conflict")
        expect(first.get_by_role("listitem")).to_contain_text(re.compile("change line 2 differently"))
        hunks = first.locator("tr", has=page.get_by_role("button", name=re.compile("Red|Blue")))
        expect(hunks.filter(has_text="Red")).to_have_count(1)
        expect(hunks.filter(has_text="Blue")).to_have_count(2)
        expect(files.nth(1)).to_contain_text("grass")
        assert titles(page)[0] == "Green"

        page.get_by_role("button", name="Merge 3 tasks in this order").click()
        dialog = page.get_by_role("dialog", name="Merge 3 tasks in this order?")
        expect(dialog).to_contain_text("will probably not be merged")
        dialog.get_by_role("button", name="Merge", exact=True).click()
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text("Could not merge")
        expect(alert.get_by_role("listitem")).to_have_text(["rooms"])
        expect(page.get_by_text("Merged into main")).to_have_count(2)
        expect(page.get_by_role("button", name="Merge 1 task")).to_be_visible()

        page.get_by_role("button", name="Load again").click()
        expect(page.get_by_text("was already merged").first).to_be_visible()
        expect(files).to_have_count(1)
    states = {title: house.worktree(task)["state"] for title, task in tasks.items()}
    assert sorted(states.values()) == ["merged", "merged", "open"]
    assert states["Green"] == "merged"
    assert (house.path / "the garden" / 'läwn "1".txt').read_text() == "grass\n"
    left = next(tasks[title] for title, state in states.items() if state == "open")
    house.done(left, "discard")


def test_the_keyboard_alone_chooses_reads_and_leaves_one_out(house: SiteRepository, chrome: Browser) -> None:
    drafted(house, East="echo e > east", West="echo w > west")
    with browsers.window(chrome, house.site) as window:
        page = window.page("/p/street/review")
        expect(page.get_by_role("checkbox", name="Select: East")).to_be_visible()
        for key in ("x", "j", "x", "Enter"):
            page.keyboard.press(key)
        expect(page.locator("section[id^=file-]")).to_have_count(2)
        page.keyboard.press("j")
        expect(page.locator("section[id^=file-] button:focus")).to_have_count(1)
        page.get_by_role("button", name="Leave out: East").press("Enter")
        expect(page.locator("section[id^=file-]")).to_have_count(1)
        expect(page.get_by_role("button", name="Merge 1 task")).to_be_visible()
        page.go_back()
        expect(page.locator("section[id^=file-]")).to_have_count(2)


def test_who_only_looks_sees_the_combined_diff_and_merges_nothing(house: SiteRepository, chrome: Browser) -> None:
    tasks = drafted(house, North="echo n > north", South="echo s > south")
    with browsers.window(chrome, house.site, login="viewer", size=browsers.PHONE) as window:
        page = window.page(f"/p/street/review/together?tasks={','.join(tasks.values())}")
        expect(page.locator("section[id^=file-]")).to_have_count(2)
        assert pages.deeds(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= browsers.PHONE["width"]
