"""What a task waited for, how long, and why: from its events, the work on it, and the decisions about its agent. Pure.

It does not say who works: `operations/tasks/trace.py` reads the launches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from toryo.domain.events import Event
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.tasks import Status, Task
from toryo.domain.times import Millis


class Cause(StrEnum):
    """What a task waits for."""

    BACKLOG = "backlog"
    APPROVAL = "approval"
    DEPENDENCIES = "dependencies"
    NOT_STARTED = "not_started"
    """It could start, and nobody started it."""
    QUEUE = "queue"
    AGENT = "agent"
    """It is in progress, and its agent does not run: the launch decision says why."""
    SUBTASKS = "subtasks"
    DELEGATION = "delegation"
    ANSWER = "answer"
    """Of a person, to a question of its agent."""
    OTHERS = "others"
    BLOCKED = "blocked"
    REVIEW = "review"


_LEFT_TO_WAIT = {
    "workers": Cause.SUBTASKS,
    "delegation": Cause.DELEGATION,
    "answer": Cause.ANSWER,
    "others": Cause.OTHERS,
}
_RUNS = frozenset({"already_running", "start_pending"})
"""Holds that mean that it runs."""
_ASKS = frozenset({"task.approval_asked", "task.requested"})


@dataclass(frozen=True, slots=True)
class Span:
    """From when until when; `until` is None while it lasts."""

    since: Millis
    until: Millis | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """`on`: the tasks that it waited for, or that its agent had instead. `reason` and `rule`: of the decision about its
    agent, or who blocked it said why; only a decision that holds has a rule. `event`: the number of the event that says
    so.
    """

    cause: Cause
    since: Millis
    until: Millis | None
    on: tuple[str, ...] = ()
    reason: str | None = None
    rule: str | None = None
    event: int | None = None


@dataclass(frozen=True, slots=True)
class Course:
    """What is known of a task. `work`: when somebody was at it, in order; None: who has it works all the time that
    it is in progress. `decisions`: launch decisions about its agent, in order. `needed`: when the tasks that it depends
    on were completed. `review`: while its completed work waited for a person.
    """

    task: Task
    events: Sequence[Event]
    work: Sequence[Span] | None
    decisions: Sequence[Event]
    needed: Mapping[str, Millis | None]
    review: Span | None = None


def waits_of(course: Course) -> list[Waiting]:
    """In order; what follows without a change is one."""
    found = [each for part in statuses(course.task, course.events) for each in _within(course, part)]
    if course.review is not None:
        found.append(Waiting(Cause.REVIEW, course.review.since, course.review.until))
    return _joined(filter(_lasts, found))


def _lasts(time: Span | Waiting) -> bool:
    return time.until is None or time.until > time.since


@dataclass(frozen=True, slots=True)
class Part:
    """A time in one status; `event` began it, if it is kept."""

    status: Status
    span: Span
    event: Event | None


def statuses(task: Task, events: Iterable[Event]) -> list[Part]:
    """The statuses that a task had, in order. Without its oldest events, its times say when it was started and over."""
    moves = [(each, status) for each in events if (status := _status_after(each)) is not None]
    if not moves or moves[0][0].kind != "task.created":
        begun = task.started_at if task.started_at is not None else (moves[0][0].at if moves else task.moved_at)
        first = [Part(Status.TODO, Span(task.created_at, begun), None)]
        if not moves:
            over = task.completed_at or task.moved_at
            between = [Part(Status.IN_PROGRESS, Span(begun, over), None)] if task.closed else []
            return [*first, *between, Part(task.status, Span(over if task.closed else begun), None)]
        before = _status_named(moves[0][0].data.get("from")) or Status.IN_PROGRESS
        first.append(Part(before, Span(begun, moves[0][0].at), None))
    else:
        first = []
    ends: list[Millis | None] = [event.at for event, _ in moves[1:]]
    parts = zip(moves, [*ends, None], strict=True)
    return [*first, *(Part(status, Span(event.at, until), event) for (event, status), until in parts)]


def _status_after(event: Event) -> Status | None:
    if event.kind == "task.created":
        return _status_named(event.data.get("status")) or Status.TODO
    if not event.kind.startswith("task.") or event.kind == "task.assigned":  # whose `to` is an agent
        return None
    return _status_named(event.data.get("to"))


_STATUS = {status.value: status for status in Status}


def _status_named(text: object) -> Status | None:
    return _STATUS.get(text) if isinstance(text, str) else None


def _within(course: Course, part: Part) -> Iterator[Waiting]:
    """What it waited for while it had one status; some of it may take no time."""
    status, (since, until) = part.status, (part.span.since, part.span.until)
    if status is Status.BACKLOG:
        asked = [each for each in course.events if each.kind in _ASKS and (until is None or each.at <= until)]
        cause = Cause.APPROVAL if asked or course.task.requested_by is not None else Cause.BACKLOG
        yield Waiting(cause, since, until, event=asked[-1].sequence if asked else None)
    elif status is Status.TODO:
        yield from _before_its_start(course, part.span)
    elif status is Status.IN_PROGRESS and course.work is not None:
        for gap in filter(_lasts, gaps(part.span, course.work)):
            yield from _in_a_gap(course, gap)
    elif status is Status.BLOCKED:
        data = part.event.data if part.event is not None else {}
        on = [each for each in (data.get("caused_by"), *course.task.blocked_on) if isinstance(each, str)]
        reason = str(data["reason"]) if data.get("reason") else None
        yield Waiting(Cause.BLOCKED, since, until, tuple(dict.fromkeys(on)), reason, None, _number(part.event))


def _before_its_start(course: Course, span: Span) -> Iterator[Waiting]:
    unmet = {task: at for task, at in course.needed.items() if at is None or at > span.since}
    known = [at for at in unmet.values() if at is not None]
    met = max(known, default=span.since) if len(known) == len(unmet) else None
    until = min((each for each in (met, span.until) if each is not None), default=None)
    yield Waiting(Cause.DEPENDENCIES, span.since, until, tuple(unmet))
    if until is not None:
        yield Waiting(Cause.QUEUE if course.task.for_queue else Cause.NOT_STARTED, until, span.until)


def gaps(span: Span, work: Iterable[Span]) -> Iterator[Span]:
    """The times within the span in which nobody worked, and some that take no time."""
    since = span.since
    for each in work:
        yield Span(since, each.since if span.until is None else min(each.since, span.until))
        if each.until is None:
            return
        since = max(since, each.until)
    yield Span(since, span.until)


def _in_a_gap(course: Course, gap: Span) -> Iterator[Waiting]:
    """Its agent left to wait, or was held by the launch decision; the reason may change within the gap."""
    left = _left_to_wait(course, gap)
    if left is not None:
        yield left
        return
    here = [each for each in course.decisions if gap.until is None or each.at < gap.until]
    before = [each for each in here if each.at <= gap.since]
    after = [each for each in here if each.at > gap.since]
    told = [before[-1], *after] if before else after
    starts = [max(gap.since, each.at) for each in told]
    if not told:
        yield Waiting(Cause.AGENT, gap.since, gap.until)
        return
    if starts[0] > gap.since:
        yield Waiting(Cause.AGENT, gap.since, starts[0])
    for each, since, until in zip(told, starts, [*starts[1:], gap.until], strict=True):
        yield Waiting(
            Cause.AGENT,
            since,
            until,
            on=_other_task(course, each),
            reason=str(each.data.get("reason") or "") or None,
            rule=str(each.data.get("rule") or "") or None if _holds(each) else None,
            event=each.sequence,
        )


def _holds(decision: Event) -> bool:
    return decision.data.get("action") == "hold" and decision.data.get("reason") not in _RUNS


def _left_to_wait(course: Course, gap: Span) -> Waiting | None:
    """The last one to work on it left in order to wait, and has not come back since."""
    begun = max((each.since for each in course.work or () if each.since <= gap.since), default=gap.since)
    until = gap.until
    said = [
        each
        for each in course.events
        if each.kind == "task.waiting" and begun <= each.at and (until is None or each.at < until)
    ]
    if not said:
        return None
    cause = _LEFT_TO_WAIT.get(str(said[-1].data.get("for")), Cause.OTHERS)
    return Waiting(cause, gap.since, gap.until, event=said[-1].sequence)


def _other_task(course: Course, decision: Event) -> tuple[str, ...]:
    """The agent was held or started for another task."""
    other = decision.data.get("task_id")
    return (other,) if isinstance(other, str) and other != course.task.id else ()


def _joined(waits: Iterable[Waiting]) -> list[Waiting]:
    found: list[Waiting] = []
    for each in waits:
        last = found[-1] if found else None
        if (
            last is not None
            and last.until == each.since
            and replace(each, since=0, until=0, event=None) == replace(last, since=0, until=0, event=None)
        ):
            found[-1] = replace(last, until=each.until)
        else:
            found.append(each)
    return found


def _number(event: Event | None) -> int | None:
    return None if event is None else event.sequence
