"""Launches: one order to start one process; the only way to a managed session."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from toryo.domain.times import SECOND, Millis

SIGN_IN_WITHIN: Millis = 120 * SECOND
"""A launch that nobody signed in for by then is expired."""


class Purpose(StrEnum):
    TASK = "task"
    CHAT = "chat"


class State(StrEnum):
    """`ordered -> signed_in -> exited`; or `expired` (never signed in) or `lost` (its lease ran out)."""

    ORDERED = "ordered"
    SIGNED_IN = "signed_in"
    EXITED = "exited"
    EXPIRED = "expired"
    LOST = "lost"


LIVE = frozenset({State.ORDERED, State.SIGNED_IN})


@dataclass(frozen=True, slots=True)
class Launch:
    id: str
    agent_id: str
    project_id: str
    purpose: Purpose
    task_id: str | None
    reason: str
    fence: int
    """Grows per agent, project and purpose; a call from an older one is refused."""
    state: State
    provider: str | None
    model: str | None
    coordinator_id: str | None
    """Which Coordinator got it by `claim_starts`; None for other ways in."""
    ordered_at: Millis
    deadline: Millis
    signed_in_at: Millis | None = None
    ended_at: Millis | None = None
    end_reason: str | None = None
    told_to_leave: bool = False
    """Whether the server said exit, wait or stop: such an end is never counted against the agent."""
    refused_at_sign_in: bool = False
    """Its credential was refused because somebody had signed in by passkey first."""
    exit_code: int | None = None
    exit_signal: int | None = None
    exit_error: str | None = None
    exit_reported_at: Millis | None = None
    stop_reason: str | None = None
    """Why it was told to stop, and since when."""
    stop_since: Millis | None = None
    by_passkey: bool = False
    """Somebody signed in for it with a passkey: its credential opens nothing."""
    seen_at: Millis | None = None
    """When its Coordinator last reported its process as running."""
    takes_slot: bool = True
    """Whether it counts against its Coordinator's slots: a chat that another's turn depends on does not."""
    nudged_at: Millis | None = None
    """When its program, having left without a report, was resumed with a reminder: once."""
    program_session: str | None = None
    """The program's own name of its session, by which it can be resumed."""

    @property
    def live(self) -> bool:
        return self.state in LIVE

    def ran_out(self, now: Millis) -> bool:
        """Nobody has signed in for it in time, and nobody has ended it yet."""
        return self.state is State.ORDERED and self.deadline <= now
