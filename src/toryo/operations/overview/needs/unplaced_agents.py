"""Agents with work that no Coordinator can start: one need for each program that is missing in a project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toryo.deeds import Blank, deed
from toryo.domain.agents import mistakes_of
from toryo.domain.needs import Kind, Need
from toryo.domain.wording import Worded, constant, say, together
from toryo.operations.directory import wider_rights
from toryo.operations.overview import unplaced
from toryo.operations.overview.needs.failed_starts import FIXED_BY_PEOPLE, ended_for
from toryo.operations.overview.needs.view import View
from toryo.operations.overview.unplaced import Unplaced


def unplaced_agents(view: View) -> Iterator[Need]:
    told = {(agent.id, cooldown.program) for agent, cooldown in ended_for(view, FIXED_BY_PEOPLE)}
    reported = wider_rights.reported_providers(view.picture.coordinators)
    alike: dict[tuple[str, ...], list[Unplaced]] = {}
    for each in unplaced.unplaced_agents(view.picture):
        if {(each.agent.id, None), (each.agent.id, each.program.name)} & told:
            continue
        if mistakes_of(each.agent) or wider_rights.warnings(each.agent, reported):
            continue
        for person_id in view.responsible(each.agent.id, each.project_id):
            alike.setdefault((person_id, *each.cause), []).append(each)
    for (person_id, *cause), those in alike.items():
        first, owner = those[0], view.owns(person_id)
        by_owner = constant("An owner can change the agent.") if first.obstacle.of_agent else ""
        correct = deed("change_program", agent_id=first.agent.id, provider=Blank("NAME"))
        if first.obstacle.code != "no_provider":
            correct = deed("correct", agent_id=first.agent.id, **first.obstacle.correct)
        yield Need(
            person_id=person_id,
            kind=Kind.AGENT_CANNOT_START,
            about=" ".join(cause),
            title=_unplaced_title(first, those),
            text=together((first.obstacle.words, "" if owner else by_owner)),
            since=min(each.since for each in those),
            actions=(
                *([correct] if owner and first.obstacle.of_agent else []),
                deed("machines"),
                deed("why", agent_id=first.agent.id),
            ),
            project_id=first.project_id,
            agent_id=first.agent.id,
            also=tuple(task.id for each in those for task in each.tasks),
        )


def _unplaced_title(first: Unplaced, those: Sequence[Unplaced]) -> Worded:
    names: Worded | str = first.agent.name
    if len(those) > 1:
        names = together((first.agent.name, say("and {more} more", more=len(those) - 1)))
    if first.obstacle.code == "none":
        return say("No Coordinator is running: {agents} cannot start", agents=names)
    if first.obstacle.code == "no_provider":
        return say("No Coordinator has {program}: {agents} cannot start", program=first.program.provider, agents=names)
    return say("No Coordinator accepts {agents}", agents=names)
