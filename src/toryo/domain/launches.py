"""Launches: each is one order to start one process. Managed sessions exist only through launches."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.shape import AgentId, LaunchId, ProjectId, TaskId
from toryo.domain.tasks import CheckOutcome
from toryo.domain.times import SECOND, Millis

SIGN_IN_WITHIN: Millis = 120 * SECOND
"""A launch without a sign-in after this time is expired."""
KEPT_OF_BEGIN = KEPT_OF_END = 1_000_000
"""Characters of its output: of more, the middle is left out, in whole pieces, whatever its Coordinator sends."""


class Purpose(StrEnum):
    TASK = "task"
    CHAT = "chat"


class State(StrEnum):
    """`ordered -> signed_in -> exited`; or `expired` (never signed in) or `lost` (its lease expired)."""

    ORDERED = "ordered"
    SIGNED_IN = "signed_in"
    EXITED = "exited"
    EXPIRED = "expired"
    LOST = "lost"


LIVE = frozenset({State.ORDERED, State.SIGNED_IN})


@dataclass(frozen=True, slots=True)
class Doing:
    """The newest sign of its program: what it called, said or printed, in a short line without secrets."""

    kind: str
    text: str
    tool: str | None
    since: Millis


@dataclass(frozen=True, slots=True)
class Launch:
    id: str
    agent_id: AgentId
    project_id: ProjectId
    purpose: Purpose
    task_id: TaskId | None
    reason: str
    fence: int
    """Increases per agent, project and purpose; calls with an older value are refused."""
    state: State
    provider: str | None
    model: str | None
    coordinator_id: str | None
    """The Coordinator that received it from `claim_starts`; None for other launches."""
    ordered_at: Millis
    deadline: Millis
    signed_in_at: Millis | None = None
    ended_at: Millis | None = None
    end_reason: str | None = None
    told_to_leave: bool = False
    """Whether the server told it to exit, wait or stop: such an end never counts as a failure of the agent."""
    refused_at_sign_in: bool = False
    """Its credential was refused because someone had already signed in with the passkey."""
    exit_code: int | None = None
    exit_signal: int | None = None
    exit_error: str | None = None
    exit_reported_at: Millis | None = None
    stop_reason: str | None = None
    """Why it was told to stop."""
    stop_since: Millis | None = None
    by_passkey: bool = False
    """Whether its session signed in with a passkey; its own credential is then invalid."""
    seen_at: Millis | None = None
    """When its Coordinator last reported that its process runs."""
    takes_slot: bool = True
    """Whether it counts against its Coordinator's slots: a chat that another agent waits for does not."""
    nudged_at: Millis | None = None
    """When its program, which had left without a report, was resumed with a reminder; this happens once."""
    program_session: str | None = None
    """The program's own session id, with which it can be resumed."""
    account: str | None = None
    """Whose quota its program uses, as the agent was configured when it was started; None: nobody's."""
    doing: Doing | None = None
    """What its program was last seen doing."""
    doing_at: Millis | None = None
    """When that was stored: who follows it reads on from there."""
    refused_hosts: dict[str, Any] | None = None
    """What its sandbox has refused: the first `hosts`, as they were asked for, how many `more`, and in `words` what is
    in force and how a person allows one."""
    ports: dict[str, int] | None = None
    """By the ports of its program those of the Coordinator's machine at which they are reachable."""

    @property
    def live(self) -> bool:
        return self.state in LIVE

    def ran_out(self, now: Millis) -> bool:
        """Whether the sign-in time is over without a sign-in or an end."""
        return self.state is State.ORDERED and self.deadline <= now


@dataclass(frozen=True, slots=True)
class Check:
    """The acceptance checks of one success report, for a Coordinator to run."""

    id: str
    task_id: TaskId
    project_id: ProjectId
    launch_id: LaunchId
    coordinator_id: str | None
    created_at: Millis
    taken_at: Millis | None = None
    finished_at: Millis | None = None
    failures: Any = None
    evidence: Any = None
    """How each check ended."""

    @property
    def passed(self) -> bool:
        """Whether work counts after it: one that cannot run is neither a failure nor a pass."""
        return not self.failures and all(CheckOutcome(each["outcome"]).counts for each in self.evidence or ())
