"""Sessions: signed-in agent processes, alive while their lease is valid."""

from __future__ import annotations

from enum import StrEnum

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.launches import Purpose
from toryo.domain.shape import AgentId, LaunchId, ProjectId, TaskId
from toryo.domain.times import Millis


class Choice(StrEnum):
    """What a manager chose with `select_action`."""

    START = "start"
    ADJUST = "adjust"
    WAIT = "wait"


class End(StrEnum):
    """Why a session ended."""

    REPORTED = "reported"
    LEFT_TO_WAIT = "left_to_wait"
    LOGGED_OUT = "logged_out"
    TOLD_TO_EXIT = "told_to_exit"
    PROCESS_EXITED = "process_exited"
    LEASE_EXPIRED = "lease_expired"
    ENDED_BY_PERSON = "ended_by_person"
    SUPERSEDED = "superseded"
    DISMISSED = "dismissed"
    """It lost its right to work: deactivated, no longer a member, or its passkey was renewed."""


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    agent_id: AgentId
    project_id: ProjectId
    purpose: Purpose
    task_id: TaskId | None
    """The main task that it is bound to, fixed at sign-in."""
    launch_id: LaunchId
    fence: int
    lease_seconds: int
    expires_at: Millis
    created_at: Millis
    last_call_at: Millis
    heard_at: Millis
    """When its process last made a call or printed something."""
    patience: Millis
    """How long it may be silent (no call, no output), in milliseconds: the task's own time limit if that is longer."""
    root_id: str | None = None
    """The root of its main task's tree, in which changes of facts are counted."""
    correlation_id: str | None = None
    model_provider: str | None = None
    model_id: str | None = None
    model_verified: bool | None = None
    fetched_at: Millis | None = None
    """When it first called get_my_task; this opens the decomposition window."""
    fetched_event: int | None = None
    choice: Choice | None = None
    choice_event: int | None = None
    """The newest event when it chose; anything it does after that uses up the choice."""
    refused_for_delegation: bool = False
    """Its success report was refused only because of an open delegation, or it waited for that result until the
    timeout.
    """
    delegation_waits: int = 0
    told: str | None = None
    """The last next action it was told (action and reason), and how often in a row without a change of facts."""
    told_times: int = 0
    told_event: int = 0
    refusals: int = 0
    """Consecutive refused calls without a change of facts."""
    idle_calls: int = 0
    """Consecutive calls without a change of facts."""
    idle_event: int = 0
    """The newest event of its tree that its counters include."""
    calls: int = 0
    """All calls that did not wait."""
    runaway: str | None = None
    """The guard that it tripped."""
    runaway_at: Millis | None = None
    ended_at: Millis | None = None
    end_reason: End | None = None
    report: str | None = None
    """The report with which it ended (JSON): a repeated call gets the same answer."""
    stored_bytes: int = 0
    """How much its calls have stored."""

    @property
    def over(self) -> bool:
        return self.ended_at is not None

    def ran_out(self, now: Millis) -> bool:
        """Whether its lease has expired without an end."""
        return not self.over and self.expires_at <= now
