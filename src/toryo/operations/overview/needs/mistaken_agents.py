"""Agents that nothing starts because of what stands in their options, or of a provider that nobody has."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from toryo.domain.agents import Agent, mistakes_of
from toryo.domain.needs import Kind, Need
from toryo.domain.wording import constant, say, together
from toryo.operations.directory import wider_rights
from toryo.operations.overview.needs.view import View
from toryo.workflow import reasons
from toryo.workflow.reasons import REASONS


def mistaken_agents(view: View) -> Iterator[Need]:
    reported = wider_rights.reported_providers(view.picture.coordinators)
    for agent in view.agents.values():
        if agent.managed and agent.active:
            yield from view.about(agent, _mistakes, reported, asks=False)


def _mistakes(view: View, agent: Agent, reported: Collection[str] | None) -> Iterator[Need]:
    for code, found in (("bad_options", mistakes_of(agent)), ("no_provider", wider_rights.warnings(agent, reported))):
        for person_id in view.responsible(agent.id, None) if found else ():
            yield Need(
                person_id=person_id,
                kind=Kind.AGENT_CANNOT_START,
                about=f"{agent.id} {code}",
                title=say(
                    "{agent} cannot be started: {reason}", agent=agent.name, reason=constant(REASONS[code].cause)
                ),
                text=together(found),
                since=agent.updated_at,
                actions=(reasons.what_helps(code, agent_id=agent.id),),
                agent_id=agent.id,
            )
