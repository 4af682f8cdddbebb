"""The queue: API keys, presence of agents that already run, and claims of tasks. Pure.

A claim is a lease on a task. The task moves by the same rules as every other (`moves.py`); attempts, back-off and times
are counted here.
"""

from __future__ import annotations

from typing import Annotated, Any

from toryo.backoff import pause
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.shape import AgentId, Key, ProjectId, TaskId
from toryo.domain.times import HOUR, MINUTE, SECOND, Millis

CLAIMED_AT_ONCE = 50
"""How many tasks one agent may hold."""
CREATED_AT_ONCE = 200
"""How many tasks one call creates at most."""
LONGEST_CLAIM: Millis = 24 * HOUR
"""Maximum length of a claim, including renewals."""
OFFLINE_AFTER: Millis = 90 * SECOND
"""An agent without a call for this long is offline."""
HEARTBEAT_SECONDS = 30
TIMEOUT_SECONDS, MAX_ATTEMPTS = 1_800, 3


KEYLESS = "system:keyless"
"""Who has filed a task without a key, on a server that is open. No program is started for such a task."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """The credential of a queue agent. The first registration binds `agent_id` if it is not set."""

    id: str
    project_id: ProjectId
    name: str
    agent_id: str | None
    types: tuple[str, ...]
    """The queues it may serve; empty: any that it registers for."""
    orchestrator: bool
    tools: tuple[str, ...]
    """The tools it may call; empty: every queue tool."""
    created_by: str
    created_at: Millis
    revoked_at: Millis | None = None

    def serves(self, agent_type: str) -> bool:
        return not self.types or agent_type in self.types


@dataclass(frozen=True, slots=True)
class Presence:
    """A registered agent: its queue, and when it last called."""

    agent_id: Annotated[AgentId, Key]
    project_id: ProjectId
    agent_type: str
    capabilities: tuple[str, ...]
    registered_at: Millis
    seen_at: Millis
    heartbeat_at: Millis | None = None
    """None: it never sent a heartbeat, so its claims are released only when they expire."""
    offline_at: Millis | None = None

    @property
    def online(self) -> bool:
        return self.offline_at is None

    @property
    def left(self) -> bool:
        """Whether the last that was seen of it is that it left. Silence makes an agent offline later than that."""
        return self.offline_at is not None and self.offline_at <= self.seen_at

    def silent(self, now: Millis) -> bool:
        return now - self.seen_at >= OFFLINE_AFTER


@dataclass(frozen=True, slots=True)
class Claim:
    """Which agent holds a task, in which attempt, until when; and how the claim ended."""

    task_id: Annotated[TaskId, Key]
    attempt: Annotated[int, Key]
    project_id: ProjectId
    agent_id: AgentId
    claimed_at: Millis
    expires_at: Millis
    lease: Millis
    launch_id: str | None = None
    """The launch that was started for it, if a Coordinator starts this agent."""
    ended_at: Millis | None = None
    end_reason: str | None = None
    """`submitted`, `failed` (retryable), `lost`, `withdrawn`."""
    outcome: Any = None
    """The submitted result, so that a repeated call gets the same answer."""

    @property
    def live(self) -> bool:
        return self.ended_at is None

    @property
    def ran_out(self) -> bool:
        """Whether it was lost to its time limit: not to the silence of an agent that sends heartbeats."""
        return self.end_reason == "lost" and self.ended_at is not None and self.expires_at <= self.ended_at


def renewed(claim: Claim, now: Millis) -> Claim:
    """The claim after a heartbeat: a full lease again, up to the maximum length of a claim."""
    return replace(claim, expires_at=min(now + claim.lease, claim.claimed_at + LONGEST_CLAIM))


def ended(claim: Claim, reason: str, now: Millis, outcome: Any = None) -> Claim:
    return replace(claim, ended_at=now, end_reason=reason, outcome=outcome)


def backoff(attempt: int) -> Millis:
    """The wait after the n-th lost attempt of a task: 5 s, doubling, at most 5 minutes."""
    return pause(attempt, 5 * SECOND, 5 * MINUTE)


@dataclass(frozen=True, slots=True)
class Entry:
    """A shared value; `version` grows with every change and does not restart after it expired."""

    project_id: Annotated[ProjectId, Key]
    key: Annotated[str, Key]
    value: Any
    version: int
    updated_at: Millis
    updated_by: str
    expires_at: Millis

    def expired(self, now: Millis) -> bool:
        return self.expires_at <= now
