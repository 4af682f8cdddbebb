"""Who is in the project: for agents that look for somebody to talk to, to ask, or to request a task of."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from toryo.domain.agents import Agent, superiors
from toryo.operations.calls import reachable
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Available, Parameters, operation
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result

MOST = 200
"""Members that one answer shows."""


class ListTeam(Parameters):
    role: Literal["worker", "manager", "person"] | None = Field(None, description="Only these.")


class Team(Result):
    members: list[dict[str, Any]]
    total: int


@operation(
    "list_team",
    shown_to=Audience.WORKER | Audience.MANAGER | Audience.CHAT,
    available=Available.AFTER_THE_END,
    grant=Grant.ANY_SESSION,
    parameters=ListTeam,
    result=Team,
)
def list_team(call: Call, wanted: ListTeam) -> dict[str, Any]:
    """Who else is here: agents and people you may talk to, or request a task of; who is above or below you."""
    here = reachable.others(call.tx, call.caller, call.session.project_id)
    found = [each for each in here if wanted.role in (None, reachable.rank(each))]
    above = call.tx.agents.tree()
    shown = [_shown(each, _relation(call.agent.id, each.id, above)) for each in found[:MOST]]
    return {"success": True, "members": shown, "total": len(found)}


def _relation(own_id: str, other_id: str, above: dict[str, str | None]) -> str | None:
    if other_id in superiors(own_id, above):
        return "above you"
    return "below you" if own_id in superiors(other_id, above) else None


def _shown(each: Agent, relation: str | None) -> dict[str, Any]:
    """What there is to say: every key costs tokens."""
    more = {"name": each.name if each.name != each.id else None, "capabilities": list(each.capabilities)}
    more["relation"] = relation
    known = {key: value for key, value in more.items() if value}
    return {"agent_id": each.id, "role": reachable.rank(each), **known}
