"""Coordinators as far as rules need them: whether one is gone, and which agents it can start."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field

from toryo.domain.agents import Agent, Program
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.times import SECOND, Millis

GONE_AFTER: Millis = 90 * SECOND
"""A Coordinator that has not called for this long counts as gone, and others may take over what it held."""


def is_gone(last_seen: Millis, now: Millis) -> bool:
    return now - last_seen >= GONE_AFTER


@dataclass(frozen=True, slots=True)
class Offer:
    """What a Coordinator reported that it can start. None: no restriction.

    `accounts`: by provider, the accounts that its configuration names. Of a provider that is not in it, it has one
    login, whatever account that is.
    """

    providers: Collection[str] | None
    agents: Collection[str] | None
    capabilities: Collection[str] | None
    labels: Collection[str]
    accounts: Mapping[str, Collection[str]] = field(default_factory=dict, hash=False)

    def lacks(self, agent: Agent, program: Program) -> str | None:
        """The first entry of LACKS that prevents starting the agent with this program; None if nothing does."""
        if self.providers is not None and program.provider not in self.providers:
            return "no_provider"
        if not self._has_account(agent, program):
            return "no_account"
        if self.agents is not None and agent.id not in self.agents:
            return "not_listed"
        if self.capabilities is not None and set(self.capabilities).isdisjoint(agent.capabilities):
            return "no_capability"
        return None if agent.labels <= set(self.labels) else "no_labels"

    def _has_account(self, agent: Agent, program: Program) -> bool:
        """The one login of a Coordinator that names no accounts is the account that the agent uses first."""
        if program.account is None:
            return True
        named = self.accounts.get(program.provider)
        if named is not None:
            return program.account in named
        first = next((each for each in agent.programs if each.provider == program.provider), program)
        return program.account == first.account

    def can_start(self, agent: Agent) -> bool:
        """Whether it can start the agent with its own program or with a fallback."""
        return any(self.lacks(agent, program) is None for program in agent.programs)


LACKS = ("no_provider", "no_account", "not_listed", "no_capability", "no_labels")
"""In the order in which they are checked; a later one is closer to a start."""
