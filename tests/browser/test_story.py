"""One task's story in the browser, the past of the whole page, and what happened since one left, step by step.

The agent and its Coordinator are played by hand, so that every row of the story is known.
"""

from __future__ import annotations

import contextlib
import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import browsers
from tests.browser.test_views import faults_of, in_both_themes
from tests.scenarios import chats
from tests.scenarios.sites import Site
from toryo.client import Client, RefusalError

pytestmark = [pytest.mark.deep, browsers.PATIENT]

PROJECT = "shop"
LOG = "→ Bash make\n✗ no such target\n→ Bash make all\n← built\n"
USED = {"input_tokens": 12_000, "output_tokens": 500, "tool_calls": 2, "cost_usd": 0.25}
WORKTREE = {"path": "/w/t", "directory": "/w/t", "branch": "toryo/t", "base_branch": "main", "base_commit": "b0"}
CHANGED = {"head_commit": "h1", "commits": 1, "files_changed": 2, "insertions": 30, "deletions": 4}


@dataclass
class Played:
    """A Coordinator and the agents that it starts, as far as the server hears of them."""

    site: Site

    def __post_init__(self) -> None:
        self.coordinator = Client(self.site.url, self.site.token("coordinator"), patience_seconds=30)

    def claim(self, **more: Any) -> dict[str, Any]:
        asked = {"coordinator_id": "c1", "free_slots": 1, "providers": ["claude"], **more}
        return self.coordinator.call("claim_starts", **asked)

    def start(self) -> tuple[str, Client]:
        """A launch, and the agent that has signed in with it."""
        (launch,) = self.site.until("a launch is given", lambda: self.claim()["start"])
        launch_id: str = launch["launch_id"]
        self.coordinator.call("report_worktree", launch_id=launch_id, **WORKTREE)
        agent = Client(self.site.url, launch["credential"], patience_seconds=30)
        agent.call("authenticate")
        agent.call("get_my_task")
        return launch_id, agent

    def judge(self, *failures: dict[str, str]) -> None:
        (check,) = self.site.until("a check is asked for", lambda: self.claim(free_slots=0)["checks"])
        self.coordinator.call("report_check_result", check_id=check["check_id"], failures=list(failures))

    def leave(self, launch_id: str) -> None:
        self.coordinator.call("append_log", launch_id=launch_id, offset=0, text=LOG)
        self.coordinator.call("report_worktree", launch_id=launch_id, **WORKTREE, **CHANGED)
        self.coordinator.call("report_process_exit", launch_id=launch_id, exit_code=0, usage=USED)

    def report(self, agent: Client) -> None:
        """Reports success; the call waits for the checks."""
        with contextlib.suppress(RefusalError):  # the checks have failed
            agent.call("report_completed", result="success", summary="The walls stand.")


@dataclass
class Told:
    site: Site
    task: str
    part: str


@pytest.fixture(scope="module")
def told(site: Site) -> Told:
    return played(site)


def played(site: Site) -> Told:
    """A task that waited, was launched twice, failed a check, delegated, passed, and was merged; and a part of it."""
    site.people.rest("POST", "/visits")
    site.project(PROJECT, isolation="worktree", decomposition="never", commands_from="managers")
    site.hire("ada", PROJECT, provider="claude", name="Ada", reports_to="owner")
    site.hire("bob", PROJECT, provider="claude", name="Bob", reports_to="owner")
    hands = Played(site)
    chats.person(site, "mika", PROJECT, name="Mika")
    dig = site.file(PROJECT, "Dig the ground", assignee_id="mika")
    task = site.file(PROJECT, "Build the walls", assignee_id="ada", dependencies=[dig], acceptance=[{"file": "wall"}])
    for status in ("in_progress", "completed"):
        site.move(dig, status)
    part = site.file(PROJECT, "Choose a colour", parent_task_id=task, assignee_id="mika")
    site.move(task, "in_progress")
    for status in ("in_progress", "completed"):
        site.move(part, status)
    with ThreadPoolExecutor(1) as beside:
        first, agent = hands.start()
        agent.call("delegate_to_chat_session", target_agent_id="bob", purpose="Ask for the colour.", await_result=False)
        reported = beside.submit(hands.report, agent)
        hands.judge({"check": "wall", "message": "is not there"})
        reported.result()
        hands.leave(first)
        second, agent = hands.start()
        reported = beside.submit(hands.report, agent)
        hands.judge()
        reported.result()
        site.until_status(task, "completed")
        hands.leave(second)
    site.people.rest("POST", f"/tasks/{task}/worktree/merge", {})
    (job,) = site.until("the merge is asked for", lambda: hands.claim(free_slots=0)["worktree_jobs"])
    merged = [{"task_id": task, "commit": "m1", "into": "main"}]
    hands.coordinator.call("report_worktree_job", job_id=job["job_id"], done=True, merged=merged)
    return Told(site, task, part)


def rows(page: Page) -> Locator:
    return page.get_by_role("list", name="What happened")


def row(page: Page, words: str | re.Pattern[str]) -> Locator:
    return rows(page).get_by_role("button", name=words)


def test_the_story_of_a_task_has_every_step_on_one_axis_and_each_row_its_facts(told: Told, chrome: Browser) -> None:
    with browsers.window(chrome, told.site) as window:
        page = window.page(f"/t/{told.task}")
        page.get_by_role("tab", name="Story").click()
        expect(rows(page)).to_be_visible()
        order = ["Waited for Dig the ground", "Launch 1 of Ada", "Delegated: ask Bob", "Acceptance checks failed"]
        order += ["Launch 2 of Ada", "Acceptance checks passed", "was merged"]
        text = rows(page).inner_text()
        places = [text.index(each) for each in order]
        assert places == sorted(places), text
        assert told.task not in page.get_by_role("main").inner_text()

        expect(
            row(page, re.compile("^Launch 2 of Ada")).get_by_role("img", name="On the critical path")
        ).to_be_visible()
        row(page, re.compile("^Launch 2 of Ada")).click()
        facts = page.get_by_role("region", name=re.compile("^Facts: Launch 2"))
        expect(facts).to_contain_text("$0.25")
        expect(facts).to_contain_text("12K in, 500 out")
        facts.get_by_role("link", name="Open log here").click()
        expect(page).to_have_url(re.compile(r"/logs\?.*pos="))
        expect(page.get_by_role("log")).to_contain_text("make all")
        page.go_back()

        row(page, "Acceptance checks failed").click()
        expect(page.get_by_role("region", name="Facts: Acceptance checks failed")).to_contain_text("is not there")
        row(page, "Decision: start Ada").first.click()
        expect(page.get_by_role("region", name="Facts: Decision: start Ada")).to_contain_text("has_in_progress_task")


def test_a_launch_unfolds_to_its_session_and_calls_and_a_subtask_to_its_own_story(told: Told, chrome: Browser) -> None:
    with browsers.window(chrome, told.site) as window:
        page = window.page(f"/t/{told.task}?tab=story")
        page.get_by_role("button", name="Unfold Launch 1 of Ada").click()
        expect(row(page, re.compile("^Signed in"))).to_be_visible()
        calls = page.get_by_role("list", name="Tool calls")
        expect(calls.get_by_role("link")).to_have_count(2)
        expect(calls.get_by_role("img", name="Failed")).to_have_count(1)
        page.get_by_role("button", name="Unfold Choose a colour").click()
        expect(row(page, re.compile("completed “Choose a colour”"))).to_be_visible()
        calls.get_by_role("link").last.click()
        expect(page).to_have_url(re.compile(r"/logs\?.*pos=L2"))


def test_the_story_has_a_short_look_and_can_be_copied_as_json(told: Told, chrome: Browser) -> None:
    with browsers.window(chrome, told.site) as window:
        window.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = window.page(f"/t/{told.task}?tab=story")
        page.get_by_role("button", name="Compact").click()
        short = page.get_by_role("list", name="Tasks").get_by_role("listitem")
        expect(short).to_have_count(2)
        expect(short.first).to_contain_text("worked")
        page.get_by_role("button", name="JSON").click()
        page.get_by_role("button", name="Copy JSON").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
        assert (copied["task_id"], len(copied["launches"])) == (told.task, 2)


def test_axe_finds_nothing_serious_or_moderate_in_a_story_or_the_past(told: Told, chrome: Browser) -> None:
    found: list[str] = []
    with browsers.window(chrome, told.site) as window:
        page = window.page(f"/t/{told.task}?tab=story")
        page.get_by_role("button", name="Unfold Launch 1 of Ada").click()
        row(page, re.compile("^Launch 2 of Ada")).click()
        found += in_both_themes(page, "timeline")
        for look in ("Compact", "JSON"):
            page.get_by_role("button", name=look).click()
            found += in_both_themes(page, look)
        page.goto(f"{window.url}/p/{PROJECT}/board?at=2099-01-01T00:00:00Z")
        expect(page.get_by_role("region", name="Past")).to_be_visible()
        found += in_both_themes(page, "the past")
    assert found == []


def test_a_story_fits_on_a_phone(told: Told, chrome: Browser) -> None:
    with browsers.window(chrome, told.site, size=browsers.PHONE, touch=True) as window:
        page = window.page(f"/t/{told.task}?tab=story")
        row(page, re.compile("^Launch 1 of Ada")).click()
        expect(page.get_by_role("region", name=re.compile("^Facts"))).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= browsers.PHONE["width"]
        assert faults_of(page, "a story on a phone") == []


def test_the_board_graph_and_timeline_go_back_in_time_together_and_nothing_can_be_changed(
    told: Told, chrome: Browser
) -> None:
    events = told.site.people.rest("GET", "/events", params={"task_id": told.task})["events"]
    started = next(each["at"] for each in events if each["kind"] == "task.started")
    with browsers.window(chrome, told.site) as window:
        page = window.page(f"/p/{PROJECT}/board?at={started}")
        past = page.get_by_role("region", name="Past")
        expect(past).to_contain_text("Read-only while you look at the past")
        column = page.locator('[data-column="in_progress"]')
        expect(column).to_contain_text("Build the walls")
        page.keyboard.press("ArrowLeft")
        expect(past.get_by_role("status")).to_contain_text("created “Choose a colour”")
        expect(column).not_to_contain_text("Build the walls")
        page.keyboard.press("ArrowRight")
        expect(past.get_by_role("status")).to_contain_text("started “Build the walls”")
        expect(column).to_contain_text("Build the walls")
        page.keyboard.press("n")
        expect(page.get_by_role("dialog")).to_have_count(0)
        shared = page.url
        page.get_by_role("link", name="Graph").click()
        expect(page).to_have_url(re.compile(r"/graph\?at="))
        expect(page.get_by_role("region", name="Past")).to_be_visible()
        page.get_by_role("link", name="Timeline").click()
        expect(page).to_have_url(re.compile(r"/timeline\?at="))
        page.get_by_role("button", name="Back to now").click()
        expect(page.get_by_role("region", name="Past")).to_have_count(0)
        expect(page).to_have_url(re.compile(r"/timeline$"))
        other = window.page(shared.removeprefix(window.url))
        expect(other.locator('[data-column="in_progress"]')).to_contain_text("Build the walls")


def test_the_past_is_played_from_its_beginning_to_now(told: Told, chrome: Browser) -> None:
    with browsers.window(chrome, told.site) as window:
        page = window.page(f"/p/{PROJECT}/board")
        page.get_by_role("button", name="Look at the past").click()
        past = page.get_by_role("region", name="Past")
        past.get_by_role("slider").press("Home")
        expect(past.get_by_role("status")).to_have_text("Before the first recorded change")
        past.get_by_role("button", name="Play").click()
        expect(past.get_by_role("status")).to_contain_text("completed “Build the walls”")
        expect(past.get_by_role("button", name="Play")).to_be_visible()


def test_an_address_that_names_no_time_says_so(told: Told, chrome: Browser) -> None:
    with browsers.window(chrome, told.site) as window:
        page = window.page(f"/p/{PROJECT}/board?at=yesterday")
        told_so = page.get_by_role("alert").filter(has_text="This address names no valid time.")
        expect(told_so).to_be_visible()
        page.get_by_role("button", name="Back to now").click()
        expect(told_so).to_have_count(0)


def test_what_happened_since_one_left_is_stepped_through_task_by_task(told: Told, chrome: Browser) -> None:
    with browsers.window(chrome, told.site) as window:
        page = window.page(f"/p/{PROJECT}")
        news = page.get_by_role("region", name="What happened, by task")
        expect(news).to_contain_text("Build the walls")
        expect(news).to_contain_text("Merged")
        expect(news).to_contain_text("$0.50")
        expect(news.get_by_role("status")).to_have_text("1 of 3")
        news.get_by_role("button", name="Next task").click()
        expect(news.get_by_role("status")).to_have_text("2 of 3")
        page.keyboard.press("[")
        expect(news.get_by_role("status")).to_have_text("1 of 3")
        news.get_by_role("button", name="Show story").click()
        expect(rows(page)).to_contain_text("Launch 2 of Ada")
