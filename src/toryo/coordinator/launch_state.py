"""The state of one launch as needed for decisions: the stage of its process, and how it was asked to leave.

Facts only; the process, its log and its worktree are in `launches_in_hand.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from toryo.coordinator.orders import Launch

Seconds = float
"""Seconds on a monotonic clock."""


class State(StrEnum):
    WAITING = "waiting"
    """Ordered and not started yet."""
    STARTING = "starting"
    """Its worktree is being created: there is no process to signal yet."""
    RUNNING = "running"
    LEADERLESS = "leaderless"
    """The process has ended, but others of its group have not."""
    GONE = "gone"


class Stage(IntEnum):
    """How a process was last asked to leave."""

    NONE = 0
    INTERRUPT = 1
    TERMINATE = 2
    KILL = 3


@dataclass(frozen=True, slots=True)
class Stop:
    """Since when a process should leave, and how long it may do so by itself."""

    at: Seconds
    grace: Seconds = 0.0
    reason: str = ""
    step: Seconds | None = None
    """Between interrupt, terminate and kill; None: as the limits say."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One launch as the Coordinator sees it. `since`: when it was ordered, started, or lost its leader."""

    launch: Launch
    state: State
    since: Seconds
    stop: Stop | None = None
    stage: Stage = Stage.NONE
    signalled_at: Seconds = 0.0
