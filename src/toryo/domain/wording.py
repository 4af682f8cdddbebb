"""Sentences for people that can be worded in their language later: the English text, with its template and its facts.

Whoever decides says what is so, in English, where it is decided. The text is a `str` like any other (stored, logged
and compared in English); at the edge, whoever knows the reader's language words it anew from the template and the
facts. The other languages' templates stand in `locale/`, and `operations/translations.py` finds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self


class Worded(str):
    """A text that remembers how it was made. What is done to it as a `str` (added, cut) makes a plain one."""

    __slots__ = ("by", "context", "facts", "parts", "template")

    template: str
    context: str
    facts: dict[str, Any]
    parts: tuple[str, ...]
    by: str

    def __new__(
        cls,
        text: str,
        template: str,
        facts: dict[str, Any] | None = None,
        parts: tuple[str, ...] = (),
        by: str = "",
        context: str = "",
    ) -> Self:
        made = super().__new__(cls, text)
        made.template, made.facts, made.parts, made.by, made.context = template, facts or {}, parts, by, context
        return made


def say(template: str, /, **facts: Any) -> Worded:
    """The template, its facts filled in; a fact may be a sentence itself."""
    return Worded(template.format(**facts) if facts else template, template, facts)


def together(parts: Iterable[str], by: str = " ") -> Worded:
    """Several sentences, or a list of names, one after the other; empty ones are left out."""
    said = tuple(part for part in parts if part)
    return Worded(by.join(said), "", None, said, by)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """The same sentence with other names in place of some."""
    if not isinstance(text, Worded):
        return _replaced(text, names)
    facts = {key: renamed(fact, names) if isinstance(fact, str) else fact for key, fact in text.facts.items()}
    parts = tuple(renamed(part, names) for part in text.parts)
    return Worded(_replaced(text, names), text.template, facts, parts, text.by, text.context)


def _replaced(text: str, names: Mapping[str, str]) -> str:
    for name, other in names.items():
        text = text.replace(name, other)
    return str(text)


def constant(text: str) -> Worded:
    """A text without facts (or one that stays as it is, because nobody has another template for it)."""
    return text if isinstance(text, Worded) else Worded(text, text)
