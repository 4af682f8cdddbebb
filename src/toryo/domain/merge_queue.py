"""The merge queue: which of the finished work is merged next, and what becomes of it. Rules only.

An entry is the work of one task (and of its subtasks) for one target branch. It waits (`queued`) until it is the first
of its branch that can be merged. Then it is `checking`, alone or in a batch: a Coordinator merges the batch onto the
newest commit of the target, apart from every checkout, runs the required checks on the result, and moves the target
only if they passed. What follows is `SETTLED`: the whole batch is `merged`; or the batch is divided into halves, which
are `queued` again in their places, until an entry fails alone, on work that has passed: that one is `failed`. An entry
that conflicts with what is on the target is a `conflict`; one that conflicts only with the batch before it waits until
that is merged. A failure or a conflict goes back to the author's agent, `SENT_BACK_AT_MOST` times; after that a person
decides. A person can make an entry `removed`, or change its place. Only `queued` and `checking` are in the queue, the
other states are final.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.shape import Key, ProjectId, TaskId
from toryo.domain.tasks import CheckEvidence
from toryo.domain.times import MINUTE, Millis

SENT_BACK_AT_MOST = 2
"""How often the queue asks agents to correct one piece of work before it asks a person."""
RETRY_AFTER: Millis = MINUTE
"""When the queue looks again at what it could not do, but that is not the fault of an entry."""
RETRY_CHECKS_AFTER: Millis = 15 * MINUTE
"""The same if the checks have run (the target fails them itself, or cannot be moved): each look runs them again."""
MOST = 500
"""Entries that wait in one project."""
MOST_IN_BATCH = 50


class State(StrEnum):
    QUEUED = "queued"
    CHECKING = "checking"
    MERGED = "merged"
    FAILED = "failed"
    CONFLICT = "conflict"
    REMOVED = "removed"


WAITING = frozenset({State.QUEUED, State.CHECKING})
RETURNED = frozenset({State.FAILED, State.CONFLICT})
"""What goes back to the author."""


@dataclass(frozen=True, slots=True)
class Entry:
    id: str
    project_id: ProjectId
    task_id: TaskId
    coordinator_id: str
    target: str
    """The branch that it is merged into."""
    position: int
    state: State
    added_by: str
    added_at: Millis
    part: str | None = None
    """The half of a failed batch that it belongs to."""
    job_id: str | None = None
    """The worktree job that checks it, or was the last to."""
    sent_back: int = 0
    """How often this work was sent back before."""
    removal_by: str | None = None
    """Who has removed it while it was being checked."""
    trouble: str | None = None
    """Why it was not merged, although nothing is wrong with it."""
    retry_at: Millis | None = None
    base_commit: str | None = None
    """The commit of the target on which it was checked last."""
    merged_commit: str | None = None
    evidence: tuple[CheckEvidence, ...] = ()
    conflict: dict[str, Any] | None = None
    """`files`, and the `others`: what brought the other side. `within`: that is work of the same entry; `work`: what
    conflicts with it."""
    changes_task_id: str | None = None
    """The task that corrects it."""
    ended_at: Millis | None = None
    ended_by: str | None = None
    reason: str | None = None
    """Why it failed or was removed, in words."""

    @property
    def waits(self) -> bool:
        return self.state in WAITING

    @property
    def lane(self) -> tuple[str, str]:
        """One batch at a time is merged into one branch of one machine."""
        return (self.coordinator_id, self.target)

    @property
    def for_people(self) -> bool:
        """Whether it came back and no agent corrects it."""
        return self.state in RETURNED and self.changes_task_id is None


@dataclass(frozen=True, slots=True)
class Queue:
    """What people have set for the queue of one project."""

    project_id: Annotated[ProjectId, Key]
    paused_at: Millis | None = None
    paused_by: str | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    files: tuple[str, ...]
    others: tuple[dict[str, str | None], ...]
    """What has changed these files on the target since the work began: `commit`, `subject`, and the `task_id`, if a
    task did. `within`: they are not on the target, but other work of the same entry."""
    work: str | None = None
    """The task whose work conflicts: of the entry, or below it."""
    within: bool = False

    @property
    def stored(self) -> dict[str, Any]:
        more = {"work": self.work, "within": self.within} if self.within else {}
        return {"files": list(self.files), "others": list(self.others), **more}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a Coordinator found out about a batch. Ids are those of entries."""

    merged: Mapping[str, str]
    """The commit of each that is on the target now."""
    conflicts: Mapping[str, Conflict]
    """With what is on the target."""
    left_out: Collection[str] = ()
    """They conflict only with others of the batch."""
    unfit: Mapping[str, str] | None = None
    """Their work cannot be merged as it is there, and why."""
    gone: Collection[str] = ()
    """Nothing is left of their work."""
    failed: bool = False
    """Whether the required checks failed on the combined result, but not on the target itself."""
    base: str | None = None
    evidence: tuple[CheckEvidence, ...] = ()
    trouble: str | None = None
    """What prevented the merge and is nobody's fault."""


# --- what is merged next ----------------------------------------------------------------------------------------------


def next_batch(
    waiting: Iterable[Entry], size: int, ready: Callable[[Entry], Collection[str] | None], now: Millis
) -> list[Entry]:
    """The entries of one lane that are checked together now, in order; none while a batch is being checked.

    `ready` says which tasks must be merged before an entry, or with it and before it; None if it cannot be merged now.
    A half of a failed batch is a batch of its own.
    """
    lane = in_order(waiting)
    if any(entry.state is State.CHECKING for entry in lane):
        return []
    batch: list[Entry] = []
    taken: set[str] = set()
    for entry in lane:
        if batch and (entry.part != batch[0].part or len(batch) >= size):
            break
        needs = ready(entry)
        if needs is None or not taken.issuperset(needs):
            continue
        if entry.retry_at is not None and entry.retry_at > now:
            if not batch:
                return []  # what follows would meet the same obstacle
            break
        batch.append(entry)
        taken.add(entry.task_id)
    return batch


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: (entry.position, entry.id))


def halves(batch: Sequence[Entry], names: tuple[str, str]) -> dict[str, str]:
    """The part that each entry of a failed batch belongs to, by its id."""
    middle = (len(batch) + 1) // 2
    return {entry.id: names[place >= middle] for place, entry in enumerate(batch)}


# --- what becomes of a batch ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Case:
    """One entry of a batch that was checked."""

    entry: Entry
    told: Verdict
    suspects: tuple[Entry, ...]
    """The entries of the batch whose combined result was checked."""

    @property
    def suspected(self) -> bool:
        return self.told.failed and self.entry in self.suspects


@dataclass(frozen=True, slots=True)
class Rule:
    when: str
    applies: Callable[[_Case], bool]
    becomes: State
    divides: bool = False
    retries: bool = False


SETTLED: tuple[Rule, ...] = (
    Rule("it is on the target branch", lambda case: case.entry.id in case.told.merged, State.MERGED),
    Rule("a person has removed it", lambda case: case.entry.removal_by is not None, State.REMOVED),
    Rule("nothing is left of its work", lambda case: case.entry.id in case.told.gone, State.REMOVED),
    Rule("it conflicts with the target branch", lambda case: case.entry.id in case.told.conflicts, State.CONFLICT),
    Rule("its work cannot be merged", lambda case: case.entry.id in (case.told.unfit or {}), State.FAILED),
    Rule(
        "the checks failed, and it was checked alone",
        lambda case: case.suspected and len(case.suspects) == 1,
        State.FAILED,
    ),
    Rule("the checks failed, and others were checked with it", lambda case: case.suspected, State.QUEUED, divides=True),
    Rule("something else prevented the merge", lambda case: case.told.trouble is not None, State.QUEUED, retries=True),
    Rule("it was not checked to the end", lambda case: True, State.QUEUED),  # noqa: ARG005 - always
)
"""What becomes of each entry of a batch: the first row that applies."""


def settled(batch: Sequence[Entry], told: Verdict, parts: tuple[str, str], now: Millis) -> list[Entry]:
    """The entries of a batch after its Coordinator's report. `parts` names its halves, if it is divided."""
    out = {*told.merged, *told.conflicts, *told.left_out, *(told.unfit or {}), *told.gone}
    suspects = tuple(entry for entry in batch if entry.id not in out)
    half = halves(suspects, parts)
    return [_settled(_Case(entry, told, suspects), half, now) for entry in batch]


def _settled(case: _Case, half: Mapping[str, str], now: Millis) -> Entry:
    entry, told = case.entry, case.told
    rule = next(each for each in SETTLED if each.applies(case))
    after = replace(entry, state=rule.becomes, base_commit=told.base or entry.base_commit, trouble=None, retry_at=None)
    if rule.divides:
        return replace(after, part=half[entry.id], evidence=told.evidence)
    if rule.retries:
        wait = RETRY_CHECKS_AFTER if told.evidence else RETRY_AFTER
        return replace(after, trouble=told.trouble, retry_at=now + wait, evidence=told.evidence)
    if rule.becomes is State.QUEUED:
        return after
    conflict = told.conflicts.get(entry.id) if rule.becomes is State.CONFLICT else None
    return replace(
        after,
        merged_commit=told.merged.get(entry.id),
        evidence=told.evidence if case.suspected or rule.becomes is State.MERGED else (),
        conflict=None if conflict is None else conflict.stored,
        reason=(told.unfit or {}).get(entry.id) if rule.becomes is State.FAILED else entry.reason,
        ended_at=now,
        ended_by=entry.removal_by if rule.becomes is State.REMOVED else None,
    )


def goes_to_agent(entry: Entry) -> bool:
    """Whether its author's agent is asked to correct it, and not yet a person. Work that could not even be committed
    is nothing that the next task of the agent could start from."""
    return entry.state in RETURNED and entry.reason is None and entry.sent_back < SENT_BACK_AT_MOST


# --- what people change -----------------------------------------------------------------------------------------------


def moved(waiting: Iterable[Entry], entry: Entry, before: Entry | None) -> list[Entry]:
    """The entries whose place changes if this one is put before the other one, or at the end (None).

    It leaves the half that it belonged to: its new neighbours are checked with it.
    """
    lane = in_order(waiting)
    if before is not None and before.id == entry.id:
        return []
    rest = [each for each in lane if each.id != entry.id]
    place = len(rest) if before is None else next(at for at, each in enumerate(rest) if each.id == before.id)
    order = [*rest[:place], entry, *rest[place:]]
    if [each.id for each in order] == [each.id for each in lane]:
        return []
    places = [each.position for each in lane]
    return [
        replace(each, position=position, part=None if each.id == entry.id else each.part)
        for each, position in zip(order, places, strict=True)
        if each.position != position or each.id == entry.id
    ]
