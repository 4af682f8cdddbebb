"""Whether a Coordinator could start an agent, and if not, what is missing and how to provide it. For people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any

from toryo.deeds import TO_SAY, Blank, deed, terminal
from toryo.domain.agents import Agent, Program
from toryo.domain.coordinators import GONE_AFTER, LACKS, Offer, is_gone
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.launches import Purpose
from toryo.domain.tasks import Priority
from toryo.domain.times import SECOND, Millis
from toryo.domain.wording import Worded, constant, say
from toryo.storage.coordinators import Seen
from toryo.workflow import program_choice
from toryo.workflow.launch_rules import Action, Decision
from toryo.workflow.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class PlacementProblem:
    """`none` or one of LACKS; what is missing in words, and what people do about it. `of_agent`: a change of the
    agent helps."""

    code: str
    words: Worded
    remedy: Worded
    correct: Mapping[str, Any] = field(default_factory=dict)
    """What to edit of the agent, where that helps."""

    @property
    def of_agent(self) -> bool:
        return bool(self.correct)


def program(
    s: Snapshot,
    purpose: Purpose,
    priority: Priority | None,
    coordinators: Callable[[], Iterable[Seen]],
    asking: Offer | None = None,
) -> Program | None:
    """What it would be started with: the first of its programs that can be started. Of several fallbacks, the first
    that a Coordinator has; if none has any, the first. `asking`: what a Coordinator offers that makes no claims.
    """
    able = list(program_choice.able(s, purpose, priority))
    if s.agent is None or not able:
        return None
    if len(able) == 1 or able[0] == s.agent.program:
        return able[0]
    agent, here = s.agent, list(coordinators())

    def somebody_has(each: Program) -> bool:
        return (asking is not None and asking.lacks(agent, each) is None) or obstacle(agent, each, here, s.now) is None

    return next(filter(somebody_has, able), able[0])


def place(
    coordinators: Iterable[Seen], snapshot: Snapshot, decision: Decision, purpose: Purpose
) -> tuple[Decision, PlacementProblem | None]:
    """A decision, with the program that a start would use; and why no Coordinator will carry it out: None if one will,
    or if nothing is to start.
    """
    agent, here = snapshot.agent, list(coordinators)
    found = program(snapshot, purpose, decision.priority, lambda: here)
    if decision.action is not Action.START or agent is None or found is None:
        return decision, None
    if "stands_in" in decision.facts:
        decision = replace(decision, facts={**decision.facts, "stands_in": found.name})
    return decision, obstacle(agent, found, here, snapshot.now)


def obstacle(agent: Agent, program: Program, coordinators: Iterable[Seen], now: Millis) -> PlacementProblem | None:
    """Why nobody can start it; None: somebody can. Of several, what is missing where the least is."""
    here = [coordinator for coordinator in coordinators if not is_gone(coordinator.seen_at, now)]
    missing = [(seen, seen.offer.lacks(agent, program)) for seen in here]
    if any(code is None for _, code in missing):
        return None
    if not missing:
        return PlacementProblem(
            "none",
            say("No Coordinator has called for {seconds} s.", seconds=GONE_AFTER // SECOND),
            say(
                "{up:Start one: `…`|Start a Coordinator}{coordinator:, or `…` if a server is running}.",
                up=terminal("up"),
                coordinator=terminal("coordinator"),
            ),
        )
    code = max((code for _, code in missing if code is not None), key=LACKS.index)
    return _problem(code, agent, program, [seen for seen, its in missing if its == code])


def _problem(code: str, agent: Agent, program: Program, near: list[Seen]) -> PlacementProblem:
    names = ", ".join(seen.id for seen in near)
    if code == "no_provider":
        have = ", ".join(sorted({name for seen in near for name in seen.providers or []})) or "none"
        return PlacementProblem(
            code,
            say(
                "Its provider {provider} is not available at {names} (available: {have}).",
                provider=program.provider,
                names=names,
                have=have,
            ),
            say(
                "Install it there, or give the agent another provider{deed:: …|.}",
                deed=deed("correct", agent_id=agent.id, provider=Blank("NAME")),
            ),
            {"provider": Blank("NAME")},
        )
    if code == "no_account":
        return _without_account(agent, program, names, near)
    if code == "not_listed":
        return PlacementProblem(
            code,
            say("{names} starts only agents named in its file.", names=names),
            say("Add agents.{agent_id} there, or remove agents: from the file.", agent_id=agent.id),
        )
    if code == "no_capability":
        wanted = ", ".join(sorted({word for seen in near for word in seen.capabilities or []})) or "none"
        return PlacementProblem(
            code,
            say("{names} starts only agents with one of the capabilities {wanted}.", names=names, wanted=wanted),
            say(
                "{deed:Add one: …|Add a capability to the agent}, or change capabilities: in the Coordinator's file.",
                deed=deed("correct", agent_id=agent.id, capabilities=[Blank("WORD")]),
            ),
            {"capabilities": [Blank("WORD")]},
        )
    lacking = ", ".join(sorted(agent.labels - set(min(near, key=lambda each: _lacks(agent, each)).labels)))
    return PlacementProblem(
        code,
        say("It needs a machine with the label {label}, which {names} does not have.", label=lacking, names=names),
        constant(
            "Add the label to labels: in the Coordinator's file, or remove it from the agent's provider_options.labels."
        ),
        {"provider_options": {"labels": TO_SAY}},
    )


def _without_account(agent: Agent, program: Program, names: str, near: list[Seen]) -> PlacementProblem:
    have = ", ".join(sorted({name for seen in near for name in seen.accounts.get(program.provider, [])}))
    option = "account=NAME" if program == agent.program else "fallback=…"
    return PlacementProblem(
        "no_account",
        say(
            "Its account {account} of {provider} is not available at {names} (available: {have}).",
            account=program.account,
            provider=program.provider,
            names=names,
            have=have or constant("only its own login"),
        ),
        say(
            "Add it there, under ai_providers.{provider}.accounts of the Coordinator's file, or change the agent"
            "{deed:: …|.}",
            provider=program.provider,
            deed=deed("correct", agent_id=agent.id, provider_options=Blank(option)),
        ),
        {"provider_options": Blank(option)},
    )


def _lacks(agent: Agent, seen: Seen) -> int:
    return len(agent.labels - set(seen.labels))
