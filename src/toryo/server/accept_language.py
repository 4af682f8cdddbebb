"""The caller's language from `Accept-Language`, and answers translated to it.

Operations write English; their sentences are translated here while the answer is written. REST only: agents read the
language of their project, in which their instructions are made.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import orjson

from toryo.domain.projects import Language
from toryo.domain.wording import Worded
from toryo.operations import translations

HEADERS: dict[Language, dict[str, str]] = {
    language: {"content-language": language.value, "vary": "accept-language"} for language in Language
} | {Language.ENGLISH: {}}


def wanted_language(accepted: str) -> Language:
    """The one that the caller likes best (`Accept-Language`); English for who names none that is known."""
    return _wanted(accepted[:1000])


@lru_cache(256)
def _wanted(accepted: str) -> Language:
    likes = [_like(part) for part in accepted.split(",")]
    known = [(quality, Language(name)) for name, quality in likes if quality > 0 and name in HEADERS]
    return max(known, key=lambda each: each[0])[1] if known else Language.ENGLISH


def as_json(answer: Any, language: Language, *, page: bool = False) -> bytes:
    """The answer as JSON, its sentences in this language; for a `page` without commands, and with states in words."""
    if language is Language.ENGLISH and not page:
        return orjson.dumps(answer)

    def reworded(value: Any) -> Any:
        """What orjson hands over: sentences, and other kinds of `str`."""
        if isinstance(value, Worded):
            return translations.translate(value, language, page=page)
        if isinstance(value, str):
            return str(value)
        raise TypeError(f"{type(value).__name__} cannot be written as JSON")

    return orjson.dumps(answer, reworded, orjson.OPT_PASSTHROUGH_SUBCLASS)


def _like(part: str) -> tuple[str, float]:
    """`ja-JP;q=0.8` as ("ja", 0.8)."""
    name, *options = (each.strip() for each in part.lower().split(";"))
    weights = [option[2:] for option in options if option.startswith("q=")]
    try:
        quality = float(weights[0]) if weights else 1.0
    except ValueError:
        quality = 0.0
    return name.partition("-")[0], quality
