"""How much a person has to click and press for what is done every day; what a page needs for it is a matter of its own.

`Hand` counts what it does. `FLOWS` has, for each flow, what it cost when the dashboard was reviewed, and what it costs
now; docs/contributing/dashboard-review.md shows the same figures (tests/documents/test_dashboard_review.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page

FLOWS = {
    "Start the demo team": (1, 1),
    "First project with worktrees, its agent and its task, until the task is at work": (11, 8),
    "Approve a request": (1, 1),
    "Retry a failed task": (1, 1),
    "Unblock a task": (1, 1),
    "Review and merge": (5, 3),
    "Two comments on lines, then request changes": (10, 7),
    "Open a chat and ask": (5, 5),
    "Send instructions to a running agent": (3, 3),
    "Interrupt a running agent": (4, 4),
    "Pause a project": (3, 2),
    "Invite a viewer, until the link is there": (6, 6),
    "See what was used": (1, 1),
}
"""Before and now: clicks and keys together. What one types is not counted, and neither is pointing."""


@dataclass
class Hand:
    """A person's hand on a page."""

    page: Page
    count: int = 0

    def click(self, wanted: Locator, **how: Any) -> None:
        wanted.click(**how)
        self.count += 1

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.count += 1

    def choose(self, field: Locator, label: str) -> None:
        """Another value of a list of choices: one click opens it, one takes it."""
        field.select_option(label=label)
        self.count += 2

    def write(self, words: str) -> None:
        """Where the focus is."""
        self.page.keyboard.type(words)
