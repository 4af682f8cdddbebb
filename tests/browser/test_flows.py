"""What is done every day, with as few clicks and keys as `flows.py` says: no more, and no fewer without saying so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import browsers
from tests.browser.flows import FLOWS, Hand
from tests.scenarios import chats
from tests.scenarios.sites import Gate, Site
from tests.scenarios.test_worktrees import SiteRepository

pytestmark = [pytest.mark.deep, browsers.PATIENT]

ASKS = {
    "answers": [
        {"when": r"please (?P<what>.+)", "request": {"title": "{{what}}"}},
        {"when": "your name", "answer": "I am {{agent_name}}."},
    ],
    "tasks": [{"run": "true"}],
}


@pytest.fixture(scope="module")
def works(site: Site) -> Site:
    """A server with a Coordinator."""
    site.coordinator()
    return site


@pytest.fixture(scope="module")
def house(works: Site) -> SiteRepository:
    """A project with worktrees, and two agents who have changed something."""
    repository = SiteRepository(works, "house")
    works.hire("ann", "house", name="Ann")
    return repository


@pytest.fixture
def window(chrome: Browser, works: Site) -> Iterator[browsers.Window]:
    with browsers.window(chrome, works) as found:
        yield found


def spent(hand: Hand, flow: str) -> None:
    """The flow is through: it has cost what the list says."""
    _, now = FLOWS[flow]
    assert hand.count == now, flow


def needs(page: Page) -> Locator:
    return page.get_by_role("main").locator("section").filter(has=page.get_by_role("heading", name="Needs attention"))


def first_need(page: Page, title: str) -> Locator:
    """The row that the keys are for is the one of this task."""
    row = needs(page).get_by_role("listitem").first
    expect(row).to_contain_text(title)
    expect(row).to_have_attribute("aria-current", "true")
    return row


def at_work(works: Site, project: str, agent: str) -> Gate:
    """Somebody who works on a task until the gate is opened."""
    works.project(project)
    works.hire(agent, project, name=agent.capitalize())
    gate = works.gate(agent)
    task = works.file(project, f"Work of {agent}", assignee_id=agent, status="in_progress",
                      context={"command": f"echo at work; {gate}"})  # fmt: skip
    works.until_printed(task, "at work")
    return gate


def test_the_demo_team_is_started_by_one_click(place: Site, chrome: Browser) -> None:
    place.coordinator()
    with browsers.window(chrome, place) as window:
        page = window.page("/")
        hand = Hand(page)
        hand.click(page.get_by_role("button", name="Start demo"))
        expect(page.get_by_role("button", name="Remove demo")).to_be_visible()
        spent(hand, "Start the demo team")


def test_a_first_project_with_worktrees_an_agent_and_a_task_at_work(
    place: Site, chrome: Browser, tmp_path: Path
) -> None:
    place.coordinator()
    directory = tmp_path / "attic"
    directory.mkdir()
    with browsers.window(chrome, place) as window:
        page = window.page("/")
        hand = Hand(page)
        hand.click(page.get_by_role("link", name="New project"))
        project = page.get_by_role("dialog", name="New project")
        project.get_by_label("Name").fill("Attic")
        project.get_by_label("Directory").fill(str(directory))
        hand.click(project.get_by_text("More options"))
        hand.click(project.get_by_role("checkbox", name="Each task works in a git worktree"))
        hand.click(project.get_by_role("button", name="Create project"))
        agent = page.get_by_role("dialog", name="New agent")
        agent.get_by_label("Name", exact=True).fill("Tidy")
        hand.click(agent.get_by_text("Command", exact=True))
        hand.click(agent.get_by_role("button", name="Create agent"))
        expect(agent).to_have_count(0)
        hand.press("n")
        expect(page.get_by_role("textbox", name="Title")).to_be_focused()
        hand.write("Tidy the attic")
        hand.press("Shift+ControlOrMeta+Enter")
        expect(page.get_by_role("dialog", name="Task", exact=True)).to_be_visible()
        spent(hand, "First project with worktrees, its agent and its task, until the task is at work")
    (filed,) = place.tasks("attic").values()
    place.until("it is started", lambda: place.launches(task_id=filed["task_id"]))
    assert place.people.rest("GET", "/projects/attic")["project"]["settings"]["isolation"] == "worktree"


def test_a_request_is_approved_by_one_key(works: Site, window: browsers.Window) -> None:
    works.project("ask")
    chats.talker(works, "mia", "ask", script=ASKS)
    chat = chats.Chat(works, "ask", "mia")
    chat.say("please sweep")
    chat.answers(1)
    page = window.page("/p/ask")
    hand = Hand(page)
    first_need(page, "sweep")
    hand.press("a")
    works.until("it is approved", lambda: works.tasks("ask")["sweep"]["approval"] == "approved")
    spent(hand, "Approve a request")


def test_what_failed_is_retried_and_what_is_blocked_goes_on_by_one_key(works: Site, window: browsers.Window) -> None:
    works.project("tries")
    works.hire("kai", "tries", name="Kai")
    command = "[ -e tried ] || { touch tried; exit 3; }"
    failed = works.file("tries", "Measure", assignee_id="kai", context={"command": command}, status="in_progress")
    works.until_status(failed, "failed")
    page = window.page("/p/tries")
    hand = Hand(page)
    first_need(page, "Measure")
    hand.press("a")
    works.until("it is tried again", lambda: works.status(failed) != "failed")
    spent(hand, "Retry a failed task")

    works.project("stops")
    works.hire("lea", "stops", name="Lea")
    blocked = works.file("stops", "Ask first", assignee_id="lea", context={"command": "true"})
    works.move(blocked, "blocked", "Which one?")
    page = window.page(f"/t/{blocked}")
    hand = Hand(page)
    expect(page.get_by_role("button", name="Unblock")).to_be_visible()
    hand.press("r")
    works.until("it goes on", lambda: works.status(blocked) != "blocked")
    spent(hand, "Unblock a task")


def drafted(house: SiteRepository, title: str, *files: str) -> str:
    """Work of two new files that waits for a review."""
    task = house.order("ann", title, "; ".join(f"printf 'one\\ntwo\\n' > {each}" for each in files))
    house.site.until_status(task, "completed")
    house.site.until_idle()
    return task


def test_work_is_reviewed_and_merged_by_keys(house: SiteRepository, window: browsers.Window) -> None:
    task = drafted(house, "Write two", "b", "c")
    page = window.page("/p/house")
    hand = Hand(page)
    first_need(page, "Write two")
    hand.press("a")
    expect(page.get_by_role("region", name="b", exact=True)).to_be_visible()
    hand.press("a")
    expect(page.get_by_role("dialog", name="Approve and merge")).to_be_visible()
    hand.press("ControlOrMeta+Enter")
    expect(page.get_by_text("Merged into main").first).to_be_visible()
    spent(hand, "Review and merge")
    assert house.worktree(task)["state"] == "merged"


def test_two_lines_are_commented_and_changes_requested(house: SiteRepository, window: browsers.Window) -> None:
    drafted(house, "Write again", "d", "e")
    page = window.page("/p/house")
    hand = Hand(page)
    first_need(page, "Write again")
    hand.press("a")
    expect(page.get_by_role("region", name="d", exact=True)).to_be_visible()
    for name, words in (("d", "Why?"), ("e", "And this?")):
        file = page.get_by_role("region", name=name, exact=True)
        hand.click(file.get_by_role("button", name="Comment on line 1", exact=True).last, force=True)
        expect(file.get_by_role("textbox", name="Comment")).to_be_focused()
        hand.write(words)
        hand.press("ControlOrMeta+Enter")
        expect(file.get_by_role("textbox", name="Comment")).to_have_count(0)
    hand.press("r")
    asked = page.get_by_role("dialog", name="Request changes")
    expect(asked).to_contain_text("And this?")
    hand.press("ControlOrMeta+Enter")
    expect(asked).to_have_count(0)
    spent(hand, "Two comments on lines, then request changes")
    said = house.site.tasks("house")["Changes to: Write again"]["task_id"]
    assert {"Why?", "And this?"} <= set(house.site.look(said)["description"].splitlines())


def test_an_agent_is_asked_and_answers(works: Site, window: browsers.Window) -> None:
    works.project("talk")
    chats.talker(works, "sora", "talk", script=ASKS, name="Sora")
    page = window.page("/p/talk")
    hand = Hand(page)
    expect(page.get_by_role("heading", name="Team")).to_be_visible()
    hand.click(page.get_by_role("link", name="Chat", exact=True))
    hand.click(page.get_by_role("button", name="New chat"))
    hand.click(page.get_by_role("dialog").get_by_role("button").filter(has_text="Sora"))
    hand.click(page.get_by_role("textbox", name="Message to"))
    hand.write("What is your name?")
    hand.press("Enter")
    expect(page.get_by_role("paragraph").filter(has_text="I am Sora.")).to_be_visible()
    spent(hand, "Open a chat and ask")


def test_a_running_agent_is_told_something_and_is_interrupted(works: Site, window: browsers.Window) -> None:
    gate = at_work(works, "rope", "ren")
    page = window.page("/p/rope")
    hand = Hand(page)
    hand.click(page.get_by_role("main").get_by_role("button", name="Work of ren"))
    sheet = page.get_by_role("dialog", name="Task", exact=True)
    hand.click(sheet.get_by_role("button", name="Send instructions"))
    hand.write("Twice as long, please.")
    hand.press("ControlOrMeta+Enter")
    expect(page.get_by_text("runs without a model").or_(page.get_by_text("Instructions sent")).first).to_be_visible()
    spent(hand, "Send instructions to a running agent")

    page = window.page("/p/rope")
    hand = Hand(page)
    expect(page.get_by_role("main").get_by_role("button", name="Work of ren")).to_be_visible()
    hand.press("ControlOrMeta+k")
    hand.write("@ren")
    expect(page.get_by_role("option")).to_have_count(1)
    hand.press("Enter")
    hand.write("interrupt")
    expect(page.get_by_role("option")).to_have_count(1)
    hand.press("Enter")
    hand.write("The rope is long enough.")
    expect(page.get_by_role("option", name="Apply")).to_be_visible()
    hand.press("Enter")
    expect(page.get_by_text("Session ended: Ren")).to_be_visible()
    spent(hand, "Interrupt a running agent")
    gate.open()


def test_a_project_is_paused_from_anywhere(works: Site, window: browsers.Window) -> None:
    works.project("rest")
    page = window.page("/p/rest/team")
    hand = Hand(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Team")
    hand.press("ControlOrMeta+k")
    hand.write("pause project")
    expect(page.get_by_role("option")).to_have_count(1)
    hand.press("Enter")
    expect(page.get_by_text("This project is paused")).to_be_visible()
    spent(hand, "Pause a project")


def test_a_viewer_is_invited_and_their_link_works(works: Site, window: browsers.Window, chrome: Browser) -> None:
    works.project("gate")
    page = window.page("/p/gate")
    hand = Hand(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    hand.press("ControlOrMeta+k")
    hand.write("invite")
    expect(page.get_by_role("option")).to_have_count(1)
    hand.press("Enter")
    asked = page.get_by_role("dialog", name="Add person")
    asked.get_by_label("ID", exact=True).fill("vera")
    hand.choose(asked.get_by_label("Access"), "Viewer: read only")
    hand.press("ControlOrMeta+Enter")
    row = page.get_by_role("listitem").filter(has_text="vera")
    hand.click(row.get_by_role("button", name="Sign-in link"))
    link = page.get_by_role("dialog").get_by_text(re.compile(r"/sign-in#"))
    expect(link).to_be_visible()
    spent(hand, "Invite a viewer, until the link is there")
    with browsers.stranger(chrome, works) as door:
        hers = door.page(link.inner_text().removeprefix(works.url))
        expect(hers.get_by_role("navigation")).to_be_visible()
        assert browsers.rest(hers, "GET", "/me")[1]["login"] == "viewer"


def test_what_was_used_is_seen(works: Site, window: browsers.Window) -> None:
    works.project("fuel", budget_per_day=5)
    page = window.page("/p/fuel")
    hand = Hand(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    hand.click(page.get_by_role("main").get_by_role("link", name="fuel"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Usage")
    spent(hand, "See what was used")


def test_every_flow_of_the_list_is_gone_through_here() -> None:
    here = Path(__file__).read_text(encoding="utf-8")
    assert [flow for flow in FLOWS if f'"{flow}")' not in here] == []
