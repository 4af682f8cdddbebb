"""What a change of an agent means for its rights: changes that widen them, and providers that no Coordinator can start.

`toryo.provider_options` declares the options; `domain/agents.py` refuses those that do not fit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NotRequired, final

from typing_extensions import TypedDict

from toryo import provider_options
from toryo.domain import agents
from toryo.domain.agents import Agent, Program, Role
from toryo.domain.wording import Worded, say
from toryo.nearest import nearest
from toryo.storage.coordinators import Seen

_ROLES = ("worker", "manager", "owner")
"""From narrow to wide, as _LOGINS of people."""
_LOGINS = ("viewer", "member", "owner")


def widened(before: Agent | None, after: Agent) -> list[str]:
    """What it may do that it might not before; of a new one (None), that others of its kind may not: an owner may do
    everything, and options may grant more than where nothing is said."""
    if before is None:
        role = ["role: none → owner"] if after.role is Role.OWNER else []
        return role + (provider_options.granted(after.rights) if after.provider else [])
    return role_widened(before.role.value, after.role.value) + provider_options.widened(before.rights, after.rights)


def role_widened(before: str, after: str) -> list[str]:
    return _wider(_ROLES, before, after)


def login_widened(before: str | None, after: str | None) -> list[str]:
    """Of a person; who has no role yet, or loses it, is not widened."""
    return _wider(_LOGINS, str(before), str(after)) if before in _LOGINS and after in _LOGINS else []


def told_of_login(before: str | None, after: str) -> dict[str, Any]:
    """What an event says of a role that was given: every one by which a person may do more says so."""
    widened = login_widened(before, after)
    return {"login": after, **({"widened": widened} if widened else {})}


@final
class Widened(TypedDict):
    widened: NotRequired[list[str]]


def note(widened: list[str]) -> Widened:
    """In an event and in an answer: what a change widens, if anything."""
    return {"widened": widened} if widened else {}


def _wider(ranks: Sequence[str], before: str, after: str) -> list[str]:
    return [f"role: {before} → {after}"] if ranks.index(after) > ranks.index(before) else []


def warnings(agent: Agent, reported: Collection[str] | None) -> list[Worded]:
    """Its providers that neither Toryo nor any Coordinator that has ever called knows: nothing would start them."""
    if reported is None:
        return []
    names = dict.fromkeys(program.provider for program in agent.programs)
    found = (provider_options.unknown_provider(name, reported) for name in names)
    return [agents.worded(warning) for warning in found if warning is not None]


def without_account(agent: Agent, coordinators: Iterable[Seen]) -> list[Worded]:
    """Its programs whose account no Coordinator that has their provider has: they cannot be started."""
    every = list(coordinators)
    lacking = ({each.offer.lacks(agent, program) for each in every} for program in agent.programs)
    return [
        _account_of_nobody(program, every)
        for program, codes in zip(agent.programs, lacking, strict=True)
        if "no_account" in codes and codes <= {"no_provider", "no_account"}
    ]


def _account_of_nobody(program: Program, coordinators: Iterable[Seen]) -> Worded:
    account, provider = program.account or "", program.provider
    near = nearest(account, {name for each in coordinators for name in each.accounts.get(provider, ())})
    if near is None:
        return say(
            "No Coordinator has the account {account} of {provider}, so the agent cannot use it. Add it under "
            "ai_providers.{provider}.accounts of a Coordinator's file.",
            account=account,
            provider=provider,
        )
    return say(
        "No Coordinator has the account {account} of {provider}, so the agent cannot use it. Did you mean {nearest}? "
        "Otherwise add it under ai_providers.{provider}.accounts of a Coordinator's file.",
        account=account,
        provider=provider,
        nearest=near,
    )


def without_effect(agent: Agent) -> list[Worded]:
    """Its fallbacks that are its own program, or one that comes before them."""
    own = [agent.program.name] if agent.program is not None else []
    names = [*own, *(each.name for each in agent.fallbacks)]
    return [
        say("The fallback {program} has no effect: the same program comes before it.", program=name)
        for number, name in enumerate(names)
        if name in names[:number]
    ]


def reported_providers(coordinators: Iterable[Seen]) -> frozenset[str] | None:
    """Every provider that a Coordinator has said it can start; None: one of them does not say, and may have any."""
    said = [coordinator.providers for coordinator in coordinators]
    return None if None in said else frozenset(name for names in said for name in names or ())
