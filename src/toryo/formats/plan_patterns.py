"""Patterns of plans, and what is known of every task: read by those that check a plan and by those that follow it."""

from __future__ import annotations

import re

LONGEST_PATTERN = 300
"""Characters of a regular expression: compiling a long one takes a Coordinator's time."""
FACTS = ("title", "description", "task_id")
"""What is known of every task; beside them `context.KEY`."""


def compiled(pattern: str) -> re.Pattern[str] | None:
    """The pattern as a regular expression, where it is one (`*.txt` is not)."""
    try:
        return re.compile(pattern) if len(pattern) <= LONGEST_PATTERN else None
    except (re.error, OverflowError, RecursionError):
        return None
