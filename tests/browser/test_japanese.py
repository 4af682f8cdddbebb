"""A browser that prefers Japanese: from the sign-in on, the page and what the server refuses are Japanese."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import browsers
from tests.browser.pages import card
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, browsers.PATIENT]


@browsers.BOTH
def test_a_japanese_browser_reads_and_is_refused_in_japanese(chrome: Browser, site: Site) -> None:
    site.project("mise", language="ja")
    site.hire("daiku", "mise", name="大工")
    with browsers.stranger(chrome, site, language="ja") as window:
        page = window.page("/p/mise/board")
        expect(page.get_by_role("heading", name="Toryo にサインイン")).to_be_visible()
        browsers.sign_in(window.context, site)
        page.goto(f"{window.url}/p/mise/board")
        expect(page.get_by_role("heading", level=1)).to_have_text("ボード")
        assert page.evaluate("document.documentElement.lang") == "ja"

        page.keyboard.press("n")
        asked = page.get_by_role("dialog", name="新しいタスク")
        expect(asked.get_by_role("textbox", name="タイトル")).to_be_focused()
        page.keyboard.type("板を切る ！最優先")
        asked.get_by_role("button", name="タスクを作成").click()
        opened = page.get_by_role("dialog", name="タスク", exact=True)
        expect(opened.get_by_role("heading", name="板を切る")).to_be_visible()
        expect(opened.get_by_role("button", name="最優先")).to_be_visible()
        page.keyboard.press("Escape")
        expect(card(page, "板を切る", "未着手")).to_be_visible()

        page.goto(f"{window.url}/t/nothing")
        expect(page.get_by_role("main")).to_contain_text(re.compile("タスク.*(ありません|見つかりません)"))
