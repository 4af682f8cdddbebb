"""Bad weather: the server goes away, two people write at once, words that look like HTML, people who may only look."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import browsers, pages
from tests.browser.pages import card
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, browsers.PATIENT]

SCRIPT = "<script>document.title = 'taken'</script> & <b>bold</b>"
PICTURE = "<img src=x onerror=\"document.title = 'taken'\">"


@pytest.fixture(scope="module")
def yard(site: Site) -> Site:
    """A server with a project and nobody who works."""
    site.project("yard")
    site.hire("mason", "yard")
    return site


@browsers.BOTH
def test_a_server_that_is_killed_is_waited_for_and_what_happened_meanwhile_is_caught_up(
    place: Site, chrome: Browser
) -> None:
    place.project("yard")
    place.file("yard", "Lay stones")
    with browsers.window(chrome, place) as window:
        page = window.page("/p/yard/board")
        expect(pages.live(page)).to_be_visible()
        place.server.kill()
        expect(pages.live(page, "Reconnecting…")).to_be_visible()
        expect(card(page, "Lay stones")).to_be_visible()
        place.serve()
        place.file("yard", "Fill the gaps")
        expect(pages.live(page)).to_be_visible()
        expect(card(page, "Fill the gaps", "To do")).to_be_visible()
        place.file("yard", "Sweep")
        expect(card(page, "Sweep", "To do")).to_be_visible()
        window.errors.clear()  # the browser says that it could not connect: so it should


@pytest.mark.pitfall("F108")
def test_a_card_and_an_open_task_follow_every_change_without_a_click(yard: Site, chrome: Browser) -> None:
    task = yard.file("yard", "First title", assignee_id="mason")
    with browsers.window(chrome, yard) as window:
        page = window.page(f"/p/yard/board?task={task}")
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("heading", name="First title")).to_be_visible()
        yard.people.rest("PATCH", f"/tasks/{task}", {"title": "Second title"})
        expect(dialog.get_by_role("heading", name="Second title")).to_be_visible()
        yard.move(task, "cancelled", "no stones")
        expect(dialog.get_by_text("Cancelled").first).to_be_visible()


def test_two_people_who_edit_one_text_see_both_and_lose_nothing(yard: Site, chrome: Browser) -> None:
    task = yard.file("yard", "Lay stones", description="In rows.")
    with browsers.window(chrome, yard) as window:
        page = window.page(f"/t/{task}")
        page.get_by_role("button", name="Edit description").click()
        field = page.get_by_role("textbox", name="Description")
        field.fill("In rows, from the left.")
        yard.people.rest("PATCH", f"/tasks/{task}", {"description": "In circles."})
        page.get_by_role("button", name="Save").click()
        conflict = page.get_by_role("alert")
        expect(conflict).to_contain_text("In circles.")
        expect(conflict).to_contain_text("In rows, from the left.")
        assert yard.look(task)["description"] == "In circles."
        conflict.get_by_role("button").last.click()
        expect(page.get_by_role("paragraph").filter(has_text="In rows, from the left.")).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)
        yard.until("mine is kept", lambda: yard.look(task)["description"] == "In rows, from the left.")


@pytest.mark.parametrize("view", ["board", "list", "graph", "audit"])
def test_what_looks_like_html_in_a_title_stays_text(yard: Site, chrome: Browser, view: str) -> None:
    if SCRIPT not in yard.tasks("yard"):
        for title in (SCRIPT, PICTURE):
            yard.file("yard", title, description=title, assignee_id="mason")
    with browsers.window(chrome, yard) as window:
        page = window.page(f"/p/yard/{view}")
        expect(page.get_by_text(PICTURE).first).to_be_attached()
        expect(page.get_by_text(SCRIPT).first).to_be_attached()
        assert page.title() != "taken"
        assert page.locator("main img, main b").count() == 0


def test_what_looks_like_html_in_a_task_that_is_open_stays_text(yard: Site, chrome: Browser) -> None:
    task = yard.file("yard", PICTURE, description=f"{SCRIPT}\n\n{PICTURE}")
    with browsers.window(chrome, yard) as window:
        page = window.page(f"/t/{task}")
        expect(page.get_by_role("heading", name=PICTURE)).to_be_visible()
        expect(page.get_by_text(SCRIPT).first).to_be_visible()
        assert page.title() != "taken"


CHANGES = ("New task", "Approve", "Start", "Send instructions", "Edit title", "Edit description", "New agent")


def test_whoever_may_only_look_sees_no_way_to_change_anything_and_is_refused(yard: Site, chrome: Browser) -> None:
    task = yard.file("yard", "Only to be seen", assignee_id="mason")
    with browsers.window(chrome, yard, login="viewer") as window:
        for path in ("/p/yard/board", f"/t/{task}", "/p/yard/list", "/p/yard/team"):
            page = window.page(path)
            expect(page.get_by_role("main").get_by_text("mason").first).to_be_attached()
            for name in CHANGES:
                expect(page.get_by_role("button", name=name)).to_have_count(0)
        page.keyboard.press("n")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).not_to_contain_text("New task")
        assert browsers.rest(page, "POST", f"/tasks/{task}/move", {"status": "backlog"})[0] == 403
    assert yard.status(task) == "todo"
