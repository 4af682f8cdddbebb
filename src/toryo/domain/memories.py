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
from toryo.domain.shape import ProjectId, TaskId
from toryo.domain.texts import one_spacing
from toryo.domain.times import Millis

LONGEST = 2_000
"""Characters of a memory."""
MOST = 1_000
"""Memories of one project."""
MOST_PINNED = 20
"""Memories that come with every task: the newest ones of more."""
MOST_AN_HOUR = 20
"""Memories that one agent may add within an hour."""
LONGEST_QUERY = 1_000
MOST_TERMS = 2 * LONGEST
"""Different terms by which one text is found: the first ones. A memory has no more."""
MOST_OF_REPORT = 1_000
"""Different terms of what was reported, handed over or said."""
MOST_WANTED = 300
"""Different terms of one query: the first ones."""
LONGEST_TERM = 40
MOST_ROWS = 10_000
"""Pairs of a text and a term that are ranked: those of the rarest terms."""

OFFERED = 600
"""Tokens of the memories that come with a task, as `tokens` counts them."""
SHOWN = 600
"""Characters of each of them, and of the reports, handoffs and conversations that `recall` finds."""
FITS = 2
"""How many telling terms a memory must share with a task to be offered with it."""


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
    project_id: ProjectId
    text: str
    alike: str
    author_id: str
    task_id: TaskId | None
    """The task that its author was working on."""
    pinned: bool
    created_at: Millis
    edited_by: str | None = None
    edited_at: Millis | None = None


def likeness(text: str) -> str:
    return hashlib.sha256(one_spacing(text).encode()).hexdigest()[:32]


_RUN = re.compile(r"\w+")
_UNSPACED = re.compile(
    r"[\u3005\u3007\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f]+"
)


def terms(text: str, most: int = MOST_TERMS) -> list[str]:
    """The different terms by which a text is found, in its order."""
    return list(dict.fromkeys(_terms(text, stored=True)))[:most]


def query_terms(query: str) -> list[str]:
    """The different terms that a query looks for, in its order."""
    return list(dict.fromkeys(_terms(query, stored=False)))[:MOST_WANTED]


def telling_terms(found: Iterable[str]) -> list[str]:
    """Those terms that say what a text is about: no function words, and of Japanese no endings and particles."""
    return [term for term in found if term not in _FUNCTION_WORDS and not _KANA_PAIR.fullmatch(term)]


_KANA_PAIR = re.compile(r"[\u3041-\u3096]{1,2}")
_FUNCTION_WORDS = frozenset(
    """
    about after all also always an and any are as at be been before but by can could do does each every for from get had
    has have he her his how if in into is it its may more most must need needs never new no not of on one only or other
    our out over per set she should so some such than that the their them then there these they this those to under up
    us use used uses using was we were what when where which while who why will with would you your
    """.split()  # noqa: SIM905 - a list of a hundred strings is a page
)


def _terms(text: str, *, stored: bool) -> Iterator[str]:
    """What is stored also has each ideograph by itself: who looks for one finds the words that contain it."""
    for run in _RUN.findall(unicodedata.normalize("NFKC", text).casefold()):
        at = 0
        for found in _UNSPACED.finditer(run):
            yield from _word(run[at : found.start()])
            whole = found[0]
            yield from (whole[place : place + 2] for place in range(max(1, len(whole) - 1)))
            if stored:
                yield from (each for each in whole if each > _LAST_KANA)
            at = found.end()
        yield from _word(run[at:])


_LAST_KANA = "\u30ff"


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
        length = tokens(cut(memory.text))
        if length <= left:
            chosen.append(memory)
            left -= length
    return chosen


def cut(text: str) -> str:
    """A text as it is shown beside others; the dots say that there is more."""
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def tokens(text: str) -> int:
    """About how many tokens of a model a text is: four ASCII characters are one, and each other character."""
    plain = sum(map(str.isascii, text))
    return (plain + 3) // 4 + len(text) - plain
