"""What is no word for people, from the declarations: ids, names of states and reasons, instants, commands."""

from __future__ import annotations

import re

from tests.documents.test_dashboard_words import REASONS
from toryo.deeds import VERBS
from toryo.domain import ids, needs, tasks
from toryo.domain.conditions import Condition

PREFIXES = {value for name, value in vars(ids).items() if name.isupper() and isinstance(value, str) and len(value) == 3}
STATES = {str(each.value) for states in (tasks.Status, tasks.Approval, needs.Kind, Condition) for each in states}
CODES = {code for code in STATES | REASONS | set(VERBS) if "_" in code}
"""A code that is one word is a word of English, too."""
RAW = {
    "an id": rf"\b(?:{'|'.join(sorted(PREFIXES))})_[0-9a-z]{{6,}}",
    "a code": rf"\b(?:{'|'.join(sorted(CODES))})\b",
    "an instant": r"\b\d{4}-\d\d-\d\dT\d\d:\d\d",
    "a command": r"\btoryo [a-z]+",
}


def raw(text: str) -> list[str]:
    """Each of them, with what stands around it."""
    return [
        f"{what}: {found.group()!r} in {text[max(0, found.start() - 60) : found.end() + 40]!r}"
        for what, pattern in RAW.items()
        for found in re.finditer(pattern, text)
    ]
