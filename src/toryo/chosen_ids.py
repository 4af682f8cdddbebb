"""The format of ids that people choose, and a valid id derived from a name.

Generated ids are in `domain/ids.py`.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 64
ANY = "any"
"""No id: what is written where an assignee stands for anyone who is free; `any:python,tests` for those with these
capabilities."""


def words_of(assignee: str) -> list[str] | None:
    """The capabilities behind `any`, each once; None: it is an id."""
    name, _, words = assignee.partition(":")
    return [*dict.fromkeys(word for each in words.split(",") if (word := each.strip()))] if name == ANY else None


_OTHER = r"[^a-z0-9._-]"
_EDGES = "-._"
_LATIN = str.maketrans({"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ß": "ss", "ı": "i"})
"""Letters that Unicode does not take apart."""


def may_be(identifier: str) -> bool:
    """Whether it can be one: 1-64 of `a-z 0-9 . _ -`."""
    fits = 1 <= len(identifier) <= LONGEST and re.search(_OTHER, identifier) is None
    return fits and not identifier.startswith(("-", "."))


def made_of(name: str, otherwise: str, longest: int = LONGEST) -> str:
    """The Latin letters of a name, without their accents; `otherwise` where it has none."""
    lower = name.lower().translate(_LATIN)
    plain = "".join(each for each in unicodedata.normalize("NFKD", lower) if not unicodedata.combining(each))
    return re.sub(f"{_OTHER}+", "-", plain).lstrip(_EDGES)[:longest].rstrip(_EDGES) or otherwise


MOST_REPLICAS = 100
"""How many agents of one description are made at once, with the ids ID-1, ID-2, …"""
