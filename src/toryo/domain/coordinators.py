"""Coordinators as far as rules need them: whether one is gone, and which agents it can start."""

from __future__ import annotations

from collections.abc import Collection

from toryo.domain.agents import Agent, Program
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.times import SECOND, Millis

GONE_AFTER: Millis = 90 * SECOND
"""A Coordinator that has not called for this long counts as gone, and others may take over what it held."""


def gone(last_seen: Millis, now: Millis) -> bool:
    return now - last_seen >= GONE_AFTER


@dataclass(frozen=True, slots=True)
class Offer:
    """What a Coordinator reported that it can start. None: no restriction."""

    providers: Collection[str] | None
    agents: Collection[str] | None
    capabilities: Collection[str] | None
    labels: Collection[str]

    def lacks(self, agent: Agent, program: Program) -> str | None:
        """The first entry of LACKS that prevents starting the agent with this program; None if nothing does."""
        if not self.has(program):
            return "no_provider"
        if self.agents is not None and agent.id not in self.agents:
            return "not_listed"
        if self.capabilities is not None and set(self.capabilities).isdisjoint(agent.capabilities):
            return "no_capability"
        return None if agent.labels <= set(self.labels) else "no_labels"

    def has(self, program: Program) -> bool:
        return self.providers is None or program.provider in self.providers

    def can_start(self, agent: Agent) -> bool:
        """Whether it can start the agent with its own program or with its fallback."""
        return any(self.lacks(agent, program) is None for program in agent.programs)


LACKS = ("no_provider", "not_listed", "no_capability", "no_labels")
"""In the order in which they are checked; a later one is closer to a start."""
