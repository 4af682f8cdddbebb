"""What needs a person: the kinds in order of urgency, and what one such thing says. How they are found stands in
`operations/needs.py`, how people are told outside in `domain/notices.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from toryo.domain.times import Millis


class Kind(StrEnum):
    """The most urgent first: what holds others up, then what somebody said, then what has to be mended or done."""

    APPROVAL = "approval"
    BLOCKED_BY_GUARD = "blocked_by_guard"
    RUNAWAY = "runaway"
    BLOCKED = "blocked"
    MESSAGE = "message"
    NOBODY_CAME = "nobody_came"
    DELEGATION_FAILED = "delegation_failed"
    FAILED = "failed"
    DEAD_LETTER = "dead_letter"
    STALLED = "stalled"
    BUDGET_USED_UP = "budget_used_up"
    AGENT_CANNOT_START = "agent_cannot_start"
    SIGN_IN_LOCKED = "sign_in_locked"
    REVIEW = "review"
    TASK = "task"


_URGENCY = {kind: rank for rank, kind in enumerate(Kind)}


@dataclass(frozen=True, slots=True)
class Action:
    """What can be done about it, and the command that does it."""

    name: str
    command: str


@dataclass(frozen=True, slots=True)
class Need:
    """`key` names what it is about: the same as long as it lasts, so that a person is told of it once."""

    person_id: str
    kind: Kind
    about: str
    title: str
    text: str
    since: Millis
    actions: tuple[Action, ...]
    project_id: str | None = None
    task_id: str | None = None
    agent_id: str | None = None

    @property
    def key(self) -> str:
        return f"{self.kind.value} {self.about}"

    @property
    def order(self) -> tuple[int, Millis, str]:
        """The most urgent kind first, in it the newest."""
        return (_URGENCY[self.kind], -self.since, self.about)
