"""What several tasks have changed, as one diff: whose each hunk is, where two tasks change the same lines, and in which
order their work is best merged. Pure: the patches are those that Coordinators print.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import combinations, islice

from toryo.domain.fast_dataclasses import dataclass

_HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")


class Overlap(StrEnum):
    """How two tasks meet in a file; the first ones matter most."""

    CONFLICT = "conflict"
    """Both change the same lines, or lines without one between them: git cannot merge the second one."""
    UNKNOWN = "unknown"
    """The diff of one of them is too large to be compared here."""
    BUILDS_ON = "builds_on"
    """One of them depends on the other, or has it as a subtask: it is merged after it."""
    SAME = "same"
    """Both make the same changes there."""
    APART = "apart"
    """They change other lines: git merges both."""


@dataclass(frozen=True, slots=True)
class Run:
    """Lines that follow one another and are replaced: `[start, end)` of the file before the change."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Hunk:
    text: str
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What one task does to one file. `hunks` is None where the patch was cut before it; `head` is what git says above
    the hunks: a mode, a binary file's ids."""

    task_id: str
    path: str
    old_path: str | None
    status: str
    insertions: int
    deletions: int
    binary: bool
    head: str
    hunks: tuple[Hunk, ...] | None
    base: str

    @property
    def before(self) -> str:
        return self.old_path or self.path

    @property
    def cut(self) -> bool:
        """Whether the patch ends before all of its lines."""
        told = sum(line[:1] in ("-", "+") for run in self.runs for line in run.text.split("\n"))
        return self.hunks is None or told < self.insertions + self.deletions

    @property
    def runs(self) -> list[Run]:
        return [run for hunk in self.hunks or () for run in hunk.runs]


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two tasks in one file. `lines`: first and last line where they meet, before the change; None: in the file as a
    whole. `exact` is False where the tasks started from different commits: lines are then those of either."""

    kind: Overlap
    tasks: tuple[str, str]
    lines: tuple[int, int] | None
    exact: bool


@dataclass(frozen=True, slots=True)
class SharedHunk:
    """Tasks that make exactly this change."""

    tasks: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class CombinedFile:
    path: str
    changes: tuple[Change, ...]
    meetings: tuple[Meeting, ...]
    hunks: tuple[SharedHunk, ...]

    @property
    def overlap(self) -> Overlap | None:
        return min((each.kind for each in self.meetings), key=_RANK.__getitem__, default=None)


_RANK = {kind: place for place, kind in enumerate(Overlap)}


def changes_of(task_id: str, patch: str, files: Iterable[Mapping[str, object]], base: str) -> Iterator[Change]:
    """The changes in a Coordinator's diff. What it says is not trusted: nonsense in it is left out."""
    for file, piece in pieces_of(patch, files):
        path, old = str(file.get("path") or ""), file.get("old_path")
        old_path = str(old) if old else None
        yield Change(
            task_id=task_id,
            path=path,
            old_path=old_path,
            status=str(file.get("status") or "modified"),
            insertions=_count(file.get("insertions")),
            deletions=_count(file.get("deletions")),
            binary=file.get("binary") is True,
            head="" if piece is None else piece.partition("\n@@ ")[0],
            hunks=None if piece is None else tuple(_hunks(piece)),
            base=base,
        )


def pieces_of(patch: str, files: Iterable[Mapping[str, object]]) -> Iterator[tuple[Mapping[str, object], str | None]]:
    """Each file of a diff with its part of the patch; None: the patch was cut before it."""
    pieces = _pieces(patch)
    in_order = list(pieces.values())
    for place, file in enumerate(files):
        path, old = str(file.get("path") or ""), file.get("old_path")
        piece = pieces.get(f"diff --git a/{old or path} b/{path}")
        if piece is None:  # git quotes unusual names
            piece = in_order[place] if place < len(in_order) else None
        yield file, piece


def combined(changes: Sequence[Change], before: Mapping[str, Collection[str]]) -> list[CombinedFile]:
    """One entry for each file, those in which tasks overlap first. `before`: for each task those merged before it."""
    files = [_combined(list(group), before) for group in _by_file(changes)]
    last = len(_RANK)
    return sorted(files, key=lambda file: (last if file.overlap is None else _RANK[file.overlap], file.path))


def conflicts(files: Iterable[CombinedFile]) -> dict[str, set[str]]:
    """For each task those that conflict with it."""
    found: dict[str, set[str]] = {}
    for file in files:
        for meeting in file.meetings:
            if meeting.kind is Overlap.CONFLICT:
                one, other = meeting.tasks
                found.setdefault(one, set()).add(other)
                found.setdefault(other, set()).add(one)
    return found


def merge_order(
    task_ids: Sequence[str], before: Mapping[str, Collection[str]], against: Mapping[str, Collection[str]]
) -> list[str]:
    """Dependencies first; of those that could be next, the one that conflicts with the fewest: first with those merged
    already, then with all. Otherwise as given."""
    left, order = dict.fromkeys(task_ids), list[str]()
    while left:
        free = [each for each in left if not set(before.get(each, ())) & left.keys()] or list(left)
        nearest = min(free, key=lambda each: _hindered(against.get(each, ()), order))
        del left[nearest]
        order.append(nearest)
    return order


def _hindered(against: Collection[str], merged: Sequence[str]) -> tuple[int, int]:
    return len(set(against) & set(merged)), len(against)


def _combined(changes: list[Change], before: Mapping[str, Collection[str]]) -> CombinedFile:
    meetings = [_meeting(one, other, before) for one, other in combinations(changes, 2) if _related(one, other)]
    meetings.sort(key=lambda each: _RANK[each.kind])
    tasks: dict[str, dict[str, None]] = {}
    found = [(hunk, change) for change in changes for hunk in change.hunks or ()]
    for hunk, change in sorted(found, key=lambda each: [run.start for run in each[0].runs]):
        tasks.setdefault(hunk.text, {})[change.task_id] = None
    shared = tuple(SharedHunk(tuple(whose), text) for text, whose in tasks.items())
    return CombinedFile(changes[0].path, tuple(changes), tuple(meetings), shared)


def _related(one: Change, other: Change) -> bool:
    return one.before == other.before or one.path == other.path


def _meeting(one: Change, other: Change, before: Mapping[str, Collection[str]]) -> Meeting:
    kind, lines = _overlap(one, other)
    later, earlier = (other, one) if one.task_id in before.get(other.task_id, ()) else (one, other)
    if earlier.task_id in before.get(later.task_id, ()):
        kind = Overlap.BUILDS_ON
    return Meeting(kind, (earlier.task_id, later.task_id), lines, exact=one.base == other.base)


def _overlap(one: Change, other: Change) -> tuple[Overlap, tuple[int, int] | None]:
    same = (one.head, one.hunks) == (other.head, other.hunks) and not one.cut
    if same or one.status == other.status == "deleted":
        return Overlap.SAME, None
    if one.cut or other.cut:
        return Overlap.UNKNOWN, None
    if one.before != other.before or one.binary or other.binary or "deleted" in (one.status, other.status):
        return Overlap.CONFLICT, None
    if one.path != other.path and one.old_path is not None and other.old_path is not None:
        return Overlap.CONFLICT, None
    pairs = list(_touching(one.runs, other.runs))
    clash = [(a, b) for a, b in pairs if a != b]
    if clash:
        return Overlap.CONFLICT, _lines(clash)
    return (Overlap.SAME, _lines(pairs)) if pairs else (Overlap.APART, None)


def _touching(ones: Sequence[Run], others: Sequence[Run]) -> Iterator[tuple[Run, Run]]:
    """Both are in the order of their lines, so each is looked at once."""
    place = 0
    for run in ones:
        while place < len(others) and others[place].end < run.start:
            place += 1
        for other in islice(others, place, None):
            if other.start > run.end:
                break
            yield run, other


def _lines(pairs: Sequence[tuple[Run, Run]]) -> tuple[int, int]:
    first = min(max(a.start, b.start) for a, b in pairs)
    last = max(min(max(a.start, a.end - 1), max(b.start, b.end - 1)) for a, b in pairs)
    return max(first, 1), max(first, last, 1)


def _by_file(changes: Sequence[Change]) -> Iterator[list[Change]]:
    """Changes of one file, whatever a task has named it."""
    group_of: dict[str, list[Change]] = {}
    for change in changes:
        known = [group_of[name] for name in (change.before, change.path) if name in group_of]
        group = known[0] if known else []
        for other in known[1:]:
            if other is not group:
                group.extend(other)
        group.append(change)
        for each in group:
            group_of[each.before] = group_of[each.path] = group
    yield from {id(group): group for group in group_of.values()}.values()


def _pieces(patch: str) -> dict[str, str]:
    """The part of each file, by its first line; a file whose type has changed has two, which belong together."""
    found: dict[str, str] = {}
    for piece in re.split(r"(?:\A|(?<=\n))(?=diff --git )", patch):
        first = piece.partition("\n")[0]
        if first.startswith("diff --git "):
            found[first] = found.get(first, "") + piece
    return found


def _hunks(piece: str) -> Iterator[Hunk]:
    lines = piece.split("\n")
    at = 0
    while at < len(lines):
        head = _HEAD.match(lines[at])
        at += 1
        if head is not None:
            end = _end(lines, at, *(1 if many is None else int(many) for many in head.group(2, 3)))
            start = int(head[1]) + (head[2] == "0")  # of nothing git names the line before
            yield Hunk("\n".join(lines[at - 1 : end]) + "\n", tuple(_runs(lines[at:end], start)))
            at = end


def _end(lines: Sequence[str], at: int, old: int, new: int) -> int:
    """Where a hunk ends: it has as many lines as its head says, and notes that a file does not end with a line break.
    Less where the patch was cut."""
    while at < len(lines) and (lines[at][:1] == "\\" or ((old > 0 or new > 0) and lines[at][:1] in (" ", "-", "+"))):
        sign = lines[at][:1]
        old -= sign in (" ", "-")
        new -= sign in (" ", "+")
        at += 1
    return at


def _runs(body: Sequence[str], line: int) -> Iterator[Run]:
    start, changed = line, list[str]()
    for each in (*body, " "):
        if each[:1] in ("-", "+"):
            changed.append(each)
            line += each[:1] == "-"
        elif each[:1] == " ":
            if changed:
                yield Run(start, line, "\n".join(changed))
            line += 1
            start, changed = line, []
        elif changed:
            changed.append(each)


def _count(value: object) -> int:
    return max(value, 0) if isinstance(value, int) and not isinstance(value, bool) else 0
