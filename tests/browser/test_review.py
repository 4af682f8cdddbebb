"""A person reviews what an agent has changed in a git worktree of its own: comments, asks, merges, discards."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests import sandboxes
from tests.browser import browsers
from tests.scenarios.sites import Site
from tests.scenarios.test_worktrees import SiteRepository
from toryo.coordinator import worktrees

pytestmark = [pytest.mark.deep, browsers.PATIENT]

DRAFT = "printf 'one\\ntwo\\n' > a; echo new > b; echo drafted"
COMMENTED = ("Say three as well.", "Is this needed?")


@pytest.fixture(scope="module")
def house(site: Site) -> SiteRepository:
    """A project in a git repository, with somebody who runs commands in worktrees."""
    repository = SiteRepository(site, "house")
    site.hire("ann", "house")
    site.coordinator()
    return repository


def drafted(house: SiteRepository, title: str, command: str = DRAFT, **more: object) -> str:
    task = house.order("ann", title, command, **more)
    house.site.until_status(task, "completed")
    house.site.until_idle()  # its process has left: nothing moves its files but who reviews them
    return task


def review(window: browsers.Window, task: str) -> Page:
    page = window.page(f"/p/house/review/{task}")
    expect(page.get_by_role("region", name="a", exact=True)).to_be_visible()
    return page


def comment(file: Locator, line: int, words: str) -> None:
    file.get_by_role("button", name=f"Comment on line {line}", exact=True).last.click(force=True)
    file.get_by_role("textbox", name="Comment").fill(words)
    file.get_by_role("button", name="Add comment").click()
    expect(file.get_by_text(words)).to_be_visible()


def test_an_agent_at_work_gets_what_a_reviewer_writes_as_one_message(house: SiteRepository, chrome: Browser) -> None:
    gate = house.site.gate("at-work")
    task = house.order("ann", "Write three", f"echo three > c; echo written; {gate}")
    house.site.until_printed(task, "written")
    with browsers.window(chrome, house.site) as window:
        page = window.page(f"/p/house/review/{task}")
        comment(page.get_by_role("region", name="c", exact=True), 1, "In words, please.")
        page.get_by_role("button", name="Request changes").click()
        page.get_by_role("dialog").get_by_role("button", name="Send").click()
        expect(page.get_by_text("runs without a model (provider command)")).to_be_visible()
        page.goto(f"{window.url}/t/{task}?tab=messages")
        expect(page.get_by_text("In words, please.")).to_be_visible()
    told = house.site.people.rest("GET", "/events", params={"kind": "task.steered", "task_id": task})["events"]
    assert [each["data"]["text"] for each in told] == ["c, line 1:\n> three\nIn words, please."]
    gate.open()
    house.site.until_status(task, "completed")


def test_work_that_conflicts_is_not_merged_and_what_is_discarded_is_gone(
    house: SiteRepository, chrome: Browser
) -> None:
    task = drafted(house, "Write otherwise", "echo mine > d")
    branch = house.worktree(task)["branch"]
    house.commit(d="theirs\n")
    with browsers.window(chrome, house.site) as window:
        page = window.page(f"/p/house/review/{task}")
        page.get_by_role("button", name="Approve and merge").click()
        merging = page.get_by_role("dialog", name="Approve and merge")
        merging.get_by_role("button", name="Merge", exact=True).click()
        expect(merging.get_by_role("alert")).to_contain_text("Conflicting files")
        expect(merging.get_by_role("alert").get_by_role("listitem")).to_have_text(["d"])
        merging.get_by_role("button", name="Cancel").click()

        page.get_by_role("button", name="Discard").click()
        asked = page.get_by_role("dialog", name="Discard these changes?")
        expect(asked).to_contain_text(branch)
        asked.get_by_role("button", name="Discard changes").click()
        expect(page.get_by_text("Changes discarded")).to_be_visible()
        expect(page.get_by_role("button", name="Approve and merge")).to_have_count(0)
    assert house.files()["d"] == "theirs\n"
    assert branch not in house.branches()


def test_the_list_shows_what_waits_and_leads_from_one_review_to_the_next(
    house: SiteRepository, chrome: Browser
) -> None:
    first = drafted(house, "Paint the door", "echo red > door", description="In **red**, please.")
    drafted(house, "Mend the roof", "echo tight > roof")
    with browsers.window(chrome, house.site) as window:
        page = window.page("/p/house/review")
        waits = page.get_by_role("region", name="To review").or_(page.get_by_role("main"))
        row = waits.get_by_role("listitem").filter(has_text="Paint the door")
        expect(row).to_contain_text("+1")
        expect(row).to_contain_text("1 file")
        row.get_by_role("link", name="Paint the door").click()
        expect(page).to_have_url(re.compile(f"/review/{first}$"))
        expect(page.get_by_role("complementary").locator("strong")).to_have_text("red")
        expect(page.get_by_role("region", name="door", exact=True)).to_contain_text("red")

        page.keyboard.press("a")
        merging = page.get_by_role("dialog", name="Approve and merge")
        merging.get_by_role("button", name="Merge", exact=True).click()
        expect(page.get_by_text("Merged into main").first).to_be_visible()
        page.keyboard.press("]")
        expect(page).not_to_have_url(re.compile(f"/review/{first}$"))
        page.goto(f"{window.url}/p/house/review")
        expect(page.get_by_role("link", name="Mend the roof")).to_be_visible()
        expect(page.get_by_role("link", name="Paint the door")).to_have_count(0)


def test_a_comment_on_several_lines_suggests_what_should_stand_there_and_is_sent_so(
    house: SiteRepository, chrome: Browser
) -> None:
    task = drafted(house, "Write four", "printf 'eins\\nzwei\\ndrei\\n' > words")
    with browsers.window(chrome, house.site) as window:
        page = window.page(f"/p/house/review/{task}")
        file = page.get_by_role("region", name="words", exact=True)
        file.get_by_role("button", name="Comment on line 1", exact=True).click(force=True)
        file.get_by_role("textbox", name="Comment").fill("In English:")
        line = file.get_by_role("button", name="Comment on line 2", exact=True)
        line.click(force=True, modifiers=["Shift"])
        expect(file.get_by_text("Lines 1–2")).to_be_visible()
        file.get_by_role("button", name="Suggest a change").click()
        box = file.get_by_role("textbox", name="Comment")
        expect(box).to_have_value("In English:\n\n```suggestion\neins\nzwei\n```")
        box.fill("In English:\n\n```suggestion\none\ntwo\n```")
        file.get_by_role("button", name="Add comment").click()
        expect(file.locator("pre")).to_have_text("- eins- zwei+ one+ two")
        expect(page.get_by_role("navigation", name="Changed files").get_by_text("1 pending comment")).to_be_attached()

        file.get_by_role("checkbox", name="Viewed: words").check()
        expect(file.locator("pre")).to_have_count(0)
        page.reload()
        expect(page.get_by_role("checkbox", name="Viewed: words")).to_be_checked()
        expect(page.get_by_text("1 of 1 viewed")).to_be_visible()

        page.keyboard.press("r")
        dialog = page.get_by_role("dialog", name="Request changes")
        expect(dialog.locator("pre")).to_contain_text("+ two")
        dialog.get_by_role("button", name="Send").click()
        expect(page.get_by_role("button", name="Changes to: Write four")).to_be_visible()
    follow_up = house.site.look(house.site.tasks("house")["Changes to: Write four"]["task_id"])
    house.site.move(follow_up["task_id"], "cancelled", "It was only written.")  # who does it is free again
    assert follow_up["description"] == (
        "words, lines 1–2:\n> eins\n> zwei\nIn English:\n\n```suggestion\none\ntwo\n```"
    )


def place(button: Locator) -> tuple[float, float]:
    box = button.bounding_box()
    assert box is not None
    return box["x"], box["y"]


@pytest.mark.parametrize("size", [browsers.WIDE, browsers.PHONE], ids=["wide", "phone"])
def test_the_buttons_of_the_verdict_stay_where_they_are_while_comments_come_and_one_scrolls(
    house: SiteRepository, chrome: Browser, size: dict[str, int]
) -> None:
    task = drafted(house, f"Write a lot {size['width']}", "seq 200 > numbers")
    with browsers.window(chrome, house.site, size=size) as window:
        page = window.page(f"/p/house/review/{task}")
        file = page.get_by_role("region", name="numbers", exact=True)
        expect(file).to_be_visible()
        names = ("Discard", "Request changes", "Approve and merge")
        buttons = [page.get_by_role("button", name=each) for each in names]
        before = [place(each) for each in buttons]
        comment(file, 1, "Why from one?")
        expect(page.get_by_role("button", name="Request changes (1)")).to_be_visible()
        assert [place(each) for each in buttons] == before
        page.locator("main").evaluate("main => main.scrollTo(0, 1500)")
        assert [place(each) for each in buttons] == before


def test_a_base_that_nobody_has_moved_and_the_hosts_that_were_refused_are_told_where_work_is_reviewed(
    house: SiteRepository, chrome: Browser
) -> None:
    hosts = ("https://one.example/", "http://two.example/")
    task = drafted(house, "Look out", f"{'; '.join(f'curl -sS -m 5 {each}' for each in hosts)}; echo new > e")
    words = ["git", "commit", "--quiet", "--allow-empty", "--message=evil"]
    subprocess.run(words, cwd=house.path, env={**os.environ, **worktrees.signing("ann")}, check=True)
    with browsers.window(chrome, house.site) as window:
        page = window.page(f"/p/house/review/{task}")
        expect(page.get_by_text("Merges into it are on hold until you review the commits")).to_be_visible()
        page.goto(f"{window.url}/t/{task}?tab=log")
        refused = page.get_by_text("Its sandbox refused these hosts:").locator("xpath=..").get_by_role("listitem")
        expect(refused).to_have_text(["one.example:443", "two.example:80"] if sandboxes.works() else [])
    house.git("reset", "--quiet", "--hard", "HEAD~1")
