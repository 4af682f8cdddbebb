"""What a team knows, in the dashboard: added, found by its words, pinned, corrected and deleted; also on a phone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import browsers
from tests.browser.browsers import BOTH, PATIENT, PHONE
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, PATIENT]
PROJECT = "mint"


@pytest.fixture(scope="module")
def mint(site: Site) -> Site:
    site.project(PROJECT)
    return site


@pytest.fixture
def page(chrome: Browser, mint: Site) -> Iterator[Page]:
    with browsers.window(chrome, mint) as window:
        yield window.page(f"/settings?tab=memory&q={PROJECT}")


def row(page: Page, text: str) -> Locator:
    return page.get_by_role("main").get_by_role("listitem").filter(has_text=text).first


@BOTH
def test_a_fact_is_added_found_pinned_corrected_and_deleted(page: Page, mint: Site) -> None:
    page.get_by_role("button", name="New memory").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Text").fill("The press is loud on Mondays.")
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)
    fact = row(page, "The press is loud on Mondays.")
    fact.get_by_role("button", name="Pin", exact=True).click()
    expect(fact.get_by_text("Pinned", exact=True)).to_be_visible()
    fact.get_by_role("button", name="Edit").click()
    form.get_by_label("Text").fill("The press is loud on Fridays.")
    form.get_by_role("button", name="Save").click()
    expect(row(page, "Fridays")).to_be_visible()

    search = page.get_by_label("Search memories, reports, handoffs and conversations")
    search.fill("loud press")
    expect(row(page, "Fridays").get_by_text("Memory", exact=True)).to_be_visible()
    search.fill("Mondays")
    expect(page.get_by_text("Nothing was found")).to_be_visible()
    search.fill("")
    row(page, "Fridays").get_by_role("button", name="Delete").click()
    form.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("listitem").filter(has_text="Fridays")).to_have_count(0)
    assert mint.people.rest("GET", f"/projects/{PROJECT}/memories")["memories"] == []


def test_what_is_found_is_corrected_and_deleted_where_it_is_found(page: Page, mint: Site) -> None:
    for number in range(120):  # more than a page without a limit has
        mint.people.rest("POST", f"/projects/{PROJECT}/memories", {"text": f"Coin {number} is round."})
    page.reload()
    expect(row(page, "Coin 0 is round.")).to_be_visible()
    page.get_by_label("Search memories, reports, handoffs and conversations").fill("coin 119")
    coin = row(page, "Coin 119 is round.")
    coin.get_by_role("button", name="Edit").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Text").fill("Coin 119 is oval.")
    form.get_by_role("button", name="Save").click()
    oval = row(page, "Coin 119 is oval.")
    oval.get_by_role("button", name="Delete").click()
    form.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("listitem").filter(has_text="Coin 119 is")).to_have_count(0)


def test_it_is_found_in_japanese_on_a_phone(chrome: Browser, mint: Site) -> None:
    mint.people.rest("POST", f"/projects/{PROJECT}/memories", {"text": "決済のテストには Redis が必要です。"})
    with browsers.window(chrome, mint, language="ja", size=PHONE, touch=True) as window:
        page = window.page(f"/settings?tab=memory&q={PROJECT}")
        page.get_by_label("メモリー、報告、引き継ぎ、会話を検索").fill("決済テスト")
        expect(row(page, "Redis が必要です").get_by_text("メモリー", exact=True)).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
