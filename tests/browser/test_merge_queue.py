"""A person puts reviewed work into the merge queue, sees its order, changes it by keys, sees why a check failed, and
lets it go on.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import browsers
from tests.scenarios.sites import Site
from tests.scenarios.test_worktrees import SiteRepository

pytestmark = [pytest.mark.deep, browsers.PATIENT]

CHECK = "if [ -e bad ] && [ $(git rev-list --count --merges HEAD) -gt 0 ]; then echo too bad; exit 3; fi"
"""Passes where an agent works, and fails on what the queue has merged."""


@pytest.fixture(scope="module")
def house(site: Site) -> SiteRepository:
    repository = SiteRepository(
        site, "house", merge_queue="manual", merge_batch_size=1, required_checks=[{"command": CHECK}]
    )
    for each in ("ann", "ben"):
        site.hire(each, "house")
    site.coordinator()
    return repository


def test_a_person_orders_the_merge_queue_and_sees_what_it_found(house: SiteRepository, chrome: Browser) -> None:
    site = house.site
    site.people.rest("POST", "/projects/house/merge-queue/pause")
    good = house.order("ann", "Good work", "echo x > good")
    bad = house.order("ben", "Bad work", "echo x > bad")
    for task in (good, bad):
        site.until_status(task, "completed")
    site.until_idle()
    with browsers.window(chrome, site) as window:
        page = window.page(f"/p/house/review/{bad}")
        page.get_by_role("button", name="Add to merge queue").click()
        expect(page.get_by_role("button", name="Remove from merge queue")).to_be_visible()
        site.people.rest("POST", f"/tasks/{good}/merge-queue", {})

        page = window.page("/p/house/review")
        queue = page.get_by_role("list", name="Merge queue")
        rows = queue.get_by_role("listitem")
        expect(rows).to_have_count(2)
        expect(rows.nth(0)).to_contain_text("Bad work")
        expect(rows.nth(0)).to_contain_text("Waits for main")
        expect(page.get_by_text("Nothing is merged.")).to_be_visible()

        queue.get_by_role("link", name="Good work").focus()
        page.keyboard.press("Shift+K")
        expect(rows.nth(0)).to_contain_text("Good work")
        page.get_by_role("button", name="Move up in the merge queue: Bad work").click()
        expect(rows.nth(0)).to_contain_text("Bad work")

        page.get_by_role("button", name="Resume queue").click()
        expect(rows).to_have_count(0)
        page.get_by_text("Latest results").click()
        ended = page.get_by_role("list", name="Latest results").get_by_role("listitem")
        failed = ended.filter(has_text="Bad work")
        expect(failed).to_contain_text("Checks failed")
        failed.get_by_text("Checks", exact=True).click()
        expect(failed).to_contain_text("too bad")
        expect(ended.filter(has_text="Good work")).to_contain_text("Merged into main")
    assert "good" in house.files()
    assert "bad" not in house.files()
