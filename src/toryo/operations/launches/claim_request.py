"""A Coordinator's request for work: its slots, providers and labels; and the agents that it may start."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from toryo.domain.coordinators import Offer
from toryo.long_waits import LONGEST_WAIT_SECONDS
from toryo.operations.calls.catalogue import Parameters
from toryo.operations.calls.fields import Id

Labels = list[str]


OFFERED: Any = Field(
    default_factory=list,
    max_length=100,
    description="What the Coordinator offers; agents that require more are not given to it.",
)


CLAIM = "claim_starts"


class Directory(Parameters):
    agent_id: Id | None = Field(None, description="Of this agent.")
    project_id: Id | None = Field(None, description="Or of this project.")
    directory: str = Field(min_length=1, max_length=4_000, description="Its path there.")


class ProviderAccount(Parameters):
    provider: str = Field(min_length=1, max_length=100, description="The provider.")
    account: str = Field(min_length=1, max_length=200, description="One of its accounts.")


class ClaimStarts(Parameters):
    coordinator_id: Id = Field(description="The Coordinator's name; it stays the same across restarts.")
    free_slots: int = Field(ge=0, le=10_000, description="How many more task processes it can run.")
    free_chat_slots: int = Field(0, ge=0, le=10_000, description="How many more chat processes it can run.")
    running: list[Id] = Field(
        default_factory=list,
        max_length=20_000,
        fail_fast=True,
        description="Launch ids of its processes, those being started too.",
    )
    checking: list[Id] | None = Field(
        None,
        max_length=20_000,
        fail_fast=True,
        description="Ids of the checks it is running: others that it received are handed out again.",
    )
    worktree_jobs: list[Id] | None = Field(
        None,
        max_length=20_000,
        fail_fast=True,
        description="Ids of the worktree jobs it is running: others that it received are handed out again.",
    )
    agent_ids: list[Id] | None = Field(None, max_length=20_000, fail_fast=True, description="Only these agents.")
    providers: list[str] | None = Field(None, max_length=100, description="Only agents of these providers.")
    accounts: list[ProviderAccount] = Field(
        default_factory=list,
        max_length=1_000,
        fail_fast=True,
        description="The accounts that it has, by provider. Of a provider that is not in the list it has one login.",
    )
    labels: Labels = OFFERED
    capabilities: list[str] | None = Field(
        None, max_length=100, description="Only agents with one of these capabilities."
    )
    directories: list[Directory] | None = Field(
        None, max_length=20_000, fail_fast=True, description="Where agents work on its machine, if elsewhere."
    )
    sandbox: bool = Field(False, description="Whether it starts programs in a sandbox.")
    server_id: str | None = Field(
        None, max_length=64, description="The server_id it expects (health_check); other servers refuse."
    )
    timeout_seconds: int = Field(
        0, ge=0, le=LONGEST_WAIT_SECONDS, description="How long to wait until there is something to do."
    )

    @property
    def offer(self) -> Offer:
        return Offer(self.providers, self.agent_ids, self.capabilities, self.labels, self.accounts_by_provider)

    @property
    def accounts_by_provider(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for each in self.accounts:
            found.setdefault(each.provider, []).append(each.account)
        return found
