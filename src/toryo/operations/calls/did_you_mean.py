"""Suggestions for an unknown id: the nearest of those that the caller may see.

Used for every unknown id (`validation.py` does the same for names of tools and parameters). The suggestions come only
from what the caller may see, so nothing else is disclosed.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from toryo.domain.texts import quoted
from toryo.domain.wording import constant, say, together

MOST = 3
SHORTEST = 3
"""Characters of a beginning that is looked for."""
_LONGEST = 100
_OF_CHOSEN, _OF_MADE = 0.7, 0.9
"""How alike ids must be: those that people choose are words, of those that Toryo makes half is the same anyway."""


def hint(given: str, known: Iterable[tuple[str, str]], otherwise: str) -> str:
    """What to do instead: the nearest ids, if any are near, then `otherwise`. `known`: ids and their names."""
    names = dict(known)
    found = _nearest(given[:_LONGEST], names)
    if not found:
        return otherwise
    told = " or ".join(each if names[each] in ("", each) else f"{each} ({quoted(names[each])})" for each in found)
    return together([say("Did you mean {names}?", names=told), constant(otherwise)])


def _nearest(given: str, names: dict[str, str]) -> list[str]:
    wanted = given.casefold().strip()
    if len(wanted) >= SHORTEST:
        begun = [
            each
            for each, name in names.items()
            if name.casefold().startswith(wanted) or each.casefold().startswith(wanted)
        ]
        if begun:
            return begun[:MOST]
    by_text = {text.casefold()[:_LONGEST]: each for each, name in names.items() for text in (name, each) if text}
    cutoff = _OF_MADE if "_" in wanted[3:4] else _OF_CHOSEN
    return list(dict.fromkeys(by_text[match] for match in difflib.get_close_matches(wanted, by_text, 1, cutoff)))
