"""Schedules in the dashboard: made, seen before they are saved, run, paused, changed and deleted; also on a phone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import browsers
from tests.browser.browsers import BOTH, PATIENT, PHONE
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, PATIENT]
PROJECT = "depot"


@pytest.fixture(scope="module")
def depot(site: Site) -> Site:
    site.project(PROJECT)
    site.hire("guard", PROJECT, name="Gus")
    return site


@pytest.fixture
def page(chrome: Browser, depot: Site) -> Iterator[Page]:
    with browsers.window(chrome, depot) as window:
        yield window.page("/settings?tab=schedules")


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("main").get_by_role("listitem").filter(has_text=name).first


@BOTH
def test_one_is_made_with_its_next_times_in_sight_run_paused_and_deleted(page: Page, depot: Site) -> None:
    expect(page.get_by_text("No schedules yet")).to_be_visible()
    page.get_by_role("button", name="New schedule").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Name").fill("Round")
    form.get_by_label("Cron expression").fill("0 25 * * *")
    expect(form.get_by_text("the field hour is not valid")).to_be_visible()
    form.get_by_label("Cron expression").fill("30 22 * * *")
    form.get_by_label("Time zone").select_option("Asia/Tokyo")
    expect(form.get_by_text("22:30").first).to_be_visible()
    form.get_by_label("Title").fill("Walk round {run}")
    form.get_by_role("button", name="Create schedule").click()
    expect(form).to_have_count(0)

    made = row(page, "Round")
    expect(made.get_by_text("30 22 * * * (Asia/Tokyo)")).to_be_visible()
    made.get_by_role("button", name="Run now").click()
    expect(made.get_by_role("button", name="To do")).to_be_visible()
    assert "Walk round 1" in {task["title"] for task in depot.tasks(PROJECT).values()}
    made.get_by_role("button", name="Runs").click()
    expect(made.get_by_text("run by Owner")).to_be_visible()

    made.get_by_role("button", name="Pause").click()
    expect(made.get_by_text("Paused", exact=True)).to_be_visible()
    made.get_by_role("button", name="Edit").click()
    form.get_by_label("Title").fill("Walk")
    form.get_by_label("Stop after failures in a row").fill("")
    expect(form.get_by_role("button", name="Save")).to_be_disabled()  # nothing is not zero, which means never
    form.get_by_label("Stop after failures in a row").fill("3")
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)
    [stored] = depot.people.rest("GET", f"/projects/{PROJECT}/schedules")["schedules"]
    assert (stored["task"]["title"], stored["cron"], stored["state"]) == ("Walk", "30 22 * * *", "paused")
    made.get_by_role("button", name="Resume").click()
    expect(made.get_by_text("Active", exact=True)).to_be_visible()

    made.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No schedules yet")).to_be_visible()


def test_one_that_has_stopped_is_told_and_resumed_with_one_click_on_a_phone_in_japanese(
    chrome: Browser, depot: Site
) -> None:
    asked = {"name": "Check", "title": "Check the locks", "cron": "@daily", "max_failures": 1}
    made = depot.people.rest("POST", f"/projects/{PROJECT}/schedules", asked)["schedule"]["schedule_id"]
    task = depot.people.rest("POST", f"/schedules/{made}/run")["task_id"]
    depot.people.rest("PATCH", f"/tasks/{task}", {"assignee_id": "guard"})
    depot.move(task, "in_progress")
    depot.move(task, "failed", "The door was open")
    soon = {"name": "Now", "title": "Now", "every_seconds": 60}
    depot.people.rest("POST", f"/projects/{PROJECT}/schedules", soon)  # in a minute at the latest, chores look again
    depot.until(
        "it has stopped",
        lambda: depot.people.rest("GET", f"/schedules/{made}")["schedule"]["state"] == "stopped" or None,
        within=100,
    )
    with browsers.window(chrome, depot, language="ja", size=PHONE, touch=True) as window:
        page = window.page(f"/p/{PROJECT}")
        need = page.get_by_role("listitem").filter(has_text="スケジュール停止").first
        expect(need).to_be_visible()
        need.click(position={"x": 5, "y": 5})
        need.get_by_role("button", name="再開").first.click()
        depot.until(
            "it goes on",
            lambda: depot.people.rest("GET", f"/schedules/{made}")["schedule"]["state"] == "active" or None,
        )
        page.goto(f"{window.url}/settings?tab=schedules&q={PROJECT}")
        expect(row(page, "Check").get_by_text("有効", exact=True)).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
