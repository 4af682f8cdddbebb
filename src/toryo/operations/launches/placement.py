"""Whether a Coordinator could start an agent, and if not, what is missing and how to provide it. For people."""

from __future__ import annotations

from collections.abc import Iterable

from toryo.domain.agents import Agent, Program
from toryo.domain.coordinators import LACKS, gone
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.launches import Purpose
from toryo.domain.times import Millis
from toryo.domain.wording import Worded, constant, say
from toryo.storage.coordinators import Seen
from toryo.workflow import program_choice
from toryo.workflow.launch_rules import Action, Decision
from toryo.workflow.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class PlacementProblem:
    """`none`, `no_provider`, `not_listed`, `no_capability` or `no_labels`; and the same for people."""

    code: str
    words: str


def nobody_can(
    coordinators: Iterable[Seen], snapshot: Snapshot, decision: Decision, purpose: Purpose
) -> PlacementProblem | None:
    """Why no Coordinator will carry out a decided start; None if one will, or if nothing is to start."""
    agent, program = snapshot.agent, program_choice.chosen(snapshot, purpose)
    if decision.action is not Action.START or agent is None or program is None:
        return None
    return obstacle(agent, program, coordinators, snapshot.now)


def obstacle(agent: Agent, program: Program, coordinators: Iterable[Seen], now: Millis) -> PlacementProblem | None:
    """Why nobody can start it; None: somebody can. Of several, what is missing where the least is."""
    here = [coordinator for coordinator in coordinators if not gone(coordinator.seen_at, now)]
    missing = [(seen, seen.offer.lacks(agent, program)) for seen in here]
    if any(code is None for _, code in missing):
        return None
    if not missing:
        return PlacementProblem(
            "none",
            constant("none has called for 90 s. Start one: `toryo up`, or `toryo coordinator` if a server is running."),
        )
    code = max((code for _, code in missing if code is not None), key=LACKS.index)
    return PlacementProblem(code, _words(code, agent, program, [seen for seen, its in missing if its == code]))


def _words(code: str, agent: Agent, program: Program, near: list[Seen]) -> Worded:
    names = ", ".join(seen.id for seen in near)
    if code == "no_provider":
        have = ", ".join(sorted({name for seen in near for name in seen.providers or []})) or "none"
        return say(
            "its provider {provider} is not available at {names} (available: {have}). Install it there, or give "
            "the agent another provider: toryo agent edit {agent_id} --provider NAME",
            provider=program.provider,
            names=names,
            have=have,
            agent_id=agent.id,
        )
    if code == "not_listed":
        return say(
            "{names} starts only agents named in its file. Add agents.{agent_id} there, or remove agents: from "
            "the file.",
            names=names,
            agent_id=agent.id,
        )
    if code == "no_capability":
        wanted = ", ".join(sorted({word for seen in near for word in seen.capabilities or []})) or "none"
        return say(
            "{names} starts only agents with one of the capabilities {wanted}. Add one: toryo agent edit "
            "{agent_id} --capability WORD, or change capabilities: in the Coordinator's file.",
            names=names,
            wanted=wanted,
            agent_id=agent.id,
        )
    lacking = ", ".join(sorted(agent.labels - set(min(near, key=lambda each: _lacks(agent, each)).labels)))
    return say(
        "it needs a machine with the label {label}, which {names} does not have. Add the label to labels: in the "
        "Coordinator's file, or remove it from the agent's provider_options.labels.",
        label=lacking,
        names=names,
    )


def _lacks(agent: Agent, seen: Seen) -> int:
    return len(agent.labels - set(seen.labels))
