"""Talking with agents in a browser: UC012, UC014 and UC015, tabs that are killed, and two who look at one agent."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Error, Locator, Page, expect

from tests.browser import browsers, pages
from tests.scenarios import chats, programs
from tests.scenarios.chats import process_of
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, browsers.PATIENT]

GONE_WITHIN = 20.0
"""Seconds from the last look at a panel until its agent's process is gone."""
HOLDS = 6
"""Seconds a panel of this site is held open without a word from its page."""


@pytest.fixture(scope="module")
def works(tmp_path_factory: pytest.TempPathFactory, browser_name: str) -> Iterator[Site]:
    """A server that soon forgets panels whose pages say nothing, with a Coordinator and two projects."""
    place = tmp_path_factory.mktemp(f"chats-{browser_name}")
    with Site(place, TORYO_CHAT__VIEWER_LEASE=str(HOLDS), TORYO_CHAT__START_TIMEOUT="8") as site:
        for project in ("house", "garden"):
            site.project(project)
        chats.person(site, "mika", "house")
        for name in ("ann", "ben", "cy", "dan"):
            chats.talker(site, name, "house", "garden")
        site.coordinator()
        yield site


def thread(window: browsers.Window, agent: str, project: str = "house") -> Page:
    return window.page(f"/p/{project}/chat?agent={agent}")


def state(page: Page, words: str) -> None:
    expect(page.get_by_role("heading", level=2).locator("xpath=..").get_by_text(words, exact=True).last).to_be_visible()


def said(page: Page, words: str) -> Locator:
    """A message in the thread: the list of threads shows the newest one, too."""
    return page.get_by_role("paragraph").filter(has_text=words)


def say(page: Page, words: str) -> None:
    page.get_by_role("textbox", name="Message to").fill(words)
    page.keyboard.press("Enter")


@pytest.mark.pitfall("F34")
def test_leaving_a_panel_ends_its_agent_keeps_what_was_said_and_coming_back_brings_a_new_one(
    works: Site, chrome: Browser
) -> None:
    with browsers.window(chrome, works) as window:
        page = thread(window, "ben")
        state(page, "Connected")
        say(page, "Green")
        expect(said(page, "Green, you say?")).to_be_visible()
        first = process_of(works, "ben")
        page.get_by_role("link", name="Board").click()
        assert programs.gone(first.pid, GONE_WITHIN)
        page.get_by_role("link", name="Chat").click()
        page.get_by_role("main").get_by_role("button").filter(has_text="ben").first.click()
        expect(said(page, "Green, you say?")).to_be_visible()
        state(page, "Connected")
        assert process_of(works, "ben", after=first).pid != first.pid


@pytest.mark.pitfall("F32", "F33")
def test_f32_f33_a_panel_that_is_closed_and_opened_again_at_once_is_connected_anew(
    works: Site, chrome: Browser
) -> None:
    with browsers.window(chrome, works) as window:
        page = thread(window, "cy")
        state(page, "Connected")
        for _ in range(2):
            page.get_by_role("button", name="Close chat").click()
            expect(page.get_by_text("Choose a thread", exact=True)).to_be_visible()
            page.go_back()
        state(page, "Connected")
        say(page, "What is your name?")
        expect(said(page, "I am cy.")).to_be_visible()
        last = process_of(works, "cy")
        page.route("**/close", lambda route: route.abort())
        page.get_by_role("button", name="Close chat").click()
        expect(page.get_by_text("Choose a thread", exact=True)).to_be_visible()
        assert programs.gone(last.pid, GONE_WITHIN + HOLDS), "the server forgets a panel that it hears nothing of"


@pytest.mark.pitfall("F34")
def test_f34_the_agent_of_a_tab_whose_process_was_killed_leaves_by_itself(works: Site, chrome: Browser) -> None:
    with browsers.window(chrome, works) as window:
        page = thread(window, "dan")
        state(page, "Connected")
        process = process_of(works, "dan")
        with page.expect_event("crash"), contextlib.suppress(Error):
            page.goto("chrome://crash")
        assert programs.gone(process.pid, GONE_WITHIN + HOLDS)


@pytest.mark.pitfall("F35")
def test_f35_one_of_two_viewers_leaves_and_the_other_one_goes_on_talking(works: Site, chrome: Browser) -> None:
    with browsers.window(chrome, works) as window, browsers.window(chrome, works) as other:
        page, another = thread(window, "ann"), thread(other, "ann")
        state(page, "Connected")
        state(another, "Connected")
        process = process_of(works, "ann")
        another.get_by_role("link", name="Board").click()
        expect(another.get_by_role("heading", name="Board")).to_be_visible()
        say(page, "Still there?")
        expect(said(page, "Still there?, you say?")).to_be_visible()
        assert process_of(works, "ann").pid == process.pid


@pytest.mark.pitfall("F113")
def test_f113_whoever_is_connected_in_one_project_is_off_in_another(works: Site, chrome: Browser) -> None:
    chats.Chat(works, "garden", "ann").say("Dig here, some day.")
    works.until("it was answered", lambda: len(chats.Chat(works, "garden", "ann").thread()) > 1)
    chats.Chat(works, "garden", "ann").until("disconnected")
    with browsers.window(chrome, works) as window:
        page = thread(window, "ann")
        state(page, "Connected")
        say(page, "Yellow")
        expect(said(page, "Yellow, you say?")).to_be_visible()
        here = page.get_by_role("main").get_by_role("button").filter(has_text="ann")
        expect(here.get_by_role("img", name="Connected", exact=True)).to_be_visible()
        elsewhere = window.page("/p/garden/chat")
        there = elsewhere.get_by_role("main").get_by_role("button").filter(has_text="ann")
        expect(there.first).to_be_visible()
        expect(there.get_by_role("img", name="Connected", exact=True)).to_have_count(0)


@pytest.mark.pitfall("F106")
def test_f106_a_person_sees_the_messages_between_the_two_and_none_of_others(works: Site, chrome: Browser) -> None:
    chats.Chat(works, "house", "ann", "mika").say("Between mika and ann alone.")
    chats.Chat(works, "house", "ann").say("Between the owner and ann.")
    with browsers.window(chrome, works) as window:
        page = thread(window, "ann")
        state(page, "Connected")
        expect(page.get_by_text("Start of the thread")).to_be_visible()
        expect(said(page, "Between the owner and ann.").first).to_be_visible()
        expect(page.get_by_text("Between mika and ann alone.")).to_have_count(0)


def test_what_a_task_wants_a_person_to_know_is_there_word_for_word_and_counted_as_new(
    works: Site, chrome: Browser
) -> None:
    works.project("roof")
    works.hire("roofer", "roof")
    text = "The roof is tight: 100 % <b>& dry</b>"
    told = {"delegate": {"target_agent_id": "owner", "purpose": text}, "command": "true"}
    with browsers.window(chrome, works) as window:
        page = window.page("/p/roof/chat")
        expect(page.get_by_text("No conversations yet")).to_be_visible()
        task = works.file("roof", "Tell", assignee_id="roofer", context=told, status="in_progress")
        row = page.get_by_role("main").get_by_role("button").filter(has_text=text)
        expect(row.get_by_label("1 new")).to_be_visible()
        row.click()
        expect(said(page, text)).to_be_visible()
        works.until_status(task, "completed")
        expect(row.get_by_label("1 new")).to_have_count(0)


@pytest.mark.pitfall("F107")
def test_f107_an_agent_that_cannot_come_leaves_no_waiting_sign_behind(works: Site, chrome: Browser) -> None:
    works.hire("mute", "house", provider="script", provider_options={"script": "no-such-script.yaml"})
    with browsers.window(chrome, works) as window:
        page = thread(window, "mute")
        say(page, "Hello?")
        expect(page.get_by_text("Toryo ·").first).to_be_visible()
        expect(page.get_by_text("mute is reading…")).to_have_count(0)
        expect(page.get_by_text("mute is joining…")).to_have_count(0)


def test_words_that_could_not_be_sent_are_kept_and_sent_once(works: Site, chrome: Browser) -> None:
    with browsers.window(chrome, works) as window:
        page = thread(window, "ben")
        state(page, "Connected")
        page.route("**/messages", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
        say(page, "Only once")
        expect(pages.toast(page, "Not sent")).to_be_visible()
        page.unroute("**/messages")
        page.get_by_role("button", name="Resend").click()
        expect(said(page, "Only once, you say?")).to_be_visible()
    sent = [each["content"] for each in chats.Chat(works, "house", "ben").thread() if each["content"] == "Only once"]
    assert sent == ["Only once"]


def test_a_request_is_approved_where_it_is_made_and_asks_no_longer(works: Site, chrome: Browser) -> None:
    asks = {"answers": [{"when": r"please (?P<what>.+)", "request": {"title": "{{what}}"}}], "tasks": [{"run": "true"}]}
    chats.talker(works, "eli", "garden", script=asks)
    with browsers.window(chrome, works) as window:
        page = thread(window, "eli", "garden")
        state(page, "Connected")
        say(page, "please rake")
        request = page.get_by_role("region", name="Approval requested")
        expect(request.get_by_role("button", name="Backlog rake")).to_be_visible()
        expect(page.get_by_role("main")).not_to_contain_text("toryo task")
        request.get_by_role("button", name="Approve").click()
        expect(request).to_contain_text("Approved by you")
        expect(request.get_by_role("button", name="Approve")).to_have_count(0)
        page.reload()
        expect(request).to_contain_text("Approved by you")
        expect(request.get_by_role("button", name="Reject")).to_have_count(0)
    assert works.tasks("garden")["rake"]["approval"] == "approved"
