"""Needs: things that require a person. Their kinds in order of urgency, and their fields.

`operations/overview/needs/` finds them; `domain/notices.py` tells people outside Toryo.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from toryo.deeds import Deed
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.questions import Question
from toryo.domain.tasks import Details, Task
from toryo.domain.texts import exact, one_line
from toryo.domain.times import DAY, Millis

FAILED_WITHIN: Millis = 30 * DAY
"""Older failures that nobody has handled are shown in the lists of tasks only."""
FAILED_IN_A_ROW = 3
"""A person looks into it when this many starts of an agent have failed one after the other, for a reason that can pass
with time."""


class Kind(StrEnum):
    """Most urgent first: what blocks others, then messages, then what must be fixed or done."""

    APPROVAL = "approval"
    QUESTION = "question"
    BLOCKED_BY_GUARD = "blocked_by_guard"
    RUNAWAY = "runaway"
    BLOCKED = "blocked"
    MESSAGE = "message"
    NOBODY_CAME = "nobody_came"
    DELEGATION_FAILED = "delegation_failed"
    FAILED = "failed"
    DEAD_LETTER = "dead_letter"
    STUCK = "stuck"
    STALLED = "stalled"
    SCHEDULE_STOPPED = "schedule_stopped"
    WEBHOOK_STOPPED = "webhook_stopped"
    BUDGET_USED_UP = "budget_used_up"
    AGENT_CANNOT_START = "agent_cannot_start"
    SIGN_IN_LOCKED = "sign_in_locked"
    MERGE_QUEUE = "merge_queue"
    REVIEW = "review"
    TASK = "task"


_URGENCY = {kind: rank for rank, kind in enumerate(Kind)}


@dataclass(frozen=True, slots=True)
class Request:
    """What a person is asked to approve, in this version of the task. Texts longer than `SHOWN` are cut, and `complete`
    is false then: read the task itself before approving.
    """

    title: str
    description: str
    context: str | None
    """As JSON."""
    acceptance: tuple[str, ...]
    commands: tuple[str, ...]
    """The parts of it that run as a command, from the context or the acceptance checks."""
    assignee_id: str | None
    asked_by: str
    asked_for: str | None
    """Who asked for it, if another member created it."""
    version: int
    complete: bool


SHOWN = 2_000
"""How many characters of each text of a request a list shows."""


def request_of(task: Task, details: Details) -> Request:
    """The request that a list shows for a task that waits for approval."""
    return request_from(
        title=task.title,
        description=details.description,
        context=details.context,
        acceptance=details.acceptance,
        assignee_id=task.assignee_id,
        created_by=task.created_by,
        requested_by=task.requested_by,
        version=task.version,
        shown=SHOWN,
    )


def request_from(
    *,
    title: str,
    description: str,
    context: Any,
    acceptance: Iterable[Mapping[str, Any]],
    assignee_id: str | None,
    created_by: str,
    requested_by: str | None,
    version: int,
    shown: int | None = None,
) -> Request:
    """A request from the fields of its task; texts are cut to `shown` characters."""
    run = context.get("command") if isinstance(context, dict) else None
    checks = [each.get("command") for each in acceptance]
    commands = [_command(each) for each in (run, *checks) if each is not None]
    accepted = [_command(each["command"]) if "command" in each else exact(dict(each)) for each in acceptance]
    facts = None if context is None else exact(context)
    return Request(
        title=title,
        description=description[:shown],
        context=facts[:shown] if facts is not None else None,
        acceptance=tuple(each[:shown] for each in accepted),
        commands=tuple(command[:shown] for command in commands),
        assignee_id=assignee_id,
        asked_by=created_by,
        asked_for=requested_by if requested_by != created_by else None,
        version=version,
        complete=shown is None or all(len(each) <= shown for each in (description, facts or "", *commands, *accepted)),
    )


def _command(given: Any) -> str:
    """A command on one line with every character visible; anything that is not a list of words as JSON."""
    plain = isinstance(given, str) and given == one_line(given)
    return given if plain else exact(given)


@dataclass(frozen=True, slots=True)
class Need:
    """`key` identifies it and stays the same while it lasts, so that people are notified once."""

    person_id: str
    kind: Kind
    about: str
    title: str
    text: str
    since: Millis
    actions: tuple[Deed, ...]
    project_id: str | None = None
    task_id: str | None = None
    agent_id: str | None = None
    request: Request | None = None
    questions: tuple[Question, ...] = ()
    """What is asked: one form."""
    also: tuple[str, ...] = ()
    """Further tasks with the same cause: one cause makes one need."""

    @property
    def key(self) -> str:
        return f"{self.kind.value} {self.about}"

    @property
    def order(self) -> tuple[int, Millis, str]:
        """Sort key: the most urgent kind first, within a kind the newest."""
        return (_URGENCY[self.kind], -self.since, self.about)
