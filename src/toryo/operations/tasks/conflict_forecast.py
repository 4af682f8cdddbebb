"""Which tasks a task may conflict with, for the people and agents who read it; and when that has become known.

The rules are in `domain/conflict_forecast.py`. What is held back, the launch table decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from toryo.domain.conflict_forecast import LONGEST_PATTERN, MOST_PATTERNS, ConflictPolicy, Meeting, paths_in_words
from toryo.domain.projects import Project
from toryo.domain.tasks import Status, Task
from toryo.domain.wording import Worded, say
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.translations import words
from toryo.storage import snapshots

Touches = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=LONGEST_PATTERN)]], Field(max_length=MOST_PATTERNS)
]
"""Patterns of paths as callers give them; `patterns` in the domain reads them."""


def of(call: Call, task: Task) -> list[schemas.MayConflict]:
    """The tasks that this one may conflict with."""
    project = call.tx.projects.find(task.project_id)
    if project is None or not project.settings.forecasts_conflicts:
        return []
    begun, found = snapshots.meetings(call.tx, project, task)
    waits = not begun and bool(task.touches) and task.status in (Status.TODO, Status.BACKLOG, Status.IN_PROGRESS)
    holds = waits and project.settings.conflict_policy is ConflictPolicy.HOLD
    return [_as_answer(each, begun=begun, holds=holds and each.holds) for each in found]


def _as_answer(each: Meeting, *, begun: bool, holds: bool) -> schemas.MayConflict:
    return {
        "task_id": each.other.task_id,
        "title": each.other.title,
        "status": each.other.status.value,
        "paths": list(each.paths),
        "holds": holds,
        "message": _message(each, begun=begun),
    }


def _message(each: Meeting, *, begun: bool) -> Worded:
    paths = paths_in_words(each.paths)
    if begun:
        return say("may conflict with {task_id} in {paths}", task_id=each.other.task_id, paths=paths)
    return say("would meet {task_id} in {paths}", task_id=each.other.task_id, paths=paths)


def instruction(call: Call, task: Task) -> str:
    """What the agent is told that works on this task; empty if nothing is known."""
    project = call.project(task.project_id)
    if not project.settings.forecasts_conflicts:
        return ""
    _, found = snapshots.meetings(call.tx, project, task)
    if not found:
        return ""
    named = "; ".join(f"{each.other.task_id} in {paths_in_words(each.paths)}" for each in found[:MOST_TOLD])
    return words("may_conflict", project.settings.language, tasks=named)


MOST_TOLD = 5


def touch(call: Call, task: Task, paths: Sequence[str]) -> None:
    """Keeps what is changed in the task's worktree now. What it newly meets becomes an event of both tasks."""
    project = call.project(task.project_id)
    before = _met(call, project, task)
    call.tx.conflict_forecast.touch(task.id, paths)
    after = _met(call, project, task)
    for other_id, shared in after.items():
        if before.get(other_id) != shared:
            for one, other in ((task, other_id), (call.tx.tasks.find(other_id), task.id)):
                call.event("task.may_conflict", task=one, data={"with": other, "paths": list(shared)})


def _met(call: Call, project: Project, task: Task) -> dict[str, tuple[str, ...]]:
    _, found = snapshots.meetings(call.tx, project, task)
    return {each.other.task_id: each.paths for each in found}
