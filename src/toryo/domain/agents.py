"""Agents: people and AI agents, in one tree of `reports_to`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Annotated, Any

from toryo import provider_options
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.shape import AgentId, Filled
from toryo.domain.times import Millis
from toryo.domain.wording import Worded, say, together
from toryo.provider_options import Given, Wrong

SYSTEM = "system:toryo"
"""The actor of changes that Toryo makes itself (housekeeping, guards, cascades caused by time)."""
SCHEDULE = "system:schedule"


OWNER_ID = "owner"
"""The person who set up the server."""
COMMAND = "command"
"""The provider that runs the command of a task; it makes no model calls."""
NO_ACCOUNT = frozenset({COMMAND, "playbook", "script"})
"""Providers without a model: they use no account's quota."""


@dataclass(frozen=True, slots=True)
class Program:
    """What runs an agent: a provider, its model (None: the provider's default), and the account whose quota it uses
    (None: no quota).

    Agents of one account all wait when its quota is used up.
    """

    provider: str
    model: str | None = None
    account: str | None = None

    def is_model(self, provider: str, model_id: str) -> bool:
        """Whether a reported model name means this model: the expected id is a prefix (a date suffix is the same
        model), with or without the vendor before it (`vendor/model`).
        """
        if provider.casefold() != self.provider.casefold():
            return False
        expected, said = (self.model or "").casefold(), model_id.casefold()
        return said.startswith(expected) or said.rpartition("/")[2].startswith(expected.rpartition("/")[2])

    @property
    def name(self) -> str:
        """The key under which its failures are stored: two models, or two accounts, of one provider are two programs.
        The account is in it if it is not the provider's default: `claude opus (second)`.
        """
        named = self.provider if self.model is None else f"{self.provider} {self.model}"
        return named if self.account in (None, self.provider) else f"{named} ({self.account})"


class Kind(StrEnum):
    AI = "ai"
    HUMAN = "human"


class Role(StrEnum):
    """Whether an agent manages others or works itself; `hierarchyType` of the contract."""

    OWNER = "owner"
    MANAGER = "manager"
    WORKER = "worker"


class Status(StrEnum):
    ACTIVE = "active"
    INACTIVE = "inactive"


@dataclass(frozen=True, slots=True)
class Agent:
    """`provider` (ai_type) names the program that runs it; None: no program is started (people, self-driven agents)."""

    id: str
    name: str
    kind: Kind
    role: Role
    reports_to: AgentId | None
    status: Status
    provider: str | None
    model: str | None
    agent_type: str | None
    capabilities: Annotated[tuple[str, ...], Filled]
    max_parallel_tasks: int
    system_prompt: str
    provider_options: dict[str, Any] = field(hash=False)
    created_at: Millis
    updated_at: Millis
    version: int = 1
    deactivated_at: Millis | None = None
    """When it last became inactive; the grace time of its processes counts from here."""

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

    @property
    def without_model(self) -> bool:
        """Whether a fixed program runs it: repeating a task gives the same result, whatever the instructions say."""
        return self.provider in NO_ACCOUNT

    @property
    def program(self) -> Program | None:
        if self.provider is None:
            return None
        return Program(self.provider, self.model, _account(self.provider, self.provider_options))

    @property
    def fallbacks(self) -> tuple[Program, ...]:
        """The programs that replace its own while that cannot run, in their order (`provider_options.fallback`)."""
        given = provider_options.programs(self.provider_options.get("fallback"))
        return tuple(_fallback(each) for each in given if isinstance(each.get("provider"), str))

    @property
    def programs(self) -> tuple[Program, ...]:
        """Its own program, then those of its fallbacks that are other ones; empty for an agent that no Coordinator
        starts.
        """
        own = self.program
        if own is None:
            return ()
        found = {own.name: own}
        for each in self.fallbacks:
            found.setdefault(each.name, each)
        return tuple(found.values())

    @property
    def mistakes(self) -> list[Wrong]:
        """What is wrong with its options and its model. It is not started while this list has an entry."""
        wrong = provider_options.check(self.provider, self.provider_options)
        return wrong + provider_options.check_model(self.model)

    @property
    def effective_options(self) -> dict[str, Any]:
        """Its options, with the defaults of its role for those that are not set."""
        return provider_options.effective(self.provider, self.provider_options, self.role.value)

    @property
    def rights(self) -> Given:
        return Given(self.provider, self.provider_options, self.role.value)

    @property
    def runs_commands(self) -> bool:
        """Whether it can be told to run a command."""
        return provider_options.runs_commands(self.provider, self.effective_options)

    def options_for(self, provider: str | None) -> dict[str, Any]:
        """The agent's own options for the program that is started. A fallback gets those that it knows, except
        arguments, which belong to the other program.
        """
        if provider == self.provider:
            return self.provider_options
        known = {option.name for option in provider_options.options_of(provider)} - {"args"}
        return {name: value for name, value in self.provider_options.items() if name in known}

    def started_with(self, provider: str | None) -> dict[str, Any]:
        """All options that the program is started with: the agent's own and the defaults of its role."""
        said = self.options_for(provider)
        return {**said, **provider_options.effective(provider, said, self.role.value)}

    @property
    def directory(self) -> str | None:
        """The directory that people have set (`provider_options.working_directory`); None: the project's directory."""
        own: str | None = self.provider_options.get("working_directory") or None
        return own

    @property
    def labels(self) -> frozenset[str]:
        """The labels that a Coordinator needs to start it (`provider_options.labels`)."""
        return frozenset(_words(self.provider_options.get("labels")))


def _fallback(given: Mapping[str, Any]) -> Program:
    provider, model = given["provider"], given.get("model")
    return Program(provider, model if isinstance(model, str) else None, _account(provider, given))


def _account(provider: str, options: Mapping[str, Any]) -> str | None:
    given = options.get("account")
    if isinstance(given, str) and given:
        return given
    return None if provider in NO_ACCOUNT else provider


def _words(given: Any) -> list[str]:
    return [each for each in given if isinstance(each, str)] if isinstance(given, list) else []


def refuse_mistakes(agent: Agent, also: Iterable[Wrong] = ()) -> None:
    """Raises Refusal for an agent whose options or model its provider does not accept, with what to write instead.
    `also`: further mistakes in its options.
    """
    mistakes = [*agent.mistakes, *also]
    if mistakes:
        first, details = mistakes[0], {"mistakes": [str(mistake) for mistake in mistakes]}
        raise Refusal(Code.VALIDATION_ERROR, worded(first.what), worded(first.instruction), **details)


def worded(said: provider_options.Said) -> Worded:
    """A message of the provider declaration as a translatable sentence; `provider_options` knows no translations."""
    return say(said.template, **said.facts)


def mistakes_of(agent: Agent) -> list[Worded]:
    """The text of each mistake."""
    return [together((worded(mistake.what), worded(mistake.instruction))) for mistake in agent.mistakes]


def superiors(agent_id: str, reports_to: Mapping[str, str | None]) -> list[str]:
    """All superiors of an agent in the tree, nearest first."""
    found: list[str] = []
    above = reports_to.get(agent_id)
    while above is not None and above not in found:
        found.append(above)
        above = reports_to.get(above)
    return found


def may_be_asked(agent: Agent, is_asked: Callable[[Agent], bool]) -> bool:
    """Whether it is an active person who is asked about the project."""
    return agent.human and agent.active and is_asked(agent)


def people_above(
    agent_id: str | None,
    agents: Mapping[str, Agent],
    reports_to: Mapping[str, str | None],
    is_asked: Callable[[Agent], bool],
) -> list[Agent]:
    """The active people above an agent, nearest first, who are asked about its project."""
    above = (agents[superior] for superior in superiors(agent_id or "", reports_to))
    return [agent for agent in above if may_be_asked(agent, is_asked)]


def active_owners(agents: Iterable[Agent]) -> list[Agent]:
    return [agent for agent in agents if agent.human and agent.active and agent.role is Role.OWNER]


def approvers(
    agent_id: str | None,
    agents: Mapping[str, Agent],
    reports_to: Mapping[str, str | None],
    is_asked: Callable[[Agent], bool],
    owners: Sequence[Agent] | None = None,
) -> list[Agent]:
    """Everyone who is asked to approve a task for an agent: the people above it; if there are none, the owners.

    `owners`: the active ones, from a caller that asks for many agents.
    """
    above = people_above(agent_id, agents, reports_to, is_asked)
    return above or list(active_owners(agents.values()) if owners is None else owners)


def refuse_cycle(agent_id: str, reports_to: str | None, tree: Mapping[str, str | None]) -> None:
    """Raises Refusal for a superior that is the agent itself or one of its subordinates."""
    if reports_to is not None and (reports_to == agent_id or agent_id in superiors(reports_to, tree)):
        raise Refusal(
            Code.VALIDATION_ERROR,
            say(
                "{agent_id} cannot report to {reports_to}: that would create a cycle.",
                agent_id=agent_id,
                reports_to=reports_to,
            ),
            "Choose a superior that does not report to this agent.",
        )
