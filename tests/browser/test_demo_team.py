"""From an empty server to a team at work by one click, with the Coordinator that is there; and put away by another."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import browsers
from tests.scenarios.sites import Site
from toryo.cli.demo.stories import STORIES, Happened

pytestmark = pytest.mark.timeout(240, method="signal")


def test_one_button_starts_the_demo_team_which_does_its_work_and_one_puts_it_away(place: Site, chrome: Browser) -> None:
    place.coordinator()
    with browsers.window(chrome, place) as window:
        page = window.page("/")
        page.get_by_role("button", name="Start demo").click()
        expect(page.get_by_role("button", name="Remove demo")).to_be_visible()
        expect(page.get_by_role("main")).to_contain_text(str(place.data / "demo"))
        for story in STORIES:
            task = place.tasks(story.project)[story.title]["task_id"]
            place.until_status(task, "completed", "failed")
            assert _wrong(place, story.project) == []

        page.get_by_role("button", name="Remove demo").click()
        page.get_by_role("dialog").get_by_role("button", name="Remove demo").click()
        expect(page.get_by_role("button", name="Start demo")).to_be_visible()
    assert {each["status"] for each in place.people.rest("GET", "/projects")["projects"]} == {"archived"}


def _wrong(place: Site, project: str) -> list[str]:
    """What is not as the demo promises, as `toryo demo` itself would judge it."""
    story = next(each for each in STORIES if each.project == project)
    tasks = place.people.rest("GET", f"/projects/{project}/tasks")["tasks"]
    talks = place.people.rest("GET", f"/projects/{project}/conversations")["conversations"]
    read = [place.people.rest("GET", f"/conversations/{talk['conversation_id']}") for talk in talks]
    launches = place.launches(project_id=project)
    side_by_side = "the two translators did not work at the same time"  # a matter of how busy this machine is
    found = story.check(Happened(place.data / "demo" / project, tasks, launches, read))
    return [each for each in found if each != side_by_side]
