"""What sessions leave for others: progress notes, handoffs, and notifications to a running session."""

from __future__ import annotations

from typing import Any

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.launches import Purpose
from toryo.domain.shape import AgentId, ProjectId, TaskId
from toryo.domain.times import Millis


@dataclass(frozen=True, slots=True)
class Note:
    """Progress on a task. Decisions never read it."""

    id: str
    task_id: TaskId
    session_id: str | None
    author_id: str
    progress: str | None
    findings: str | None
    blockers: str | None
    next_steps: str | None
    created_at: Millis


@dataclass(frozen=True, slots=True)
class Handoff:
    """From one agent to another (or to the next session of the task). Informs only; never changes the assignee."""

    id: str
    task_id: TaskId
    from_agent_id: str
    to_agent_id: str | None
    summary: str
    context: Any
    recommendations: str | None
    created_at: Millis
    accepted_at: Millis | None = None
    accepted_by: str | None = None


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification to one session. `kind`: `interrupt`, `status_change`, `plan_change`, `message`.

    `cause` names the state that it reports (`blocked`, `project_paused`, …); it is dropped when that state is over.
    """

    id: str
    project_id: ProjectId
    agent_id: AgentId
    purpose: Purpose
    session_id: str
    task_id: str | None
    kind: str
    message: str
    cause: str | None
    created_at: Millis
    delivered_at: Millis | None = None


INTERRUPT = "interrupt"
PAUSED = "project_paused"
"""The cause of an interrupt that is dropped when the project resumes; other causes concern the session's task."""


def address_of_task(task_id: str) -> str:
    """The address for the next session that works on a task."""
    return f"task:{task_id}"


def address_of_agent(project_id: str, agent_id: str) -> str:
    """The address for an agent's next task session, whatever its task."""
    return f"agent:{project_id}:{agent_id}"


def addresses(project_id: str, agent_id: str, task_id: str | None) -> tuple[str, ...]:
    """All addresses that a new task session reads."""
    own = (address_of_agent(project_id, agent_id),)
    return own if task_id is None else (address_of_task(task_id), *own)
