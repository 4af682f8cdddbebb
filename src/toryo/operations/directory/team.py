"""The members of a project, for agents that look for a partner to message, ask, or request a task of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain.agents import Agent, superiors
from toryo.operations.calls import reachable_agents
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Available, Parameters, operation
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import listed_for
from toryo.operations.calls.results import Result

MOST = 200
"""Members that one answer shows."""


Relation = Literal["above you", "below you"]


class ListTeam(Parameters):
    role: Literal["worker", "manager", "person"] | None = Field(
        None, description="Only these.", json_schema_extra=listed_for(Audience.NONE)
    )


class Colleague(TypedDict):
    """What there is to say: every key costs tokens."""

    agent_id: str
    role: reachable_agents.Rank
    name: NotRequired[str]
    capabilities: NotRequired[list[str]]
    relation: NotRequired[Relation]


class Team(Result):
    members: list[Colleague]
    total: int


@operation(
    "list_team",
    shown_to=Audience.WORKER | Audience.MANAGER | Audience.CHAT,
    available=Available.AFTER_THE_END,
    grant=Grant.ANY_SESSION,
    parameters=ListTeam,
)
def list_team(call: Call, wanted: ListTeam) -> Team:
    """Returns the agents and people that you may talk to."""
    here = reachable_agents.others(call.tx, call.caller, call.session.project_id)
    found = [each for each in here if wanted.role in (None, reachable_agents.rank(each))]
    above = call.tx.agents.tree()
    shown = [_as_answer(each, _relation(call.agent.id, each.id, above)) for each in found[:MOST]]
    return {"success": True, "members": shown, "total": len(found)}


def _relation(own_id: str, other_id: str, above: Mapping[str, str | None]) -> Relation | None:
    if other_id in superiors(own_id, above):
        return "above you"
    return "below you" if own_id in superiors(other_id, above) else None


def _as_answer(each: Agent, relation: Relation | None) -> Colleague:
    shown: Colleague = {"agent_id": each.id, "role": reachable_agents.rank(each)}
    if each.name and each.name != each.id:
        shown["name"] = each.name
    if each.capabilities:
        shown["capabilities"] = list(each.capabilities)
    if relation is not None:
        shown["relation"] = relation
    return shown
