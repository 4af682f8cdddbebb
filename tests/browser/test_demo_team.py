"""From an empty server to a team at work by one click, with the Coordinator that is there: a person goes where the
hints lead, approves, answers, reviews and merges; and puts the demo away by another click."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser import browsers
from tests.scenarios.sites import Site
from toryo.cli.demo.answers import QUESTION
from toryo.cli.demo.stories import STORIES, Happened

pytestmark = [pytest.mark.deep, browsers.PATIENT]

PAUSE_SECONDS = 0.2


def test_one_button_starts_the_demo_team_which_does_its_work_and_one_puts_it_away(place: Site, chrome: Browser) -> None:
    place.coordinator()
    with browsers.window(chrome, place) as window:
        page = window.page("/")
        page.route("**/api/v1/demo", _hurried)
        page.get_by_role("button", name="Start demo").click()
        expect(page.get_by_role("button", name="Remove demo")).to_be_visible()
        expect(page.get_by_role("main")).to_contain_text(str(place.data / "demo"))

        _approves(page, place)
        _answers(page, place)
        _merges(page, place)

        for story in STORIES:
            for title in (story.title, *story.also):
                place.until_status(place.tasks(story.project)[title]["task_id"], "completed", "failed")
            assert _wrong(place, story.project) == []
        place.until_idle()

        page.goto(window.url)
        page.get_by_role("button", name="Remove demo").click()
        page.get_by_role("dialog").get_by_role("button", name="Remove demo").click()
        expect(page.get_by_role("button", name="Start demo")).to_be_visible()
    assert {each["status"] for each in place.people.rest("GET", "/projects")["projects"]} == {"archived"}


def _hurried(route: Route) -> None:
    """The button starts the demo as people see it; a test need not watch."""
    if route.request.method != "POST":
        route.continue_()
        return
    headers = {**route.request.headers, "content-type": "application/json"}
    route.continue_(post_data=json.dumps({"pause": PAUSE_SECONDS}), headers=headers)


def _approves(page: Page, place: Site) -> None:
    hints = page.get_by_role("list", name="Where to look").get_by_role("listitem")
    expect(hints.filter(has_text="Iris asks for approval")).to_be_visible()
    page.get_by_role("main").get_by_role("button", name="Approve", exact=True).click()
    expect(hints.filter(has_text="Iris asks for approval")).to_have_count(0)


def _answers(page: Page, place: Site) -> None:
    hints = page.get_by_role("list", name="Where to look").get_by_role("listitem")
    hints.filter(has_text="Theo has a question").get_by_role("link", name="Chat").click()
    expect(page.get_by_role("main").get_by_text("green or blue?").last).to_be_visible()
    page.get_by_role("textbox", name="Message to Theo").fill("blue")
    page.keyboard.press("Enter")
    sign = place.tasks("teahouse")["Paint the sign"]["task_id"]
    place.until_status(sign, "completed", "failed")
    assert "You said blue" in place.look(sign)["summary"]


def _merges(page: Page, place: Site) -> None:
    place.until_status(place.tasks("teahouse")["Make the website of the tea house"]["task_id"], "completed", "failed")
    page.get_by_role("link", name="Overview").click()
    hints = page.get_by_role("list", name="Where to look").get_by_role("listitem")
    hints.filter(has_text="The website is ready").get_by_role("link", name="Review").click()
    page.get_by_role("button", name="Approve and merge").click()
    merging = page.get_by_role("dialog", name="Approve and merge")
    merging.get_by_role("button", name="Merge", exact=True).click()
    expect(page.get_by_text("Merged into main").first).to_be_visible()


def _wrong(place: Site, project: str) -> list[str]:
    """What is not as the demo promises, as `toryo demo` itself would judge it."""
    story = next(each for each in STORIES if each.project == project)
    tasks = place.people.rest("GET", f"/projects/{project}/tasks")["tasks"]
    talks = place.people.rest("GET", f"/projects/{project}/conversations")["conversations"]
    read = [place.people.rest("GET", f"/conversations/{talk['conversation_id']}") for talk in talks]
    launches = place.launches(project_id=project)
    side_by_side = "the two translators did not work at the same time"  # a matter of how busy this machine is
    found = story.check(Happened(place.data / "demo" / project, tasks, launches, read, {QUESTION}))
    return [each for each in found if each != side_by_side]
