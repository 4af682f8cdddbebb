"""The eight stories that `make test` tells in a browser (tests/suites.py has their limits): signing in, the board, a
task, a review, a chat, settings, the first view, and axe. They share a browser and a server with a Coordinator.
Everything else about each of them is in a file of its own beside this one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import browsers
from tests.browser.pages import card, carry, column, drawn
from tests.browser.test_board import middle, told
from tests.browser.test_chat import said, say, state, thread
from tests.browser.test_first_view import held
from tests.browser.test_review import COMMENTED, comment, drafted, review
from tests.browser.test_views import BEHIND_A_MENU, OPENED, faults_of
from tests.scenarios import chats
from tests.scenarios.sites import Site
from tests.scenarios.test_worktrees import SiteRepository

pytestmark = browsers.PATIENT


@pytest.fixture(scope="module")
def works(site: Site) -> Site:
    """The server, with a Coordinator."""
    site.coordinator()
    return site


@pytest.fixture
def window(chrome: Browser, works: Site) -> Iterator[browsers.Window]:
    with browsers.window(chrome, works) as found:
        yield found


@browsers.BOTH
def test_the_link_signs_in_once_and_the_code_does_not_stay_in_the_address(chrome: Browser, works: Site) -> None:
    link = browsers.sign_in_link(works)
    with browsers.stranger(chrome, works) as window:
        page = window.context.new_page()
        page.goto(link)
        expect(page.get_by_role("navigation")).to_be_visible()
        assert link.partition("#")[2] not in page.url
        cookies = window.context.cookies()
        name = f"toryo-{works.url.rpartition(':')[2]}"
        assert [(cookie["name"], cookie["httpOnly"], cookie["sameSite"]) for cookie in cookies] == [
            (name, True, "Strict")
        ]
        kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, history.state])")
        assert link.partition("#")[2] not in kept
        assert cookies[0]["value"] not in kept
    with browsers.stranger(chrome, works) as window:
        page = window.context.new_page()
        page.goto(link)
        expect(page.get_by_role("alert")).to_contain_text("works once")


@browsers.BOTH
def test_a_card_is_carried_by_mouse_past_columns_that_say_why_not_is_taken_back_and_carried_by_keys(
    works: Site, window: browsers.Window
) -> None:
    works.project("mill")
    task = works.file("mill", "Grind", status="backlog")
    works.file("mill", "Bake", status="backlog")
    page = window.page("/p/mill/board")
    page.mouse.move(*middle(drawn(page, "Grind", "Backlog")))
    page.mouse.down()
    x, y = middle(card(page, "Grind", "Backlog"))
    page.mouse.move(x + 20, y, steps=4)
    refused = column(page, "Completed")
    expect(refused.locator("[data-refused]")).to_contain_text("cannot go")
    page.mouse.move(*middle(column(page, "To do")), steps=8)
    expect(told(page, "Grind is over To do")).to_be_attached()
    page.mouse.up()
    expect(card(page, "Grind", "To do")).to_be_visible()
    expect(card(page, "Bake", "Backlog")).to_be_visible()
    works.until("it is moved", lambda: works.status(task) == "todo")
    page.get_by_role("button", name="Undo").click()
    expect(card(page, "Grind", "Backlog")).to_be_visible()
    works.until("it is back", lambda: works.status(task) == "backlog")
    carry(page, "Grind", of="Backlog", to="To do")
    expect(card(page, "Grind", "To do")).to_be_visible()
    works.until("it is moved again", lambda: works.status(task) == "todo")


def test_a_task_is_filed_followed_while_it_is_worked_on_and_told_something(
    works: Site, window: browsers.Window
) -> None:
    works.project("wood")
    gate = works.gate("wood")
    chats.talker(works, "cutter", "wood", script={"tasks": [{"run": f"echo at work; {gate}; echo stacked"}]})
    page = window.page("/p/wood/board")
    expect(page.get_by_role("main").get_by_role("button", name="New task")).to_be_visible()
    page.keyboard.press("n")
    dialog = page.get_by_role("dialog", name="New task")
    dialog.get_by_label("Title").fill("Stack")
    dialog.get_by_label("Description").fill("In *rows*.")
    dialog.get_by_label("Assignee").select_option("cutter")
    dialog.get_by_text("More options", exact=True).click()
    dialog.get_by_label("Priority").select_option("high")
    page.keyboard.press("Shift+ControlOrMeta+Enter")  # and start it
    sheet = page.get_by_role("dialog", name="Task", exact=True)
    expect(sheet.get_by_role("heading", name="Stack")).to_be_visible()
    filed = works.tasks("wood")["Stack"]
    assert (filed["assignee_id"], filed["priority"], filed["description"]) == ("cutter", "high", "In *rows*.")

    sheet.get_by_role("tab", name="Live log").click()
    log = sheet.get_by_role("log")
    expect(log).to_contain_text("at work")
    sheet.get_by_role("button", name="Send instructions").click()
    asked = page.get_by_role("dialog").filter(has=page.get_by_role("textbox")).last
    asked.get_by_role("textbox").fill("Bark upwards, please.")
    asked.get_by_role("button", name="Send instructions").click()
    expect(asked).to_have_count(0)
    gate.open()
    expect(log).to_contain_text("stacked")
    sheet.get_by_role("tab", name="Messages").click()
    expect(sheet.get_by_role("tabpanel").get_by_text("Bark upwards, please.")).to_be_visible()
    expect(card(page, "Stack", "Completed")).to_be_visible()


@browsers.BOTH
def test_comments_on_lines_are_kept_until_they_are_sent_as_one_message_and_the_answer_is_merged(
    works: Site, window: browsers.Window
) -> None:
    house = SiteRepository(works, "house")
    works.hire("ann", "house")
    task = drafted(house, "Write two")
    page = review(window, task)
    comment(page.get_by_role("region", name="a", exact=True), 2, COMMENTED[0])
    comment(page.get_by_role("region", name="b", exact=True), 1, COMMENTED[1])
    page.reload()
    ask = page.get_by_role("button", name="Request changes (2)")
    expect(ask).to_be_visible()
    ask.click()
    dialog = page.get_by_role("dialog", name="Request changes")
    dialog.get_by_label("General comment").fill("Nearly there.")
    dialog.get_by_role("button", name="Send").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile(r"Request changes \("))).to_have_count(0)

    follow_up = house.site.tasks("house")["Changes to: Write two"]["task_id"]
    wanted = house.site.look(follow_up)
    assert wanted["dependencies"] == [task]
    assert wanted["assignee_id"] == "ann"
    said = wanted["description"]
    assert said.index("Nearly there.") < said.index("a, line 2") < said.index(COMMENTED[0])
    assert said.index("> two") < said.index("b, line 1") < said.index(COMMENTED[1])

    expect(page.get_by_role("button", name="Changes to: Write two")).to_be_visible()
    refused: list[str] = []
    window.context.on("response", lambda one: refused.append(f"{one.status} {one.url}") if not one.ok else None)
    page.get_by_role("button", name="Approve and merge").click()
    merging = page.get_by_role("dialog", name="Approve and merge")
    merging.get_by_label("Commit message").fill("Two, as reviewed")
    go = merging.get_by_role("button", name="Merge", exact=True)
    expect(go).to_be_disabled()
    merging.get_by_label("Merge without these changes").check()
    go.click()
    expect(page.get_by_text("Merged into main").first).to_be_visible()
    expect(page.get_by_role("region", name="b", exact=True)).to_contain_text("new")
    expect(page.get_by_role("button", name="Discard")).to_have_count(0)
    page.reload()  # the diff comes from the merge commit now
    expect(page.get_by_role("region", name="b", exact=True)).to_contain_text("new")
    expect(page.get_by_role("button", name="Comment on line")).to_have_count(0)
    assert house.files() == {"a": "one\ntwo\n", "b": "new\n"}
    assert house.git("log", "-1", "--format=%s") == "Two, as reviewed"
    assert refused == []


@browsers.BOTH
def test_an_agent_comes_when_its_panel_is_opened_and_one_process_answers_all(
    works: Site, window: browsers.Window
) -> None:
    works.project("den")
    chats.talker(works, "eva", "den")
    page = thread(window, "eva", "den")
    state(page, "Connected")
    say(page, "What is your name?")
    expect(said(page, "I am eva.")).to_be_visible()
    say(page, "Blue")
    expect(said(page, "Blue, you say?")).to_be_visible()
    say(page, "Red")
    expect(said(page, "Red, you say?")).to_be_visible()
    assert chats.launches_by_purpose(works)["eva", "chat"] == 1
    assert page.get_by_text("eva is reading…").count() == 0


def test_a_project_is_paused_goes_on_and_keeps_the_rules_that_two_people_set(
    works: Site, window: browsers.Window
) -> None:
    works.project("barn")
    page = window.page("/settings?tab=projects&q=barn")
    sheet = page.get_by_role("dialog", name="barn")
    sheet.get_by_role("button", name="Pause").click()
    expect(sheet.get_by_role("button", name="Resume")).to_be_visible()
    assert works.people.rest("GET", "/projects/barn")["project"]["status"] == "paused"
    sheet.get_by_role("button", name="Resume").click()
    expect(sheet.get_by_role("button", name="Pause")).to_be_visible()

    sheet.get_by_label("Retries of a failed task").fill("5")
    works.people.rest("PATCH", "/projects/barn", {"description": "For hay."})
    save, saved = sheet.get_by_role("button", name="Save"), page.get_by_text("Saved", exact=True)
    save.click()
    again = page.get_by_role("alert").filter(has_text="Someone else changed this")
    expect(saved.or_(again).first).to_be_visible()
    if again.is_visible():
        save.click()
    expect(saved).to_be_visible()
    found = works.people.rest("GET", "/projects/barn")["project"]
    assert (found["description"], found["settings"]["retry_attempts"]) == ("For hay.", 5)


def frame_of(page: Page) -> list[object]:
    """Where the menu, the header and the view begin."""
    boxes = [page.locator(name).first.bounding_box() for name in ("aside", "header", "main")]
    return [box and (box["x"], box["y"], box["width"]) for box in boxes]


@pytest.mark.parametrize(
    "size", [pytest.param(browsers.WIDE, id="wide"), pytest.param(browsers.PHONE, id="phone", marks=pytest.mark.deep)]
)
def test_the_frame_is_seen_before_the_scripts_and_nothing_jumps_when_they_come(
    chrome: Browser, works: Site, size: dict[str, int]
) -> None:
    works.project(project := f"shop-{size['width']}")
    works.file(project, "Paint the sign", status="todo")
    with browsers.window(chrome, works, size=size) as window:
        calm = {"conditions": [], "look_again_after": 600}  # what is off would come as a line under the header
        window.context.route("**/api/v1/conditions*", lambda route: route.fulfill(json=calm))
        page = window.context.new_page()
        with held(window, "**/assets/*"):
            page.goto(f"{window.url}/p/{project}/board", wait_until="commit")
            expect(page.locator("#frame main")).to_be_visible()
            before = frame_of(page)
        expect(card(page, "Paint the sign")).to_be_visible()
        expect(page.locator("#frame")).to_have_count(0)
        assert frame_of(page) == before
        shifts = page.evaluate(
            """() => new Promise((told) => new PerformanceObserver((seen) =>
                told(seen.getEntries().reduce((sum, each) => sum + each.value, 0))
            ).observe({ type: "layout-shift", buffered: true }) ?? setTimeout(() => told(0)))"""
        )
        assert shifts < 0.01


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.deep)])
def test_axe_finds_nothing_serious_or_moderate_in_a_board_and_what_lies_over_it(
    works: Site, chrome: Browser, theme: str
) -> None:
    """Every view: test_views.py."""
    works.project(project := f"hall-{theme}")
    works.file(project, "Sweep", status="todo", description="With a *broom*.", priority="high")
    with browsers.window(chrome, works, theme=theme) as window:
        page = window.page(f"/p/{project}/board")
        expect(card(page, "Sweep")).to_be_visible()
        found = faults_of(page, "the board")
        over = page.locator("[role=dialog], [role=menu]")
        for what, opened in OPENED.items():
            opened(page)
            over.first.wait_for()
            browsers.settled(page)
            found += [each for each in faults_of(page, what) if not (what == "my menu" and BEHIND_A_MENU.search(each))]
            page.keyboard.press("Escape")
            expect(over).to_have_count(0)
    assert found == []
