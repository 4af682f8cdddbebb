"""Many tabs of one browser: all of them work and are told what happens, over one stream of events; and the header does
not say Live while the server does not answer.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, BrowserContext, Request, Route, expect

from tests.browser import browsers
from tests.browser.pages import card, live
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, browsers.PATIENT]

TABS = 20
"""More than the six connections that a browser opens to one server."""


class Streams:
    """The streams of events that a browser has open."""

    def __init__(self, context: BrowserContext) -> None:
        self._begun: list[Request] = []
        self._over: list[Request] = []
        context.on("request", lambda one: self._begun.append(one) if "/events/stream" in one.url else None)
        context.on("requestfinished", self._ended)
        context.on("requestfailed", self._ended)

    def _ended(self, one: Request) -> None:
        self._over.append(one)

    @property
    def open(self) -> list[Request]:
        """Those of tabs that were closed are over without a word."""
        return [one for one in self._begun if one not in self._over and not one.frame.page.is_closed()]


@browsers.BOTH
def test_twenty_tabs_load_show_tasks_file_tasks_and_are_told_what_happens_over_one_stream(
    chrome: Browser, site: Site
) -> None:
    site.project("tabs")
    site.file("tabs", "The first one")
    with browsers.window(chrome, site) as window:
        streams = Streams(window.context)
        all_tabs = [window.page("/p/tabs/board") for _ in range(TABS)]
        for tab in all_tabs:
            expect(card(tab, "The first one")).to_be_visible()
            expect(live(tab)).to_be_visible()
        assert len(streams.open) == 1

        last = all_tabs[-1]
        card(last, "The first one").click()
        expect(last.get_by_role("dialog").get_by_role("heading", name="The first one").first).to_be_visible()
        last.keyboard.press("Escape")
        last.keyboard.press("n")
        last.get_by_label("Title").fill("Filed in the last tab")
        last.get_by_role("dialog").get_by_role("button", name="Create task").click()
        expect(last.get_by_role("dialog").get_by_role("heading", name="Filed in the last tab").first).to_be_visible()
        last.get_by_role("dialog").get_by_role("button", name="Close").click()
        for tab in all_tabs:
            expect(card(tab, "Filed in the last tab")).to_be_visible()

        leader = next(tab for tab in all_tabs if tab == streams.open[0].frame.page)
        leader.close()
        site.file("tabs", "After the first tab was closed")
        for tab in all_tabs:
            if tab is not leader:
                expect(card(tab, "After the first tab was closed")).to_be_visible()
        assert len(streams.open) == 1


@pytest.mark.parametrize("what", ["board", "task"])
def test_the_header_says_that_the_server_does_not_answer_while_a_request_hangs(
    chrome: Browser, site: Site, what: str
) -> None:
    name = f"hangs-{what}"
    site.project(name)
    task = site.file(name, "Slow to read")
    with browsers.window(chrome, site) as window:
        page = window.page(f"/p/{name}/team")
        expect(live(page)).to_be_visible()
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)

        page.route(f"**/api/v1/projects/{name}/board*" if what == "board" else f"**/api/v1/tasks/{task}*", hold)
        page.get_by_role("link", name="Board", exact=True).click()
        if what == "task":
            card(page, "Slow to read").click()
        expect(page.get_by_text("The server does not answer")).to_be_visible()
        expect(page.get_by_text("Live", exact=True)).to_have_count(0)
        for route in held:
            route.continue_()
        expect(page.get_by_text("Live", exact=True)).to_be_visible()
