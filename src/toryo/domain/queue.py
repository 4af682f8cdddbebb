"""The queue: API keys, the presence of agents that run already, and claims of tasks. Pure values and their changes.

A claim is a lease on a task. Its task moves by the same rules as every other (`moves.py`); what is counted here are
attempts, back-off and time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from toryo.backoff import pause
from toryo.domain.times import HOUR, MINUTE, SECOND, Millis

CLAIMED_AT_ONCE = 50
"""Tasks that one agent may hold."""
LONGEST_CLAIM: Millis = 24 * HOUR
"""A claim ends then, however often it was renewed."""
OFFLINE_AFTER: Millis = 90 * SECOND
"""Without any call for so long an agent is offline."""
HEARTBEAT_SECONDS = 30
TIMEOUT_SECONDS, MAX_ATTEMPTS = 1_800, 3


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What a queue agent proves itself with. `agent_id` is bound by the first registration, if not before."""

    id: str
    project_id: str
    name: str
    agent_id: str | None
    types: tuple[str, ...]
    """The queues it may serve; none named: whatever it registers for."""
    orchestrator: bool
    tools: tuple[str, ...]
    """The tools it may call; none named: every queue tool."""
    created_by: str
    created_at: Millis
    revoked_at: Millis | None = None

    def serves(self, agent_type: str) -> bool:
        return not self.types or agent_type in self.types


@dataclass(frozen=True, slots=True)
class Presence:
    """An agent that has registered itself: for which queue, and when it was last heard of."""

    agent_id: str
    project_id: str
    agent_type: str
    capabilities: tuple[str, ...]
    registered_at: Millis
    seen_at: Millis
    heartbeat_at: Millis | None = None
    """None: it has never sent one, so its silence releases nothing before its claims run out."""
    offline_at: Millis | None = None

    @property
    def online(self) -> bool:
        return self.offline_at is None

    def silent(self, now: Millis) -> bool:
        return now - self.seen_at >= OFFLINE_AFTER


@dataclass(frozen=True, slots=True)
class Claim:
    """Who has a task, in which attempt, until when; and, once it is over, how it ended."""

    task_id: str
    attempt: int
    project_id: str
    agent_id: str
    claimed_at: Millis
    expires_at: Millis
    lease: Millis
    launch_id: str | None = None
    """The launch that was started for it, if a Coordinator starts its agent."""
    ended_at: Millis | None = None
    end_reason: str | None = None
    """`submitted`, `failed` (retryable), `lost`, `withdrawn`."""
    outcome: Any = None
    """What was submitted, so that the same again answers the same."""

    @property
    def live(self) -> bool:
        return self.ended_at is None


def renewed(claim: Claim, now: Millis) -> Claim:
    """A heartbeat: its lease begins anew, within the longest time a claim may last."""
    return replace(claim, expires_at=min(now + claim.lease, claim.claimed_at + LONGEST_CLAIM))


def ended(claim: Claim, reason: str, now: Millis, outcome: Any = None) -> Claim:
    return replace(claim, ended_at=now, end_reason=reason, outcome=outcome)


def backoff(attempt: int) -> Millis:
    """How long a task rests after its n-th attempt was lost: 5 s, doubling, at most 5 minutes."""
    return pause(attempt, 5 * SECOND, 5 * MINUTE)


@dataclass(frozen=True, slots=True)
class Entry:
    """A shared value: `version` grows with every change, also over its expiry."""

    project_id: str
    key: str
    value: Any
    version: int
    updated_at: Millis
    updated_by: str
    expires_at: Millis

    def expired(self, now: Millis) -> bool:
        return self.expires_at <= now
