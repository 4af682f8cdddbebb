"""A person moves cards on the board while agents work: UC001, UC008, UC010, UC011 and UC017, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import browsers, pages
from tests.browser.pages import card, carry, column, drawn
from tests.scenarios import chats, programs
from tests.scenarios.chats import Chat
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, browsers.PATIENT]

GONE_WITHIN = 10.0
"""Seconds from the cause until a process is gone: the grace of these sites, and the way there."""


@pytest.fixture(scope="module")
def works(site: Site) -> Site:
    """The server, with a Coordinator."""
    site.coordinator()
    return site


@pytest.fixture
def window(chrome: Browser, works: Site) -> Iterator[browsers.Window]:
    with browsers.window(chrome, works) as found:
        yield found


def board(window: browsers.Window, project: str) -> Page:
    return window.page(f"/p/{project}/board")


@pytest.mark.pitfall("F128")
def test_a_card_that_is_carried_to_in_progress_is_worked_on_and_seen_done_without_reload(
    works: Site, window: browsers.Window
) -> None:
    directory = works.project("desk")
    works.hire("writer", "desk")
    command = "printf 'Oak is hard.\\n' > oak.md"
    task = works.file("desk", "Write about oak", assignee_id="writer", context={"command": command})
    page = board(window, "desk")

    carry(page, "Write about oak", of="To do", to="In progress")
    expect(card(page, "Write about oak", "Completed")).to_be_visible()

    assert (directory / "oak.md").read_text() == "Oak is hard.\n"
    (launch,) = works.launches(task_id=task)
    works.until_idle()
    assert (launch["purpose"], works.launches(task_id=task)[0]["exit_code"]) == ("task", 0)


def test_blocking_a_parent_on_the_board_blocks_what_is_below_and_stops_the_work(
    works: Site, window: browsers.Window
) -> None:
    works.project("roof")
    works.hire("roofer", "roof", max_parallel_tasks=3)
    works.hire("foreman", "roof", role="manager", kind="human", provider=None)
    gate = works.gate("roof")
    parent = works.file("roof", "The whole roof", assignee_id="foreman", status="in_progress")
    children = [
        works.file("roof", f"Part {status}", assignee_id="roofer", parent_task_id=parent, status=status,
                   context={"command": f"echo at work; {gate}"})
        for status in ("in_progress", "todo", "backlog")
    ]  # fmt: skip
    launch_id = works.until_printed(children[0], "at work")
    page = board(window, "roof")

    carry(page, "The whole roof", of="In progress", to="Blocked")
    page.get_by_role("dialog").get_by_role("button", name="Move").click()  # owners may leave the reason out
    for title in ("The whole roof", "Part in_progress", "Part todo", "Part backlog"):
        expect(card(page, title, "Blocked")).to_be_visible()
    for pid in programs.everything_of([works.url], launch_id):
        assert programs.gone(pid, GONE_WITHIN)
    assert {works.status(each) for each in [parent, *children]} == {"blocked"}
    assert len(works.launches(agent_id="roofer")) == 1
    gate.open()


def test_an_agent_whose_card_is_blocked_is_told_and_leaves_by_itself(works: Site, window: browsers.Window) -> None:
    works.project("lathe")
    gate = works.gate("lathe")
    steps = [
        {"id": "one", "title": "One", "run": f"echo at work; {gate}"},
        {"id": "two", "title": "Two", "run": "touch two", "depends_on": ["one"]},
    ]
    works.hire("turner", "lathe", provider="playbook",
               provider_options={"playbook": {"tasks": [{"match": "Turn.*", "subtasks": steps}]}})  # fmt: skip
    task = works.file("lathe", "Turn a leg", assignee_id="turner", status="in_progress")
    launch_id = works.until_printed(task, "at work")
    page = board(window, "lathe")

    carry(page, "Turn a leg", of="In progress", to="Blocked")
    page.get_by_role("dialog").get_by_label("Reason").fill("The lathe is needed elsewhere.")
    page.get_by_role("dialog").get_by_role("button", name="Move").click()
    expect(card(page, "Turn a leg", "Blocked")).to_contain_text("The lathe is needed elsewhere.")
    gate.open()
    for pid in programs.everything_of([works.url], launch_id):
        assert programs.gone(pid, GONE_WITHIN)
    works.until_logged(launch_id, "blocked")
    assert works.status(task) == "blocked"


def test_a_card_that_is_carried_where_it_may_not_go_stays_and_the_server_says_why(
    works: Site, window: browsers.Window
) -> None:
    works.project("shed")
    works.hire("joiner", "shed")
    first = works.file("shed", "Saw the boards", assignee_id="joiner", status="backlog")
    works.file("shed", "Nail the boards", assignee_id="joiner", dependencies=[first])
    page = board(window, "shed")

    carry(page, "Nail the boards", of="To do", to="In progress")
    expect(pages.toast(page, "Saw the boards").or_(pages.toast(page, first)).first).to_be_visible()
    expect(card(page, "Nail the boards", "To do")).to_be_visible()
    carry(page, "Saw the boards", of="Backlog", to="Failed")
    expect(pages.toast(page, "cannot go from backlog to failed").first).to_be_visible()
    expect(card(page, "Saw the boards", "Backlog")).to_be_visible()
    assert works.status(first) == "backlog"


def test_a_move_that_another_person_was_quicker_with_is_taken_back_with_the_servers_reason(
    works: Site, window: browsers.Window
) -> None:
    works.project("yard")
    works.hire("mason", "yard")
    task = works.file("yard", "Lay stones", assignee_id="mason", status="backlog")
    page = board(window, "yard")
    expect(card(page, "Lay stones", "Backlog")).to_be_visible()
    page.route("**/events/stream*", lambda route: route.abort())

    def overtaken(route: object) -> None:
        works.move(task, "cancelled", "no stones")
        route.continue_()  # type: ignore[attr-defined]

    page.route("**/tasks/*/move", overtaken)
    carry(page, "Lay stones", of="Backlog", to="To do")
    expect(pages.toast(page, "has changed since you read it")).to_be_visible()
    expect(card(page, "Lay stones", "Cancelled")).to_be_visible()


def test_a_request_is_approved_or_rejected_on_the_board_and_the_approved_one_is_done(
    works: Site, chrome: Browser
) -> None:
    clerk = {"answers": [{"when": r"please (?P<what>.+)", "request": {"title": "{{what}}"}}],
             "tasks": [{"run": "echo swept"}]}  # fmt: skip
    works.project("house")
    for name in ("boss", "guest"):
        chats.person(works, name, "house")
    chats.talker(works, "mia", "house", script=clerk, reports_to="boss")
    guest = Chat(works, "house", "mia", "guest")
    guest.say("please sweep")
    guest.say("please dance")
    guest.answers(2)
    with browsers.window(chrome, works, person_id="boss", login="member") as window:
        page = board(window, "house")
        for title in ("sweep", "dance"):
            expect(card(page, title, "Backlog")).to_contain_text("Waiting for approval")

        card(page, "sweep").click()
        page.get_by_role("dialog").get_by_role("button", name="Approve").click()
        expect(page.get_by_role("dialog").get_by_role("button", name="Approve")).to_have_count(0)
        page.keyboard.press("Escape")
        expect(card(page, "sweep")).not_to_contain_text("Waiting for approval")
        card(page, "dance").click()
        page.get_by_role("dialog").get_by_role("button", name="Reject").click()
        asked = page.get_by_role("dialog").filter(has=page.get_by_role("textbox")).last
        asked.get_by_role("textbox").fill("no music")
        asked.get_by_role("button", name="Reject").click()
        expect(page.get_by_role("dialog")).to_contain_text("Rejected by you")
        expect(page.get_by_role("button", name="Reject")).to_have_count(0)  # else Escape is for the question
        page.keyboard.press("Escape")
        expect(card(page, "dance")).to_contain_text("Rejected")

        expect(card(page, "sweep", "Completed")).to_be_visible()
    wanted = works.tasks("house")
    assert (wanted["sweep"]["approval"], wanted["dance"]["approval"]) == ("approved", "rejected")
    assert works.launches(task_id=wanted["dance"]["task_id"]) == []


def test_a_worker_sees_a_request_and_no_button_to_judge_it(works: Site, chrome: Browser) -> None:
    works.project("hall")
    chats.person(works, "chief", "hall")
    works.hire("hand", "hall", kind="human", provider=None, reports_to="chief")
    asks = {"answers": [{"when": r"please (?P<what>.+)", "request": {"title": "{{what}}"}}]}
    chats.talker(works, "ida", "hall", script=asks, reports_to="chief")
    asking = Chat(works, "hall", "ida", "hand")
    asking.say("please whisper")
    asking.answers(1)
    for who, buttons in (("chief", 1), ("hand", 0)):
        with browsers.window(chrome, works, person_id=who, login="member") as window:
            page = board(window, "hall")
            expect(card(page, "whisper", "Backlog")).to_contain_text("Waiting for approval")
            card(page, "whisper").click()
            sheet = page.get_by_role("dialog")
            expect(sheet.get_by_role("button", name="Send instructions")).to_be_visible()
            for name in ("Approve", "Reject"):
                expect(sheet.get_by_role("button", name=name)).to_have_count(buttons)


def test_a_paused_project_rests_is_edited_and_goes_on(works: Site, window: browsers.Window) -> None:
    directory = works.project("slow")
    works.hire("painter", "slow")
    gate = works.gate("slow")
    command = f"touch step1; echo step 1; {gate}; touch complete"
    task = works.file("slow", "Paint", assignee_id="painter", status="in_progress", context={"command": command})
    works.file("slow", "Meanwhile", assignee_id="painter", status="backlog")
    launch_id = works.until_printed(task, "step 1")
    page = board(window, "slow")
    expect(card(page, "Paint", "In progress")).to_be_visible()

    settings = window.page("/settings?tab=projects&q=slow")
    settings.get_by_role("dialog", name="slow").get_by_role("button", name="Pause").click()
    expect(settings.get_by_role("button", name="Resume")).to_be_visible()
    page.bring_to_front()
    for pid in programs.everything_of([works.url], launch_id):
        assert programs.gone(pid, GONE_WITHIN)
    carry(page, "Meanwhile", of="Backlog", to="In progress")
    expect(pages.toast(page, "Project slow is paused").first).to_be_visible()
    expect(card(page, "Paint", "In progress")).to_be_visible()
    carry(page, "Meanwhile", of="Backlog", to="To do")
    expect(card(page, "Meanwhile", "To do")).to_be_visible()
    assert not (directory / "complete").exists()

    gate.open()
    settings.bring_to_front()
    settings.get_by_role("button", name="Resume").click()
    page.bring_to_front()
    expect(card(page, "Paint", "Completed")).to_be_visible()
    assert (directory / "complete").exists()
    assert len(works.launches(task_id=task)) == 2


def middle(found: Locator) -> tuple[float, float]:
    box = found.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + min(box["height"], 160) / 2


def told(page: Page, words: str) -> Locator:
    return page.get_by_role("status").filter(has_text=words)


def test_many_cards_are_moved_at_once_refusals_are_told_by_reason_and_undo_takes_the_rest_back(
    works: Site, window: browsers.Window
) -> None:
    works.project("sawmill")
    wanted = {title: works.file("sawmill", title, status="backlog") for title in ("Saw", "Plane", "Sand")}
    unwanted = {title: works.file("sawmill", title, status="backlog") for title in ("Burn", "Drown")}
    for each in unwanted.values():
        works.move(each, "cancelled", "no")
    page = board(window, "sawmill")
    page.get_by_role("button", name="Open column: Cancelled").click()
    for title in (*wanted, *unwanted):
        card(page, title).click(modifiers=["ControlOrMeta"])
    bar = page.get_by_role("toolbar", name="5 selected")
    bar.get_by_role("button", name="Move", exact=True).click()
    page.get_by_role("menuitem", name="To do").click()

    refused = page.get_by_role("dialog", name="2 not updated")
    expect(refused.get_by_text("2 tasks · Cancelled")).to_be_visible()
    expect(refused.get_by_text("A task cannot go from cancelled to to do.")).to_have_count(1)
    refused.get_by_role("button", name="Close").click()
    expect(page.get_by_role("toolbar", name="2 selected")).to_be_visible()
    works.until("they are moved", lambda: {works.status(each) for each in wanted.values()} == {"todo"})
    page.get_by_role("button", name="Undo").click()
    for title in wanted:
        expect(card(page, title, "Backlog")).to_be_visible()
    works.until("they are back", lambda: {works.status(each) for each in wanted.values()} == {"backlog"})


def test_the_board_is_narrowed_by_the_filter_that_the_list_has_and_the_address_says_so(
    works: Site, window: browsers.Window
) -> None:
    works.project("quay")
    works.file("quay", "Load", priority="high")
    works.file("quay", "Sweep")
    page = board(window, "quay")
    expect(card(page, "Sweep")).to_be_visible()
    page.keyboard.press("f")
    expect(
        page.get_by_role("menuitem").first
    ).to_be_focused()  # a pointer that is faster than the menu closes what it opens
    page.get_by_role("menuitem", name="Priority").click()
    page.get_by_role("menuitem", name="High").click()
    expect(card(page, "Sweep")).to_have_count(0)
    assert "q=priority%3Ahigh" in page.url
    page.goto(page.url.replace("/board", "/list"))
    expect(page.get_by_role("button", name="Priority: High")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="Load")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="Sweep")).to_have_count(0)
    page.get_by_role("button", name="Remove filter: Priority").click()
    expect(page.get_by_role("row").filter(has_text="Sweep")).to_be_visible()


def test_a_card_is_carried_by_a_finger(works: Site, chrome: Browser) -> None:
    works.project("pond")
    task = works.file("pond", "Fish", status="backlog")
    with browsers.window(chrome, works, touch=True) as window:
        page = board(window, "pond")
        finger = window.context.new_cdp_session(page)

        def touch(kind: str, *points: tuple[float, float]) -> None:
            spots = [{"x": x, "y": y} for x, y in points]
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": spots})

        touch("touchStart", middle(drawn(page, "Fish", "Backlog")))
        expect(told(page, "Picked up Fish").or_(told(page, "Fish is over Backlog")).first).to_be_attached()
        (x, y), (to, _) = middle(card(page, "Fish", "Backlog").first), middle(column(page, "To do"))
        for part in range(1, 6):
            touch("touchMove", (x + (to - x) * part / 5, y))
        expect(told(page, "Fish is over To do")).to_be_attached()
        touch("touchEnd")
        expect(card(page, "Fish", "To do")).to_be_visible()
    works.until("it is moved", lambda: works.status(task) == "todo")


def test_a_task_is_found_seen_in_lanes_and_changed_with_others_at_once(works: Site, window: browsers.Window) -> None:
    works.project("wood")
    works.hire("cutter", "wood")
    first = works.file("wood", "Fell", assignee_id="cutter")
    page = board(window, "wood")
    expect(card(page, "Fell", "To do")).to_be_visible()
    filed = works.file("wood", "Stack", assignee_id="cutter", status="backlog")
    sheet = page.get_by_role("dialog", name="Task", exact=True)
    works.people.rest("PATCH", f"/tasks/{filed}", {"add_dependencies": [first]})
    works.file("wood", "Nobody's", status="backlog")

    page.get_by_role("button", name="Lanes: No lanes").click()
    page.get_by_role("menuitem", name="By agent").click()
    expect(page.get_by_role("heading", level=3)).to_have_text([re.compile("cutter.*2"), re.compile("Unassigned.*1")])
    assert "by=agent" in page.url
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("stack")
    expect(page.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(sheet.get_by_role("heading", name="Stack")).to_be_visible()
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)

    page.get_by_role("navigation").get_by_role("link", name="List", exact=True).click()
    for title in ("Fell", "Stack"):
        page.get_by_role("checkbox", name=f"Select {title}").check()
    bar = page.get_by_role("toolbar", name="2 selected")
    bar.get_by_role("button", name="Priority").click()
    page.get_by_role("menuitem", name="Critical").click()
    expect(page.get_by_text("2 tasks updated")).to_be_visible()
    for title in ("Fell", "Stack"):
        assert works.tasks("wood")[title]["priority"] == "critical"
    if not bar.is_visible():
        for title in ("Fell", "Stack"):
            page.get_by_role("checkbox", name=f"Select {title}").check()
    bar.get_by_role("button", name="Move").click()
    page.get_by_role("menuitem", name="Completed").click()
    refused = page.get_by_role("dialog", name="2 not updated")
    expect(refused.get_by_role("listitem").filter(has_text="cannot go from").get_by_role("listitem")).to_have_count(2)
    expect(refused).to_contain_text("cannot go from")
