"""Patterns of plans, and the variables of every task: used by validators and runners."""

from __future__ import annotations

import re

LONGEST_PATTERN = 300
"""Maximum length of a regular expression: compiling a long one delays the Coordinator."""
FACTS = ("title", "description", "task_id")
"""Variables of every task, beside `context.KEY`."""


def compile_pattern(pattern: str) -> re.Pattern[str] | None:
    """The compiled regular expression; None if the pattern is not one (`*.txt`)."""
    try:
        return re.compile(pattern) if len(pattern) <= LONGEST_PATTERN else None
    except (re.error, OverflowError, RecursionError):
        return None
