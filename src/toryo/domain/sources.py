"""Sources: what creates tasks by itself, at certain times (`schedules.py`) or when a request comes (`webhooks.py`).
Here is what both have in common: whose rights they use, when they stop, and their history. Pure.

The states: `active` until a person pauses it, too many of its tasks fail in a row (`stopped`), or no time is left to a
schedule (`ended`).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, TypeVar

from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.shape import AgentId, ProjectId, TaskId
from toryo.domain.tasks import Status
from toryo.domain.times import Millis

MOST = 100
"""Schedules of one project, and webhooks."""
USUAL_FAILURES = 3
MOST_ENTRIES = 100
"""Entries without a task that are kept of each history: the newest."""


class State(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    STOPPED = "stopped"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """`task` has the parameters of the tasks that it creates."""

    id: str
    project_id: ProjectId
    name: str
    failures_allowed: int
    """How many failures in a row stop it; 0: none do."""
    task: dict[str, Any]
    runs_as: AgentId
    """The person who changed it last: its tasks are created by them, with their rights."""
    login: str
    """The role with which they changed it: it gets no more than that."""
    created_at: Millis
    state: State = State.ACTIVE
    state_by: str | None = None
    state_at: Millis | None = None
    reason: str | None = None
    """Why it was paused."""
    failures: int = 0
    """In a row."""

    @property
    def active(self) -> bool:
        return self.state is State.ACTIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Of the history of a source: what happened once, or several times in a row with the same outcome (`times`; the
    last one is told of)."""

    id: str
    project_id: ProjectId
    at: Millis
    times: int = 1
    task_id: TaskId | None = None
    reason: str | None = None
    result: Status | None = None
    """The status in which its task was closed."""

    @property
    def source_id(self) -> str:
        raise NotImplementedError

    @property
    def open(self) -> bool:
        return self.task_id is not None and self.result is None


S = TypeVar("S", bound=Source)


def in_state(source: S, state: State, by: str, at: Millis, reason: str | None = None) -> S:
    return replace(source, state=state, state_by=by, state_at=at, reason=reason)


def after_results(source: S, results: Iterable[Status]) -> S:
    """The source once its tasks have been closed like this, in their order. A cancelled one says nothing."""
    failures = source.failures
    for result in results:
        if result is Status.COMPLETED:
            failures = 0
        elif result is Status.FAILED:
            failures += 1
    return replace(source, failures=failures)


def fails_too_often(source: Source) -> bool:
    return source.active and 0 < source.failures_allowed <= source.failures
