"""Memories: what a team knows about its project, and how texts are found by their words. Pure.

Texts are found by terms: words without regard to case, and of Chinese, Japanese and Korean texts, which have no spaces,
pairs of characters. The same terms are made of what is stored and of what is searched for, so that every database finds
the same. `storage/memories.py` has the rows, `operations/memory/` what agents and people do.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from math import sqrt

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.times import Millis

LONGEST = 2_000
"""Characters of a memory."""
MOST = 1_000
"""Memories of one project."""
MOST_AN_HOUR = 20
"""Memories that one agent may add within an hour."""
LONGEST_QUERY = 1_000
MOST_TERMS = 300
"""Different terms of one text: the first ones."""
LONGEST_TERM = 40
COMMON = 2_000
"""A term that so many texts of a project have says nothing about any of them."""
MOST_ROWS = 10_000

OFFERED = 2_400
"""Characters of the memories that come with a task: about 600 tokens."""
SHOWN = 600
"""Characters of each of them, and of what `recall` finds."""
FITS = 2
"""How many terms a memory must share with a task to be offered with it."""


class Kind(StrEnum):
    """What can be found."""

    MEMORY = "memory"
    TASK = "task"
    """What a completed task has reported."""
    HANDOFF = "handoff"
    CONVERSATION = "conversation"


@dataclass(frozen=True, slots=True)
class Memory:
    """`alike` is equal for texts that differ in case, width and spaces only."""

    id: str
    project_id: str
    text: str
    alike: str
    author_id: str
    task_id: str | None
    """The task that its author was working on."""
    pinned: bool
    created_at: Millis
    edited_by: str | None = None
    edited_at: Millis | None = None


def likeness(text: str) -> str:
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return hashlib.sha256(plain.encode()).hexdigest()[:32]


_RUN = re.compile(r"\w+")
_UNSPACED = re.compile(
    r"[\u3005\u3007\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f]+"
)


def terms(text: str) -> list[str]:
    """The different terms of a text, in its order."""
    return list(dict.fromkeys(_terms(text)))[:MOST_TERMS]


def _terms(text: str) -> Iterator[str]:
    for run in _RUN.findall(unicodedata.normalize("NFKC", text).casefold()):
        at = 0
        for found in _UNSPACED.finditer(run):
            yield from _word(run[at : found.start()])
            whole = found[0]
            yield from (whole[place : place + 2] for place in range(max(1, len(whole) - 1)))
            at = found.end()
        yield from _word(run[at:])


def _word(word: str) -> Iterator[str]:
    """One letter says nothing. A name in pieces (`retry_count`) is found by each of them."""
    pieces = [piece for piece in word.split("_") if len(piece) > 1]
    if len(pieces) != 1 and len(word.strip("_")) > 1:
        yield word[:LONGEST_TERM]
    for piece in pieces:
        yield piece[:LONGEST_TERM]


def ranked(found: Iterable[tuple[str, str]], at_least: int = 1) -> list[str]:
    """What was found, the best first: the more terms it shares, and the rarer they are. Of equal ones the newer.

    `found`: pairs of a source and a term.
    """
    by_term: Mapping[str, set[str]] = defaultdict(set)
    for source, term in found:
        by_term[term].add(source)
    score: dict[str, float] = defaultdict(float)
    shared: dict[str, int] = defaultdict(int)
    for sources in by_term.values():
        for source in sources:
            score[source] += 1 / sqrt(len(sources))
            shared[source] += 1
    fitting = [source for source in score if shared[source] >= at_least]
    return sorted(sorted(fitting, reverse=True), key=lambda source: -round(score[source], 9))


def offered(pinned: Sequence[Memory], fitting: Sequence[Memory]) -> list[Memory]:
    """What comes with a task: the pinned ones first, as many as fit into the budget."""
    left, chosen = OFFERED, []
    for memory in dict.fromkeys([*pinned, *fitting]):
        length = min(len(memory.text), SHOWN)
        if length <= left:
            chosen.append(memory)
            left -= length
    return chosen
