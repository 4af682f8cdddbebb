"""A person reviews what an agent has changed in a git worktree of its own: comments, asks, merges, discards."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import browsers, pages
from tests.scenarios.sites import Site
from tests.scenarios.test_worktrees import SiteRepository

pytestmark = browsers.PATIENT

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


def test_comments_on_lines_are_kept_until_they_are_sent_as_one_message_and_the_answer_is_merged(
    house: SiteRepository, chrome: Browser
) -> None:
    task = drafted(house, "Write two")
    with browsers.window(chrome, house.site) as window:
        page = review(window, task)
        comment(page.get_by_role("region", name="a", exact=True), 2, COMMENTED[0])
        comment(page.get_by_role("region", name="b", exact=True), 1, COMMENTED[1])
        page.reload()
        expect(page.get_by_text("2 pending comments")).to_be_visible()
        page.get_by_role("button", name="Request changes").click()
        dialog = page.get_by_role("dialog", name="Request changes")
        dialog.get_by_label("General comment").fill("Nearly there.")
        dialog.get_by_role("button", name="Send").click()
        expect(dialog).to_have_count(0)
        expect(page.get_by_text("pending comment")).to_have_count(0)

        follow_up = house.site.tasks("house")["Changes to: Write two"]["task_id"]
        wanted = house.site.look(follow_up)
        assert wanted["dependencies"] == [task]
        assert wanted["assignee_id"] == "ann"
        said = wanted["description"]
        assert said.index("Nearly there.") < said.index("a, line 2") < said.index(COMMENTED[0])
        assert said.index("> two") < said.index("b, line 1") < said.index(COMMENTED[1])

        page.get_by_role("button", name="Approve and merge").click()
        merging = page.get_by_role("dialog", name="Approve and merge")
        merging.get_by_label("Commit message").fill("Two, as reviewed")
        merging.get_by_role("button", name="Merge", exact=True).click()
        expect(page.get_by_text("Merged into main").first).to_be_visible()
        expect(page.get_by_text("Nothing left to review.")).to_be_visible()
        expect(page.get_by_role("button", name="Discard")).to_have_count(0)
    assert house.files() == {"a": "one\ntwo\n", "b": "new\n"}
    assert house.git("log", "-1", "--format=%s") == "Two, as reviewed"


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


def test_whoever_may_only_look_reads_the_changes_and_decides_nothing(house: SiteRepository, chrome: Browser) -> None:
    task = drafted(house, "Write for readers", "printf 'one\\nfive\\n' > a")
    with browsers.window(chrome, house.site, login="viewer") as window:
        page = review(window, task)
        expect(page.get_by_role("region", name="a", exact=True)).to_contain_text("five")
        assert pages.deeds(page) == []
