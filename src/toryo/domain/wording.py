"""Sentences that can be translated later: the English text, with its template and its facts.

Rules produce English where they decide. The text is a plain `str` (stored, logged and compared in English); the edge,
which knows the reader's language, formats it again from the template and the facts. Translated templates are in
`locale/`; `operations/translations.py` finds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from toryo.deeds import Blank, Deed, Typed


class Worded(str):
    """A text that remembers its template and facts. Changing it as a `str` (adding, cutting) gives a plain one."""

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
    """The template with its facts filled in; a fact may be a sentence itself, or what is typed (`deeds.Typed`)."""
    return Worded(template.format(**facts) if facts else template, template, facts)


def together(parts: Iterable[str], by: str = " ") -> Worded:
    """Joins sentences, or a list of names; skips empty ones."""
    said = tuple(part for part in parts if part)
    return Worded(by.join(said), "", None, said, by)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """The same sentence with some names replaced."""
    if not isinstance(text, Worded):
        return _replaced(text, names)
    facts = {key: _renamed(fact, names) for key, fact in text.facts.items()}
    parts = tuple(renamed(part, names) for part in text.parts)
    return Worded(_replaced(text, names), text.template, facts, parts, text.by, text.context)


def _renamed(fact: Any, names: Mapping[str, str]) -> Any:
    if isinstance(fact, Deed):
        return Deed(fact.verb, {name: _in_deed(value, names) for name, value in fact.arguments.items()})
    return renamed(fact, names) if isinstance(fact, str) and not isinstance(fact, Typed) else fact


def _in_deed(value: Any, names: Mapping[str, str]) -> Any:
    """What has no id yet is left to the person: its name, which no command takes, stands there as it is."""
    if isinstance(value, list):
        return [_in_deed(each, names) for each in value]
    return Blank(names[value]) if isinstance(value, str) and value in names else value


def _replaced(text: str, names: Mapping[str, str]) -> str:
    for name, other in names.items():
        text = text.replace(name, other)
    return str(text)


def constant(text: str) -> Worded:
    """A text without facts, or one that is never translated."""
    return text if isinstance(text, Worded) else Worded(text, text)
