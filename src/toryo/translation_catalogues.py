"""Translations of the server's texts, from gettext catalogues: `locale/LANGUAGE/LC_MESSAGES/toryo.po`.

A msgid is the English template from the code; its msgstr has the same facts. Untranslated texts stay English. A
catalogue is read from source when its language is first needed, so there is no compiled copy that could be outdated.
`docs/translations.py` (`make translations`) adds new texts and drops old ones; `make check` lists what is missing.
`operations/translations.py` combines sentences within sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

LOCALE = Path(__file__).parent / "locale"


def catalogue_file(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "toryo.po"


@cache
def texts(language: str) -> Mapping[tuple[str, str], str]:
    """What is translated, by context (empty for sentences) and English text: nothing into English, nor into a language
    without a catalogue. Reading costs some 50 ms, once."""
    import polib

    file = catalogue_file(language)
    entries = polib.pofile(str(file)) if file.is_file() else ()
    return {(entry.msgctxt or "", entry.msgid): entry.msgstr for entry in entries if entry.translated()}


def in_language(template: str, language: str, /, **facts: Any) -> str:
    """What an agent is told: the template in its language, the facts filled in as they are."""
    return texts(language).get(("", template), template).format(**facts)
