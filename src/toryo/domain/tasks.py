"""Tasks: what one is, its statuses, and the table of moves. Guards and cascades stand in `moves.py`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypedDict

from toryo.domain.errors import Code, Refusal
from toryo.domain.times import Millis
from toryo.domain.wording import say


class Status(StrEnum):
    BACKLOG = "backlog"
    TODO = "todo"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


OPEN = frozenset({Status.BACKLOG, Status.TODO, Status.IN_PROGRESS, Status.BLOCKED})
CLOSED = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})
_ALSO_ACCEPTED = {"pending": Status.TODO, "done": Status.COMPLETED}

MOVES: dict[Status, tuple[Status, ...]] = {
    Status.BACKLOG: (Status.TODO, Status.CANCELLED, Status.IN_PROGRESS),
    Status.TODO: (Status.BACKLOG, Status.IN_PROGRESS, Status.BLOCKED, Status.CANCELLED),
    Status.IN_PROGRESS: (Status.COMPLETED, Status.FAILED, Status.BLOCKED, Status.CANCELLED, Status.TODO),
    Status.BLOCKED: (Status.TODO, Status.IN_PROGRESS, Status.CANCELLED, Status.FAILED),
    Status.FAILED: (Status.TODO, Status.CANCELLED),
    Status.COMPLETED: (),
    Status.CANCELLED: (),
}
"""Everything else is refused. A cascade also blocks a backlog task, and undoing one puts it back there."""

VERBS: dict[tuple[Status, Status], str] = {
    (Status.BACKLOG, Status.TODO): "readied",
    (Status.TODO, Status.BACKLOG): "drafted",
    (Status.IN_PROGRESS, Status.TODO): "put_back",
    (Status.BLOCKED, Status.TODO): "unblocked",
    (Status.BLOCKED, Status.IN_PROGRESS): "unblocked",
    (Status.BLOCKED, Status.BACKLOG): "unblocked",
    (Status.FAILED, Status.TODO): "retried",
}


def verb(before: Status, after: Status) -> str:
    """The one word for this change of state: in code, log, event and docs."""
    if (before, after) in VERBS:
        return VERBS[before, after]
    return "started" if after is Status.IN_PROGRESS else after.value


def status_named(text: str) -> Status:
    """The status a caller means; `pending` and `done` are accepted."""
    if text in _ALSO_ACCEPTED:
        return _ALSO_ACCEPTED[text]
    try:
        return Status(text)
    except ValueError:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("{text!r} is not a task status.", text=text),
            say("Use one of: {names}.", names=", ".join(status.value for status in Status)),
        ) from None


class Priority(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 comes first."""
        return _RANKS[self]


_RANKS = {Priority.CRITICAL: 0, Priority.HIGH: 1, Priority.MEDIUM: 2, Priority.LOW: 3}
_BY_RANK = {rank: priority for priority, rank in _RANKS.items()}


def priority_named(text: str) -> Priority:
    """The priority a caller means; `urgent` is accepted as critical."""
    return Priority.CRITICAL if text == "urgent" else Priority(text)


def priority_ranked(rank: int) -> Priority:
    return _BY_RANK[rank]


class Approval(StrEnum):
    APPROVED = "approved"
    PENDING = "pending_approval"
    REJECTED = "rejected"


class Checks(StrEnum):
    """Of a task with acceptance checks, since its last success report."""

    NONE = "none"
    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"


ORDER = ("priority", "created_at", "ordinal", "id")
"""In which order tasks are listed, started and returned by a poll: the highest priority first, then the oldest.

Tasks of the same call were created at the same time: their place in the call decides, and last the id.
"""


@dataclass(frozen=True, slots=True)
class Wait:
    """What a main task's owner left to wait for. Ends when the owner signs in for it again."""

    kind: str
    """`workers`, `delegation` or `others`."""
    since: Millis
    event: int


@dataclass(frozen=True, slots=True)
class Task:
    """What decisions read. The payloads (description, context, result, …) are `Details`: rules never look there."""

    id: str
    project_id: str
    root_id: str
    parent_id: str | None
    depth: int
    """A root counts 1."""
    ordinal: int
    """Its place among those created in the same call."""
    title: str
    status: Status
    priority: Priority
    assignee_id: str | None
    agent_type: str | None
    created_by: str
    approval: Approval
    created_at: Millis
    updated_at: Millis
    moved_at: Millis
    """When its status or assignee last changed: the cause from which grace times count."""
    approved_by: str | None = None
    requested_by: str | None = None
    """Of a request: for whom it was made; who made it is `created_by`."""
    attempt: int = 1
    parent_attempt: int = 1
    """The attempt of its parent in which it was created."""
    children_ever: int = 0
    worked_attempt: int = 0
    """The newest attempt in which one of its children has left `todo`: the decomposition window is closed then."""
    blocked_by: str | None = None
    blocked_by_person: bool = False
    blocked_by_guard: bool = False
    blocked_reason: str | None = None
    blocked_cause: str | None = None
    """The task whose block or failure cascaded here; None for a block of its own."""
    blocked_from: Status | None = None
    """The status to restore when the cause is lifted."""
    blocked_on: tuple[str, ...] = ()
    """The blocks because of which it was reported blocked: it is lifted with the last of them."""
    wait: Wait | None = None
    look_event: int | None = None
    """The newest event when its owner last looked (`situational_awareness`, `review_and_resolve_blocks`)."""
    look_dispatchable: tuple[str, ...] = ()
    left_at: Millis | None = None
    """When the owner's last session for it ended, and the newest event then."""
    left_event: int | None = None
    unreported_ends: int = 0
    idle_launches: int = 0
    """Launches for it since the last progress or new cause."""
    has_acceptance: bool = False
    checks: Checks = Checks.NONE
    checked_at: Millis | None = None
    check_id: str | None = None
    moved_session: str | None = None
    """The session whose call made the last move, and from which status: a repeat answers as the first time."""
    moved_from: Status | None = None
    correlation_id: str | None = None
    started_at: Millis | None = None
    completed_at: Millis | None = None
    not_before: Millis | None = None
    """A queue task rests until then after an attempt was lost."""
    timeout_seconds: int | None = None
    max_attempts: int | None = None
    """Of a queue task: how long a claim lasts, and how many there are."""
    stalled_event: int | None = None
    """The newest fact of its tree when a stall was reported: each is reported once."""
    version: int = 1

    @property
    def open(self) -> bool:
        return self.status in OPEN

    @property
    def closed(self) -> bool:
        return self.status in CLOSED

    @property
    def in_progress(self) -> bool:
        return self.status is Status.IN_PROGRESS

    @property
    def for_queue(self) -> bool:
        return self.agent_type is not None

    @property
    def delegated(self) -> bool:
        """Created by, or for, somebody else than its assignee (a self-made one was not)."""
        return any(each != self.assignee_id for each in (self.created_by, self.requested_by or self.created_by))

    @property
    def order(self) -> tuple[int, Millis, int, str]:
        """Its place among others: the values of `ORDER`."""
        return (self.priority.rank, self.created_at, self.ordinal, self.id)


class AcceptanceCheck(TypedDict, total=False):
    """What must be there, or succeed, before success counts: a file, or a command within a time limit."""

    file: str
    command: str | list[str]
    timeout_seconds: int


class CheckFailure(TypedDict):
    """An acceptance check that has not passed."""

    check: str
    message: str


@dataclass(frozen=True, slots=True)
class Details:
    """The payloads of a task: what people and agents read."""

    description: str = ""
    context: Any = None
    acceptance: tuple[AcceptanceCheck, ...] = ()
    result: Any = None
    summary: str | None = None
    error: str | None = None
    next_steps: str | None = None
    artifacts: tuple[Any, ...] = ()
    check_failures: tuple[CheckFailure, ...] = ()
