"""From an empty server to a team that has done its work by clicking alone: project, agents and task in the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import browsers
from tests.browser.pages import card
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, browsers.PATIENT]

PLAYBOOK = {
    "tasks": [
        {
            "match": "Build a hut",
            "subtasks": [
                {"id": "saw", "title": "Saw the boards", "context": {"command": "echo sawn > boards.txt"}},
                {
                    "id": "nail",
                    "title": "Nail the boards",
                    "depends_on": ["saw"],
                    "context": {"command": "cat boards.txt > hut.txt"},
                },
            ],
        }
    ]
}


MOST_CLICKS = 6
"""From an empty server to the first task at work, without the documentation."""
_COUNT = "addEventListener('pointerdown', () => (window.clicks ??= []).push(1), true)"
"""A click on a label is one, not two."""


def test_the_first_task_of_a_first_agent_is_at_work_after_few_clicks(
    place: Site, chrome: Browser, tmp_path: Path
) -> None:
    place.coordinator()
    directory = tmp_path / "attic"
    directory.mkdir()
    with browsers.window(chrome, place) as window:
        page = window.page("/")
        page.get_by_role("link", name="New project").wait_for()
        page.evaluate(_COUNT)
        page.get_by_role("link", name="New project").click()
        project = page.get_by_role("dialog", name="New project")
        project.get_by_label("Name").fill("Attic")
        project.get_by_label("Directory").fill(str(directory))
        project.get_by_role("button", name="Create project").click()

        agent = page.get_by_role("dialog", name="New agent")
        agent.get_by_label("Name", exact=True).fill("Tidy")
        agent.get_by_text("Command", exact=True).click()
        agent.get_by_role("button", name="Create agent").click()
        expect(agent).to_have_count(0)

        page.get_by_role("main").get_by_role("button", name="New task").click()
        task = page.get_by_role("dialog", name="New task")
        task.get_by_label("Title").fill("Tidy the attic")
        task.get_by_role("button", name="Start now").click()
        expect(page.get_by_role("dialog", name="Task", exact=True)).to_be_visible()
        assert page.evaluate("window.clicks.length") <= MOST_CLICKS
    (filed,) = place.tasks("attic").values()
    assert filed["assignee_id"] == "tidy"
    assert place.launches(task_id=filed["task_id"]) or place.status(filed["task_id"]) == "in_progress"


def test_a_team_is_made_and_seen_at_work_until_it_is_done_by_clicking_alone(
    place: Site, chrome: Browser, tmp_path: Path
) -> None:
    place.coordinator()
    directory = tmp_path / "hut"
    directory.mkdir()
    with browsers.window(chrome, place) as window:
        page = window.page("/")
        page.get_by_role("link", name="Settings").click()
        _make_project(page, directory)
        _make_agent(page, "Lead", role="Manager", program="Playbook", options={"playbook": PLAYBOOK})
        _allow_commands(page)
        page.get_by_role("main").get_by_role("button", name="Agents").click()
        page.get_by_role("button", name="New agent").click()
        _make_agent(page, "Joiner", role="Worker", program="Command")

        page.get_by_role("link", name="Board").click()
        page.get_by_role("button", name="New task").first.click()
        dialog = page.get_by_role("dialog", name="New task")
        dialog.get_by_label("Title").fill("Build a hut @lead")
        dialog.get_by_role("button", name="Start now").click()
        page.get_by_role("dialog", name="Task", exact=True).get_by_role("button", name="Close").click()
        born = page.evaluate("performance.timeOrigin")

        for title in ("Saw the boards", "Nail the boards", "Build a hut"):
            expect(card(page, title, "Completed")).to_be_visible()
        assert page.evaluate("performance.timeOrigin") == born, "it was never reloaded"
    assert (directory / "hut.txt").read_text() == "sawn\n"


def _make_project(page: Page, directory: Path) -> None:
    page.get_by_role("button", name="New project").click()
    dialog = page.get_by_role("dialog", name="New project")
    dialog.get_by_label("Name").fill("Hut")
    dialog.get_by_label("Directory").fill(str(directory))
    dialog.get_by_role("button", name="Create project").click()


def _allow_commands(page: Page) -> None:
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("main").get_by_role("button").filter(has_text="Hut").click()
    opened = page.get_by_role("dialog", name="Hut")
    opened.get_by_label("Who can set commands").select_option("managers")
    opened.get_by_role("button", name="Save").first.click()
    asked = page.get_by_role("dialog", name="Grant more permissions?")
    expect(asked).to_contain_text("commands_from: people → managers")
    asked.get_by_role("button", name="Save anyway").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    opened.get_by_role("button", name="Close").click()
    expect(opened).to_have_count(0)


def _make_agent(page: Page, name: str, *, role: str, program: str, options: dict[str, object] | None = None) -> None:
    """Its ID, whom it reports to and where it belongs follow from what is there."""
    dialog = page.get_by_role("dialog", name="New agent")
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.get_by_text(program, exact=True).click()
    dialog.get_by_label("Role", exact=True).select_option(label=role)
    if options is not None:
        dialog.get_by_label("Other options (JSON)").fill(json.dumps(options))
    dialog.get_by_role("button", name="Create agent").click()
    expect(dialog).to_have_count(0)  # its Coordinator signs it in: no passkey is shown
