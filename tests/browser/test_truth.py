"""What the dashboard says where work does not go on: first on the overview, and under the header of every view."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import browsers
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, browsers.PATIENT]

PROJECT = "mill"
PROGRAM = next(each for each in ("codex", "copilot", "gemini", "opencode", "qwen") if shutil.which(each) is None)
"""One that is not installed here."""
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1440, "height": 900}
VIEWS = ("", "/board", "/list", "/review", "/chat", "/timeline", "/graph", "/team", "/logs", "/sessions", "/audit")


@pytest.fixture(scope="module")
def mill(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Sixty agents of whom two have work, with a program that the only Coordinator does not have."""
    with Site(tmp_path_factory.mktemp("mill")) as site:
        directory = site.directory / "projects" / PROJECT
        directory.mkdir(parents=True)
        body = {"id": PROJECT, "name": "Mill", "working_directory": str(directory)}
        site.people.rest("POST", "/projects", body)
        for number in range(60):
            provider = PROGRAM if number < 2 else "command"
            site.hire(f"hand{number}", PROJECT, name=f"Hand {number}", provider=provider)
        site.coordinator()
        for number in range(2):
            site.file(PROJECT, f"Grind {number}", assignee_id=f"hand{number}", status="in_progress")
        site.people.rest("POST", f"/projects/{PROJECT}/members/owner", {})
        site.people.rest("PATCH", "/agents/owner", {"max_parallel_tasks": 20})
        for number in range(13):
            site.file(PROJECT, f"Sweep {number}", assignee_id="owner", status="in_progress")
        yield site


def bar(page: Page) -> list[str]:
    return (
        page.get_by_role("region", name="What keeps this project from continuing")
        .get_by_role("listitem")
        .all_inner_texts()
    )


def first_line(page: Page) -> str:
    """All that a screen reader says of the first line of the page's contents, from its tree of what is there."""
    tree = page.get_by_role("main").aria_snapshot().splitlines()
    begin = next(number for number, line in enumerate(tree) if line.strip().startswith("- listitem"))
    deep = tree[begin].index("-")
    rest = itertools.takewhile(lambda line: len(line) - len(line.lstrip()) > deep, tree[begin + 1 :])
    return "\n".join([tree[begin], *rest])


def test_an_agent_that_cannot_start_is_the_first_line_of_the_overview(mill: Site, chrome: Browser) -> None:
    with browsers.window(chrome, mill, size=DESK) as window:
        page = window.context.new_page()
        page.goto(f"{window.url}/p/{PROJECT}")
        needs = (
            page.get_by_role("main").locator("section").filter(has=page.get_by_role("heading", name="Needs attention"))
        )
        first = needs.get_by_role("listitem").first
        expect(first).to_contain_text(f"No Coordinator has {PROGRAM}: Hand 0 and 1 more cannot start")
        expect(first.get_by_role("button", name="Change program")).to_be_visible()
        assert f"No Coordinator has {PROGRAM}: Hand 0 and 1 more cannot start" in first_line(page)
        rows = [each.bounding_box() for each in needs.get_by_role("listitem").all()]
        assert sum(box is not None and box["y"] + box["height"] <= DESK["height"] for box in rows) >= 12
        assert {box["height"] for box in rows[1:] if box is not None} <= {44, 45}
        height = page.evaluate("() => document.getElementById('content').scrollHeight")
        assert height < 2000, height
        first.get_by_role("button", name="Change program").click()
        expect(page.get_by_role("dialog")).to_contain_text("Hand 0")


def test_every_view_of_the_project_says_what_is_missing_also_on_a_phone(mill: Site, chrome: Browser) -> None:
    for size in (DESK, PHONE):
        with browsers.window(chrome, mill, size=size) as window:
            page = window.context.new_page()
            for view in VIEWS:
                page.goto(f"{window.url}/p/{PROJECT}{view}")
                line = page.get_by_text(f"No Coordinator has {PROGRAM}. 2 tasks wait.")
                expect(line).to_be_visible()
                assert page.evaluate("() => document.documentElement.scrollWidth") <= size["width"], view
                assert len(bar(page)) == 1


def test_a_paused_project_is_resumed_from_any_view_and_a_viewer_only_reads_it(mill: Site, chrome: Browser) -> None:
    mill.people.rest("POST", f"/projects/{PROJECT}/pause", {})
    with browsers.window(chrome, mill, login="viewer") as window:
        page = window.context.new_page()
        page.goto(f"{window.url}/p/{PROJECT}/board")
        expect(page.get_by_text("This project is paused: no task is worked on.")).to_be_visible()
        expect(page.get_by_role("button", name="Resume")).to_have_count(0)
    with browsers.window(chrome, mill) as window:
        page = window.context.new_page()
        page.goto(f"{window.url}/p/{PROJECT}/timeline")
        page.get_by_role("button", name="Resume").click()
        expect(page.get_by_text("This project is paused: no task is worked on.")).to_have_count(0)
        expect(page.get_by_text(f"No Coordinator has {PROGRAM}. 2 tasks wait.")).to_be_visible()


def test_what_happened_since_the_first_look_is_told_at_the_next_one(site: Site, chrome: Browser) -> None:
    site.project("yard")
    site.hire("mason", "yard")
    with browsers.window(chrome, site) as window:
        page = window.context.new_page()
        with page.expect_response("**/api/v1/visits") as looked:
            page.goto(f"{window.url}/p/yard")
        assert looked.value.ok
        page.goto("about:blank")
        task = site.file("yard", "Lay stones", assignee_id="mason", status="in_progress")
        site.move(task, "failed", "no stones")
        page.goto(f"{window.url}/p/yard")
        since = page.locator("section").filter(has=page.get_by_role("heading", name="Since your last visit"))
        told = since.get_by_role("region", name="What happened, by task")
        expect(told.get_by_role("status")).to_have_text("1 of 1")
        expect(told.get_by_text("Lay stones", exact=True)).to_be_visible()
        expect(told.get_by_role("listitem")).to_contain_text(["no stones"])
        since.get_by_role("button", name="Dismiss").click()
        expect(since).to_have_count(0)
        page.reload()
        browsers.settled(page)
        expect(since).to_have_count(0)
