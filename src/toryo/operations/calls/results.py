"""The results of operations, as types: the output schemas of tools are made from them. Further keys may come along."""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict


class Result(TypedDict):
    """Every answer that is not a refusal has `success: true`; led ones carry `next`."""

    success: bool
    next: NotRequired[dict[str, Any]]
    notifications_pending: NotRequired[int]


class Said(Result):
    """An answer with words that say what to do."""

    instruction: NotRequired[str]
    message: NotRequired[str]


class Next(Result):
    action: str
    state: NotRequired[str]
    instruction: str
    tools: list[str]
    reason: NotRequired[str]
    state_version: NotRequired[int]
    task: NotRequired[dict[str, Any] | None]


class TaskResult(Result):
    task_id: str
    task: dict[str, Any]


class TasksResult(Result):
    tasks: list[dict[str, Any]]


class MoveResult(Result):
    task_id: str
    previous_status: str
    new_status: str
    reason: NotRequired[str | None]
