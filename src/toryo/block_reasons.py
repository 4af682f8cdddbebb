"""The reasons with which Toryo itself blocks or fails a task: codes that are stored, and the words for people."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Block(StrEnum):
    """Stored as the reason of a task, and in events."""

    LEFT_WITHOUT_REPORTING = "agent_left_without_reporting"
    NOBODY_MAY_RESOLVE_IT = "nobody_may_resolve_it"
    NOT_RESOLVED = "conflict_not_resolved"
    NO_PROGRESS = "no_progress"
    STOPPED_TWICE = "stopped_twice"
    EXHAUSTED = "attemptsExhausted"
    """A queue task failed: nobody has submitted a result in any of its attempts."""


WORDS: Mapping[str, str] = {
    Block.LEFT_WITHOUT_REPORTING: "Its agent has left several times without reporting.",
    Block.NOBODY_MAY_RESOLVE_IT: (
        "The work of a subtask conflicts, and no active agent that could resolve it may edit files."
    ),
    Block.NOT_RESOLVED: "The work of a subtask conflicts, and the agents that were asked have not resolved it.",
    Block.NO_PROGRESS: "Its agent was started several times and made no progress.",
    Block.STOPPED_TWICE: "A guard has stopped its agent twice in a row: it kept calling without making progress.",
    Block.EXHAUSTED: "No attempt is left, and none has submitted a result.",
}


def in_words(reason: str) -> str:
    """What people read of a reason; what somebody has written stays as it is."""
    return WORDS.get(reason, reason)
