"""Translations of the server's texts, from gettext catalogues: `locale/LANGUAGE/LC_MESSAGES/toryo.po`.

A msgid is the English template from the code; its msgstr has the same facts. Untranslated texts stay English. A
catalogue is read from source when its language is first needed, so there is no compiled copy that could be outdated.
`docs/translations.py` (`make translations`) adds new texts and drops old ones; `make check` lists what is missing.
`operations/translations.py` combines sentences within sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

LOCALE = Path(__file__).parent / "locale"
_SPACED = re.compile("[々ぁ-ヿ一-鿿」）] [々ぁ-ヿ一-鿿「（]")
"""A space between two Japanese letters or brackets. Catalogues put one beside each fact: most names are Latin."""


def catalogue_file(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "toryo.po"


@cache
def texts(language: str) -> Mapping[tuple[str, str], str]:
    """What is translated, by context (empty for sentences) and English text: nothing into English, nor into a language
    without a catalogue. Reading costs some 50 ms, once. The head of a catalogue, which stands at the empty text, is no
    translation."""
    import polib

    file = catalogue_file(language)
    entries = polib.pofile(str(file)) if file.is_file() else ()
    return {(entry.msgctxt or "", entry.msgid): entry.msgstr for entry in entries if entry.msgid and entry.translated()}


def in_language(template: str, language: str, /, **facts: Any) -> str:
    """What an agent is told: the template in its language, the facts filled in as they are."""
    return fill(texts(language).get(("", template), template), facts)


def fill(template: str, facts: Mapping[str, Any]) -> str:
    """The template with its facts. Without the space beside a fact if both sides of it are Japanese."""
    pieces = [piece for piece in _pieces(template, facts) if piece]
    for index in range(1, len(pieces)):
        before, after = pieces[index - 1 : index + 1]
        if _SPACED.fullmatch(before[-1:] + after[:2]):
            pieces[index] = after[1:]
        elif _SPACED.fullmatch(before[-2:] + after[:1]):
            pieces[index - 1] = before[:-1]
    return "".join(pieces)


def _pieces(template: str, facts: Mapping[str, Any]) -> Iterator[str]:
    """Literal texts and facts in turn."""
    for literal, name, spec, conversion in Formatter().parse(template):
        yield literal
        if name is not None:
            how = (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
            yield f"{{{name}{how}}}".format(**facts)
