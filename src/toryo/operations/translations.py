"""The server's sentences in other languages, from gettext catalogues: `locale/LANGUAGE/LC_MESSAGES/toryo.po`.

A msgid is the English template, its msgstr the same sentence with the same facts. Names of states have the name of
their enum as msgctxt (`tasks.Status`), pydantic's mistakes in values have `pydantic` and their type as msgid. What has
no translation stays English: what only agents are told about each other's calls, what a program printed, what people
and agents wrote. The catalogues are read as they are, without a compiled copy that could be older.
`docs/translations.py` (`make translations`) adds new sentences and drops old ones; `make check` names what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import polib

from toryo.domain.projects import Language
from toryo.domain.wording import Worded

LOCALE = Path(__file__).parents[1] / "locale"
_BETWEEN = {Language.JAPANESE: {" ": "", ", ": "、", "; ": "、"}}


def catalogue_file(language: Language) -> Path:
    return LOCALE / language.value / "LC_MESSAGES" / "toryo.po"


@cache
def texts(language: Language) -> Mapping[tuple[str, str], str]:
    """What is translated, by context (empty for sentences) and English text. Reading costs some 50 ms, once."""
    entries = polib.pofile(str(catalogue_file(language)))
    return {(entry.msgctxt or "", entry.msgid): entry.msgstr for entry in entries if entry.translated()}


def translated(text: Worded, language: Language) -> str:
    """The text in this language, as far as there are words for it."""
    if language is Language.ENGLISH:
        return str(text)
    if text.parts:
        between = _BETWEEN[language].get(text.by, text.by)
        return between.join(str(_fact(part, language)) for part in text.parts)
    template = texts(language).get((text.context, text.template))
    if template is None:
        return str(text)
    return (
        template.format(**{name: _fact(fact, language) for name, fact in text.facts.items()})
        if text.facts
        else template
    )


def _fact(value: Any, language: Language) -> Any:
    """A fact as it stands in a sentence: sentences and states are translated, names and numbers stay."""
    if isinstance(value, Worded):
        return translated(value, language)
    if isinstance(value, Enum):
        return texts(language).get((context_of(type(value)), str(value.value)), str(value.value))
    return value


def context_of(states: type[Enum]) -> str:
    """The msgctxt of the names of an enum's members: its module and its name, `tasks.Status`."""
    return f"{states.__module__.rpartition('.')[2]}.{states.__name__}"
