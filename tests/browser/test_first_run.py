"""From an empty server to a team that has done its work by clicking alone: project, agents and task in the page."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.browser import browsers
from tests.browser.pages import card
from tests.scenarios.sites import Site

pytestmark = browsers.PATIENT

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
        page.get_by_role("button", name="Agents").or_(page.get_by_role("tab", name="Agents")).or_(
            page.get_by_role("main").get_by_role("link", name="Agents")
        ).first.click()
        _make_agent(page, "lead", role="Manager", program="playbook", options={"playbook": PLAYBOOK})
        _make_agent(page, "joiner", role="Worker", program="command", reports_to="lead")

        page.get_by_role("link", name="Board").click()
        page.get_by_role("button", name="New task").first.click()
        dialog = page.get_by_role("dialog", name="New task")
        dialog.get_by_label("Title").fill("Build a hut")
        dialog.get_by_label("Assignee").select_option("lead")
        dialog.get_by_label("Status").select_option("in_progress")
        dialog.get_by_role("button", name="Create task").click()
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
    opened = page.get_by_role("dialog", name="Hut")
    opened.get_by_label("Who can set commands").select_option("managers")
    opened.get_by_role("button", name="Save").first.click()
    asked = page.get_by_role("dialog", name="Grant more permissions?")
    expect(asked).to_contain_text("commands_from: people → managers")
    asked.get_by_role("button", name="Save anyway").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    opened.get_by_role("button", name="Close").click()
    expect(opened).to_have_count(0)


def _make_agent(
    page: Page,
    agent_id: str,
    *,
    role: str,
    program: str,
    reports_to: str | None = None,
    options: dict[str, object] | None = None,
) -> None:
    page.get_by_role("button", name="New agent").click()
    dialog = page.get_by_role("dialog", name="New agent")
    dialog.get_by_label("ID", exact=True).fill(agent_id)
    dialog.get_by_label("Role", exact=True).select_option(label=role)
    dialog.get_by_label("Provider", exact=True).fill(program)
    if reports_to is not None:
        dialog.get_by_label("Reports to").select_option(reports_to)
    if options is not None:
        dialog.get_by_label("Other options (JSON)").fill(json.dumps(options))
    dialog.get_by_role("checkbox", name="Hut").check()
    dialog.get_by_role("button", name="Create agent").click()
    once = page.get_by_role("dialog").filter(has_text="tpk_").or_(page.get_by_role("dialog", name="Passkey"))
    once.get_by_role("button", name="Done").click()
    expect(once).to_have_count(0)
