"""The server's sentences in other languages, their facts too; `translation_catalogues.py` has the words.

Names of states have the name of their enum as msgctxt (`tasks.Status`), pydantic's mistakes in values have `pydantic`
and their type as msgid. What has no translation stays English: what only agents are told about each other's calls, what
a program printed, what people and agents wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import reduce
from typing import Any

from toryo.deeds import LEFT_OUT, Typed
from toryo.domain.projects import Language
from toryo.domain.texts import marked, one_line, quoted
from toryo.domain.wording import Worded
from toryo.translation_catalogues import fill, in_language, texts
from toryo.workflow.instructions import MARKED, QUOTED, TEXTS

STATES: Mapping[tuple[str, str], str] = {
    ("tasks.Status", "todo"): "to do",
    ("tasks.Status", "in_progress"): "in progress",
    ("tasks.Approval", "pending_approval"): "waiting for approval",
    ("worktrees.Kind", "queue_merge"): "check by the merge queue",
    ("worktrees.Kind", "merge_subtasks"): "merge of the subtasks' work",
    ("worktrees.Kind", "base_checks"): "required checks before any work",
    ("worktrees.Kind", "pull_request"): "pull request",
}
"""How a page in English names a state whose name is not a word. Other languages have words for all of them."""


def translate(text: Worded, language: Language, *, page: bool = False) -> str:
    """The text in this language, as far as there are words for it. `page`: as a page shows it, without what is typed,
    for which it has buttons, and with states in words. Ids stay: a page draws them as what they name."""
    if language is Language.ENGLISH and not page:
        return str(text)
    if text.parts:
        pair = pair_of(text.by)
        pair = texts(language).get(("together", pair), pair)
        said = [each for part in text.parts if (each := str(_fact(part, language, page)))]
        return reduce(pair.format, said) if said else ""
    template = texts(language).get((text.context, text.template))
    if template is None:
        if not page or text.context:  # of pydantic, whose template is only a type
            return str(text)
        template = text.template
    if not text.facts:
        return template
    return fill(template, {name: _fact(fact, language, page) for name, fact in text.facts.items()})


def words(key: str, language: Language, **facts: Any) -> str:
    """The instruction of a key in a language, its facts filled in: what others have written as their words."""
    return in_language(TEXTS[key], language, **{name: _told(name, fact) for name, fact in facts.items()})


def _told(name: str, fact: Any) -> str:
    text = str(fact)
    if name in MARKED:
        return marked(text)
    return quoted(text) if name in QUOTED else one_line(text)


def _fact(value: Any, language: Language, page: bool) -> Any:
    """A fact as it stands in a sentence: sentences and states are translated, names and numbers stay."""
    if isinstance(value, Worded):
        return translate(value, language, page=page)
    if page and isinstance(value, Typed):
        return LEFT_OUT
    if isinstance(value, Enum):
        key = context_of(type(value)), str(value.value)
        return texts(language).get(key, STATES.get(key, key[1]) if page else key[1])
    return value


def pair_of(by: str) -> str:
    """The msgid, in the context `together`, of how two texts stand one after the other: `{0}, {1}`."""
    return f"{{0}}{by}{{1}}"


def context_of(states: type[Enum]) -> str:
    """The msgctxt of the names of an enum's members: its module and its name, `tasks.Status`."""
    return f"{states.__module__.rpartition('.')[2]}.{states.__name__}"
