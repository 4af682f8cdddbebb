"""A log as a conversation, and what an agent does now, in a browser: while it runs, and with 120,000 lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import browsers
from tests.scenarios.sites import Site
from toryo.client import Client

pytestmark = [pytest.mark.deep, browsers.PATIENT]

TALK = """· Worktree ready at toryo/task
I look at the **failing test** first.

→ Bash {"command": "pytest -q tests/test_prices.py", "description": "Run the tests"}
✗ FAILED tests/test_prices.py::test_rounding
│ \x1b[31mAssertionError: 3.2 != 3.20\x1b[0m
│ 1 failed, 12 passed in 0.41s
→ Read {"file_path": "src/prices.py", "limit": 40}
→ Grep {"pattern": "round\\\\(", "path": "src"}
←2 src/prices.py:12:    return round(total, 1)
← 12: return round(total, 1)
│ 13: # rounded later
→ TodoWrite {"todos": [{"content": "Find the fault", "status": "completed"}, {"content": "Mend it", "status": \
"in_progress"}, {"content": "Run the tests", "status": "pending"}]}
← Todos have been modified
The fault is in `src/prices.py`:

```python
return round(total, 2)
```
→ Edit {"file_path": "src/prices.py", "old_string": "round(total, 1)", "new_string": "round(total, 2)"}
← The file src/prices.py has been updated.
→ mcp__toryo__save_progress {"progress": "The rounding is mended."}
← {"success":true,"task_id":"tsk_1"}
! the model's service returned an error (529): overloaded; retry in 2 s
Σ 18400 in · 920 out · 16000 cached · $0.0612
"""


@dataclass
class Running:
    site: Site
    machine: Client
    launch: str
    task: str
    offset: int = 0

    def prints(self, text: str, /, **doing: Any) -> None:
        told = {"doing": {"seconds": 0, **doing}} if doing else {}
        asked = {"launch_id": self.launch, "offset": self.offset, "text": text, **told}
        self.offset = int(self.machine.call("append_log", **asked)["next_offset"])


@pytest.fixture
def running(place: Site) -> Iterator[Running]:
    """Ann's program runs on this machine, as far as the server knows: the test prints what it prints."""
    place.project("house")
    place.people.rest("POST", "/agents", {"id": "ann", "name": "Ann", "role": "worker", "provider": "claude"})
    place.people.rest("POST", "/projects/house/members/ann")
    task = place.people.rest(
        "POST", "/projects/house/tasks", {"title": "Mend the rounding", "assignee_id": "ann", "status": "in_progress"}
    )["task_id"]
    machine = Client(place.url, place.token("coordinator"), patience_seconds=20)
    asked: dict[str, Any] = {"coordinator_id": "c1", "providers": ["claude"], "free_slots": 1, "running": []}
    (launch,) = machine.call("claim_starts", **asked)["start"]
    yield Running(place, machine, launch["launch_id"], task)
    machine.close()


def log_of(running: Running, page: Page) -> Any:
    page.goto(f"{running.site.url}/p/house/logs?launch={running.launch}")
    return page.get_by_role("log")


def test_words_are_prose_and_calls_unfold_to_what_they_were_given_and_answered(
    running: Running, chrome: Browser
) -> None:
    running.prints(TALK)
    with browsers.window(chrome, running.site) as window:
        page = window.page()
        log = log_of(running, page)
        expect(log.locator("strong", has_text="failing test")).to_be_visible()
        expect(log.locator("pre", has_text="return round(total, 2)")).to_be_visible()
        expect(log.get_by_text("Find the fault")).to_be_visible()
        failed = log.get_by_role("button", name=re.compile("^Bash"))
        expect(failed).to_contain_text("Failed")
        expect(log.get_by_text("1 failed, 12 passed")).to_have_count(0)
        failed.click()
        expect(log.get_by_text("1 failed, 12 passed")).to_be_visible()
        expect(log.get_by_text("AssertionError")).to_have_class(re.compile("text-red"))
        log.get_by_role("button", name=re.compile("^Grep")).click()
        expect(log.get_by_text("src/prices.py:12:")).to_be_visible()
        expect(log.get_by_text("18.4K tokens in, 920 out")).to_be_visible()

        page.get_by_role("button", name="Errors").click()
        expect(log.get_by_text("overloaded")).to_be_visible()
        expect(log.get_by_role("button", name=re.compile("^Edit"))).to_have_count(0)
        page.get_by_role("button", name="Raw").click()
        expect(page.get_by_text("→ Grep")).to_be_visible()


def test_a_search_shows_the_first_match_at_once_and_unfolds_it(running: Running, chrome: Browser) -> None:
    running.prints(TALK + "".join(f"Line {number} of much.\n\n" for number in range(600)))
    with browsers.window(chrome, running.site) as window:
        page = window.page()
        log = log_of(running, page)
        expect(log.get_by_text("Line 599 of much.")).to_be_visible()
        page.get_by_role("searchbox").fill("12 passed")
        expect(page.get_by_text("1 of 1")).to_be_visible()
        expect(log.locator("mark", has_text="12 passed")).to_be_in_viewport()


def test_who_scrolls_up_is_left_there_and_told_how_much_is_new(running: Running, chrome: Browser) -> None:
    running.prints("".join(f"Line {number}.\n→ Bash {{}}\n← ok\n" for number in range(200)))
    with browsers.window(chrome, running.site) as window:
        page = window.page()
        log = log_of(running, page)
        expect(log.get_by_text("Line 199.")).to_be_in_viewport()
        log.hover()
        page.mouse.wheel(0, -2000)
        expect(log).to_have_attribute("data-following", "false")
        running.prints("New words.\n→ Bash {}\n")
        page.get_by_role("button", name="2 new").click()
        expect(log.get_by_text("New words.")).to_be_in_viewport()


def test_what_it_does_now_is_on_the_overview_the_board_and_the_log_as_it_changes(
    running: Running, chrome: Browser
) -> None:
    running.prints("I look.\n", kind="said", text="I look.")
    with browsers.window(chrome, running.site) as window:
        pages = [window.page(path) for path in ("/", "/p/house/logs?launch=" + running.launch)]
        for page in pages:
            expect(page.locator("[data-doing=said]").first).to_contain_text("I look.")
        running.prints("→ Bash make\n", kind="called", tool="Bash", text="make")
        for page in pages:
            page.bring_to_front()
            expect(page.locator("[data-doing=called]").first).to_contain_text("Bash make")


def test_a_log_of_120000_lines_is_at_its_end_and_at_a_match_in_the_middle(running: Running, chrome: Browser) -> None:
    for begin in range(0, 120_000, 20_000):
        running.prints("".join(f"line {number}\n" for number in range(begin, begin + 20_000)))
    with browsers.window(chrome, running.site) as window:
        page = window.page()
        log = log_of(running, page)
        expect(log.get_by_text("line 119999")).to_be_in_viewport()
        assert page.locator("[role=log] *").count() < 1000, "only what is seen is drawn"
        page.get_by_role("searchbox").fill("line 60000")
        expect(log.locator("mark", has_text="line 60000")).to_be_in_viewport()
