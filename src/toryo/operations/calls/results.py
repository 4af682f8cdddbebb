"""Result types of operations; the output schemas of tools are generated from them."""

from __future__ import annotations

from typing import Any, NewType, NotRequired

from typing_extensions import TypedDict

from toryo.domain.tasks import CheckFailure
from toryo.operations.calls import schemas

JsonObject = dict[str, Any]
"""An answer on its way out: whatever its type, `next` and the like are added to it."""


Refused = NewType("Refused", JsonObject)
"""A refusal that a handler answers and does not raise: what it has written stays."""


class Progress(TypedDict):
    """How many subtasks are completed, of those that are not cancelled."""

    done: int
    total: int


class CurrentSubtask(schemas.MainTask):
    """The subtask that an action is about."""

    status: schemas.StatusName
    context: Any


class StuckSubtask(schemas.BriefTask):
    """A blocked or failed subtask: who blocked it, why, and whether this caller may set it to todo, or cancel it."""

    blocked_by: str | None
    blocked_reason: str | None
    you_may_resolve: bool
    you_may_cancel: bool


class CompletedSubtask(TypedDict):
    task_id: str
    title: str
    summary: str | None


class ChangeCounts(TypedDict):
    completed: int
    failed: int
    blocked: int
    changed: int


class SinceYouLeft(TypedDict):
    """What happened below the main task since the last session, by others. The lists hold the newest ids."""

    since: str | None
    counts: ChangeCounts
    completed: list[str]
    failed: list[str]
    blocked: list[str]
    changed: list[str]
    results: list[CompletedSubtask]


class Belongings(TypedDict):
    """What an action needs at hand."""

    task: NotRequired[schemas.MainTask]
    delegations: NotRequired[list[schemas.Delegation]]
    questions: NotRequired[list[schemas.ToldQuestion]]
    subtask: NotRequired[CurrentSubtask]
    progress: NotRequired[Progress]
    blocked_subtasks: NotRequired[list[StuckSubtask]]
    waiting: NotRequired[list[str]]
    waits_for: NotRequired[list[schemas.BriefTask]]
    failed_checks: NotRequired[list[CheckFailure]]
    since_you_left: NotRequired[SinceYouLeft]


class NextAction(Belongings):
    """What to do next, why, by which tools, and what that needs at hand."""

    action: str
    state: NotRequired[str]
    instruction: str
    tools: list[str]
    reason: NotRequired[str]
    state_version: NotRequired[int]


class Result(TypedDict):
    """Every answer that is not a refusal has `success: true`; led ones carry `next`."""

    success: bool
    next: NotRequired[NextAction]
    notifications_pending: NotRequired[int]


class Said(Result):
    """An answer with words that say what to do."""

    instruction: NotRequired[str]
    message: NotRequired[str]


class Next(Result, NextAction):
    """The next action is the answer itself."""


class TaskResult(Result):
    task_id: str
    task: schemas.Task
    message: NotRequired[str]


class DetailedResult(Result):
    task_id: str
    task: schemas.FullTask
    assignee_id: NotRequired[str | None]


class MoveResult(Result):
    task_id: str
    previous_status: str
    new_status: str
    reason: NotRequired[str | None]
