"""Tasks: fields and statuses. Which moves between these there are, and what each takes along, is in `moves.py`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.shape import AgentId, ProjectId, Small, TaskId
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


def status_named(text: str) -> Status:
    """The status for a caller's word; `pending` and `done` are accepted as aliases."""
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
        """Sort position; 0 is first."""
        return _RANKS[self]


_RANKS = {Priority.CRITICAL: 0, Priority.HIGH: 1, Priority.MEDIUM: 2, Priority.LOW: 3}
_BY_RANK = {rank: priority for priority, rank in _RANKS.items()}


def priority_named(text: str) -> Priority:
    """The priority for a caller's word; `urgent` is an alias of critical."""
    return Priority.CRITICAL if text == "urgent" else Priority(text)


def priority_ranked(rank: int) -> Priority:
    return _BY_RANK[rank]


class Approval(StrEnum):
    APPROVED = "approved"
    PENDING = "pending_approval"
    REJECTED = "rejected"


class Checks(StrEnum):
    """State of a task's acceptance checks since its last success report."""

    NONE = "none"
    RUNNING = "running"
    IN_REVIEW = "in_review"
    """All others have passed; a review is open."""
    PASSED = "passed"
    FAILED = "failed"


class Start(StrEnum):
    """Who starts a task in `todo` that has an assignee."""

    WHEN_READY = "when_ready"
    """Toryo, as soon as nothing prevents it and its assignee has a place: it is in line."""
    MANUAL = "manual"
    """A person, or the manager that created it."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Who may take a task of which nobody has said who does it: anyone of these who is free first."""

    capabilities: tuple[str, ...] = ()
    """All that an agent needs for it; none: any worker of the project."""
    passed: tuple[str, ...] = ()
    """The agents that took it and could not begin, for a reason of their own: it does not go to these again."""


ORDER = ("priority", "line_at", "line_rank", "id")
"""In which order tasks are listed, started and returned by a poll: the highest priority first, then the place that a
person has given it, then the oldest.

Tasks of the same call were created at the same time: their place in the call decides, and last the id.
"""
LINE_STEP = 2**32
"""What `line_rank` leaves free between two tasks of the same call, for those that people put there."""


@dataclass(frozen=True, slots=True)
class Wait:
    """What the session of a main task's assignee left to wait for. Ends at the next sign-in for that task."""

    kind: str
    """`workers`, `delegation`, `answer` (of a person) or `others`."""
    since: Millis
    event: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What callers say of a task, and it keeps as it is: `task_forms.py` has how they say it."""

    touches: tuple[str, ...] = ()
    """Patterns of the paths that it will change, as far as that is known."""
    start: Start | None = None
    """None: as the project's setting says when somebody looks."""
    budget_usd: float | None = None
    budget_tokens: int | None = None
    """What the work on it and on its subtasks may use in all; None: no limit. Only people set it."""
    not_before: Millis | None = None
    """It does not start, and is not claimed, before this time, unless a person starts it. Nothing is kept of a time
    that has come, nor once it was started. Of a queue task also: until when it rests after a lost attempt."""


@dataclass(frozen=True, slots=True)
class Task(Said):
    """The fields that decisions read. Payloads (description, context, result, …) are in `Details` and no rule reads
    them.
    """

    id: str
    project_id: ProjectId
    root_id: str
    parent_id: TaskId | None
    depth: Annotated[int, Small]
    """1 for a root."""
    ordinal: Annotated[int, Small]
    """Position among the tasks created in the same call."""
    title: str
    status: Status
    priority: Annotated[Priority, Small]
    assignee_id: AgentId | None
    agent_type: str | None
    created_by: str
    approval: Approval
    created_at: Millis
    updated_at: Millis
    moved_at: Millis
    """When its status or assignee last changed; grace times count from here."""
    approved_by: str | None = None
    requested_by: str | None = None
    """For a request: the member it was made for; `created_by` made it."""
    attempt: int = 1
    parent_attempt: int = 1
    """The parent's attempt in which it was created."""
    children_ever: int = 0
    worked_attempt: int = 0
    """The newest attempt in which a child has left `todo`; the decomposition window of that attempt is closed."""
    blocked_by: str | None = None
    blocked_by_person: bool = False
    blocked_by_guard: bool = False
    blocked_reason: str | None = None
    blocked_cause: str | None = None
    """The task whose block or failure cascaded here; None if it was blocked itself."""
    blocked_from: Status | None = None
    """The status to restore when the cause is lifted."""
    blocked_on: tuple[str, ...] = ()
    """The blocked tasks because of which it was reported blocked; it is unblocked with the last of them."""
    wait: Wait | None = None
    look_event: int | None = None
    """The newest event when its assignee last looked (`situational_awareness`, `review_and_resolve_blocks`)."""
    look_dispatchable: tuple[str, ...] = ()
    left_at: Millis | None = None
    """When the assignee's last session for it ended, and the newest event then."""
    left_event: int | None = None
    unreported_ends: int = 0
    idle_launches: int = 0
    """Launches for it since the last progress or new cause."""
    has_acceptance: bool = False
    checks: Checks = Checks.NONE
    checked_at: Millis | None = None
    check_id: str | None = None
    moved_session: str | None = None
    """The session that made the last move, and the status before it: a repeated call gets the same answer."""
    moved_from: Status | None = None
    correlation_id: str | None = None
    started_at: Millis | None = None
    completed_at: Millis | None = None
    stalled_event: int | None = None
    """The newest event of its tree when a stall was reported; each stall is reported once."""
    timeout_seconds: int | None = None
    max_attempts: int | None = None
    """For a queue task: how long a claim lasts, and the maximum number of attempts."""
    questions_ever: int = 0
    open_questions: int = 0
    """How many questions its assignee has asked people about it, and how many of these wait for an answer. A review of
    its work counts as one."""
    review_of: str | None = None
    """The task whose work this one reviews."""
    origin_id: str | None = None
    """For a queue task: the task that its orchestrator named as its parent. It is told, and contains nothing."""
    dependencies_left: Annotated[int, Small] = 0
    """How many of the tasks that it depends on are not completed. Not counted for a queue task."""
    pool: Pool | None = None
    """None: it goes to its assignee only. Otherwise it is assigned when it starts."""
    line_at: Millis = 0
    line_rank: int = 0
    """Where it stands among those of its priority: by its age (`aged`), or where a person has put it. `line_at` is then
    that of the task before which it was put, and `line_rank` a little less."""
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
    def in_review(self) -> bool:
        """Whether its agent has reported success and left: others decide now whether that counts."""
        left = self.checks is Checks.RUNNING and self.wait is not None
        return self.in_progress and (self.checks is Checks.IN_REVIEW or left)

    @property
    def for_queue(self) -> bool:
        return self.agent_type is not None

    def started_when_ready(self, of_project: Start) -> bool:
        """Whether Toryo starts it, by its own word or else its project's."""
        return (self.start or of_project) is Start.WHEN_READY

    def in_line(self, of_project: Start) -> bool:
        """Whether Toryo starts it when it is ready. What a review waits for is decided with the reviews."""
        somebody = self.assignee_id is not None or self.pool is not None
        waits = self.status is Status.TODO and not self.for_queue and somebody
        return waits and self.review_of is None and self.started_when_ready(of_project)

    @property
    def window_open(self) -> bool:
        """Whether no child has left `todo` in this attempt."""
        return self.worked_attempt < self.attempt

    @property
    def delegated(self) -> bool:
        """Whether it was created by, or for, another member than its assignee."""
        return any(each != self.assignee_id for each in (self.created_by, self.requested_by or self.created_by))

    @property
    def order(self) -> tuple[int, Millis, int, str]:
        """Sort key: the values of `ORDER`."""
        return (self.priority.rank, self.line_at, self.line_rank, self.id)

    def aged(self) -> Task:
        """In the place that its age gives it."""
        return replace(self, line_at=self.created_at, line_rank=self.ordinal * LINE_STEP)


class DiffLimits(TypedDict, total=False):
    """What the changes of a task may be."""

    max_files: int
    max_lines: int
    forbidden_paths: list[str]
    forbid_secrets: bool


class ReviewTerms(TypedDict, total=False):
    """Who reviews the work, by which rubric, and how often an agent may request changes before a person decides."""

    by: str
    rubric: str
    rounds: int


class AcceptanceCheck(TypedDict, total=False):
    """What must be there, succeed, be kept or be given before success counts: a file, a command within a time limit,
    limits on the changes, or the approval of a reviewer."""

    file: str
    command: str | list[str]
    timeout_seconds: int
    retries: int
    artifacts: list[str]
    diff: DiffLimits
    review: ReviewTerms


class CheckFailure(TypedDict):
    """An acceptance check that has not passed: which one, and what was found."""

    check: str
    message: str


class CheckOutcome(StrEnum):
    """`flaky`: failed, then passed when it ran again. `error`: it cannot run, whatever the work is."""

    PASSED = "passed"
    FAILED = "failed"
    FLAKY = "flaky"
    ERROR = "error"

    @property
    def counts(self) -> bool:
        """Whether work counts after it."""
        return self in (CheckOutcome.PASSED, CheckOutcome.FLAKY)


class StoredArtifact(TypedDict):
    """A file that an acceptance check left as evidence: its path below the directory where the check ran."""

    artifact_id: str
    name: str
    bytes: int
    media_type: str


class CheckEvidence(TypedDict):
    """How one acceptance check ended. `flaky`: it failed, then passed when it ran again; `error`: it cannot run,
    whatever the work is. `exit_code`: of the last run; null where no program ended by itself. `output`: what was found,
    or the end of what the command printed. `artifacts`: the files it left; `left_out`: which were not stored and why,
    and which are older."""

    check: str
    outcome: Literal["passed", "failed", "flaky", "error"]
    runs: int
    seconds: float
    exit_code: int | None
    output: str
    artifacts: NotRequired[list[StoredArtifact]]
    left_out: NotRequired[list[str]]


@dataclass(frozen=True, slots=True)
class Details:
    """The payloads of a task, read by people and agents."""

    description: str = ""
    context: Any = None
    acceptance: tuple[AcceptanceCheck, ...] = ()
    result: Any = None
    summary: str | None = None
    error: str | None = None
    next_steps: str | None = None
    artifacts: tuple[Any, ...] = ()
    check_failures: tuple[CheckFailure, ...] = ()
