"""Agents: identities, people or AIs, in one tree of `reports_to`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from toryo.domain.errors import Code, Refusal
from toryo.domain.times import Millis

SYSTEM = "system:toryo"
"""The actor of what Toryo itself does (housekeeping, guards, cascades of time)."""
SCHEDULE = "system:schedule"


class Kind(StrEnum):
    AI = "ai"
    HUMAN = "human"


class Role(StrEnum):
    """The seeds' hierarchyType."""

    OWNER = "owner"
    MANAGER = "manager"
    WORKER = "worker"


class Status(StrEnum):
    ACTIVE = "active"
    INACTIVE = "inactive"


@dataclass(frozen=True, slots=True)
class Agent:
    """`provider` (ai_type) names the program that runs it; None: nobody starts it (people, self-driven agents)."""

    id: str
    name: str
    kind: Kind
    role: Role
    reports_to: str | None
    status: Status
    provider: str | None
    model: str | None
    agent_type: str | None
    capabilities: tuple[str, ...]
    max_parallel_tasks: int
    system_prompt: str
    provider_options: dict[str, Any] = field(hash=False)
    created_at: Millis
    updated_at: Millis
    version: int = 1
    deactivated_at: Millis | None = None
    """When it last became inactive: the cause from which the grace time of its processes counts."""

    @property
    def active(self) -> bool:
        return self.status is Status.ACTIVE

    @property
    def managed(self) -> bool:
        """Whether a Coordinator starts it."""
        return self.provider is not None and self.kind is Kind.AI

    @property
    def human(self) -> bool:
        return self.kind is Kind.HUMAN


def superiors(agent_id: str, reports_to: Mapping[str, str | None]) -> list[str]:
    """Every ancestor of an agent in the tree, nearest first."""
    found: list[str] = []
    above = reports_to.get(agent_id)
    while above is not None and above not in found:
        found.append(above)
        above = reports_to.get(above)
    return found


def refuse_cycle(agent_id: str, reports_to: str | None, tree: Mapping[str, str | None]) -> None:
    """Refuses a superior that is the agent itself or stands below it."""
    if reports_to is not None and (reports_to == agent_id or agent_id in superiors(reports_to, tree)):
        raise Refusal(
            Code.VALIDATION_ERROR,
            f"{agent_id} cannot report to {reports_to}: that would be a circle.",
            "Name a superior who does not stand below this agent.",
        )
