"""Which tasks may change the same files: from what they say that they touch, and from what they have changed.

Only tasks with worktrees of their own can conflict. A task has *begun* once it has a worktree, or is being started.
From then on it is never held back, and only tasks that have begun hold others back: so no two tasks wait for each
other. Nor does a task wait for one that may itself wait for tasks (`Files.waits`). A task does not conflict with what
it builds on, the tasks above it and its dependencies: its worktree starts from their work.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import islice, product

from toryo import path_patterns
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.tasks import OPEN, Status
from toryo.domain.texts import quoted
from toryo.domain.wording import say
from toryo.path_patterns import TooMuchWork, beginning, is_plain, matches, meet

MOST_PATTERNS = 50
"""Patterns of one task."""
LONGEST_PATTERN = 300
MOST_TOUCHED = 500
"""Changed paths that are kept of one task."""
MOST_OTHERS = 200
"""Tasks that one task is compared with: the newest."""
MOST_SHOWN = 5
MOST_STEPS = 300_000
"""Of comparing one task with all others: a fraction of a second."""
LONGEST_TOLD = 100
_PLAIN_PATH = re.compile(rf"[\w./@+*?=#%~,-]{{1,{LONGEST_TOLD}}}")


class ConflictPolicy(StrEnum):
    """What happens before a task starts that would change the same files as another one."""

    OFF = "off"
    WARN = "warn"
    HOLD = "hold"


@dataclass(frozen=True, slots=True)
class Files:
    """What is known of the files of one task."""

    task_id: str
    title: str
    status: Status
    touches: tuple[str, ...] = ()
    """The patterns that it was created with."""
    touched: tuple[str, ...] = ()
    """The paths that are changed in its worktree."""
    waits: bool = False
    """Whether its end, or the merge of its work, may wait for another task."""

    @property
    def may_touch(self) -> tuple[str, ...]:
        """What it may still change; finished work has changed what it has changed."""
        return self.touches if self.status in OPEN else ()


@dataclass(frozen=True, slots=True)
class Meeting:
    """Another task that may change the same files, and the first of these paths or patterns."""

    other: Files
    paths: tuple[str, ...]

    @property
    def finished(self) -> bool:
        return self.other.status is Status.COMPLETED

    @property
    def holds(self) -> bool:
        """Whether a task that has not begun waits for the other one: it runs, or its work can be merged now."""
        return self.other.status in (Status.IN_PROGRESS, Status.COMPLETED) and not self.other.waits


def meetings(own: Files, others: Iterable[Files]) -> list[Meeting]:
    """The tasks among the others that this one may conflict with, in their order."""
    found, left, compared = [], MOST_STEPS, [other for other in others if other.task_id != own.task_id]
    for number, other in enumerate(compared):
        share = left // (len(compared) - number)  # one with hostile patterns leaves their part to the others
        work = path_patterns.Work(share)
        paths = _shared(own, other, work)
        left -= share - max(work.left, 0)
        if paths:
            found.append(Meeting(other, paths))
    return found


def _shared(own: Files, other: Files, work: path_patterns.Work) -> tuple[str, ...]:
    """The first paths that both touch, or else patterns. What there is no time left to compare counts as different."""
    found: dict[str, None] = {}
    with contextlib.suppress(TooMuchWork):
        found.update(dict.fromkeys(islice(_paths(own, other, work), MOST_SHOWN)))
        if not found:
            found.update(dict.fromkeys(islice(_patterns(own, other, work), MOST_SHOWN)))
    return tuple(found)


def _paths(own: Files, other: Files, work: path_patterns.Work) -> Iterator[str]:
    mine, theirs = frozenset(own.touched), frozenset(other.touched)
    yield from sorted(mine & theirs)
    yield from (path for path in other.touched if path not in mine and _any(own.may_touch, path, work))
    yield from (path for path in own.touched if path not in theirs and _any(other.may_touch, path, work))


def paths_in_words(paths: Iterable[str]) -> str:
    """The paths within a sentence. An agent chooses the names of its files: words in them stay in quotation marks."""
    return ", ".join(each if _PLAIN_PATH.fullmatch(each) else quoted(each[:LONGEST_TOLD]) for each in paths)


def _any(patterns: tuple[str, ...], path: str, work: path_patterns.Work) -> bool:
    work.spend(1)
    if not path.startswith(_beginnings(patterns)):  # of most paths no pattern needs a closer look
        return False
    return any(matches(_from_top(pattern), path, work) for pattern in patterns)


@lru_cache(maxsize=1024)
def _beginnings(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(beginning(_from_top(pattern)) for pattern in patterns)


def _from_top(pattern: str) -> str:
    """Patterns begin at the top of the repository, also those without a slash."""
    return f"/{pattern.lstrip('/')}"


def _patterns(own: Files, other: Files, work: path_patterns.Work) -> Iterator[str]:
    for pattern, another in product(own.may_touch, other.may_touch):
        if meet(_from_top(pattern), _from_top(another), work):
            plain = [each for each in (pattern, another) if is_plain(each)]
            yield max(plain or [pattern], key=len)


def patterns(given: Sequence[str]) -> tuple[str, ...]:
    """The patterns of a task, each once. Raises Refusal for what can match nothing in a repository."""
    found = tuple(dict.fromkeys(each.strip() for each in given))
    for each in found:
        why = _mistake(each)
        if why is not None:
            raise Refusal(
                Code.VALIDATION_ERROR,
                say("{pattern!r} is not a pattern of paths. {why}", pattern=each, why=why),
                "Use paths from the top of the repository, with * and **: src/api/, docs/*.md, **/*.css",
            )
    return found


def _mistake(pattern: str) -> str | None:
    if not pattern.strip("/"):
        return say("It names nothing.")
    if pattern.startswith("!"):
        return say("Exceptions (!) are not possible.")
    if "\\" in pattern:
        return say("Separate directories with /.")
    if ".." in pattern.split("/") or "." in pattern.split("/"):
        return say("It must not contain . or .. as a directory.")
    return None
