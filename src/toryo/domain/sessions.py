"""Sessions: signed-in agent processes, alive while their lease is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from toryo.domain.launches import Purpose
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
    """It may not be here any more: deactivated, no member, or signed in with a passkey that was renewed."""


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    agent_id: str
    project_id: str
    purpose: Purpose
    task_id: str | None
    """The main task it is bound to, fixed at sign-in."""
    launch_id: str
    fence: int
    lease_seconds: int
    expires_at: Millis
    created_at: Millis
    last_call_at: Millis
    heard_at: Millis
    """When its process last called or printed."""
    patience: Millis
    """How long it may be neither heard nor seen to print: the task's own time limit where that is longer."""
    root_id: str | None = None
    """The root of the tree its main task is in: changes of facts are counted there."""
    correlation_id: str | None = None
    model_provider: str | None = None
    model_id: str | None = None
    model_verified: bool | None = None
    fetched_at: Millis | None = None
    """When it first called get_my_task; the decomposition window opens then."""
    fetched_event: int | None = None
    choice: Choice | None = None
    choice_event: int | None = None
    """The newest event when it chose: acts after it use the choice up."""
    refused_for_delegation: bool = False
    """Its success report was refused only for an open delegation, or it has waited for the result in vain."""
    delegation_waits: int = 0
    told: str | None = None
    """The last next action told (action and reason), and how often in a row without a change of facts."""
    told_times: int = 0
    told_event: int = 0
    refusals: int = 0
    """Refused calls in a row without a change of facts between them."""
    idle_calls: int = 0
    """Calls in a row without a change of facts."""
    idle_event: int = 0
    """The newest fact of its tree that its counters have seen."""
    calls: int = 0
    """Calls in all that did not wait."""
    runaway: str | None = None
    """Which guard it tripped."""
    runaway_at: Millis | None = None
    ended_at: Millis | None = None
    end_reason: End | None = None
    report: str | None = None
    """The report it ended with, so that the same call again gets the same answer (JSON)."""

    @property
    def over(self) -> bool:
        return self.ended_at is not None

    def ran_out(self, now: Millis) -> bool:
        """Its lease is over, and nobody has ended it yet."""
        return not self.over and self.expires_at <= now
