"""What people are told, in Japanese: a template for every English one, and the names of states.

The same sentences as in English (a test compares them, and the facts they name). What has none here stays English:
what only agents are told about each other's calls, what a program printed, what people and agents wrote.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from toryo.domain.wording import Worded
from toryo.operations.japanese import decisions, names, needs, refusals

TEXTS: dict[str, str] = {**decisions.TEXTS, **needs.TEXTS, **refusals.TEXTS}
_BETWEEN = {" ": "", ", ": "、", "; ": "、"}


def said(text: Worded) -> str:
    """The text in Japanese, as far as there are words for it."""
    if text.parts:
        return _BETWEEN.get(text.by, text.by).join(str(_fact(each)) for each in text.parts)
    template = TEXTS.get(text.template)
    if template is None:
        return str(text)
    return template.format(**{name: _fact(each) for name, each in text.facts.items()}) if text.facts else template


def _fact(value: Any) -> Any:
    """A fact as it stands in a sentence: sentences and states in Japanese, names and numbers as they are."""
    if isinstance(value, Worded):
        return said(value)
    return names.of(value) if isinstance(value, Enum) else value
